# SPDX-License-Identifier: MPL-2.0
"""The disks' I/O scheduler, and the two ways in which it makes synchronous writers wait.

Idling between groups: a writer and ext4's journal wait for each other while the disk is idle. It
needs four preconditions, and does not happen where one is absent. ext4's journal is a kernel thread
(jbd2), so it is always in the root group.

Starvation: bfq with strict guarantees and without idling. Measured on kernel 6.18: 19 to 20 ms per
write on ext4, where the same disk without a scheduler takes 0.15 ms. It depends on the order in
which the two were set: only times prove it.
"""

from collections.abc import Callable
from functools import partial
from statistics import fmean

from msgspec.structs import replace

from io_benchmark.analysis.explaining import effects, rules
from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.measured_gains import Push
from io_benchmark.analysis.model.cause import Change, Resource, Target
from io_benchmark.analysis.model.measurement import OtherMeasurement
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Quantity, Statement, Unit, ratio_of, statement
from io_benchmark.analysis.reading.disks import FAIR_QUEUEING, stack_of
from io_benchmark.analysis.reading.mounts import LAYERED
from io_benchmark.results.machine import LINUX, Device
from io_benchmark.results.workloads.cache_retrieve import TrialKind

_IDLING = ("slice_idle", "group_idle")  # each in ms and, on later kernels, in µs as well
SYNC_WRITE = "sync-write"
_STARVES_NS = 10_000_000  # a shorter write does not wait for the time slices of others
_JOURNALLING = ("ext3", "ext4")
_ROOT_GROUPS = ("cgroup", "blkio", "unified")  # where a hierarchy is mounted whole
_STATES = {True: "met", False: "not met", None: "unknown"}

_Answer = tuple[bool | None, str]  # whether it is met (None: could not be seen), and what was seen
_FAIR_SETTINGS = (
    "slice_idle", "slice_idle_us", "group_idle", "group_idle_us", "low_latency",
    "strict_guarantees",
)  # fmt: skip


def _scheduled_disks(run: Run) -> tuple[Device, ...] | None:
    """Return the place's disks, none for a place in memory; None where a scheduler is unseen."""
    if run.place is not None and run.place.kind == "memory":
        return ()
    stack = stack_of(run)
    if stack is None or any(disk.scheduler is None for disk in stack.disks):
        return None
    return stack.disks


def _separate_group(run: Run) -> _Answer:
    if run.host is not None and run.host.container is not None:
        # Inside a container its group looks like the root group.
        return True, "a container"
    # blkio where that is mounted, else the unified hierarchy.
    groups = run.limits.groups if run.limits is not None else {}
    group = groups.get("blkio", groups.get("unified"))
    if group is None:
        return None, "no hierarchy seen"
    last = group.rstrip("/").rsplit("/", 1)[-1]
    return (False, "the root group") if last in _ROOT_GROUPS else (True, last)


def _journal(run: Run) -> _Answer:
    details = run.place.filesystem if run.place is not None else None
    if details is None:
        return None, "no file system seen"
    if details.type in LAYERED:
        return None, f"below {details.type}"
    return details.type in _JOURNALLING, details.type


def _is_fair(disk: Device) -> bool:
    return disk.scheduler in FAIR_QUEUEING


def _fair_scheduler(run: Run) -> _Answer:
    disks = _scheduled_disks(run)
    if disks is None:
        return None, "no scheduler seen"
    fair = [disk for disk in disks if _is_fair(disk)]
    names = sorted({disk.scheduler or "" for disk in fair or disks})
    return bool(fair), ", ".join(names) or "no disk"


def _idles(run: Run) -> _Answer:
    disks = _scheduled_disks(run)
    if disks is None:
        return None, "no scheduler seen"
    fair = [disk for disk in disks if _is_fair(disk)]
    settings = [setting for disk in fair for setting in _idle_settings(disk).items()]
    above = {name: value for name, value in settings if value > 0}
    shortest = sorted((above or dict(settings)).items())
    # A scheduler without these settings never idles.
    is_met = bool(above) if settings or not fair else None
    return is_met, " ".join(f"{name}={value}" for name, value in shortest) or "none"


