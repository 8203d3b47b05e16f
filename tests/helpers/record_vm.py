# SPDX-License-Identifier: MPL-2.0
r"""Record volumes of LVM as trees, each set up for real in a virtual machine: without root, by hand.

    PYTHONPATH=python:tests/helpers:scripts/io-benchmark python tests/helpers/record_vm.py KERNEL

KERNEL is a folder with boot/vmlinuz-* and lib/modules/, such as an unpacked linux-image package. The
volumes are those of tests/lab_vm/volumes.sh over NVMe disks, and two of them over disks that announce
a best size of I/O: from that, ext4 takes a stripe where there is none.
"""

import argparse
import dataclasses
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import storage_lab
import trees
from checkout import ROOT
from virtual_machine import FOLDER, SHARE, Disk, VirtualMachine, needs_inside
from vm_kernel import Kernel, NoKernelError, kernel_in

HELPERS = Path(__file__).parent
RECORDER = HELPERS / "record_tree.py"
VOLUMES = (ROOT / "tests" / "lab_vm" / "volumes.sh").read_text(encoding="utf-8")
MIB_PER_S = 20
DISKS = (Disk(size_mib=1024, write_mib_per_s=MIB_PER_S),) * 3
SPEED = f"{MIB_PER_S} MiB/s"
# Each tree's volume, and how it was made.
NVME = {
    "vm-lvm-one-disk": ("single", f"on one NVMe disk of {SPEED}"),
    "vm-lvm-striped": ("striped", f"striped over two NVMe disks of {SPEED}"),
    "vm-lvm-linear": ("linear", f"linear over two NVMe disks of {SPEED}"),
}
ANNOUNCED = (
    f"virtio disks of {SPEED} that announce I/O of 4 KiB as the least and 128 KiB as the best"
)
VIRTIO = {
    "vm-lvm-striped-io-hints": ("striped", f"striped over two {ANNOUNCED}"),
    "vm-lvm-linear-io-hints": ("linear", f"linear over two {ANNOUNCED}"),
}
# Some NVMe disks announce as much. Those of QEMU announce nothing, so these are virtio's.
ANNOUNCING = "virtio-blk-pci,physical_block_size=4096,min_io_size=4096,opt_io_size=131072"
ANNOUNCING_DISKS = tuple(dataclasses.replace(disk, device=ANNOUNCING) for disk in DISKS)


def with_virtio_disks(kernel: Kernel) -> Kernel:
    found = sorted(kernel.builtin.parent.rglob("virtio_blk.ko*"))
    if not found:
        raise NoKernelError(f"{kernel.builtin.parent}: has no module virtio_blk")
    return dataclasses.replace(kernel, modules=(*kernel.modules, found[0]))


def script(volumes: str, cases: Mapping[str, tuple[str, str]]) -> str:
    """Return the script that records in the machine; trees go into the shared folder."""
    path = (ROOT / "python", HELPERS, ROOT / "scripts" / "io-benchmark")
    lines = [
        volumes,
        f"export PYTHONPATH={shlex.quote(os.pathsep.join(map(str, path)))}",
        "kernel=$(uname --kernel-release | cut --delimiter=. --fields=1,2)",
        f"mkdir {SHARE}/trees",
        shlex.join(["mount", "--bind", f"{SHARE}/trees", str(trees.FOLDER)]),
    ]
    for name, (volume, made) in cases.items():
        command = [sys.executable, "-B", str(RECORDER), name, str(FOLDER / volume)]
        # They are in this machine's root folder, which is seen there.
        command += ["--hide", "/.dockerenv", "--hide", "/run/.containerenv"]
        origin = f"recorded in a virtual machine: ext4 on LVM {made}"
        lines.append(f'{shlex.join(command)} --origin "{origin}; Linux $kernel"')
    return "\n".join(lines)


def record(machine: VirtualMachine, volumes: str, cases: Mapping[str, tuple[str, str]]) -> None:
    machine.run(script(volumes, cases))
    for name in cases:
        shutil.copy(machine.share / "trees" / f"{name}.tree", trees.FOLDER)


def record_all(folder: Path, root: Path) -> None:
    """Record with the kernel in `root`, by machines that work in the folder."""
    kernel = kernel_in(root)
    virtio = with_virtio_disks(kernel)
    needs_inside("lvm", "mkfs.ext4")
    volumes = VOLUMES
    for at, name in enumerate(("vda", "vdb", "vdc")):
        volumes = volumes.replace(f"nvme{at}n1", name)
    with storage_lab.opened(folder / "lab") as lab:
        record(VirtualMachine(lab, folder / "nvme", kernel, DISKS), VOLUMES, NVME)
        record(VirtualMachine(lab, folder / "virtio", virtio, ANNOUNCING_DISKS), volumes, VIRTIO)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernel", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            record_all(Path(folder), arguments.kernel)
        except (NoKernelError, pytest.fail.Exception, pytest.skip.Exception) as error:
            sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
