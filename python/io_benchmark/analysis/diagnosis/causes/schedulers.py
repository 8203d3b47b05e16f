# SPDX-License-Identifier: MPL-2.0
"""The disks' I/O scheduler; the two ways in which it makes synchronous writers wait come first.

Idling between groups: a writer and ext4's journal wait for each other while the disk is idle. It
needs four preconditions, and does not happen where one is absent. ext4's journal is a kernel thread
(jbd2), so it is always in the root group.

Starvation: bfq with strict guarantees and without idling. Measured on kernel 6.18: 19 to 20 ms per
write on ext4, where the same disk without a scheduler takes 0.15 ms. It depends on the order in which
the two were set: only times prove it.
"""

from collections.abc import Callable, Iterable
from functools import partial
from statistics import fmean

from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case, OtherMeasurement
from io_benchmark.analysis.diagnosis.evidence import SLOWER_AT_RATIO, tally
from io_benchmark.analysis.diagnosis.measured_gains import other_pool
from io_benchmark.analysis.diagnosis.rules import (
    Effect,
    Fact,
    Proof,
    RankedFact,
    Ranking,
    SideEvidence,
    cause,
)
from io_benchmark.analysis.observed.disks import FAIR_QUEUEING, described
from io_benchmark.analysis.observed.worker_view import LAYERED, View
from io_benchmark.analysis.parts.time_parts import Kind, in_copies
from io_benchmark.analysis.statements import Quantity, Statement, Unit, statement
from io_benchmark.results.machine import Device
from io_benchmark.results.trials import TrialKind

ORDER = 60
SYNC_WRITE = "sync-write"
_JOURNALLING = ("ext3", "ext4")
# Folders where a hierarchy is mounted whole: its root group.
_ROOT_GROUPS = ("cgroup", "blkio", "unified")
# Each in ms and, on later kernels, in µs as well.
_IDLING = ("slice_idle", "group_idle")
_STATES = {True: "met", False: "not met", None: "unknown"}
# A write that waits for less does not wait for the time slices of others.
_STARVES_NS = 10_000_000
_STARVING = "bfq with strict_guarantees=1 and slice_idle=0"

_Answer = tuple[bool | None, str]  # whether it is met (None: could not be seen), and what was seen
_FAIR_SETTINGS = (
    *("slice_idle", "slice_idle_us", "group_idle", "group_idle_us"),
    *("low_latency", "strict_guarantees"),
)


def _scheduled_disks(view: View) -> tuple[Device, ...] | None:
    """Return the place's disks, none for a place in memory; None where a scheduler is unseen."""
    if view.place is not None and view.place.kind == "memory":
        return ()
    if view.stack is None or any(disk.scheduler is None for disk in view.stack.disks):
        return None
    return view.stack.disks


def _listed(disks: Iterable[str]) -> Statement:
    return statement("{schedulers}", schedulers=", ".join(sorted(set(disks))) or "no disk")


def _idle_settings(disk: Device) -> dict[str, int]:
    """Return how long the scheduler idles; in µs only where that is under a millisecond."""
    settings = {}
    for name in _IDLING:
        ms, us = (disk.scheduler_settings.get(setting) for setting in (name, f"{name}_us"))
        if us is not None and not ms and us > 0:
            settings[f"{name}_us"] = us
        elif ms is not None or us is not None:
            settings[name] = ms if ms is not None else (us or 0) // 1000
    return settings


def _proved_by_sync_writes(case: Case, effect: Effect, measurement: OtherMeasurement) -> Effect:
    """Return the effect that a scheduler makes writers wait only if synchronous writes do wait."""
    if case.times_as_long(measurement) < SLOWER_AT_RATIO:
        effect = effect.evidence.opposes("Synchronous writes are as fast on the slower side.")
    elif not measurement.is_decided:
        effect = effect.evidence.unclear("The slower side may be slower at synchronous writes.")
    slower, faster = case.slower_first(measurement)
    effect = effect.also(
        "A synchronous write takes {slower} on the slower side and {faster} on the faster side "
        "(sync-write, {variant}).",
        slower=Quantity(slower.mean_ns, Unit.NANOSECONDS),
        faster=Quantity(faster.mean_ns, Unit.NANOSECONDS),
        variant=measurement.subject.variant,
    )
    return effect.may_be_chance() if effect.fact is Fact.UNCLEAR else effect


def _separate_group(view: View) -> _Answer:
    if view.host is not None and view.host.container is not None:
        # Inside a container its group looks like the root group.
        return True, "a container"
    # blkio where that is mounted, else the unified hierarchy.
    groups = view.limits.groups if view.limits is not None else {}
    group = groups.get("blkio", groups.get("unified"))
    if group is None:
        return None, "no hierarchy seen"
    last = group.rstrip("/").rsplit("/", 1)[-1]
    return (False, "the root group") if last in _ROOT_GROUPS else (True, last)


