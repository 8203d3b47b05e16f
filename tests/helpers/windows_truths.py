# SPDX-License-Identifier: MPL-2.0
"""What makes a simulated Windows machine slower, and which causes name it.

The truths were written before the rules. `windows_situations` draws pools with them.
"""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from windows_machine import VM_SIZES, Drive, Scanner, WindowsMachine

from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine

# They say what a disk does, and are true wherever it is slower.
OF_DISKS = frozenset({"disk-speed", "random-io", "slow-flush", "slow-journal"})
LOOKUPS = frozenset({"lookup-cost", "spawn-cost", "image-and-tools"})
NVME = "Microsoft NVMe Direct Disk v2"
# MB and operations per second of managed disks by GiB, and of VM sizes for 30 minutes for all.
PREMIUM = {1024: (200, 5000), 2048: (250, 7500), 8192: (500, 16_000)}
MANAGED = {"Standard_D32ads_v5": (1000, 80_000), "Standard_NV12ads_A10_v5": (200, 12_800)}


class Kind(NamedTuple):
    """A machine, and what its pool's definition says of it; None: nobody gave one."""

    machine: WindowsMachine
    defined: PoolMachine | None = None


class WindowsTruth(NamedTuple):
    """Two machines, and the causes that are right of the slower one."""

    right: frozenset[str]
    slow: Kind
    fast: Kind
    beside: frozenset[str] = frozenset()  # true as well
    destinations: tuple[str, ...] = ("fresh", "overwrite", "unlink")
    facts: frozenset[str] = frozenset()  # that irrelevant differences must leave alone


def factor(dice: random.Random, low: float, high: float) -> float:
    return math.exp(dice.uniform(math.log(low), math.log(high)))


def base(dice: random.Random, vm_size: str | None = None) -> WindowsMachine:
    """Return a machine of one of Azure's sizes, whose place is on its temporary disk."""
    size = vm_size or dice.choice([*VM_SIZES])
    cpus, memory_gib, iops, rate = VM_SIZES[size]
    writes = dice.uniform(0.6, 0.95)
    drive = Drive(
        rate,
        rate * writes,
        iops,
        iops * writes,
        latency_us=dice.uniform(120, 400),
        size_gib=dice.choice([64, 128, 300, 600]),
    )
    return WindowsMachine(
        vm_size=size,
        cpus=cpus,
        memory_gib=memory_gib,
        drive=drive,
        user_factor=dice.uniform(0.8, 1.3),
        kernel_factor=dice.uniform(0.8, 1.3),
        copy_ns_per_mib=dice.uniform(250e3, 500e3),
        file_us=dice.uniform(80, 250),
        name_us=dice.uniform(12, 35),
        process_ms=dice.uniform(5, 20),
        process_held_ms=dice.uniform(0.5, 4),
        grep_ms=dice.uniform(1, 10),
        threshold_share=dice.uniform(0.1, 0.5),
        drops_rewritten=dice.random() < 0.6,
        resident_share=dice.choice([0.0, 0.0, 1.0]),
        drive_varies=dice.uniform(0.01, 0.05),
        competitors_per_cpu=dice.choice([0.0, 0.0, 0.0, 0.1]),
        quantum_s=dice.choice([0.1875, 0.0312]),
    )


def _waiting(dice: random.Random) -> WindowsMachine:
    """Return a machine whose copies wait for a disk of a usual rate."""
    machine = base(dice, dice.choice(["Standard_F8s_v2", "Standard_D8ads_v5", "Standard_E8ads_v5"]))
    return replace(machine, memory_gib=min(machine.memory_gib, 32), resident_share=0.0)


def _alike(
    right: str | frozenset[str],
    slow: WindowsMachine,
    fast: WindowsMachine,
    beside: frozenset[str] = frozenset(),
    **options: Any,
) -> WindowsTruth:
    causes = frozenset({right}) if isinstance(right, str) else right
    return WindowsTruth(causes, Kind(slow), Kind(fast), beside, **options)


