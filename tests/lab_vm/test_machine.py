# SPDX-License-Identifier: MPL-2.0
"""The virtual machine ends with the test that had it, and says what went wrong in it."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import virtual_machine
from storage_lab import Lab, opened
from undoing import start_of
from virtual_machine import VirtualMachine
from vm_kernel import Kernel, NoKernelError, kernel_in

pytestmark = [pytest.mark.serial]

PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from storage_lab import Lab
from virtual_machine import VirtualMachine
from vm_kernel import Kernel

class Telling(Lab):
    def will(self, kind, **what):
        super().will(kind, **what)
        print(what["process"], what["started"], flush=True)

image, builtin, *modules = map(Path, sys.argv[3:])
folder = Path(sys.argv[2])
machine = VirtualMachine(Telling(folder), folder, Kernel(image, builtin, tuple(modules)), ())
machine.run("sleep 1000")
"""
WITHIN_S = 60


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with opened(tmp_path) as made:
        yield made


def test_killed(kernel: Kernel, tmp_path: Path) -> None:
    """Nobody is left to stop the machine but the process beside: it is gone."""
    helpers = Path(__file__).parents[1] / "helpers"
    files = [kernel.image, kernel.builtin, *kernel.modules]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, (helpers, tmp_path / "machine", *files))],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    machine, started = process.stdout.readline().split()
    assert start_of(int(machine)) == started
    process.kill()
    process.wait()
    process.stdout.close()
    until = time.monotonic() + WITHIN_S
    while start_of(int(machine)) == started:
        assert time.monotonic() < until, "it is still there"
        time.sleep(0.1)


def test_that_hangs(
    lab: Lab, kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits is told so after a time, and the machine is stopped."""
    monkeypatch.setattr(virtual_machine, "ENDS_WITHIN_S", 1)
    machine = VirtualMachine(lab, tmp_path / "machine", kernel, ())
    with pytest.raises(pytest.fail.Exception, match="the machine is not off after 1 s"):
        machine.run("sleep 1000")


def test_failing_script(lab: Lab, kernel: Kernel, tmp_path: Path) -> None:
    """A script that fails fails the test, which shows what it said."""
    machine = VirtualMachine(lab, tmp_path / "machine", kernel, ())
    with pytest.raises(pytest.fail.Exception, match="did not succeed") as failure:
        machine.run("echo this went wrong >&2\nfalse\necho this is never said")
    assert "this went wrong" in str(failure.value)
    assert "this is never said" not in str(failure.value)


def test_folder_without_a_kernel(tmp_path: Path) -> None:
    """Whoever names a wrong folder is told what is not in there."""
    with pytest.raises(NoKernelError, match=r"boot: has no vmlinuz-\*"):
        kernel_in(tmp_path)
    (tmp_path / "boot").mkdir()
    (tmp_path / "boot" / "vmlinuz-6.1.0").touch()
    with pytest.raises(NoKernelError, match=r"has no modules of 6\.1\.0"):
        kernel_in(tmp_path)
    modules = tmp_path / "lib" / "modules" / "6.1.0"
    modules.mkdir(parents=True)
    (modules / "modules.builtin").write_text("kernel/drivers/virtio/virtio_pci.ko\n")
    with pytest.raises(NoKernelError, match="has no module 9pnet_virtio"):
        kernel_in(tmp_path)
