# SPDX-License-Identifier: MPL-2.0
"""What makes a simulated machine slower, which causes name it, and what costs nothing.

A truth changes what a machine can do and the facts that show it. An irrelevant fact costs nothing
where it is used. The truths were written before the rules.
"""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from simulated_machine import Disk, Machine

Change = Callable[[random.Random, Machine], Machine]
# By the names of the seed's pools, which a record of the queue can be made for.
SLOW, FAST = "amd-16", "intel"
BASE = Machine()
ONE_DISK = replace(BASE, disks=BASE.disks[:1])


class Truth(NamedTuple):
    """The causes that are right for a change of one side, and those that may be named as well."""

    right: frozenset[str] | set[str]
    slow: Change
    both: Change = lambda _dice, machine: machine
    beside: frozenset[str] | set[str] = frozenset()
    destination: str = "overwrite"

    def together_with(self, second: "Truth") -> "Truth":
        slow = joined(self.slow, second.slow)
        causes = (self.right | second.right, self.beside | second.beside)
        return self._replace(right=causes[0], slow=slow, beside=causes[1])

    def beside_idle(self, second: "Truth") -> "Truth":
        """What the second one changes costs nothing, because nothing waits for the disks."""
        slow, both = joined(second.slow, self.slow), joined(second.both, WARM)
        return self._replace(slow=slow, both=both, destination="unlink")


# --- changes ---


def factor(dice: random.Random, low: float, high: float) -> float:
    return math.exp(dice.uniform(math.log(low), math.log(high)))


def joined(*changes: Change) -> Change:
    def change(dice: random.Random, machine: Machine) -> Machine:
        for each in changes:
            machine = each(dice, machine)
        return machine

    return change


def drawn(**ranges: Any) -> Change:
    """Set facts: to one of a list, or to a number between two."""

    def change(dice: random.Random, machine: Machine) -> Machine:
        facts: dict[str, Any] = {
            name: dice.choice(ends) if isinstance(ends, list) else dice.uniform(*ends)
            for name, ends in ranges.items()
        }
        return replace(machine, **facts)

    return change


def multiplied(low: float, high: float, *names: str) -> Change:
    """Multiply facts by one factor."""

    def change(dice: random.Random, machine: Machine) -> Machine:
        times = factor(dice, low, high)
        return replace(machine, **{name: times * getattr(machine, name) for name in names})

    return change


def divided(low: float, high: float, *names: str) -> Change:
    """Slow all disks down by one factor, in everything or in what is named."""

    def change(dice: random.Random, machine: Machine) -> Machine:
        slower = factor(dice, low, high)
        disk = machine.disks[0]
        rates = {name: getattr(disk, name) / slower for name in names or disk._fields}
        return replace(machine, disks=(disk._replace(**rates),) * len(machine.disks))

    return change


def disks(*counts: int) -> Change:
    return lambda dice, machine: replace(machine, disks=machine.disks[:1] * dice.choice(counts))


def limit(low: float, high: float, kind: str = "write") -> Change:
    """Limit each disk to a part of what it writes or reads."""

    def change(dice: random.Random, machine: Machine) -> Machine:
        rate = getattr(machine.disks[0], f"{kind}_mb_per_s") * dice.uniform(low, high)
        return replace(machine, **{f"{kind}_limit_mb_per_s": rate})

    return change