def nvme(dice: random.Random, columns: int = 0) -> Drive:
    write = dice.uniform(250, 500)
    return Drive(
        write * dice.uniform(1.5, 2.2),
        write,
        dice.uniform(60e3, 150e3),
        dice.uniform(30e3, 60e3),
        dice.uniform(60, 150),
        bus="spaces" if columns else "nvme",
        model="Virtual Disk" if columns else NVME,
        size_gib=440 * max(1, columns),
        columns=columns,
    )


def _on_local(machine: WindowsMachine, drive: Drive) -> WindowsMachine:
    """Return the machine with its place on a local disk that holds nothing else."""
    return replace(machine, drive=drive, is_temporary_disk=False, has_paging_file=False)


def managed(dice: random.Random, rate: float, iops: float, size_gib: float) -> Drive:
    return Drive(rate, rate, iops, iops, dice.uniform(1000, 4000), size_gib=size_gib)


def defined(vm_size: str, boot_disk: NetworkDisk) -> PoolMachine:
    """Return what a pool's definition says, which names sizes without their prefix."""
    return PoolMachine("azure", vm_size.removeprefix("Standard_"), boot_disk=boot_disk)


# --- truths ---


def scanned(dice: random.Random) -> WindowsTruth:
    """Defender scans the slower side's files."""
    fast = base(dice)
    excludes = dice.choice([None, False, False])
    scanner = Scanner(
        is_real_time=True,
        excludes_place=excludes,
        open_ms=factor(dice, 0.1, 2),
        close_ms=factor(dice, 0.3, 5),
        ms_per_mib=factor(dice, 0.3, 6),
        process_ms=factor(dice, 0.5, 6),
    )
    beside = LOOKUPS
    if dice.random() < 0.3:  # both scan what is started, but the faster side excludes its place
        fast = replace(fast, scanner=replace(scanner, excludes_place=True))
        beside = frozenset()
    return _alike("defender-scan", replace(fast, scanner=scanner), fast, beside)


def scanned_beside_slow_disk(dice: random.Random) -> WindowsTruth:
    """Defender scans, which takes nearly no time; the disk is of a slower kind."""
    truth = slower_kind(dice)
    scanner = Scanner(
        is_real_time=True,
        excludes_place=False,
        open_ms=0.01,
        close_ms=0.02,
        ms_per_mib=0.0,
        process_ms=0.05,
    )
    return truth._replace(slow=Kind(replace(truth.slow.machine, scanner=scanner)))


def other_scanner(dice: random.Random) -> WindowsTruth:
    """Another filter holds the files, which nothing but its name shows."""
    fast = base(dice)
    scanner = Scanner(
        is_real_time=True,
        is_defender=False,
        close_ms=factor(dice, 2, 20),
        ms_per_mib=factor(dice, 0.5, 6),
        process_ms=0.0,
    )
    slow = replace(fast, scanner=scanner, filters=("WdFilter", "csagent", "luafv"))
    return _alike(frozenset(), slow, fast)


def shared_device(dice: random.Random) -> WindowsTruth:
    """C: and D: are one device of the host; the slower side's C: takes a part of it."""
    size = dice.choice(["Standard_D8ads_v5", "Standard_E8ads_v5"])
    fast = replace(_waiting(dice), vm_size=size, drive=base(dice, size).drive)
    slow = replace(fast, hidden_share=dice.uniform(0.25, 0.55))
    ephemeral = NetworkDisk("", 127, is_ephemeral=True)
    return WindowsTruth(
        frozenset({"shared-io"}),
        Kind(slow, defined(size, ephemeral)),
        Kind(fast, defined(size, NetworkDisk("Premium_LRS", 127))),
        OF_DISKS,
    )


