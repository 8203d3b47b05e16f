# SPDX-License-Identifier: MPL-2.0
"""The lab leaves nothing behind, whatever ends the test that had it."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from storage_lab import WRITE_CAP, Lab, needs, needs_write_caps, number_of, run
from undoing import is_mounted

pytestmark = [pytest.mark.serial, pytest.mark.root]

PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from storage_lab import Lab, run
lab = Lab(Path(sys.argv[2]))
device = lab.loop("disk", 64)
run("mkfs.ext4", "-q", "-F", device)
lab.mount(device, lab.folder / "place")
lab.cap(device, 40)
group = lab.group("killed")
lab.cap_writes(group, device, 100)
lab.schedule(device, "none")
print(device, group, flush=True)
sys.stdin.read()
"""
WITHIN_S = 60


def test_killed(lab: Lab, tmp_path: Path) -> None:
    """Nobody is left to clean up but the process beside: mounts, disk, caps and group are gone."""
    needs_write_caps()
    needs("mkfs.ext4")
    del lab  # it skipped where there can be none
    folder = tmp_path / "killed"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(Path(__file__).parents[1] / "helpers"), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    device, group = process.stdout.readline().split()
    number = number_of(device)
    assert is_mounted(str(folder / "place"))
    assert f"{number} " in WRITE_CAP.read_text()
    assert Path(group).is_dir()
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()
    until = time.monotonic() + WITHIN_S
    while any(is_mounted(str(folder / name)) for name in ("place", "images")):
        assert time.monotonic() < until, "it is still mounted"
        time.sleep(0.1)
    assert f"{number} " not in WRITE_CAP.read_text()
    assert not Path(group).exists()
    assert str(folder) not in run("losetup", "--list", "--noheadings")


def test_steps_that_were_never_taken(tmp_path: Path) -> None:
    """What was announced, and then failed, is nothing to undo."""
    lab = Lab(tmp_path)
    lab.will("mount", point=str(tmp_path / "never"))
    lab.will("loop", image=str(tmp_path / "none"))
    lab.will("write", path=str(tmp_path / "no/file"), text="0")
    lab.will("process", process=1, started="never")
    lab.will("folder", path=str(tmp_path / "gone"))
    lab.close()


def test_what_cannot_be_undone_is_told(tmp_path: Path) -> None:
    """The test fails by it, and what came before it is undone all the same."""
    lab = Lab(tmp_path)
    (tmp_path / "first").mkdir()
    (tmp_path / "full" / "something").mkdir(parents=True)
    lab.will("folder", path=str(tmp_path / "first"))
    lab.will("folder", path=str(tmp_path / "full"))
    with pytest.raises(AssertionError, match="full: Directory not empty"):
        lab.close()
    assert not (tmp_path / "first").exists()
