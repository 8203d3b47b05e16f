# SPDX-License-Identifier: MPL-2.0
"""The CPU and the kernel: what the same work takes on both sides."""

import math
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import NamedTuple

from msgspec.structs import replace

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
from io_benchmark.analysis.observed.runs import Run
from io_benchmark.analysis.statements import Quantity, Unit, statement
from io_benchmark.analysis.time_parts import ON_CPU, Kind, in_all, in_copies, in_lookups
from io_benchmark.results import workloads

ORDER = 80
_SLOWER_RATIO = 1.1
_MS = 1_000_000
_FIXED_WORK = [
    partial(Run.fixed_work_rate, work=work) for work in ("user", "kernel-copy", "kernel-calls")
]
ReadTime = Callable[[Run], float | None]


def _own_ns(columns: tuple[str, ...], run: Run) -> float | None:
    """Return CPU time per retrieve or operation: the measuring process's and its children's."""
    if run.subject.fidelity == "real":
        return None  # bash's children are counted only when bash has ended
    value = run.per_operation_ms(*columns)
    return None if value is None else value * _MS


_OWN_CPU_NS = partial(_own_ns, ("own_user_ms", "own_system_ms"))
_OWN_SYSTEM_NS = partial(_own_ns, ("own_system_ms",))
_STOLEN = span(
    "stolen-time",
    attrgetter("stolen_share"),
    Unit.SHARE,
    "other guests took {value} of the CPU time",
)


def _processor(run: Run) -> RankedFact | None:
    host = run.host
    if host is None or host.cpu_model is None:
        return None
    count = Quantity(host.cpu_count, Unit.COUNT)
    return RankedFact(statement("{model}, {count} CPUs", model=host.cpu_model, count=count))


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


def general_slowdown(case: Case) -> float:
    """Return how many times as long all work takes on the slower side; 1 where that is not known."""
    fixed = _FixedWork.of(case)
    return 1.0 if fixed is None else max(1.0, fixed.user, fixed.calling)


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
    return _without_fixed_work(case, effect, _OWN_CPU_NS)


def _without_fixed_work(case: Case, effect: Effect, own_ns: ReadTime) -> Effect:
    """Rule out that work is slower where it takes too little time; more is not known."""
    share = case.explained_share(own_ns)
    takes_enough = share is not None and is_enough(share)
    if effect.fact is Fact.UNSEEN or (effect.fact is Fact.SAME and not takes_enough):
        return effect
    if share is not None and not takes_enough:
        return effect.evidence.opposes(
            "The sides differ in this, but the time of its work makes up {share} of the difference.",
            share=as_share(share),
        )
    return replace(effect, fact=Fact.UNCLEAR).also(
        "Fixed work on both sides would show which is slower. These results do not have it."
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


def _kernel_version(run: Run) -> RankedFact | None:
    host = run.host
    if host is None:
        return None
    return RankedFact(
        statement("{release} {version}", release=host.kernel, version=host.kernel_version)
    )


_KERNEL = Ranking(
    name="kernel",
    read=_kernel_version,
    unseen="The kernel could not be seen.",
    unranked="The kernels differ.",
)


@cause(
    "kernel",
    "The slower side's kernel is slower.",
    workloads=EVERY_WORKLOAD,
    remedies={"run the faster side's kernel on both sides": other_pool},
    acts_through=in_all(Kind.KERNEL),
)
def _kernel(case: Case) -> Effect:
    effect, fixed = _KERNEL.judge(case), _FixedWork.of(case)
    if effect.fact is not Fact.UNCLEAR:
        return effect
    if fixed is None:
        return _without_fixed_work(case, effect, _OWN_SYSTEM_NS)
    return _kernel_by_fixed_work(case, effect, fixed)


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