def _journal(view: View) -> _Answer:
    details = view.place.filesystem if view.place is not None else None
    if details is None:
        return None, "no file system seen"
    if details.type in LAYERED:
        return None, f"below {details.type}"
    return details.type in _JOURNALLING, details.type


def _fair_scheduler(view: View) -> _Answer:
    disks = _scheduled_disks(view)
    if disks is None:
        return None, "no scheduler seen"
    fair = [disk for disk in disks if disk.scheduler in FAIR_QUEUEING]
    names = sorted({disk.scheduler or "" for disk in fair or disks})
    return bool(fair), ", ".join(names) or "no disk"


def _idles(view: View) -> _Answer:
    disks = _scheduled_disks(view)
    if disks is None:
        return None, "no scheduler seen"
    fair = [disk for disk in disks if disk.scheduler in FAIR_QUEUEING]
    settings = [setting for disk in fair for setting in _idle_settings(disk).items()]
    above = {name: value for name, value in settings if value > 0}
    shortest = sorted((above or dict(settings)).items())
    listed = " ".join(f"{name}={value}" for name, value in shortest)
    # A scheduler without these settings never idles.
    return bool(above) if settings or not fair else None, listed or "none"


# The name of the observation, what is needed, and whether it is met.
_PRECONDITIONS: tuple[tuple[str, str, Callable[[View], _Answer]], ...] = (
    ("cgroup", "a separate cgroup", _separate_group),
    ("journal", "ext3 or ext4, its journal in the root group", _journal),
    ("scheduler", "bfq or cfq", _fair_scheduler),
    ("idle-settings", "idle settings above 0", _idles),
)


def _fact(name: str, see: Callable[[View], _Answer], view: View) -> Statement:
    met, seen = see(view)
    return statement(f"{name}: {_STATES[met]} ({{seen}})", seen=seen)


_OBSERVATIONS = [tally(key, partial(_fact, name, see)) for key, name, see in _PRECONDITIONS]


def _all_met(view: View) -> float | None:
    """Return 1 where each is met; one that is known not to be met decides, others may be unknown."""
    states = [see(view)[0] for _, _, see in _PRECONDITIONS]
    if False in states:
        return 0.0
    return None if None in states else 1.0


@cause(
    "scheduler-idling",
    "The slower side's I/O scheduler idles between the task's cgroup and ext4's journal.",
    workloads=frozenset(("cache-retrieve", SYNC_WRITE)),
    remedies={
        "set the scheduler none or mq-deadline, or its slice_idle and group_idle to 0": other_pool
    },
    acts_through=in_copies(Kind.BLOCKED),
)
def _scheduler_idling(case: Case) -> Effect:
    evidence = SideEvidence.of(case, *_OBSERVATIONS, has_summary=False)
    slower, faster = case.means(_all_met)
    if case.differs and slower == 0:
        states = {name: {see(view)[0] for view in case.slower} for _, name, see in _PRECONDITIONS}
        absent = [name for name, met in states.items() if False in met and True not in met]
        if absent:
            return evidence.opposes(f"Absent on the slower side: {'; '.join(absent)}.")
        return evidence.opposes("No worker of the slower side meets all four preconditions.")
    if slower is None or faster is None:
        side = "slower" if slower is None else "faster"
        return evidence.unseen(
            f"On the {side} side not all of the four preconditions could be seen."
        )
    if slower <= faster:
        how = "as many" if slower == faster else "more"
        return evidence.opposes(
            f"The faster side meets all four preconditions on {how} of its workers."
        )
    where = "more workers of the slower side" if faster else "the slower side alone"
    effect = evidence.supports(
        "All four preconditions are met on {where}: a synchronous write waits for the journal's "
        "thread, and the scheduler leaves the disk idle between the two.",
        where=where,
    )
    slowest_write = case.slowest(case.measured(SYNC_WRITE))
    if slowest_write is None:
        unproved = effect.also(f"Times of the workload {SYNC_WRITE} would prove it.")
        return replace(unproved, proof=Proof.SETTING)
    return _proved_by_sync_writes(case, effect, slowest_write)


def _may_starve(view: View) -> bool | None:
    disks = _scheduled_disks(view)
    if disks is None:
        return None
    strict = [disk for disk in disks if disk.scheduler_settings.get("strict_guarantees", 0) > 0]
    idle = [_idle_settings(disk).values() for disk in strict if disk.scheduler == "bfq"]
    return any(values and not any(values) for values in idle)