def shared_disk(dice: random.Random) -> WindowsTruth:
    """The slower side's place is on the disk of Windows and its paging file, which use it."""
    fast = replace(_waiting(dice), has_paging_file=False)
    slow = replace(
        fast,
        is_system_disk=True,
        has_paging_file=True,
        is_temporary_disk=False,
        letter="C:",
        paging_file="C:\\pagefile.sys",
        neighbour_share=dice.uniform(0.25, 0.55),
    )
    return _alike(frozenset({"shared-io", "os-disk", "other-load"}), slow, fast, OF_DISKS)


def remote_image(dice: random.Random) -> WindowsTruth:
    """Tools are read from a remote image when they first start."""
    fast = base(dice)
    slow = replace(
        fast,
        image_mb_per_s=dice.uniform(20, 80),
        image_latency_ms=dice.uniform(4, 20),
        tool_mib=dice.uniform(5, 60),
    )
    size, ephemeral = fast.vm_size, NetworkDisk("", 127, is_ephemeral=True)
    return WindowsTruth(
        frozenset({"remote-image"}),
        Kind(slow, defined(size, ephemeral)),
        Kind(fast, defined(size, NetworkDisk("Premium_LRS", 127))),
        LOOKUPS | {"drift-over-time"},
    )


def os_disk(dice: random.Random) -> WindowsTruth:
    """The slower side's place is on C:, a managed disk; the faster side's on a local one."""
    fast = _waiting(dice)
    if dice.random() < 0.5:
        fast = _on_local(fast, nvme(dice))
    rate = min(dice.uniform(60, 170), fast.drive.write_mb_per_s / dice.uniform(1.4, 4))
    slow = replace(
        fast,
        drive=managed(dice, rate, 25 * rate, 127),
        letter="C:",
        is_system_disk=True,
        is_temporary_disk=False,
        has_paging_file=dice.random() < 0.5,
    )
    right = frozenset({"os-disk", "network-disk"})
    beside = OF_DISKS | ({"disk-kind"} if slow.drive.bus != fast.drive.bus else set())
    size = fast.vm_size
    of_slow = defined(size, NetworkDisk("Premium_LRS", 127)) if dice.random() < 0.5 else None
    return WindowsTruth(right, Kind(slow, of_slow), Kind(fast), beside)


def slower_kind(dice: random.Random) -> WindowsTruth:
    """The slower side's disk is SATA, SAS or rotational, the faster one's NVMe."""
    drive = nvme(dice)
    fast = _on_local(_waiting(dice), drive)
    slower = replace(drive.divided(factor(dice, 1.5, 5)), bus=dice.choice(["sata", "sas", "scsi"]))
    slower = replace(slower, model=dice.choice(["SAMSUNG MZ7LH", "ST1000DM", "Msft Virtual Disk"]))
    if dice.random() < 0.4:
        slower = replace(slower, is_rotational=True, latency_us=dice.uniform(4000, 9000))
        slower = replace(slower, read_iops=200, write_iops=300, bus="sata")
    return _alike("disk-kind", replace(fast, drive=slower), fast, OF_DISKS)


def fewer_columns(dice: random.Random) -> WindowsTruth:
    """The slower side's volume is spread over fewer disks."""
    many = dice.choice([2, 2, 3, 4])
    few = 0 if dice.random() < 0.6 else dice.choice([each for each in (1, 2) if each < many])
    drive = nvme(dice, many)
    drive = replace(drive.divided(dice.uniform(1, 2.5)), latency_us=dice.uniform(60, 150))
    fast = _on_local(_waiting(dice), drive)
    slower = replace(drive, columns=few, size_gib=440 * max(1, few))
    if not few:
        slower = replace(slower, bus="nvme", model=NVME)
    return _alike("device-count", replace(fast, drive=slower), fast, OF_DISKS)


