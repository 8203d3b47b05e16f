# SPDX-License-Identifier: MPL-2.0
"""The machine and its software: CPU, kernel, image and tools."""

import math
from functools import partial
from operator import attrgetter
from typing import NamedTuple

from msgspec.structs import replace

from io_benchmark.analysis.capacities import CapacityKind, Standing, measured
from io_benchmark.analysis.diagnosis.case import EVERY_WORKLOAD, Case
from io_benchmark.analysis.diagnosis.causes.run_conditions import stolen_time
from io_benchmark.analysis.diagnosis.evidence import span
from io_benchmark.analysis.diagnosis.measured_gains import other_pool
from io_benchmark.analysis.diagnosis.rules import (
    Effect,
    Fact,
    Proof,
    RankedFact,
    Ranking,
    SideEvidence,
    as_share,
    cause,
    is_enough,
)
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.parts.time_parts import (
    ON_CPU,
    Kind,
    Part,
    Phase,
    in_all,
    in_copies,
    in_lookups,
)
from io_benchmark.analysis.statements import Quantity, Unit, statement
from io_benchmark.results import workloads

ORDER = 80
# Work that takes less than this of the CPU time is too short for a factor.
_COUNTS_SHARE = 0.02
_SLOWER_RATIO = 1.1
# All work takes longer by one factor if each kind has at least this share of the largest slowdown.
_SAME_FACTOR_SHARE = 0.6
_MS = 1_000_000
_FIXED_WORK = [
    measured(kind, Standing.BY_FIXED_WORK)
    for kind in (CapacityKind.USER_WORK, CapacityKind.MEMORY_COPY, CapacityKind.SYSTEM_CALLS)
]
_NO_CONTRAST = (
    "Nearly all CPU time is in the kernel, where a slower CPU and a slower kernel look the same. "
    "Fixed work on both sides would tell, which this result does not have."
)


def _own_ns(columns: tuple[str, ...], view: View) -> float | None:
    """Return CPU time per retrieve or operation: the measuring process's and its children's."""
    if view.entry is None or view.entry.subject.fidelity == "real":
        return None  # bash's children are counted only when bash has ended
    value = view.per_operation_ms(*columns)
    return None if value is None else value * _MS


_OWN_CPU_NS = partial(_own_ns, ("own_user_ms", "own_system_ms"))
_OWN_SYSTEM_NS = partial(_own_ns, ("own_system_ms",))
_STOLEN = span(
    "stolen-time",
    attrgetter("stolen_share"),
    Unit.SHARE,
    "other guests took {value} of the CPU time",
)


def _processor(view: View) -> RankedFact | None:
    host = view.host
    if host is None or host.cpu_model is None:
        return None
    count = Quantity(host.cpu_count, Unit.COUNT)
    return RankedFact(statement("{model}, {count} CPUs", model=host.cpu_model, count=count))


def _factors(case: Case) -> dict[Part, float]:
    """Return how many times as long the slower side's work takes, where both sides do enough of it."""
    worked = [part for part in case.division.parts if part.kind in ON_CPU] if case.division else []
    least_ns = _COUNTS_SHARE * math.fsum(
        min(part.baseline_ns, part.candidate_ns) for part in worked
    )
    sides = {part.part: (part.baseline_ns, part.candidate_ns) for part in worked if least_ns}
    longer = {part: ns[1] / ns[0] for part, ns in sides.items() if min(ns) >= least_ns}
    return longer if case.candidate_is_slower else {part: 1 / ns for part, ns in longer.items()}


def _slowed_kinds(case: Case) -> dict[Kind, bool]:
    """Return which kinds of work are slower by one factor in lookups and copies, of those with enough work.

    A slower CPU slows all work; a slower kernel all that is done in it. Where only one phase is
    slower, it has more to do.
    """
    factors = _factors(case)
    highest = max(factors.values(), default=1.0)
    least = 1 + _SAME_FACTOR_SHARE * (highest - 1)
    return {
        kind: highest >= _SLOWER_RATIO
        and min(factor for part, factor in factors.items() if part.kind is kind) >= least
        for kind in {part.kind for part in factors}
    }


