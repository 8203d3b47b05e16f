# SPDX-License-Identifier: MPL-2.0
"""Simulated machines whose place is on a disk of the network, and which causes are true of them.

The arithmetic of the clouds is repeated here, from their pages, so that a mistake in the program's
tables shows. A disk writes at its cap, which is flat: only the page cache and the CPU hide it. The
truths were written before the rules.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import situations
from msgspec import structs
from seed_workers import worker
from simulated_machine import MB, MIB, Disk, Machine
from simulated_results import Measured, Pool
from situations import FAST, SLOW

from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.reading.caps import candidates

SIZE, NETWORK, MACHINE = {"disk-size"}, {"network-disk"}, {"machine-limit"}
BOOT, SPEED, DRIFT = {"boot-disk-fallback"}, {"disk-speed"}, {"drift-over-time"}


class Caps(NamedTuple):
    """What a network disk writes in MiB/s, and what its machine lets all of them write."""

    disk: float
    machine: float
    burst: float = 0.0  # above the cap, until so many seconds at this rate are spent
    burst_s: float = 0.0

    @property
    def write(self) -> float:
        return min(self.disk, self.machine)


class Cloud(NamedTuple):
    """One cloud: what its disks say of themselves, its machines, and the arithmetic of its caps."""

    name: str
    network_model: str
    local_model: str
    machines: tuple[str, ...]
    disks: Callable[[random.Random], NetworkDisk]
    caps: Callable[[str, NetworkDisk], Caps]


# Of machines with several CPUs: MiB/s that persistent disks write together; standard ones less.
GOOGLE_MACHINES = {
    "c2-standard-4": (240, 240),
    "c2-standard-8": (240, 240),
    "c2-standard-16": (480, 240),
    "n2-standard-4": (240, 240),
    "n2-standard-8": (800, 400),
    "n2-standard-16": (1200, 400),
    "t2a-standard-4": (240, 240),
    "t2a-standard-16": (1200, 400),
}
GOOGLE_KINDS = {"pd-standard": (0.0, 0.12), "pd-balanced": (140.0, 0.28), "pd-ssd": (240.0, 0.48)}
GOOGLE_SIZES: tuple[int, ...] = (100, 120, 150, 200, 250, 320, 375, 500, 640, 750, 1000)
LARGE_GOOGLE_SIZES = (1200, 1500, 2000)
# MB/s; these have no burst of their own.
AMAZON_MACHINES = {"m5.4xlarge": 593.75, "c5.4xlarge": 593.75, "m5.8xlarge": 850.0}
AZURE_DISKS = {  # by GiB: MB/s, and those of bursts
    64: (50, 170),
    128: (100, 170),
    256: (125, 170),
    512: (150, 170),
    1024: (200, 0),
    2048: (250, 0),
    8192: (500, 0),
}
AZURE_MACHINES = {"D16ads_v5": 800, "D32ads_v5": 1000, "D48ads_v5": 2000}  # for 30 minutes
LITTLE = ("c2-standard-4", "c2-standard-8", "n2-standard-4", *AMAZON_MACHINES)
BURST_S = 1800.0  # of Azure, from full credits


def google_disk(dice: random.Random) -> NetworkDisk:
    kind = dice.choice([*GOOGLE_KINDS])
    sizes = GOOGLE_SIZES if kind == "pd-ssd" else (*GOOGLE_SIZES, *LARGE_GOOGLE_SIZES)
    if kind == "pd-standard":
        sizes = (60, 75, *sizes)
    return NetworkDisk(kind, dice.choice(sizes))


def google_caps(machine_type: str, disk: NetworkDisk) -> Caps:
    baseline, per_gib = GOOGLE_KINDS[disk.kind]
    others, standard = GOOGLE_MACHINES[machine_type]
    of_machine = standard if disk.kind == "pd-standard" else others
    return Caps(baseline + per_gib * (disk.size_gib or 0), of_machine)


def amazon_disk(dice: random.Random) -> NetworkDisk:
    if dice.random() < 0.5:
        return NetworkDisk("gp2", dice.choice([400, 500, 750, 1000]))
    rate = dice.choice([125, 250, 400, 500, 750, 1000])
    return NetworkDisk("gp3", dice.choice([75, 100, 250]), max(3000, 4 * rate), rate * MIB)


def amazon_caps(machine_type: str, disk: NetworkDisk) -> Caps:
    of_machine = AMAZON_MACHINES[machine_type] * MB / MIB
    if disk.kind == "gp2":
        return Caps(250, of_machine)
    return Caps((disk.provisioned_bytes_per_s or 125 * MIB) / MIB, of_machine)


def azure_disk(dice: random.Random) -> NetworkDisk:
    return NetworkDisk("Premium_LRS", dice.choice([1024, 2048, 8192]))


def azure_caps(machine_type: str, disk: NetworkDisk) -> Caps:
    rate, burst = AZURE_DISKS[round(disk.size_gib or 0)]
    mb = MB / MIB
    return Caps(rate * mb, AZURE_MACHINES[machine_type] * mb, burst * mb, BURST_S if burst else 0)


GOOGLE = Cloud(
    "google", "nvme_card-pd", "nvme_card0", (*GOOGLE_MACHINES,), google_disk, google_caps
)
AMAZON = Cloud(
    "amazon",
    "Amazon Elastic Block Store",
    "Amazon EC2 NVMe Instance Storage",
    (*AMAZON_MACHINES,),
    amazon_disk,
    amazon_caps,
)
AZURE = Cloud(
    "azure",
    "MSFT NVMe Accelerator v1.0",
    "Microsoft NVMe Direct Disk v2",
    (*AZURE_MACHINES,),
    azure_disk,
    azure_caps,
)
CLOUDS = (GOOGLE, GOOGLE, AMAZON, AZURE)


class Kind(NamedTuple):
    """A machine, and what its pool's definition says of it; None: nobody gave one."""

    machine: Machine
    defined: PoolMachine | None

    def workers(self, measured: Sequence[Measured]) -> list[Worker]:
        return [structs.replace(worker(each.document), defined=self.defined) for each in measured]