def _schedulers(view: View) -> Statement | None:
    disks = _scheduled_disks(view)
    if disks is None:
        return None
    strict = "strict_guarantees"
    settings = [
        [(strict, disk.scheduler_settings.get(strict)), *_idle_settings(disk).items()]
        for disk in disks
    ]
    return _listed(map(described, disks, settings))


@cause(
    "scheduler-starvation",
    "The slower side's I/O scheduler starves synchronous writers (bfq, strict guarantees).",
    workloads=frozenset(("cache-retrieve", SYNC_WRITE)),
    remedies={"set the scheduler none or mq-deadline, or its strict_guarantees to 0": other_pool},
    acts_through=in_copies(Kind.BLOCKED),
)
def _scheduler_starvation(case: Case) -> Effect:
    evidence = SideEvidence.of(case, tally("schedulers", _schedulers))
    slower_starves, faster_starves = case.means(_may_starve)
    if slower_starves is None or faster_starves is None:
        return evidence.unseen("The disks' scheduler could not be seen.")
    if not slower_starves:
        return evidence.opposes(f"No disk of the slower side is scheduled by {_STARVING}.")
    slowest_write = case.slowest(case.measured(SYNC_WRITE))
    if slowest_write is None:
        return evidence.unclear(
            f"{_STARVING} can delay a synchronous write by 20 ms. That depends on the order "
            "in which the two were set, so only times would show it.",
            workload=SYNC_WRITE,
        )
    slower, _ = case.slower_first(slowest_write)
    if slowest_write.is_decided and slower.mean_ns < _STARVES_NS:
        return evidence.opposes(
            "bfq has these settings, but a synchronous write takes {time}: it does not starve.",
            time=Quantity(slower.mean_ns, Unit.NANOSECONDS),
        )
    effect = evidence.supports(
        f"{_STARVING} delays each synchronous write until other time slices are over."
    )
    return _proved_by_sync_writes(case, effect, slowest_write)


def counted_as(case: Case) -> str | None:
    """Return the cause by which a scheduler makes writers wait, so that it counts once."""
    for rule in (_scheduler_idling, _scheduler_starvation):
        is_judged = case.differs and case.subject.workload in rule.workloads
        if is_judged and rule.judge(case).is_slower:
            return rule.name
    return None


def _scheduler(view: View) -> RankedFact | None:
    disks = _scheduled_disks(view)
    if not disks:
        return None
    is_fair = [disk.scheduler in FAIR_QUEUEING for disk in disks]
    settings = [
        [(name, disk.scheduler_settings.get(name)) for name in _FAIR_SETTINGS if fair]
        for disk, fair in zip(disks, is_fair, strict=True)
    ]
    return RankedFact(_listed(map(described, disks, settings)), fmean(is_fair))


_SCHEDULER = Ranking(
    name="schedulers",
    read=_scheduler,
    supports="Fair queueing (bfq, cfq) schedules the slower side's disks, which costs "
    "throughput on fast disks.",
    unseen="The disks' scheduler could not be seen.",
    same="Both sides have the same scheduler.",
    unranked="The schedulers differ, and the disk decides which is faster. Only equal "
    "schedulers would show it.",
    workload=SYNC_WRITE,
)


@cause(
    "scheduler",
    "The slower side's I/O scheduler delays requests.",
    workloads=frozenset(("cache-retrieve", "unpack", "random-io", SYNC_WRITE)),
    remedies={"set the scheduler none or mq-deadline": other_pool},
    acts_through=in_copies(Kind.BLOCKED),
    proof=Proof.SETTING,
    tried_by=TrialKind.PACE,
)
def _scheduler_choice(case: Case) -> Effect:
    effect = _SCHEDULER.judge(case)
    counted = counted_as(case)
    if effect.fact not in (Fact.SAME, Fact.OPPOSITE) and counted is not None:
        return effect.evidence.opposes(f"What they differ in counts as {counted}.")
    slowest_write = case.slowest(case.measured(SYNC_WRITE))
    if slowest_write is None or effect.fact is not Fact.UNCLEAR:
        return effect
    # Small synchronous writes wait for schedulers most.
    ratio = case.times_as_long(slowest_write)
    if ratio < SLOWER_AT_RATIO:
        return effect.evidence.opposes(
            "The schedulers differ, but synchronous writes are as fast with both."
        )
    unclear = effect.evidence.unclear(
        "The schedulers differ, but other differences can make synchronous writes slower as well. "
        "Only equal schedulers would show it."
    )
    if not slowest_write.is_decided or case.subject.workload == SYNC_WRITE:
        return unclear
    return unclear.also(
        "Synchronous writes take {ratio} as long.", ratio=Quantity(ratio, Unit.RATIO)
    )