class _FixedWork(NamedTuple):
    """How many times as long fixed work takes on the slower side."""

    user: float
    copying: float
    calling: float

    @classmethod
    def of(cls, case: Case) -> "_FixedWork | None":
        user, copying, calling = (case.times_as_fast(rate) for rate in _FIXED_WORK)
        if user is None or copying is None or calling is None:
            return None
        return cls(user, copying, calling)


def general_slowdown(case: Case, phase: Phase) -> float:
    """Return how many times as long all work takes on the slower side; 1 where that is not known.

    Without fixed work, the work of another phase shows it than that which is judged.
    """
    fixed = _FixedWork.of(case)
    if fixed is not None:
        return max(1.0, fixed.user, fixed.calling)
    factors = [factor for part, factor in _factors(case).items() if part.phase is phase]
    return max(1.0, min(factors, default=1.0))


_MODEL = Ranking(
    name="cpu",
    read=_processor,
    unseen="The CPU's model could not be seen.",
    unranked="The CPUs differ.",
)


@cause(
    "cpu",
    "The slower side's CPU is slower, or shared with others.",
    workloads=EVERY_WORKLOAD,
    acts_through=in_all(*ON_CPU, Kind.WAITING),
)
def _cpu(case: Case) -> Effect:
    operation = workloads.of(case.subject.workload).operation
    observe = (
        _MODEL.tally,
        span("cpu-time", _OWN_CPU_NS, Unit.NANOSECONDS, f"CPU time per {operation} {{value}}"),
    )
    evidence = SideEvidence.of(case, *observe)
    spawn = None if case.subject.workload == "spawn" else "spawn"
    stolen = stolen_time(case)
    if stolen is not None:
        slower, faster, share = stolen
        # The CPUs' models may differ as well, which is not the reason.
        effect = SideEvidence.of(case, _STOLEN, *observe).supports(
            "Other guests took {stolen} of the slower side's CPU time, and {others} of the faster "
            "side's.",
            stolen=as_share(slower),
            others=as_share(faster),
        )
        return effect if share is None else effect.as_part(case, share)
    effect = _MODEL.judge(case, evidence)
    fixed = _FixedWork.of(case)
    if fixed is not None:
        return _by_fixed_work(case, effect, fixed)
    if effect.fact is Fact.UNSEEN:
        return replace(effect, workload=spawn)
    slowed = _slowed_kinds(case)
    if slowed == {Kind.KERNEL: True} and len(case.values(_kernel_version)) > 1:
        return evidence.unclear(_NO_CONTRAST)
    share = case.explained_share(_OWN_CPU_NS)
    if effect.fact is Fact.SAME:
        if share is None or not is_enough(share) or not slowed or not all(slowed.values()):
            return effect
        return evidence.supports(
            "The CPUs are of one model, but all work takes longer by one factor on the slower side, as "
            "on a CPU that is throttled, or that shares its cores.",
            proof=Proof.LEFTOVER,
        ).as_part(case, share)
    if not all(slowed.values()):
        return evidence.opposes(
            "The CPUs differ, but the slower side's CPU time is not longer by one factor in all of "
            "its work, as with a slower CPU."
        )
    if share is None:
        return evidence.unclear(
            f"The CPUs differ, and the CPU time per {operation} was not recorded.", workload=spawn
        )
    return evidence.supports("The CPUs differ, and all work takes longer.").if_enough(
        case, share, "The CPUs differ, but CPU time makes up {share} of the difference."
    )


