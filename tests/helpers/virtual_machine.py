# SPDX-License-Identifier: MPL-2.0
"""A virtual machine with NVMe disks of a known speed, for which no privilege is needed.

A bash script runs in it as root. It sees this machine's files, read-only, so the same programs, and
one folder that both write. The machine is one process here, and ends with the script or with the test.
"""

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from storage_lab import MIB, Lab, needs
from undoing import start_of
from vm_kernel import Kernel, read_module

QEMU = "qemu-system-x86_64"
INIT = Path(__file__).with_name("vm_init.sh")
# As the machine sees them: what it may write, in memory, and the folder that both write.
FOLDER = Path("/run")
SHARE = FOLDER / "share"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MEMORY_MIB = 1024
# Minutes more than it takes without KVM on two busy cores: it hangs.
ENDS_WITHIN_S = 600
TAIL_LINES = 40


@dataclass(frozen=True)
class Disk:
    """What is written to it waits for the cap; reading does not."""

    size_mib: int
    write_mib_per_s: int
    device: str = "nvme"  # QEMU's, with its options


def needs_inside(*programs: str) -> None:
    """For the script: it finds more than an ordinary user's PATH has."""
    for program in programs:
        if shutil.which(program, path=PATH) is None:
            pytest.skip(f"needs {program}")


def needs_a_machine() -> str:
    """The static busybox that the machine starts with."""
    if platform.machine() != "x86_64":
        pytest.skip("needs x86_64: this machine's programs run in the virtual one")
    needs(QEMU, "busybox", "cpio")
    busybox = str(shutil.which("busybox"))
    if b"/ld-linux" in Path(busybox).read_bytes():
        pytest.skip(f"needs a static busybox (busybox-static); {busybox} is not")
    return busybox


def accelerator() -> list[str]:
    """KVM where this user may have it; a /dev/kvm without a processor for it runs nothing."""
    flags = set(Path("/proc/cpuinfo").read_text(encoding="utf-8").split())
    if flags & {"vmx", "svm"} and os.access("/dev/kvm", os.R_OK | os.W_OK):
        return ["-accel", "kvm", "-cpu", "host"]
    # Instructions of later processors are slower than none where they are not real.
    return ["-accel", "tcg", "-cpu", "Nehalem"]


class VirtualMachine:
    """Its parts in a folder: the initial file system, the disks, what both write, the console."""

    def __init__(self, lab: Lab, folder: Path, kernel: Kernel, disks: tuple[Disk, ...]) -> None:
        busybox = needs_a_machine()
        self._lab = lab
        self._kernel = kernel
        self._disks = disks
        self._folder = folder
        self._console = folder / "console"
        self.share = folder / "share"
        self.share.mkdir(parents=True)
        self._console.touch()
        self._make_initrd(Path(busybox))
        for at, disk in enumerate(disks):
            with self._image(at).open("wb") as file:
                file.truncate(disk.size_mib * MIB)

    def _image(self, at: int) -> Path:
        return self._folder / f"disk-{at}"

    def _make_initrd(self, busybox: Path) -> None:
        tree = self._folder / "initrd-tree"
        (tree / "bin").mkdir(parents=True)
        (tree / "modules").mkdir()
        shutil.copy(busybox, tree / "bin" / "busybox")
        shutil.copy(INIT, tree / "init")
        (tree / "init").chmod(0o755)
        names = [path.name.split(".")[0] for path in self._kernel.modules]
        for name, path in zip(names, self._kernel.modules, strict=True):
            (tree / "modules" / name).write_bytes(read_module(path))
        (tree / "modules" / "order").write_text("".join(f"{name}\n" for name in names))
        paths = [path.relative_to(tree) for path in sorted(tree.rglob("*"))]
        with (self._folder / "initrd").open("wb") as file:
            subprocess.run(
                ["cpio", "--create", "--format=newc", "--quiet"],
                input="".join(f"{path}\n" for path in paths).encode(),
                cwd=tree,
                stdout=file,
                check=True,
            )

    def _command(self) -> list[str]:
        command = [
            *(QEMU, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
            *accelerator(),
            # Without KVM a second processor makes starting processes slower. But where there can be
            # none, QEMU 7.2 leaves out the memory barriers that its disks rely on, and these hang.
            *("-smp", "cpus=1,maxcpus=2", "-m", str(MEMORY_MIB)),
            *("-kernel", str(self._kernel.image), "-initrd", str(self._folder / "initrd")),
            *("-append", "console=ttyS0 loglevel=5 panic=-1 mitigations=off"),
            *("-serial", f"file:{self._console}"),
        ]
        for tag, path, options in (
            ("root", Path("/"), "readonly=on,multidevs=remap"),
            ("share", self.share, "readonly=off"),
        ):
            about = f"local,id={tag},path={path},security_model=none,{options}"
            command += ["-fsdev", about, "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
        for at, disk in enumerate(self._disks):
            limit = f"throttling.bps-write={disk.write_mib_per_s * MIB}"
            about = f"file={self._image(at)},if=none,id=disk{at},format=raw,cache=unsafe,{limit}"
            device = f"{disk.device},drive=disk{at},serial=disk{at}"
            command += ["-drive", about, "-device", device]
        return command

    def run(self, script: str) -> None:
        """Starts it, runs the script in it, and waits until it is off."""
        (self.share / "run").write_text(f"export PATH={PATH}\n{script}")
        with (self._folder / "errors").open("w") as errors:
            process = subprocess.Popen(
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                start_new_session=True,
            )
        self._lab.will("process", process=process.pid, started=start_of(process.pid))
        try:
            process.wait(timeout=ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            pytest.fail(f"the machine is not off after {ENDS_WITHIN_S} s\n{self._told()}")
        finally:
            process.kill()
            process.wait()
        code = self.share / "code"
        if process.returncode != 0 or not code.exists() or code.read_text() != "0\n":
            pytest.fail(f"the script in the machine did not succeed\n{self._told()}")

    def _told(self) -> str:
        """What QEMU complained of, and the console's last lines."""
        complaints = (self._folder / "errors").read_text()
        lines = self._console.read_text(errors="replace").splitlines()
        return "\n".join([complaints, f"{self._console} ends:", *lines[-TAIL_LINES:]])
