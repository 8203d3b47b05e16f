# SPDX-License-Identifier: MPL-2.0
r"""Record the storage lab's cases as trees, each set up for real and undone: as root, by hand.

    unshare -m --propagation private env PYTHONPATH=python:tests/helpers:scripts/io-benchmark \
        python tests/helpers/record_lab.py FOLDER [--rename OLD=NEW]

FOLDER is where the lab works; its path is in the trees, and so is what is not renamed.
"""

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import storage_lab
from storage_lab import MIB, Lab, run

RECORDER = Path(__file__).with_name("record_tree.py")
CAPPED_MIB_PER_S = 40
CAPPED_WRITES_PER_S = 100
CGROUPS = Path("/sys/fs/cgroup")


class Recorder:
    def __init__(self, lab: Lab, renames: Sequence[str]) -> None:
        self.lab = lab
        self.kernel = ".".join(platform.release().split("-")[0].split(".")[:2])
        self.renames = [*renames, f"io-benchmark-{os.getpid()}=io-benchmark"]

    def tree(self, name: str, place: Path, made: str, *groups: Path) -> None:
        """Record by a process in these cgroups; this process stays in the root group."""
        origin = f"recorded in the storage lab: {made}; Linux {self.kernel}"
        command = [sys.executable, str(RECORDER), name, str(place), "--origin", origin]
        command += [word for rename in self.renames for word in ("--rename", rename)]
        command += ["--hide", "/.dockerenv", "--hide", "/run/.containerenv"]
        joining = (
            'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs"; shift; done; shift; exec "$@"'
        )
        joined = [str(group) for group in groups]
        subprocess.run(["sh", "-ec", joining, "sh", *joined, "--", *command], check=True)

    def disk(
        self,
        name: str,
        filesystem: str = "ext4",
        scheduler: str = "none",
        options: str = "defaults",
        settings: Mapping[str, int] | None = None,
    ) -> tuple[str, Path]:
        device = self.lab.loop(name)
        self.lab.schedule(device, scheduler)
        for setting, value in (settings or {}).items():
            file = Path(f"/sys/class/block/{Path(device).name}/queue/iosched/{setting}")
            self.lab.write(file, str(value), file.read_text().strip())
        run(f"mkfs.{filesystem}", "-q", "-F" if filesystem == "ext4" else "-f", device)
        return device, self.lab.mount(device, self.lab.folder / name, "-o", options)

    def group(self, controller: str, name: str) -> Path:
        path = CGROUPS / controller / f"io-benchmark-{os.getpid()}-{name}"
        self.lab.will("folder", path=str(path))
        path.mkdir()
        return path


def stripes(recorder: Recorder) -> None:
    for name, disks, made in (
        ("one-disk", 1, "btrfs on one loop device"),
        ("two-striped", 2, "btrfs striped (raid0) over two loop devices"),
    ):
        place = recorder.lab.stripe(name, disks, 150, CAPPED_MIB_PER_S)
        text = f"{made}, each capped at {CAPPED_MIB_PER_S} MiB/s in the root group"
        recorder.tree(f"lab-{name}", place, text)
    devices = [recorder.lab.loop(f"linear-{at}", 150) for at in range(2)]
    run("mkfs.btrfs", "-q", "-f", "-d", "single", "-m", "single", *devices)
    place = recorder.lab.mount(devices[0], recorder.lab.folder / "two-linear")
    recorder.tree("lab-two-linear", place, "btrfs linear (single) over two loop devices")


def schedulers(recorder: Recorder) -> None:
    own = recorder.group("blkio", "own")
    _, none = recorder.disk("none")
    recorder.tree("lab-ext4-none", none, "ext4 on a loop device, no scheduler, own cgroup", own)
    _, bfq = recorder.disk("bfq", scheduler="bfq")
    text = "ext4 on a loop device under bfq"
    recorder.tree("lab-ext4-bfq", bfq, f"{text} as it is by default, own cgroup", own)
    recorder.tree("lab-ext4-bfq-root-group", bfq, f"{text} as it is by default, root group")
    _, still = recorder.disk("still", scheduler="bfq", settings={"slice_idle": 0})
    recorder.tree("lab-ext4-bfq-no-idling", still, f"{text} with slice_idle 0, own cgroup", own)
    settings = {"strict_guarantees": 1, "slice_idle": 0}
    _, starving = recorder.disk("starving", scheduler="bfq", settings=settings)
    text += " with strict_guarantees 1, then slice_idle 0, own cgroup"
    recorder.tree("lab-ext4-bfq-starving", starving, text, own)
    _, xfs = recorder.disk("xfs", "xfs", "bfq")
    recorder.tree("lab-xfs-bfq", xfs, "xfs on a loop device under bfq, own cgroup", own)


def limits(recorder: Recorder) -> None:
    device, place = recorder.disk("limited")
    capped = recorder.group("blkio", "capped")
    recorder.lab.cap_writes(capped, device, CAPPED_WRITES_PER_S)
    text = "ext4 on a loop device, own cgroup"
    recorder.tree(
        "lab-capped", place, f"{text} capped at {CAPPED_WRITES_PER_S} writes a second", capped
    )
    memory, cpu = recorder.group("memory", "small"), recorder.group("cpu", "half")
    recorder.lab.write(memory / "memory.limit_in_bytes", str(512 * MIB), "-1")
    recorder.tree("lab-little-memory", place, f"{text} with 512 MiB of memory", memory)
    recorder.lab.write(cpu / "cpu.cfs_quota_us", "50000", "-1")
    recorder.tree("lab-half-a-cpu", place, f"{text} with half a CPU", cpu)


def mounts(recorder: Recorder) -> None:
    options = "noauto_da_alloc"
    _, place = recorder.disk("noauto", options=options)
    recorder.tree("lab-ext4-noauto_da_alloc", place, f"ext4 on a loop device mounted {options}")
    _, place = recorder.disk("sync", options="sync")
    recorder.tree("lab-ext4-sync", place, "ext4 on a loop device mounted sync")
    memory = recorder.lab.mount("none", recorder.lab.folder / "memory", "-t", "tmpfs")
    recorder.tree("lab-tmpfs", memory, "tmpfs")


def overlays(recorder: Recorder) -> None:
    _, base = recorder.disk("base")
    for name, layers, extra in (
        ("overlay-1-layer", 1, ""),
        ("overlay-21-layers", 21, ""),
        ("overlay-volatile", 1, ",volatile"),
    ):
        own = base / name
        lowers = [own / f"l{number}" for number in range(layers)]
        for folder in (*lowers, own / "upper", own / "work"):
            folder.mkdir(parents=True)
        lower = ":".join(map(str, lowers))
        options = f"lowerdir={lower},upperdir={own}/upper,workdir={own}/work{extra}"
        place = recorder.lab.mount(
            "overlay", recorder.lab.folder / name, "-t", "overlay", "-o", options
        )
        made = (
            f"overlay over {layers} lower {'layer' if layers == 1 else 'layers'} on ext4 on a loop"
        )
        made += " device" + (", mounted volatile" if extra else "")
        recorder.tree(f"lab-{name}", place, made)


CASES: Sequence[Callable[[Recorder], None]] = (stripes, schedulers, limits, mounts, overlays)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rename", action="append", default=[], metavar="OLD=NEW")
    arguments = parser.parse_args()
    for case in CASES:
        with storage_lab.opened(arguments.folder / case.__name__) as lab:
            case(Recorder(lab, arguments.rename))


if __name__ == "__main__":
    main()