# The name of the observation, what is needed, and whether it is met.
_PRECONDITIONS: tuple[tuple[str, str, Callable[[Run], _Answer]], ...] = (
    ("cgroup", "a separate cgroup", _separate_group),
    ("journal", "ext3 or ext4, its journal in the root group", _journal),
    ("scheduler", "bfq or cfq", _fair_scheduler),
    ("idle-settings", "idle settings above 0", _idles),
)


def _fact(name: str, see: Callable[[Run], _Answer], run: Run) -> Statement:
    met, seen = see(run)
    return statement(f"{name}: {_STATES[met]} ({{seen}})", seen=seen)


_OBSERVATIONS = [effects.tally(key, partial(_fact, name, see)) for key, name, see in _PRECONDITIONS]


def _all_met(run: Run) -> float | None:
    """Return 1 where all are met, 0 where one is known not to be, whatever others are."""
    states = [see(run)[0] for _, _, see in _PRECONDITIONS]
    if False in states:
        return 0.0
    return None if None in states else 1.0


def _scheduler_idling(case: Case) -> effects.Effect:
    evidence = effects.SideEvidence.of(case, *_OBSERVATIONS, has_summary=False)
    slower, faster = case.means(_all_met)
    if case.differs and slower == 0:
        absent = "; ".join(
            name
            for _, name, see in _PRECONDITIONS
            if any(see(run)[0] is False for run in case.slower)
        )
        return evidence.opposes(f"Absent on the slower side: {absent}.")
    if slower is None or faster is None:
        side = "slower" if slower is None else "faster"
        return evidence.unseen(
            f"On the {side} side not all of the four preconditions could be seen."
        )
    if slower <= faster:
        return evidence.opposes(
            "The faster side meets all four preconditions on as many of its workers, or more."
        )
    effect = evidence.supports(
        "All four preconditions are met on {where}: a synchronous write waits for the journal's "
        "thread, and the scheduler leaves the disk idle between the two.",
        where="more workers of the slower side" if faster else "the slower side alone",
    )
    write = _slowest_write(case)
    if write is None:
        effect = effect.also(f"Times of the workload {SYNC_WRITE} would prove it.")
        return replace(effect, proof=effects.Proof.SETTING)
    if case.times_as_long(write) < effects.SLOWER_AT_RATIO:
        effect = evidence.opposes("Synchronous writes are as fast on the slower side.")
    elif not write.is_decided:
        effect = evidence.supports("The slower side may be slower at synchronous writes.")
        return _with_times(case, effect, write).may_be_chance()
    return _with_times(case, effect, write)


SCHEDULER_IDLING = rules.CauseRule(
    name="scheduler-idling",
    only_on=LINUX,
    hypothesis="The slower side's I/O scheduler idles between the task's cgroup and ext4's "
    "journal.",
    fact=_scheduler_idling,
    applies_to=rules.WAITS_FOR_DISKS
    | rules.all_but("random-io", "unpack", because="it hardly waits for a journal"),
    change=Change(Resource.DISKS, Target.IMAGE),
    remedies=(
        rules.RemedyRule(
            "set the scheduler none or mq-deadline, or its slice_idle and group_idle to 0",
            Push.other_pool,
        ),
    ),
)


def _slowest_write(case: Case) -> OtherMeasurement | None:
    """Return the synchronous writes that the slower side does worst at, which wait most."""
    return case.slowest(case.measured(SYNC_WRITE))


def _with_times(case: Case, effect: effects.Effect, write: OtherMeasurement) -> effects.Effect:
    slower, faster = case.slower_first(write)
    return effect.also(
        "A synchronous write takes {slower} on the slower side and {faster} on the faster side "
        "(sync-write, {variant}).",
        slower=Quantity(slower.mean_ns, Unit.NANOSECONDS),
        faster=Quantity(faster.mean_ns, Unit.NANOSECONDS),
        variant=write.subject.variant,
    )


