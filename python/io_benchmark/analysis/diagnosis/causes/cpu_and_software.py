# SPDX-License-Identifier: MPL-2.0
"""The CPU and the kernel: what the same work takes on both sides."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter

from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import EVERY_WORKLOAD, Case
from io_benchmark.analysis.diagnosis.causes.run_conditions import share_stolen
from io_benchmark.analysis.diagnosis.effects import (
    Effect,
    Fact,
    Proof,
    SideEvidence,
    as_share,
    is_enough,
    span,
)
from io_benchmark.analysis.diagnosis.measured_gains import other_pool
from io_benchmark.analysis.diagnosis.rules import RankedFact, Ranking, cause, ranked_cause
from io_benchmark.analysis.observed.runs import Run
from io_benchmark.analysis.statements import Quantity, Unit, statement
from io_benchmark.analysis.time_parts import ON_CPU, Kind, in_all, in_copies, in_lookups
from io_benchmark.results import workloads

ORDER = 80
_SLOWER_RATIO = 1.1
_LEAST_STOLEN_SHARE = 0.05
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
_STOLEN_SHARE = attrgetter("stolen_share")
_STOLEN = span(
    "stolen-time", _STOLEN_SHARE, Unit.SHARE, "other guests took {value} of the CPU time"
)


def _fixed_work(case: Case) -> Sequence[float]:
    """Return how many times as long fixed work takes on the slower side: in user mode, copying, calling.

    Nothing where a side did not record one of them.
    """
    ratios = [case.times_as_fast(rate) for rate in _FIXED_WORK]
    known = [ratio for ratio in ratios if ratio is not None]
    return known if len(known) == len(ratios) else ()


def general_slowdown(case: Case) -> float:
    """Return how many times as long all work takes on the slower side; 1 where that is not known."""
    return max((1.0, *_fixed_work(case)[::2]))


def _processor(run: Run) -> RankedFact | None:
    host = run.host
    if host is None or host.cpu_model is None:
        return None
    count = Quantity(host.cpu_count, Unit.COUNT)
    return RankedFact(statement("{model}, {count} CPUs", model=host.cpu_model, count=count))


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
    # The CPUs' models may differ as well, which is not the reason.
    stolen = _stolen(case, SideEvidence.of(case, _STOLEN, *observe))
    if stolen is not None:
        return stolen
    evidence, fixed = SideEvidence.of(case, *observe), _fixed_work(case)
    if not fixed:
        return _without_fixed_work(case, _MODEL.judge(case, evidence), _OWN_CPU_NS)
    # The same work on both sides decides, whatever their models are.
    in_user_mode, *_ = fixed
    if in_user_mode < _SLOWER_RATIO:
        return evidence.opposes("Fixed work takes as long on the CPUs of both sides.")
    supported = evidence.supports(
        "Fixed work in user mode takes {ratio} as long on the slower side's CPU.",
        ratio=Quantity(in_user_mode, Unit.RATIO),
    )
    share = case.share_of_work(in_user_mode, in_all(*ON_CPU))
    too_little = "Fixed work takes longer on the slower side's CPU, but that makes up {share} of the difference."
    return _sized(case, supported, share, too_little)


def _stolen(case: Case, evidence: SideEvidence) -> Effect | None:
    """Support that other guests took more of the slower side's CPU time, where that costs enough."""
    slower, faster = case.means(_STOLEN_SHARE)
    share = share_stolen(case)
    is_little = share is not None and not is_enough(share)
    if not case.differs or slower is None or faster is None or is_little:
        return None
    if slower - faster < _LEAST_STOLEN_SHARE:
        return None
    return evidence.supports(
        "Other guests took {stolen} of the slower side's CPU time, and {others} of the faster side's.",
        stolen=as_share(slower),
        others=as_share(faster),
    ).if_enough(case, share, "")


def _without_fixed_work(case: Case, effect: Effect, own_ns: ReadTime) -> Effect:
    """Rule out that work is slower where it takes too little time; more is not known."""
    share = case.explained_share(own_ns)
    takes_enough = share is not None and is_enough(share)
    if effect.fact is Fact.UNSEEN or (effect.fact is Fact.SAME and not takes_enough):
        return effect
    if share is not None and not takes_enough:
        return effect.opposed(
            "The sides differ in this, but the time of its work makes up {share} of the difference.",
            share=as_share(share),
        )
    return replace(effect, fact=Fact.UNCLEAR).also(
        "Fixed work on both sides would show which is slower. These results do not have it."
    )


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


@ranked_cause(
    "kernel",
    "The slower side's kernel is slower.",
    Ranking(
        name="kernel",
        read=_kernel_version,
        unseen="The kernel could not be seen.",
        unranked="The kernels differ.",
    ),
    refined={Fact.UNCLEAR},
    workloads=EVERY_WORKLOAD,
    remedies={"run the faster side's kernel on both sides": other_pool},
    acts_through=in_all(Kind.KERNEL),
)
def _kernel(case: Case, effect: Effect) -> Effect:
    """Judge a kernel by what the same work in it takes longer than the CPU accounts for."""
    fixed = _fixed_work(case)
    if not fixed:
        return _without_fixed_work(case, effect, _OWN_SYSTEM_NS)
    in_user_mode, *in_kernel = fixed
    copying, calling = (max(1.0, ratio / in_user_mode) for ratio in in_kernel)
    if calling < _SLOWER_RATIO <= copying:
        # Memory that is slower, which nothing names, costs the same.
        return effect.evidence.supports(
            "The kernels differ, and only copying takes longer, as with slower memory.",
            proof=Proof.SETTING,
        )
    supported = effect.evidence.supports(
        "The kernels differ. With the CPUs' speeds taken out, fixed copying in the kernel takes {copying} "
        "as long, and system calls take {calling}.",
        copying=Quantity(copying, Unit.RATIO),
        calling=Quantity(calling, Unit.RATIO),
    )
    shares = (
        case.share_of_work(copying, in_copies(Kind.KERNEL)),
        case.share_of_work(calling, in_lookups(Kind.KERNEL)),
    )
    known = [share for share in shares if share is not None]
    too_little = (
        "The kernels differ, but what they do more slowly makes up {share} of the difference."
    )
    return _sized(case, supported, math.fsum(known) if known else None, too_little)