class NetworkTruth(NamedTuple):
    """Two machines, and the causes that are right of the slower one."""

    right: frozenset[str] | set[str]
    slow: Kind
    fast: Kind
    beside: frozenset[str] | set[str] = frozenset()
    destination: str = "overwrite"
    ratio: float | None = None  # of what the disks write: the size of the cause
    is_unambiguous: bool = True  # otherwise nothing that is recorded need show the cause


def on_network(machine: Machine, cloud: Cloud, machine_type: str, disk: NetworkDisk) -> Machine:
    """Return a machine whose place is on this disk."""
    caps = cloud.caps(machine_type, disk)
    rate = caps.write * MIB / MB
    return replace(
        machine,
        disks=(Disk(rate, rate),),
        is_boot_disk=True,
        network_model=cloud.network_model,
        network_gib=disk.size_gib or 100.0,
        instance_type=machine_type,
        cloud="aws" if cloud is AMAZON else cloud.name,
        disks_vary=0.005,
    )


def defined(cloud: Cloud, machine_type: str, disk: NetworkDisk, local_ssds: int = 0) -> PoolMachine:
    return PoolMachine(cloud.name, machine_type, boot_disk=disk, local_ssds=local_ssds)


def base(dice: random.Random) -> Machine:
    """Return a machine that waits for its disks, whatever the network lets them write."""
    machine = situations.base(dice)
    return replace(machine, copy_ns_per_mib=dice.uniform(80e3, 160e3), memory_gib=32)


def slower_and_faster(
    dice: random.Random, cloud: Cloud, fits: Callable[[Caps, Caps], bool], *, same_type: bool
) -> tuple[tuple[str, NetworkDisk], tuple[str, NetworkDisk]]:
    """Draw two disks on their machines whose caps fit, the slower one first."""
    for _ in range(5000):
        types = [dice.choice(cloud.machines) for _ in range(2)]
        if same_type:
            types[1] = types[0]
        slow, fast = ((each, cloud.disks(dice)) for each in types)
        of_slow, of_fast = (cloud.caps(*each) for each in (slow, fast))
        if of_slow.write * 1.15 < of_fast.write and fits(of_slow, of_fast):
            return slow, fast
    raise AssertionError(f"no such disks of {cloud.name}")