def _by_fixed_work(case: Case, effect: Effect, fixed: _FixedWork) -> Effect:
    """Judge a CPU by the same work on both sides, whatever their models are."""
    if fixed.user < _SLOWER_RATIO:
        return effect.evidence.opposes("Fixed work takes as long on the CPUs of both sides.")
    supported = effect.evidence.supports(
        "Fixed work in user mode takes {ratio} as long on the slower side's CPU.",
        ratio=Quantity(fixed.user, Unit.RATIO),
    )
    share = case.share_of_work(fixed.user, in_all(*ON_CPU))
    too_little = "Fixed work takes longer on the slower side's CPU, but that makes up {share} of the difference."
    return _sized(case, supported, share, too_little)


def _sized(case: Case, supported: Effect, share: float | None, too_little: str) -> Effect:
    """Return what slower work leaves of its effect; unclear where the sides' own work is not recorded."""
    if share is None:
        return replace(supported, fact=Fact.UNCLEAR).also(
            "How long the sides worked is not recorded."
        )
    return supported.if_enough(case, share, too_little)


def _kernel_version(view: View) -> RankedFact | None:
    host = view.host
    if host is None:
        return None
    return RankedFact(
        statement("{release} {version}", release=host.kernel, version=host.kernel_version)
    )


_KERNEL = Ranking(
    name="kernel",
    read=_kernel_version,
    unseen="The kernel could not be seen.",
    unranked="The kernels differ. Only the same kernel on both sides would show whether "
    "that changes how it writes back.",
)


@cause(
    "kernel",
    "The slower side's kernel is slower.",
    workloads=EVERY_WORKLOAD,
    remedies={"run the faster side's kernel on both sides": other_pool},
    acts_through=in_all(Kind.KERNEL),
)
def _kernel(case: Case) -> Effect:
    effect = _KERNEL.judge(case)
    if effect.fact is not Fact.UNCLEAR:
        return effect
    fixed, slowed = _FixedWork.of(case), _slowed_kinds(case)
    if fixed is not None:
        return _kernel_by_fixed_work(case, effect, fixed)
    if slowed == {Kind.KERNEL: True}:
        return effect.evidence.unclear(_NO_CONTRAST)
    if slowed.get(Kind.USER) or slowed.get(Kind.KERNEL) is False:
        copying = _factors(case).get(Part(Phase.COPY, Kind.KERNEL), 1.0)
        if not slowed.get(Kind.USER) and copying >= _SLOWER_RATIO * general_slowdown(
            case, Phase.LOOKUP
        ):
            return effect.evidence.supports(
                "The kernels differ, and copying in the kernel takes longer.", proof=Proof.SETTING
            )
        return effect.evidence.opposes(
            "The kernels differ, but the slower side's time in the kernel alone is not longer, as with "
            "a slower kernel."
        )
    supported = effect.evidence.supports("The kernels differ, and all work in it takes longer.")
    share = case.explained_share(_OWN_SYSTEM_NS)
    return supported.as_part(case, share) if share is not None and is_enough(share) else effect


def _kernel_by_fixed_work(case: Case, effect: Effect, fixed: _FixedWork) -> Effect:
    """Judge a kernel by what the same work in it takes longer than the CPU accounts for."""
    copying, calling = (max(1.0, ratio / fixed.user) for ratio in (fixed.copying, fixed.calling))
    shares = (
        case.share_of_work(copying, in_copies(Kind.KERNEL)),
        case.share_of_work(calling, in_lookups(Kind.KERNEL)),
    )
    supported = effect.evidence.supports(
        "The kernels differ. With the CPUs' speeds taken out, fixed copying in the kernel takes {copying} "
        "as long, and system calls take {calling}.",
        copying=Quantity(copying, Unit.RATIO),
        calling=Quantity(calling, Unit.RATIO),
    )
    too_little = (
        "The kernels differ, but what they do more slowly makes up {share} of the difference."
    )
    known = [share for share in shares if share is not None]
    if calling < _SLOWER_RATIO <= copying:
        # Memory that is slower, which nothing names, costs the same.
        return effect.evidence.supports(
            "The kernels differ, and only copying takes longer, as with slower memory.",
            proof=Proof.SETTING,
        )
    return _sized(case, supported, math.fsum(known) if known else None, too_little)