def file_system(dice: random.Random) -> WindowsTruth:
    """Work on names takes longer in one of the two file systems."""
    fast = base(dice)
    names = [("NTFS", "ReFS"), ("ReFS", "NTFS")][dice.random() < 0.5]
    slower = factor(dice, 1.4, 3)
    kinds = [
        replace(
            fast,
            filesystem=name,
            clones_blocks=name == "ReFS",
            is_dev_drive=name == "ReFS" and dice.random() < 0.5,
            filesystem_factor=times,
        )
        for name, times in zip(names, (slower, 1.0), strict=True)
    ]
    return _alike("file-system", kinds[0], kinds[1])


def short_names(dice: random.Random) -> WindowsTruth:
    fast = base(dice)
    slow = replace(
        fast,
        short_names=True,
        short_name_us=factor(dice, 30, 300),
        short_name_us_per_thousand=factor(dice, 50, 500),
    )
    return _alike("short-names", slow, fast)


def compression(dice: random.Random) -> WindowsTruth:
    fast = base(dice)
    slow = replace(
        fast,
        is_compressed=True,
        compress_ns_per_byte=factor(dice, 3, 15),
        compresses_in_caller=dice.random() < 0.5,
        compressed_share=dice.choice([1.0, 1.0, 0.6]),
    )
    return _alike("drive-compression", slow, fast)


def slow_cpu(dice: random.Random) -> WindowsTruth:
    fast, times = base(dice), factor(dice, 1.2, 2)
    slow = replace(
        fast,
        user_factor=fast.user_factor * times,
        kernel_factor=fast.kernel_factor * times,
        cpu_model=dice.choice([fast.cpu_model, "Intel(R) Xeon(R) Platinum 8272CL CPU @ 2.60GHz"]),
    )
    return _alike("cpu", slow, fast)


def slow_kernel(dice: random.Random) -> WindowsTruth:
    fast = base(dice)
    slow = replace(
        fast,
        kernel_factor=fast.kernel_factor * factor(dice, 1.2, 2),
        build="10.0.26100.4061",
        display_version="24H2",
    )
    return _alike("kernel", slow, fast, facts=frozenset({"build"}))


def slow_memory(dice: random.Random) -> WindowsTruth:
    """New pages of memory cost more."""
    fast = replace(base(dice), new_page_share=dice.uniform(0.5, 1))
    slow = replace(fast, touch_ns_per_mib=fast.touch_ns_per_mib * factor(dice, 4, 12))
    return _alike("memory-first-touch", slow, fast)


def little_memory(dice: random.Random) -> WindowsTruth:
    """Less memory: copies wait for the disk earlier, and files are read again."""
    fast = replace(_waiting(dice), memory_gib=64.0)
    slow = replace(fast, memory_gib=dice.choice([8.0, 16.0]))
    beside = frozenset({"drift-over-time"})  # from when on memory is full
    return _alike("dirty-limit", slow, fast, beside, destinations=("fresh",))


def slow_starts(dice: random.Random) -> WindowsTruth:
    """Processes start more slowly: by their own work, or by what holds them."""
    fast = base(dice)
    times = factor(dice, 2, 6)
    name = dice.choice(["process_ms", "process_held_ms"])
    more = {name: getattr(fast, name) * times + 10 * (name == "process_held_ms")}
    return _alike(LOOKUPS, replace(fast, **more), fast)


def crowded_cpus(dice: random.Random) -> WindowsTruth:
    fast = base(dice)
    slow = replace(
        fast,
        competitors_per_cpu=fast.competitors_per_cpu + dice.uniform(0.4, 2),
        competes_with_bursts=dice.random() < 0.5,
    )
    return _alike("other-load", slow, fast)


def disk_neighbour(dice: random.Random) -> WindowsTruth:
    fast = _waiting(dice)
    slow = replace(fast, neighbour_share=dice.uniform(0.25, 0.6))
    if dice.random() < 0.5:
        return _alike("other-load", slow, fast, OF_DISKS, destinations=("fresh",))
    # Copies write less than they copy: what others write cannot be told from that.
    right = OF_DISKS | {"other-load"}
    return _alike(right, slow, fast, OF_DISKS, destinations=("overwrite", "unlink"))