def by_size(dice: random.Random, *, is_defined: bool = True) -> NetworkTruth:
    """The slower side's disk has the lower cap by its kind or size, and its machine allows more."""
    cloud = dice.choice(CLOUDS)
    slow, fast = slower_and_faster(
        dice,
        cloud,
        lambda slower, _faster: slower.disk < slower.machine * 0.9,
        same_type=dice.random() < 0.6,
    )
    return _two_disks(dice, SIZE, cloud, slow, fast, is_defined=is_defined)


def by_machine(dice: random.Random, *, is_defined: bool = True) -> NetworkTruth:
    """The slower side's machine allows less than its disk."""
    cloud = dice.choice((GOOGLE, GOOGLE, AMAZON))
    slow, fast = slower_and_faster(
        dice,
        cloud,
        lambda slower, _faster: slower.machine < slower.disk * 0.9,
        same_type=False,
    )
    return _two_disks(dice, MACHINE, cloud, slow, fast, is_defined=is_defined)


def _two_disks(
    dice: random.Random,
    right: set[str],
    cloud: Cloud,
    slow: tuple[str, NetworkDisk],
    fast: tuple[str, NetworkDisk],
    *,
    is_defined: bool,
) -> NetworkTruth:
    machine = base(dice)
    kinds = [
        Kind(on_network(machine, cloud, *each), defined(cloud, *each) if is_defined else None)
        for each in (slow, fast)
    ]
    ratio = cloud.caps(*fast).write / cloud.caps(*slow).write
    # Without a definition the rate and the size need not show the kind.
    beside: set[str] = set() if is_defined else SPEED
    return NetworkTruth(right, kinds[0], kinds[1], beside, ratio=ratio, is_unambiguous=is_defined)


def against_local(dice: random.Random, how: str) -> NetworkTruth:
    """The slower side is on a network disk, the faster one on local SSDs."""
    cloud = dice.choice((GOOGLE, GOOGLE, AMAZON))
    machine_type = dice.choice(cloud.machines)
    machine = base(dice)
    local = replace(
        machine, instance_type=machine_type, disk_model=cloud.local_model, cloud=cloud.name
    )
    while True:
        disk = cloud.disks(dice)
        caps = cloud.caps(machine_type, disk)
        if caps.write * MIB * 1.3 < local.write_bytes_per_s():
            break
    slow = on_network(machine, cloud, machine_type, disk)
    fast_defined = defined(cloud, machine_type, NetworkDisk("", 60), len(local.disks))
    right, local_ssds = {
        "by design": (NETWORK, 0),
        "by fallback": (BOOT, dice.choice([1, 2])),
        "unknown": (NETWORK, 0),
    }[how]
    of_slow = None if how == "unknown" else defined(cloud, machine_type, disk, local_ssds)
    of_fast = None if how == "unknown" else fast_defined
    return NetworkTruth(right, Kind(slow, of_slow), Kind(local, of_fast), SPEED)


def not_binding(dice: random.Random) -> NetworkTruth:
    """Both disks allow more than their machines, which are alike; a journal makes one slower."""
    cloud = dice.choice((GOOGLE, AMAZON))
    machine_type = dice.choice([name for name in cloud.machines if name in LITTLE])
    while True:
        disks = [cloud.disks(dice) for _ in range(2)]
        caps = [cloud.caps(machine_type, disk) for disk in disks]
        are_bound = all(each.machine < each.disk for each in caps)
        if disks[0] != disks[1] and are_bound and len({each.machine for each in caps}) == 1:
            break
    machine = base(dice)
    slow, fast = (on_network(machine, cloud, machine_type, disk) for disk in disks)
    slow = replace(slow, journals_data=True)
    return NetworkTruth(
        {"mount-options"},
        Kind(slow, defined(cloud, machine_type, disks[0])),
        Kind(fast, defined(cloud, machine_type, disks[1])),
    )