def _may_starve(run: Run) -> bool:
    """Return whether bfq has strict guarantees and does not idle: with these, times decide."""
    idle = [
        _idle_settings(disk).values()
        for disk in _scheduled_disks(run) or ()
        if disk.scheduler == "bfq" and disk.scheduler_settings.get("strict_guarantees", 0) > 0
    ]
    return any(values and not any(values) for values in idle)


def starves(case: Case) -> bool:
    """Return whether the slower side's synchronous writes wait for the time slices of others."""
    write = _slowest_write(case)
    if write is None or not write.is_decided or True not in case.slower.values(_may_starve):
        return False
    slower, _ = case.slower_first(write)
    return slower.mean_ns >= _STARVES_NS and case.times_as_long(write) >= effects.SLOWER_AT_RATIO


def _scheduler(run: Run) -> rules.RankedFact | None:
    disks = _scheduled_disks(run)
    if not disks:
        return None
    listed = ", ".join(sorted(set(map(_described, disks))))
    return rules.RankedFact(
        statement("{schedulers}", schedulers=listed), fmean(map(_is_fair, disks))
    )


def _scheduler_choice(case: Case, effect: effects.Effect) -> effects.Effect:
    write, unproved = _slowest_write(case), replace(effect, workload=SYNC_WRITE)
    if write is None:
        return unproved
    if starves(case):
        starving = effect.evidence.supports(
            "bfq with strict_guarantees=1 and slice_idle=0 delays each synchronous write until "
            "other time slices are over.",
            proof=effects.Proof.COST,
        )
        return _with_times(case, starving, write)
    if effect.fact is not effects.Fact.UNCLEAR:
        return unproved
    ratio = case.times_as_long(write)
    if ratio < effects.SLOWER_AT_RATIO:
        return effect.evidence.opposes(
            "The schedulers differ, but synchronous writes are as fast with both."
        )
    # Other differences can make them slower as well.
    return effect.also("Synchronous writes take {ratio} as long.", ratio=ratio_of(ratio))


SCHEDULER = rules.CauseRule(
    name="scheduler",
    only_on=LINUX,
    hypothesis="The slower side's I/O scheduler delays requests.",
    fact=rules.RankedFactRule(
        name="schedulers",
        read=_scheduler,
        supports="Fair queueing (bfq, cfq) schedules the slower side's disks, which costs "
        "throughput on fast disks.",
        unseen="The disks' scheduler could not be seen.",
        same="Both sides have the same scheduler.",
        unranked="The schedulers differ, and the disk decides which is faster. Only equal "
        "schedulers would show it.",
    ).compare,
    cost=_scheduler_choice,
    applies_to=rules.WAITS_FOR_DISKS,
    weighed_facts=rules.EVERY_FACT,
    excluded_by=(
        rules.OtherCause(
            "scheduler-idling",
            "What they differ in counts as scheduler-idling.",
            facts=frozenset((effects.Fact.UNSEEN, effects.Fact.UNCLEAR, effects.Fact.SLOWER)),
        ),
    ),
    proof=effects.Proof.SETTING,
    tried_by=TrialKind.PACE,
    change=Change(Resource.DISKS, Target.IMAGE),
    remedies=(rules.RemedyRule("set the scheduler none or mq-deadline", Push.other_pool),),
)


def _idle_settings(disk: Device) -> dict[str, int]:
    """Return how long the scheduler idles; in µs only where that is under a millisecond."""
    settings = {}
    for name in _IDLING:
        ms, us = (disk.scheduler_settings.get(setting) for setting in (name, f"{name}_us"))
        if us is not None and not ms and us > 0:
            settings[f"{name}_us"] = us
        elif ms is not None or us is not None:
            settings[name] = ms or 0
    return settings


def _described(disk: Device) -> str:
    settings = disk.scheduler_settings if _is_fair(disk) else {}
    values = [f"{name}={settings[name]}" for name in _FAIR_SETTINGS if name in settings]
    return " ".join([disk.scheduler or "", *values])
