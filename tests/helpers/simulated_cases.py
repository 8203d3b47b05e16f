# SPDX-License-Identifier: MPL-2.0
"""Investigations with a known truth: what makes one pool of simulated machines slower than another.

A truth changes what a machine can do and the facts that show it. An irrelevant difference changes a
fact that costs nothing where it is used. `CASES` were written before the rules.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from simulated_machine import MIB, Machine
from simulated_push import Pool

GIB = 1024 * MIB
Change = Callable[[Machine], Machine]
# By the names of the seed's pools, which a record of the queue can be made for.
SLOW, FAST = "amd-16", "intel"
DISK_BOUND, CPU_BOUND = "overwrite", "unlink"


@dataclass(frozen=True)
class Truth:
    """A change that costs time, the causes that name it, and the destination where it does."""

    change: Change
    causes: frozenset[str]
    destination: str = DISK_BOUND
    on_both: Change = lambda machine: machine  # what it needs to cost time


@dataclass(frozen=True)
class Case:
    """A slow and a fast machine; `causes`: for each truth the names that are right for it."""

    name: str
    slow: Machine
    fast: Machine
    causes: tuple[frozenset[str], ...]
    destination: str = DISK_BOUND
    bad_worker: int | None = None  # only this worker of the slow pool has the slow machine
    swapped: bool = False  # the slow pool is the baseline
    workers: int = 3

    @property
    def right(self) -> frozenset[str]:
        return frozenset().union(*self.causes)

    def pools(self) -> tuple[Pool, Pool]:
        if self.bad_worker is None:
            slow = Pool(SLOW, self.slow, self.workers)
        else:
            slow = Pool(SLOW, self.fast, self.workers, {self.bad_worker: self.slow})
        return slow, Pool(FAST, self.fast, self.workers)


# --- changes ---


def disks(count: int, **what: Any) -> Change:
    def change(machine: Machine) -> Machine:
        new = tuple(replace(machine.storage.disks[0], **what) for _ in range(count))
        return replace(machine, storage=replace(machine.storage, disks=new))

    return change


def _of_part(name: str) -> Callable[..., Change]:
    """Return how to make changes of one part of a machine."""

    def changing(**what: Any) -> Change:
        return lambda machine: replace(machine, **{name: replace(getattr(machine, name), **what)})

    return changing


storage, limits, cpu, image, neighbours = map(
    _of_part, ("storage", "limits", "cpu", "image", "neighbours")
)


def other(**what: Any) -> Change:
    return lambda machine: replace(machine, **what)


def every_disk(**what: Any) -> Change:
    return lambda machine: disks(len(machine.storage.disks), **what)(machine)


def _truth(
    change: Change,
    *causes: str,
    where: str = DISK_BOUND,
    on_both: Change = lambda machine: machine,
) -> Truth:
    return Truth(change, frozenset(causes), where, on_both)


BURST = "fresh"
_SMALL_BURST = other(dirty_ratio=5, resident_share=1.0)
_LONG_LIST, _CROWDED = image(lookup_factor=20.0), neighbours(runnable_per_cpu=1.5)
TRUTHS: Mapping[str, Truth] = {
    "one disk": _truth(disks(1), "device-count"),
    "linear volume": _truth(storage(striped=False), "linear-volume"),
    "boot disk": _truth(
        disks(1, is_boot_disk=True, write_mib_per_s=150.0, read_mib_per_s=150.0),
        # It is one disk, and a slow one.
        *("boot-disk-fallback", "device-count", "disk-speed"),
    ),
    "slower disks": _truth(every_disk(write_mib_per_s=220.0, model="nvme_card_old"), "disk-speed"),
    # Of disks that write as fast: the cache is cold.
    "slow reads": _truth(every_disk(read_mib_per_s=120.0), "disk-speed"),
    # Of the machine as a whole, by its provider: no fact shows it.
    "cap of the cloud": _truth(every_disk(write_mib_per_s=220.0), "disk-speed"),
    "write limit": _truth(limits(write_bytes_per_s=300.0 * MIB), "cgroup-io-limit"),
    "write operations limit": _truth(limits(write_iops=1200.0), "cgroup-io-limit"),
    "read limit, little memory": _truth(
        limits(read_bytes_per_s=300.0 * MIB, memory_bytes=2.0 * GIB),
        *("cgroup-memory-limit", "cgroup-io-limit"),
    ),
    # Only until the last file was read.
    "read limit while the cache is cold": _truth(
        limits(read_bytes_per_s=100.0 * MIB), "cgroup-io-limit", on_both=other(resident_share=0.6)
    ),
    "write limit after a burst": _truth(
        limits(write_bytes_per_s=150.0 * MIB),
        "cgroup-io-limit",
        where=BURST,
        on_both=_SMALL_BURST,
    ),
    "one disk after a burst": _truth(disks(1), "device-count", where=BURST, on_both=_SMALL_BURST),
    "little memory": _truth(limits(memory_bytes=2.0 * GIB), "cgroup-memory-limit", where=CPU_BOUND),
    "small memory": _truth(
        other(memory_gib=2), "dirty-limit", where=BURST, on_both=other(resident_share=1.0)
    ),
    "half a CPU": _truth(limits(cpus=0.4), "cgroup-cpu-limit", where=CPU_BOUND),
    "slow CPU": _truth(
        cpu(speed=0.55, model="Intel(R) Xeon(R) CPU @ 2.00GHz"), "cpu", where=CPU_BOUND
    ),
    "throttled CPU": _truth(cpu(speed=0.55), "cpu", where=CPU_BOUND),
    "stolen CPU": _truth(cpu(stolen_share=0.35), "cpu", where=CPU_BOUND),
    "competitors": _truth(neighbours(runnable_per_cpu=0.8), "other-load", where=CPU_BOUND),
    "writing neighbour": _truth(neighbours(same_disk_write_mib_per_s=350.0), "other-load"),
    "data in the journal": _truth(storage(journals_data=True), "mount-options"),
    "synchronous mount": _truth(storage(synchronous=True), "mount-options", where=CPU_BOUND),
    "slow kernel": _truth(
        other(kernel="5.4.0-1040-gcp", kernel_factor=2.0), "kernel", where=CPU_BOUND
    ),
    "slow grep": _truth(
        image(grep_version="3.1", lookup_factor=30.0),
        *("image-and-tools", "lookup-cost"),
        where=CPU_BOUND,
    ),
    "slow process starts": _truth(
        image(process_start_ns=9e6), "spawn-cost", "lookup-cost", where=CPU_BOUND
    ),
    "memory on first touch": _truth(
        other(first_touch_ns_per_mib=250_000.0), "memory-first-touch", where=CPU_BOUND
    ),
    "scanner": _truth(
        other(scan_ns=70e6),
    ),
    "slow copying": _truth(
        other(kernel="5.4.0-1040-gcp", copy_factor=3.0),
        *("kernel", "memory-first-touch"),
        where=CPU_BOUND,
    ),
    "throttled CPU, little user time": _truth(
        cpu(speed=0.55), "cpu", where=CPU_BOUND, on_both=other(user_factor=0.01)
    ),
    "slow CPU, another kernel, little user time": _truth(
        lambda machine: other(kernel="5.4.0-1040-gcp")(
            cpu(speed=0.55, model="Intel(R) Xeon(R) CPU @ 2.00GHz")(machine)
        ),
        "cpu",
        where=CPU_BOUND,
        on_both=other(user_factor=0.01),
    ),
    # Who waits for a CPU waits for others: lookups that take longer for that are no cause.
    "competitors, long list": _truth(_CROWDED, "other-load", where=CPU_BOUND, on_both=_LONG_LIST),
    # More work on CPUs that are as crowded.
    "longer list": _truth(
        image(lookup_factor=30.0), "lookup-cost", where=CPU_BOUND, on_both=_CROWDED
    ),
    "disks that slow down": _truth(other(slows_down_by=0.8), "drift-over-time"),
}

IRRELEVANT: Mapping[str, Change] = {
    "mount option": storage(harmless_options=("commit=30",)),
    # Each counts as the slower setting, and costs a copy nothing.
    "short commit interval": storage(harmless_options=("commit=1",)),
    "strictatime": storage(harmless_options=("strictatime",)),
    "another kernel": other(kernel="6.5.0-1016-gcp"),
    "unreached write limit": limits(write_bytes_per_s=6.0 * GIB),
    "unreached operations limit": limits(write_iops=80_000.0),
    # Near enough to what is reached that only its course shows it.
    "write limit just above the disks": limits(write_bytes_per_s=1100.0 * MIB),
    "read limit just above the disks": limits(read_bytes_per_s=1900.0 * MIB),
    "operations limit of large requests": limits(write_iops=8_000.0),
    "unreached memory limit": limits(memory_bytes=48.0 * GIB),
    "unreached CPU limit": limits(cpus=8.0),
    "CPU limit of one and a half": limits(cpus=1.5),
    "bfq": every_disk(scheduler="bfq"),
    "mq-deadline": every_disk(scheduler="mq-deadline"),
    "another CPU as fast": cpu(model="Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz"),
    "more CPUs": cpu(count=30),
    "another grep as fast": image(grep_version="3.11"),
    "dirty ratio": other(dirty_ratio=15),
    "a neighbour blocked on another disk": neighbours(other_disk_blocked_share=0.5),
    "a little steal": cpu(stolen_share=0.004),
    "another disk model": every_disk(model="nvme_card_pd"),
    "more memory": other(memory_gib=120),
}
# Costs nothing where the disks are idle.
IRRELEVANT_WITHOUT_DISKS: Mapping[str, Change] = {
    "one disk": disks(1),
    "linear volume": storage(striped=False),
    "slower disks": every_disk(write_mib_per_s=250.0, model="nvme_card_old"),
    "write limit": limits(write_bytes_per_s=200.0 * MIB),
}

BASE = Machine()


def changed(*changes: Change) -> Machine:
    """Return the usual machine with these changes."""
    machine = BASE
    for change in changes:
        machine = change(machine)
    return machine


def make(
    truths: tuple[str, ...],
    irrelevant: tuple[str, ...] = (),
    *,
    irrelevant_of_fast: tuple[str, ...] = (),
    bad_worker: int | None = None,
    swapped: bool = False,
    workers: int = 3,
) -> Case:
    """Put a case together; the name lists its parts."""
    where = TRUTHS[truths[0]].destination
    known = {**IRRELEVANT, **(IRRELEVANT_WITHOUT_DISKS if where == CPU_BOUND else {})}
    # A cold cache would be read from the disks, which are idle only with a warm one.
    slow = fast = replace(BASE, resident_share=1.0) if where == CPU_BOUND else BASE
    for name in truths:
        slow, fast = TRUTHS[name].on_both(slow), TRUTHS[name].on_both(fast)
    for name in truths:
        slow = TRUTHS[name].change(slow)
    for name in irrelevant:
        slow = known[name](slow)
    for name in irrelevant_of_fast:
        fast = known[name](fast)
    facts = (*irrelevant, *(f"{name} of the fast side" for name in irrelevant_of_fast))
    name = " and ".join(truths) + (f", with {', '.join(facts)}" if facts else "")
    name += f", worker {bad_worker} alone" if bad_worker is not None else ""
    name += ", swapped" if swapped else ""
    causes = tuple(TRUTHS[truth].causes for truth in truths)
    return Case(name, slow, fast, causes, where, bad_worker, swapped, workers)


SINGLE = tuple(make((name,)) for name in TRUTHS)
WITH_IRRELEVANT = (
    *(make(("one disk",), (name,)) for name in IRRELEVANT),
    *(make(("slow grep",), (name,)) for name in IRRELEVANT_WITHOUT_DISKS),
    make(("one disk",), irrelevant_of_fast=("a neighbour blocked on another disk", "more memory")),
    make(("one disk",), irrelevant_of_fast=("operations limit of large requests",)),
    make(("one disk after a burst",), ("read limit just above the disks",)),
    make(("cap of the cloud",), ("short commit interval", "another kernel")),
    make(("writing neighbour",), ("write limit just above the disks",)),
    make(("data in the journal",), ("write limit just above the disks", "bfq")),
    make(("stolen CPU",), ("slower disks", "another kernel")),
    make(("half a CPU",), ("unreached write limit", "one disk")),
)
TWO_TRUTHS = (
    make(("one disk", "data in the journal")),
    make(("one disk", "slower disks")),
    make(("slower disks", "writing neighbour")),
    make(("linear volume", "slower disks")),
    make(("slow CPU", "slow grep")),
    make(("slow CPU", "competitors")),
    make(("slow grep", "memory on first touch")),
    make(("slow kernel", "slow grep")),
    make(("stolen CPU", "slow process starts")),
    make(("half a CPU", "slow grep")),
)
_BAD = (
    *("one disk", "slower disks", "boot disk", "writing neighbour", "write limit", "slow CPU"),
    *("stolen CPU", "competitors", "slow grep", "half a CPU"),
)
ONE_BAD_WORKER = tuple(
    make((name,), bad_worker=number % 5, workers=5) for number, name in enumerate(_BAD)
)
SWAPPED = (
    make(("one disk",), ("bfq",), swapped=True),
    make(("write limit",), ("another kernel",), swapped=True),
    make(("slow CPU",), ("one disk",), swapped=True),
)
CASES = SINGLE + WITH_IRRELEVANT + TWO_TRUTHS + ONE_BAD_WORKER + SWAPPED