def idle_disks(dice: random.Random) -> NetworkTruth:
    """The boot disks differ, but the places are on local SSDs, of which one side has fewer."""
    machine_type = dice.choice(GOOGLE.machines)
    machine = replace(base(dice), instance_type=machine_type)
    fast = replace(machine, disks=machine.disks[:1] * 2)
    slow = replace(machine, disks=machine.disks[:1])
    kinds = [
        Kind(each, defined(GOOGLE, machine_type, google_disk(dice), len(each.disks)))
        for each in (slow, fast)
    ]
    return NetworkTruth({"device-count"}, kinds[0], kinds[1])


def absorbed(dice: random.Random) -> NetworkTruth:
    """The caps differ, but the page cache takes all copies; lookups make the difference."""
    truth = by_size(dice)
    slow = replace(truth.slow.machine, resident_share=1.0, lookup_held_ms=dice.uniform(20, 60))
    fast = replace(truth.fast.machine, resident_share=1.0)
    return truth._replace(
        right={"lookup-cost", "image-and-tools"},
        beside={"spawn-cost"},
        slow=truth.slow._replace(machine=slow),
        fast=truth.fast._replace(machine=fast),
        destination="unlink",
        ratio=None,
    )


def limited(dice: random.Random) -> NetworkTruth:
    """A cgroup limits the slower side below its disk's cap, which is as high or higher."""
    truth = by_size(dice)
    rate = truth.slow.machine.disks[0].write_mb_per_s
    slow = replace(truth.fast.machine, write_limit_mb_per_s=rate * dice.uniform(0.5, 0.7))
    return NetworkTruth(
        {"cgroup-io-limit"},
        truth.fast._replace(machine=slow),
        truth.slow if dice.random() < 0.5 else truth.fast,
    )


def hidden(dice: random.Random) -> NetworkTruth:
    """Both have the same cap; something that is not seen makes one side's disk slower."""
    truth = by_size(dice)
    disk = truth.fast.machine.disks[0].divided(dice.uniform(1.6, 2.6))
    slow = replace(truth.fast.machine, disks=(disk,))
    return NetworkTruth(SPEED, truth.fast._replace(machine=slow), truth.fast)


def contradiction(dice: random.Random) -> NetworkTruth:
    """The definition is of another disk than the worker sees."""
    truth = by_size(dice)
    of_slow, of_fast = truth.slow.defined, truth.fast.defined
    assert of_slow is not None
    assert of_fast is not None
    disk = of_slow.boot_disk
    assert disk is not None
    wrong = structs.replace(disk, size_gib=(disk.size_gib or 100) * 2)
    return NetworkTruth(
        SPEED, truth.slow._replace(defined=structs.replace(of_slow, boot_disk=wrong)), truth.fast
    )


def burst_that_ends(dice: random.Random) -> NetworkTruth:
    """A small disk spends its credits within the run; the faster side's never bursts."""
    machine_type = "D32ads_v5"
    slow_disk = NetworkDisk("Premium_LRS", dice.choice([64, 128]))
    fast_disk = NetworkDisk("Premium_LRS", dice.choice([1024, 2048]))
    caps = AZURE.caps(machine_type, slow_disk)
    machine = base(dice)
    slow = on_network(machine, AZURE, machine_type, slow_disk)
    burst = caps.burst * MIB / MB
    slow = replace(
        slow,
        disks=(Disk(burst, burst),),
        slows_down_after_gib=dice.uniform(2.5, 5),
        slows_down_factor=caps.disk / caps.burst,
    )
    fast = on_network(machine, AZURE, machine_type, fast_disk)
    return NetworkTruth(
        SIZE | DRIFT,
        Kind(slow, defined(AZURE, machine_type, slow_disk)),
        Kind(fast, defined(AZURE, machine_type, fast_disk)),
    )