def half_the_disks(dice: random.Random, machine: Machine) -> Machine:
    count = max(1, len(machine.disks) // 2) if dice.random() < 0.5 else 1
    return replace(machine, disks=machine.disks[:count])


def boot_disk(dice: random.Random, machine: Machine) -> Machine:
    disk = machine.disks[0].divided(factor(dice, 1.3, 4) / len(machine.disks))
    return replace(machine, is_boot_disk=True, disks=(disk,))


SLOWER = divided(1.15, 2.5)
NEIGHBOUR = drawn(neighbour_share=(0.25, 0.6))
FEWER, JOURNAL = disks(1), drawn(journals_data=[True])
BUSY_CPU = divided(0.12, 0.12)  # disks so fast that the CPU decides
OLD_KERNEL = drawn(kernel=["6.1.0-31-cloud-amd64"])
SLOW_CPU = multiplied(1.2, 2, "user_factor", "kernel_factor")
OTHER_SLOW_CPU = joined(SLOW_CPU, drawn(cpu_model=["Intel(R) Xeon(R) CPU @ 3.10GHz"]))
SLOW_KERNEL = multiplied(1.2, 2, "kernel_factor")
SLOW_COPIES = multiplied(1.3, 2.5, "copy_factor")
SLOW_MEMORY = multiplied(1.3, 2.5, "copy_factor", "touch_ns_per_mib")
SLOW_TOUCH = joined(multiplied(4, 12, "touch_ns_per_mib"), drawn(new_page_share=[0.5]))
LONG_LOOKUPS = drawn(grep_ns=(5e6, 21e6))
SLOW_GREP = joined(LONG_LOOKUPS, drawn(grep_version=["3.11"]))
COMPETITORS = drawn(competitors_per_cpu=(0.4, 2))
LITTLE_MEMORY = drawn(memory_limit_gib=(1, 4))
FULL_CELLS = drawn(slows_down_after_gib=(5, 8), slows_down_factor=(0.25, 0.5))
MUCH_MEMORY = drawn(memory_gib=[120], dirty_ratio=[60])
FEW_FAST_DISKS = joined(divided(0.06, 0.06), disks(2))
# Copies whose bytes never reach a disk, and those that wait after a burst alone.
WARM, BURST = drawn(resident_share=[1.0]), drawn(resident_share=[1.0], dirty_ratio=[5])
LITTLE_USER_TIME = joined(BUSY_CPU, multiplied(0.01, 0.01, "grep_ns"))
IO, OPTIONS, LOOKUPS = {"cgroup-io-limit"}, {"mount-options"}, {"lookup-cost", "image-and-tools"}
SPAWN, COUNT, SPEED, BOOT = {"spawn-cost"}, {"device-count"}, {"disk-speed"}, {"boot-disk-fallback"}
MEMORY, TOUCH, KERNEL, CPU = {"cgroup-memory-limit"}, {"memory-first-touch"}, {"kernel"}, {"cpu"}
LOAD, NETWORK = {"other-load"}, {"network-disk"}
LOCAL_SSDS = drawn(instance_type=["c3d-standard-16-lssd"])
TRUTHS = {
    "fewer disks": Truth(COUNT, half_the_disks, disks(2, 3, 4), BOOT | NETWORK),
    "fewer disks after a burst": Truth(COUNT, FEWER, joined(disks(2), BURST), destination="fresh"),
    "slower disks": Truth(SPEED, SLOWER),
    "slower disks, other model": Truth(SPEED, joined(SLOWER, drawn(disk_model=["nvme_card"]))),
    "slower disks beside a limit above": Truth(SPEED, joined(SLOWER, limit(1.1, 1.6))),
    "slower disks beside a read limit": Truth(SPEED, joined(SLOWER, limit(1.1, 1.6, "read"))),
    # The cache is cold.
    "slow reads": Truth(SPEED, divided(4, 8, "read_mb_per_s")),
    "linear": Truth({"linear-volume"}, drawn(layout=["linear"]), disks(2, 2, 4), COUNT),
    "mirror": Truth({"mirrored-volume"}, drawn(layout=["mirror"]), disks(2)),
    "boot disk": Truth(NETWORK | SPEED, boot_disk, beside=COUNT),
    "boot disk beside local SSDs": Truth(
        BOOT | SPEED, joined(boot_disk, LOCAL_SSDS), LOCAL_SSDS, COUNT
    ),
    "write limit": Truth(IO, limit(0.4, 0.87)),
    "write limit of faster disks": Truth(IO, joined(limit(0.4, 0.87), divided(0.5, 0.5))),
    "write limit after a burst": Truth(IO, limit(0.2, 0.5), BURST, destination="fresh"),
    "limit of writes": Truth(IO, drawn(write_limit_per_s=(400, 700))),
    "read limit": Truth(IO, limit(0.15, 0.4, "read"), drawn(memory_gib=[64])),
    "read limit, half of the cache warm": Truth(
        IO, limit(0.04, 0.08, "read"), joined(disks(2), drawn(resident_share=[0.6]))
    ),
    "memory limit": Truth(MEMORY, LITTLE_MEMORY, divided(2, 2)),
    "memory limit, idle disks": Truth(MEMORY, LITTLE_MEMORY, WARM, destination="unlink"),
    "quota": Truth({"cgroup-cpu-limit"}, drawn(quota_cpus=(0.3, 0.8)), BUSY_CPU),
    "slow CPU": Truth(CPU, OTHER_SLOW_CPU, BUSY_CPU),
    "slow CPU, same model": Truth(CPU, SLOW_CPU, BUSY_CPU),
    "slow CPU, little user time": Truth(CPU, SLOW_CPU, LITTLE_USER_TIME),
    "slow CPU, other kernel, little user time": Truth(
        CPU, joined(OTHER_SLOW_CPU, OLD_KERNEL), LITTLE_USER_TIME
    ),
    "steal": Truth(CPU, drawn(stolen_share=(0.2, 0.5)), BUSY_CPU),
    "slow kernel": Truth(KERNEL, joined(SLOW_KERNEL, OLD_KERNEL), BUSY_CPU),
    "slow copying kernel": Truth(KERNEL, joined(SLOW_COPIES, OLD_KERNEL), BUSY_CPU),
    "slow memory": Truth(CPU | TOUCH | KERNEL, SLOW_MEMORY, BUSY_CPU),
    "first touch": Truth(TOUCH, SLOW_TOUCH, BUSY_CPU),
    "scanner": Truth(set(), drawn(scan_ms=(30, 250))),
    "scanner by size": Truth(set(), drawn(scan_ms_per_mib=(0.5, 4))),
    "scanner, fast disks": Truth(set(), drawn(scan_ms=(10, 100)), BUSY_CPU),
    "scanner beside fewer disks": Truth(
        set(), joined(drawn(scan_ms=(20, 250)), FEWER), FEW_FAST_DISKS
    ),
    # The limit is reached, and costs a part.
    "scanner beside a limit": Truth(
        set(), joined(drawn(scan_ms=(60, 250)), limit(0.3, 0.9)), divided(0.3, 0.3), IO
    ),
    "lookups held": Truth(LOOKUPS, drawn(lookup_held_ms=(5, 60)), BUSY_CPU, SPAWN),
    "lookups held beside fewer disks": Truth(
        LOOKUPS, joined(drawn(lookup_held_ms=(10, 60)), FEWER), FEW_FAST_DISKS, SPAWN
    ),
    "slow grep": Truth(LOOKUPS, SLOW_GREP, BUSY_CPU, SPAWN),
    "longer list, crowded CPUs": Truth(
        LOOKUPS, LONG_LOOKUPS, joined(BUSY_CPU, drawn(competitors_per_cpu=[1.5])), SPAWN
    ),
    "slow process start": Truth(
        {"lookup-cost", "spawn-cost"}, drawn(process_ns=(5e6, 21e6)), BUSY_CPU, LOOKUPS
    ),
    "ext4 flush": Truth(
        {"ext4-flush"},
        drawn(flushes_rewritten_files=[True]),
        drawn(flushes_rewritten_files=[False]),
        OPTIONS,
    ),
    "dirty limit": Truth(
        {"dirty-limit"}, drawn(dirty_ratio=[1, 2, 3]), MUCH_MEMORY, destination="fresh"
    ),
    "small memory": Truth({"dirty-limit"}, drawn(memory_gib=[2]), WARM, destination="fresh"),
    "CPU competitors": Truth(LOAD, COMPETITORS, BUSY_CPU),
    # Who waits for a CPU waits for others: lookups that take longer for that are no cause.
    "CPU competitors, long lookups": Truth(LOAD, COMPETITORS, joined(BUSY_CPU, LONG_LOOKUPS)),
    "disk neighbour": Truth(LOAD, NEIGHBOUR),
    "disk neighbour beside a limit": Truth(LOAD, joined(NEIGHBOUR, limit(1.3, 1.6))),
    "journal": Truth(OPTIONS, JOURNAL),
    "journal beside a limit": Truth(OPTIONS, joined(JOURNAL, limit(1.3, 1.6))),
    "sync": Truth(OPTIONS, drawn(synchronous=[True])),
    "step": Truth({"drift-over-time"}, FULL_CELLS, beside=SPEED),
}
TOGETHER = {
    "read limit": ("memory limit",),
    "journal": ("fewer disks",),
    "slower disks": ("fewer disks", "linear", "disk neighbour"),
    "slow grep": ("slow CPU", "slow kernel", "first touch", "quota"),
    "CPU competitors": ("slow CPU",),
    "slow process start": ("steal",),
}
IDLE = {
    "fewer disks": ("quota", "slow grep"),
    "slower disks, other model": ("steal", "slow grep"),
    "linear": ("slow grep",),
    "write limit": ("slow grep",),
}
for second, firsts in TOGETHER.items():
    for first in firsts:
        TRUTHS[f"{first} and {second}"] = TRUTHS[first].together_with(TRUTHS[second])
for second, firsts in IDLE.items():
    for first in firsts:
        TRUTHS[f"{first}, idle {second}"] = TRUTHS[first].beside_idle(TRUTHS[second])
# They cost nothing, on either side, where both are alike otherwise. The first of each is in all
# simulations; the others look like what costs time.
IRRELEVANT: Mapping[str, tuple[Any, ...]] = {
    "kernel": ("6.11.0-1011-gcp",),
    "scheduler": ("mq-deadline", "bfq"),
    "harmless_options": (("stripe=32",), ("commit=30",), ("commit=1",), ("strictatime",)),
    "cp_version": ("9.4",),
    "cpu_model": ("AMD EPYC 7B13",),
    "zone": ("us-west1-b",),
    "swappiness": (10,),
    "dirty_ratio": (40, 15),
    "write_limit_mb_per_s": (9000.0, 1100.0),
    "write_limit_per_s": (80_000.0, 8000.0),
    "read_limit_mb_per_s": (9000.0, 1900.0),
    "memory_limit_gib": (30.0,),
    "quota_cpus": (4.0, 1.5),
    "memory_gib": (240,),
    "cpus": (60,),
    "grep_version": ("3.12",),
    "disk_model": ("nvme_card_pd",),
    "blocked_elsewhere_share": (0.5,),
    "stolen_share": (0.004,),
}
# Where each copy is a new file, they decide what waits.
MEMORY_FACTS = {"dirty_ratio", "memory_gib", "memory_limit_gib"}


def base(dice: random.Random) -> Machine:
    write = dice.uniform(250, 450)
    disk = Disk(write, write * dice.uniform(1.4, 2))
    return Machine(
        disks=(disk,) * dice.choice([1, 2, 2, 4]),
        cpus=dice.choice([8, 16, 30]),
        memory_gib=dice.choice([32, 64, 120]),
        user_factor=dice.uniform(0.8, 1.3),
        kernel_factor=dice.uniform(0.8, 1.3),
        copy_ns_per_mib=dice.uniform(90e3, 300e3),
        process_ns=dice.uniform(0.5e6, 1.6e6),
        grep_ns=dice.uniform(0.15e6, 0.8e6),
        stalls_per_gib=dice.choice([0, 0.05, 0.3]),
        new_page_share=dice.uniform(0.05, 0.5),
    )


def sides(truth: Truth, dice: random.Random, share: float) -> dict[str, Machine]:
    """Return the two machines; this share of the irrelevant facts differs."""
    fast = truth.both(dice, base(dice))
    made = {SLOW: truth.slow(dice, fast), FAST: fast}
    for name, (value, *_) in IRRELEVANT.items():
        is_alike = getattr(made[FAST], name) == getattr(made[SLOW], name)
        matters = truth.destination == "fresh" and name in MEMORY_FACTS
        if is_alike and not matters and dice.random() < share:
            side = dice.choice([FAST, SLOW])
            made[side] = replace(made[side], **{name: value})
    return made
