# SPDX-License-Identifier: MPL-2.0
"""What the worker's program does to a path that a user named; the same for a result and a profile."""

import json
import os
import stat
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from profiled import Profiled
from result import result_file
from worker import Worker

DOCUMENT = {"text": "x" * 100_000}  # more than a pipe holds


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    """It is replaced in one step, and who may read it stays the same."""
    path = tmp_path / "profile.json"
    path.touch(mode=0o600)
    before = path.stat().st_ino
    assert result_file.write(str(path), DOCUMENT) == str(path)
    assert json.loads(path.read_text()) == {"text": "x" * result_file.TEXT_LENGTH}
    assert (stat.S_IMODE(path.stat().st_mode), path.stat().st_ino == before) == (0o600, False)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("is_missing", [False, True])
def test_a_link_stays(tmp_path: Path, is_missing: bool) -> None:
    """Its target is replaced, or made."""
    link, target = tmp_path / "link", tmp_path / "folder" / "target"
    target.parent.mkdir()
    link.symlink_to(target)
    if not is_missing:
        target.touch()
    result_file.write(str(link), {})
    assert (link.is_symlink(), target.read_text()) == (True, "{}\n")


def test_a_pipe_is_written(tmp_path: Path) -> None:
    """All of it reaches the reader; without a reader, it is an error and no endless wait."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="No such device or address"):
        result_file.write(str(path), {})
    seen: list[bytes] = []
    reader = threading.Thread(target=lambda: seen.append(path.read_bytes()))
    reader.start()
    until_opened = os.open(path, os.O_WRONLY)
    document = {"many": ["x" * 1000] * 1000}
    result_file.write(str(path), document)
    os.close(until_opened)
    reader.join()
    assert (json.loads(seen[0]), path.is_fifo()) == (document, True)


@pytest.mark.root
@pytest.mark.parametrize(("major", "minor", "error"), [(1, 3, None), (1, 7, "No space left")])
def test_a_device_stays(tmp_path: Path, major: int, minor: int, error: str | None) -> None:
    """As /dev/null and /dev/full do; the second tells that nothing could be written."""
    path = tmp_path / "device"
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(major, minor))
    except PermissionError:
        pytest.skip("needs root: makes a device")
    if error is None:
        result_file.write(str(path), {})
    else:
        with pytest.raises(OSError, match=error):
            result_file.write(str(path), {})
    assert path.is_char_device()


def test_a_folder_in_the_way_is_one_line(worker: Worker) -> None:
    """Neither removed nor written into."""
    worker.result_path.mkdir(parents=True)
    code, output = worker.run("--retrieves", "10")
    assert code == 1
    problem = f"{worker.result_path}: Is a directory"
    assert output.startswith(f"error: the result cannot be written: {problem}\n")


def test_a_profile_goes_where_stdout_goes(profiled: Profiled, tmp_path: Path) -> None:
    """After what the command wrote, which is kept."""
    profiled.path = Path("/dev/fd/1")  # not a link that a mistake could replace for the machine
    output = tmp_path / "output"
    with output.open("wb") as file:
        command = profiled.command("echo", "done")
        subprocess.run(command, stdout=file, check=True)
    first, second = output.read_text().splitlines()
    assert (first, json.loads(second)["ending"]["code"]) == ("done", 0)


def test_many_profiles_in_one_folder(profiled: Profiled, tmp_path: Path) -> None:
    """Without --output each command has its own file, and a line says its name."""
    output = ("--output", str(profiled.path))
    start = [word for word in profiled.command("true") if word not in output]
    options: Any = {"cwd": tmp_path, "stderr": subprocess.PIPE, "text": True}
    many = [subprocess.Popen(start, **options) for _ in range(12)]
    lines = "".join(sorted(process.communicate()[1] for process in many))
    names = ["task-profile.json", *(f"task-profile-{at}.json" for at in range(2, 13))]
    assert {path.name for path in tmp_path.iterdir()} == set(names)
    assert all(json.loads((tmp_path / name).read_text()) for name in names)
    assert all(
        f"io-benchmark: task-profile.json exists; the profile is {tmp_path / name}\n" in lines
        for name in names[1:]
    )