def small_standard_disk(dice: random.Random) -> NetworkTruth:
    """A small standard disk, of which the cloud's statements differ, against a larger one."""
    machine_type = dice.choice(GOOGLE.machines)
    disks = NetworkDisk("pd-standard", dice.choice([60, 75])), NetworkDisk("pd-standard", 500)
    machine = base(dice)
    slow = on_network(machine, GOOGLE, machine_type, disks[0])
    if dice.random() < 0.5:
        slow = replace(slow, disks=(Disk(12, 12),))
    return NetworkTruth(
        SIZE,
        Kind(slow, defined(GOOGLE, machine_type, disks[0])),
        Kind(
            on_network(machine, GOOGLE, machine_type, disks[1]),
            defined(GOOGLE, machine_type, disks[1]),
        ),
        ratio=60 * MIB / MB / slow.disks[0].write_mb_per_s,
    )


def credits_alike(dice: random.Random) -> NetworkTruth:
    """The same disk on both sides, of which one spends its credits within the run."""
    truth = burst_that_ends(dice)
    fast = replace(truth.slow.machine, slows_down_after_gib=0.0)
    return NetworkTruth(DRIFT | SPEED, truth.slow, truth.slow._replace(machine=fast))


def credits_spent(dice: random.Random) -> NetworkTruth:
    """The same disk on both sides, of which one has no credits from the start."""
    truth = credits_alike(dice)
    machine = truth.slow.machine
    rate = machine.disks[0].write_mb_per_s * machine.slows_down_factor
    slow = replace(machine, disks=(Disk(rate, rate),), slows_down_after_gib=0.0)
    return NetworkTruth(SPEED, truth.slow._replace(machine=slow), truth.fast)


def to(destination: str, memory_gib: int = 32) -> Callable[[random.Random], NetworkTruth]:
    """Copies to another destination wait for reads, or only once memory is full."""

    def truth_of(dice: random.Random) -> NetworkTruth:
        truth = by_size(dice)
        slow, fast = (
            kind._replace(machine=replace(kind.machine, memory_gib=memory_gib))
            for kind in (truth.slow, truth.fast)
        )
        return truth._replace(slow=slow, fast=fast, destination=destination, ratio=None)

    return truth_of


def shows(truth: NetworkTruth) -> bool:
    """Return whether the sizes and rates of both sides show what limits them."""
    for kind in (truth.slow, truth.fast):
        machine = kind.machine
        cloud = "amazon" if machine.cloud == "aws" else machine.cloud
        rate = machine.disks[0].write_mb_per_s * MB
        caps = candidates(cloud, machine.instance_type or "", rate, machine.network_gib)
        if len({cap.writes_bound_by for cap in caps}) != 1:
            return False
    return True


TRUTHS: dict[str, Callable[[random.Random], NetworkTruth]] = {
    "size": by_size,
    "size, no definition": lambda dice: by_size(dice, is_defined=False),
    "machine": by_machine,
    "machine, no definition": lambda dice: by_machine(dice, is_defined=False),
    "local SSDs, by design": lambda dice: against_local(dice, "by design"),
    "local SSDs, by fallback": lambda dice: against_local(dice, "by fallback"),
    "local SSDs, nobody says why": lambda dice: against_local(dice, "unknown"),
    "sizes that do not bind": not_binding,
    "idle network disks": idle_disks,
    "absorbed": absorbed,
    "limited by a cgroup": limited,
    "hidden": hidden,
    "contradiction": contradiction,
    "burst": burst_that_ends,
    "small standard disk": small_standard_disk,
    "credits, same disk": credits_alike,
    "credits spent, same disk": credits_spent,
    "first reads": to("unlink"),
    "full memory": to("fresh", memory_gib=8),
}


def pools(truth: NetworkTruth, dice: random.Random, share: float, workers: int = 3) -> list[Pool]:
    """Return both pools; this share of the facts that cost nothing differs."""
    made = {SLOW: truth.slow.machine, FAST: truth.fast.machine}
    for name, (value, *_) in situations.IRRELEVANT.items():
        is_alike = getattr(made[FAST], name) == getattr(made[SLOW], name)
        if truth.destination == "fresh" and name in situations.MEMORY_FACTS:
            continue
        if is_alike and name != "disk_model" and dice.random() < share:
            side = dice.choice([FAST, SLOW])
            made[side] = replace(made[side], **{name: value})
    return [Pool(name, machine, workers) for name, machine in made.items()]