def _on_managed(machine: WindowsMachine, dice: random.Random, size: str, gib: int) -> Kind:
    rate, iops = map(min, zip(PREMIUM[gib], MANAGED[size], strict=True))
    placed = replace(
        machine,
        vm_size=size,
        drive=managed(random.Random(1), rate, iops, gib),
        letter="C:",
        is_system_disk=True,
        is_temporary_disk=False,
        drive_varies=0.005,
    )
    boot = NetworkDisk("Premium_LRS", gib)
    return Kind(placed, defined(size, boot) if dice.random() < 0.8 else None)


def smaller_disk(dice: random.Random) -> WindowsTruth:
    machine, size = _waiting(dice), "Standard_D32ads_v5"
    slow, fast = sorted(dice.sample([*PREMIUM], 2))
    kinds = [_on_managed(machine, dice, size, gib) for gib in (slow, fast)]
    return _by_definition("disk-size", kinds)


def smaller_machine(dice: random.Random) -> WindowsTruth:
    machine = _waiting(dice)
    sizes = "Standard_NV12ads_A10_v5", "Standard_D32ads_v5"
    return _by_definition(
        "machine-limit", [_on_managed(machine, dice, size, 8192) for size in sizes]
    )


def _by_definition(right: str, kinds: list[Kind]) -> WindowsTruth:
    """Return the truth; without definitions nothing shows more than that the disk is slower."""
    are_defined = all(kind.defined is not None for kind in kinds)
    causes = {right} if are_defined else OF_DISKS | {right}
    return WindowsTruth(frozenset(causes), kinds[0], kinds[1], OF_DISKS)


def temporary_disks(dice: random.Random) -> WindowsTruth:
    """Temporary disks of two VM sizes: the size decides what its disk may do."""
    fast = _waiting(dice)
    slow = replace(fast, vm_size="Standard_F8s_v2", drive=base(dice, "Standard_F8s_v2").drive)
    size = dice.choice(["Standard_D8ads_v5", "Standard_D16pds_v5"])
    fast = replace(fast, vm_size=size, drive=base(dice, size).drive)
    # What each really does is drawn anew, and may be the other way round.
    right = frozenset({"machine-limit", "disk-size"}) | OF_DISKS
    return _alike(right, slow, fast, OF_DISKS)


def hidden_disk(dice: random.Random) -> WindowsTruth:
    """Something that is not recorded makes the slower side's disk slower."""
    fast = _waiting(dice)
    slow = replace(fast, drive=fast.drive.divided(factor(dice, 1.4, 3)))
    return _alike(OF_DISKS, slow, fast, OF_DISKS)


def nothing(dice: random.Random) -> WindowsTruth:
    machine = base(dice)
    return _alike(frozenset(), machine, machine)


TRUTHS: Mapping[str, Callable[[random.Random], WindowsTruth]] = {
    "Defender": scanned,
    "Defender that costs nothing, another kind of disk": scanned_beside_slow_disk,
    "another scanner": other_scanner,
    "one device of the host": shared_device,
    "the disk of Windows, in use": shared_disk,
    "remote image": remote_image,
    "the disk of Windows": os_disk,
    "another kind of disk": slower_kind,
    "fewer columns": fewer_columns,
    "file system": file_system,
    "short names": short_names,
    "compression": compression,
    "slow CPU": slow_cpu,
    "slow kernel": slow_kernel,
    "slow memory": slow_memory,
    "little memory": little_memory,
    "slow process starts": slow_starts,
    "crowded CPUs": crowded_cpus,
    "disk neighbour": disk_neighbour,
    "smaller disk": smaller_disk,
    "smaller machine": smaller_machine,
    "temporary disks": temporary_disks,
    "hidden disk": hidden_disk,
    "nothing": nothing,
}
