# SPDX-License-Identifier: MPL-2.0
"""Real slow storage on one machine, of loop devices over memory, undone when the test ends."""

import errno
import json
import os
import shutil
import subprocess
import time
import uuid
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

MIB = 1024 * 1024
BLKIO, CPU = Path("/sys/fs/cgroup/blkio"), Path("/sys/fs/cgroup/cpu")
WRITE_CAP = BLKIO / "blkio.throttle.write_bps_device"
WRITES_CAP = "blkio.throttle.write_iops_device"
BUSY_FOR_S = 20.0
STOPS_WITHIN_S = 30.0
# What a worker unpacks: several times what may be dirty.
UNPACKING = (
    "from workloads import unpack\n"
    "unpack.WORKLOAD.names = ('warm', 'warm-sync')\n"
    "unpack.QUICK.update(samples=10, small_files=1200, large_bytes=2 * 2**20)\n"
    "unpack.QUICK['time_limit_s'] = 60.0\n"
)


def run(*command: object) -> str:
    needs(str(command[0]))
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout.strip()


def needs(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")


class Lab:
    """Disks, file systems and limits in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.devices: dict[str, str] = {}
        self.undoing = ExitStack()

    def loop(self, name: str, size_mib: int = 300, *, filled: bool = False) -> str:
        """A disk in memory. Filled beforehand, no write pays for finding memory."""
        image = self.folder / "images" / name
        if not image.parent.exists():
            self.mount("none", image.parent, "-t", "tmpfs")
        with image.open("wb") as file:
            if filled:
                for _ in range(size_mib):
                    file.write(b"\1" * MIB)
            file.truncate(size_mib * MIB)
        self.devices[name] = run("losetup", "-f", "--show", image)
        self.undoing.callback(run, "losetup", "-d", self.devices[name])
        return self.devices[name]

    def mount(self, what: object, point: Path, *options: object) -> Path:
        point.mkdir(parents=True, exist_ok=True)
        run("mount", *options, what, point)
        self.undoing.callback(_unmount, point)
        return point

    def write(self, path: Path, text: str, back: str) -> None:
        """Into a file of the kernel's; `back` is what undoes it."""
        self.undoing.callback(_write_back, path, back)
        path.write_text(text)

    def disk(
        self, name: str, filesystem: str = "ext4", size_mib: int = 200, options: str = "defaults"
    ) -> Path:
        """Return where a disk without a scheduler is mounted."""
        needs(f"mkfs.{filesystem}")
        device = self.loop(name, size_mib, filled=True)
        self.schedule(device, "none")
        run(f"mkfs.{filesystem}", "-q", "-F" if filesystem == "ext4" else "-f", device)
        return self.mount(device, self.folder / name, "-o", options)

    def overlay(self, base: Path, name: str, layers: int = 1) -> Path:
        """Return an overlay of so many lower layers, all in one folder."""
        lowers = [base / name / f"lower-{number}" for number in range(layers)]
        upper, work = base / name / "upper", base / name / "work"
        for folder in (*lowers, upper, work):
            folder.mkdir(parents=True)
        lower = ":".join(map(str, lowers))
        options = f"lowerdir={lower},upperdir={upper},workdir={work}"
        return self.mount("overlay", self.folder / name, "-t", "overlay", "-o", options)

    def cap(self, device: str, mib_per_s: int) -> None:
        """Every write to the device, by the root group: in a child buffered ones go past it."""
        self.limit(WRITE_CAP, device, mib_per_s * MIB)

    def limit(self, file: Path, device: str, value: int) -> None:
        """By a cgroup's file."""
        number = number_of(device)
        self.write(file, f"{number} {value}", f"{number} 0")

    def stripe(
        self,
        name: str,
        disks: int,
        size_mib: int,
        cap_mib_per_s: int,
        *,
        waits: bool = True,
        dirty_mib: int = 16,
    ) -> Path:
        """Return a btrfs over so many capped disks, whose writers wait for them by default."""
        needs("mkfs.btrfs")
        needs_write_caps()
        devices = [self.loop(f"{name}-{at}", size_mib, filled=True) for at in range(disks)]
        profile = "raid0" if disks > 1 else "single"
        run("mkfs.btrfs", "-q", "-f", "-d", profile, "-m", profile, *devices)
        point = self.mount(devices[0], self.folder / name)
        if waits:
            identifier = run("findmnt", "--noheadings", "--output", "UUID", point)
            self.little_dirty(Path(f"/sys/fs/btrfs/{identifier}/bdi").resolve(), dirty_mib)
        for device in devices:
            self.cap(device, cap_mib_per_s)
        return point

    def group(self, name: str, controller: Path = BLKIO) -> Path:
        """A cgroup below the controller's root group."""
        path = controller / f"io-benchmark-{os.getpid()}-{name}"
        path.mkdir()
        self.undoing.callback(_remove_group, path)
        return path

    def stop_at_the_end(self, process: "subprocess.Popen[str] | subprocess.Popen[bytes]") -> None:
        """Wait for it to clean up by itself."""
        self.undoing.callback(process.wait, STOPS_WITHIN_S)
        self.undoing.callback(process.terminate)

    def schedule(self, device: str, scheduler: str) -> None:
        """By way of none, since what a scheduler was set to before may stay in force."""
        file = Path(f"/sys/class/block/{Path(device).name}/queue/scheduler")
        offered = file.read_text().split()
        if scheduler not in [name.strip("[]") for name in offered]:
            pytest.skip(f"this kernel has no {scheduler}")
        (before,) = [name.strip("[]") for name in offered if name.startswith("[")]
        self.write(file, "none", before)
        file.write_text(scheduler)

    def little_dirty(self, backing: Path, dirty_mib: int = 16) -> None:
        """Writers to this backing device wait for it soon, whatever memory there is.

        A loop device keeps what was set beyond its end, for the next one of its number.
        """
        largest = backing / "max_bytes"
        if not largest.exists():
            pytest.skip("this kernel has no max_bytes for a backing device")
        before = (backing / "max_ratio").read_text()
        self.undoing.callback(_write_back, backing / "max_ratio", before)
        self.write(backing / "strict_limit", "1", "0")
        largest.write_text(str(dirty_mib * MIB))


def _unmount(point: Path) -> None:
    """Give whoever still works there a moment to go."""
    until_s = time.monotonic() + BUSY_FOR_S
    while subprocess.run(["umount", point], stderr=subprocess.DEVNULL, check=False).returncode:
        assert time.monotonic() < until_s, f"{point} is busy"
        time.sleep(0.2)


def _write_back(path: Path, text: str) -> None:
    with suppress(FileNotFoundError):  # gone with the device that it was about
        path.write_text(text)


def _remove_group(path: Path) -> None:
    """A cgroup is busy for as long as a process of it ends."""
    until_s = time.monotonic() + BUSY_FOR_S
    while True:
        try:
            return path.rmdir()
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > until_s:
                raise
            time.sleep(0.1)


def number_of(device: str) -> str:
    return Path(f"/sys/class/block/{Path(device).name}/dev").read_text().strip()


def needs_disks() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: loop devices and mounts")
    if not Path("/dev/loop-control").exists():
        pytest.skip("needs loop devices")
    needs("losetup", "mount", "umount")


def needs_write_caps() -> None:
    if not WRITE_CAP.exists():
        pytest.skip("needs cgroup v1 blkio, whose root group can limit a device")


def needs_groups() -> None:
    """A group may be made and capped: cgroup v1 has the root group's files, v2 others."""
    needs_write_caps()
    if not os.access(BLKIO, os.W_OK):
        pytest.skip("needs to make cgroups")


def own_cpu_group() -> Path:
    """Return this process' cgroup, whose share of the CPUs a group below it has as well."""
    lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    paths = [line.split(":", 2)[2] for line in lines if "cpu" in line.split(":")[1].split(",")]
    group = CPU / (paths[0] if paths else "/").lstrip("/")
    if not (group / "cpu.shares").exists() or not os.access(group, os.W_OK):
        pytest.skip("needs to make cgroups of cgroup v1 cpu")
    return group


def joining(group: Path) -> str:
    """What the worker's script does first, to run in this cgroup with all that it starts."""
    return f"open({str(group / 'cgroup.procs')!r}, 'w').write('0')"


def as_another_machine(result: Path) -> None:
    """Each run stands for a worker of its own, and a machine is recognised by its boot."""
    document = json.loads(result.read_text())
    document["host"]["boot_id"] = str(uuid.uuid4())
    result.write_text(json.dumps(document))
