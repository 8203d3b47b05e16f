# SPDX-License-Identifier: MPL-2.0
"""The CPU and the kernel: what the same work takes on both sides."""

import math
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.effects import (
    SLOWER_AT_RATIO,
    Effect,
    Fact,
    Proof,
    SideEvidence,
    as_share,
    is_enough,
    span,
)
from io_benchmark.analysis.explaining.facts.cpus import NOT_RECORDED, FixedWork, share_stolen
from io_benchmark.analysis.explaining.measured_gains import Push
from io_benchmark.analysis.explaining.rules import CauseRule, RankedFact, RankedFactRule, RemedyRule
from io_benchmark.analysis.model.cause import Change, NewMachineType, Resource, Target
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Unit, count, ratio_of, statement
from io_benchmark.analysis.model.time_parts import ON_CPU, Kind, in_all, in_copies, in_lookups
from io_benchmark.analysis.reading.capacity import fixed_work_per_cpu_time
from io_benchmark.analysis.reading.counters import per_operation_ms, stolen_share
from io_benchmark.number_text import plural
from io_benchmark.results import workloads
from io_benchmark.results.machine import WINDOWS

_LEAST_STOLEN_SHARE = 0.05  # chosen: more of the busy time than this is stolen on the slower side


def _own_ns(columns: tuple[str, ...], run: Run) -> float | None:
    """Return CPU time per retrieve or operation: the measuring process's and its children's."""
    value_ms = per_operation_ms(run, *columns)
    return None if value_ms is None else value_ms * 1e6


_OWN_CPU_NS = partial(_own_ns, ("own_user_ms", "own_system_ms"))
_OWN_SYSTEM_NS = partial(_own_ns, ("own_system_ms",))
_PER_CPU_TIME = partial(fixed_work_per_cpu_time, work="user")
_STOLEN = span("stolen-time", stolen_share, Unit.SHARE, "other guests took {value} of the CPU time")


def _processor(run: Run) -> RankedFact | None:
    host = run.host
    if host is None or host.cpu_model is None:
        return None
    template = f"{{model}}, {{count}} {plural(host.cpu_count, 'CPU')}"
    cpus = count(host.cpu_count)
    return RankedFact(statement(template, model=host.cpu_model, count=cpus))


_MODEL = RankedFactRule(
    name="cpu",
    read=_processor,
    unseen="The CPU's model could not be seen.",
    unranked="The CPUs differ.",
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
    evidence, fixed = SideEvidence.of(case, *observe), FixedWork.of(case)
    if fixed is None:
        effect = replace(_MODEL.compare(case), evidence=evidence)
        return _without_fixed_work(case, effect, _OWN_CPU_NS)
    # The same work on both sides decides, whatever their models are.
    # Where its waiting for a CPU is not recorded, fixed work takes longer for others' sake, too.
    times = min(fixed.in_user_mode, case.times_as_fast(_PER_CPU_TIME) or math.inf)
    if times < max(SLOWER_AT_RATIO, _least_of_one_worker(case)):
        return evidence.opposes("Fixed work in user mode takes as long on the CPUs of both sides.")
    supported = evidence.supports(
        "Fixed work in user mode takes {ratio} as long on the slower side's CPU.",
        ratio=ratio_of(times),
    )
    share = case.share_of_work(times, in_all(*ON_CPU))
    too_little = (
        "Fixed work takes longer on the slower side's CPU, but that makes up {share} of the "
        "difference."
    )
    return supported.if_enough(case, share, too_little, NOT_RECORDED)


def _least_of_one_worker(case: Case) -> float:
    """Return from which ratio on a single worker's CPU counts as slower, of a Windows pool.

    It is half of the sides' one: of 20 equal workers, some differ by more than sides must.
    """
    if case.system != WINDOWS or case.slower is case.whole_slower:
        return 1.0
    fixed = FixedWork.of(case.of_worker(case.whole_slower, case.whole_faster))
    return 1.0 if fixed is None else math.sqrt(max(1.0, fixed.in_user_mode))


CPU = CauseRule(
    name="cpu",
    hypothesis="The slower side's CPU is slower, or shared with others.",
    fact=_cpu,
    acts_through=in_all(*ON_CPU, Kind.WAITING),
    change=Change(Resource.CPU, Target.POOL, NewMachineType.AS_REFERENCE),
)


def _stolen(case: Case, evidence: SideEvidence) -> Effect | None:
    """Support that other guests took the slower side's CPU time, where that costs enough."""
    slower, faster = case.means(stolen_share)
    if not case.differs or slower is None or faster is None:
        return None
    if slower - faster < _LEAST_STOLEN_SHARE:
        return None
    effect = evidence.supports(
        "Other guests took {stolen} of the slower side's CPU time, and {others} of the faster "
        "side's.",
        stolen=as_share(slower),
        others=as_share(faster),
    ).if_enough(case, share_stolen(case), "")
    return effect if effect.is_slower else None


def _without_fixed_work(
    case: Case, effect: Effect, own_ns: Callable[[Run], float | None]
) -> Effect:
    """Rule out that work is slower where it takes too little time; more is not known."""
    share = case.explained_share(own_ns)
    takes_enough = share is not None and is_enough(share)
    if effect.fact is Fact.UNSEEN or (effect.fact is Fact.SAME and not takes_enough):
        return effect
    if share is not None and not takes_enough:
        return effect.evidence.opposes(
            "The sides differ in this, but the time of its work makes up {share} of the "
            "difference.",
            share=as_share(share),
        )
    return effect.unclear(
        "Fixed work on both sides would show which is slower. These results do not have it."
    )


def _kernel_version(run: Run) -> RankedFact | None:
    host = run.host
    if host is None:
        return None
    template = "{release} {version}"
    return RankedFact(statement(template, release=host.kernel, version=host.kernel_version))


def _kernel(case: Case, effect: Effect) -> Effect:
    """Judge a kernel by what the same work in it takes longer than the CPU accounts for."""
    fixed = FixedWork.of(case)
    if fixed is None:
        return _without_fixed_work(case, effect, _OWN_SYSTEM_NS)
    copying = max(1.0, fixed.copying / fixed.in_user_mode)
    calling = max(1.0, fixed.calling / fixed.in_user_mode)
    if case.system == WINDOWS and max(copying, calling) < SLOWER_AT_RATIO:
        return effect.evidence.opposes("The kernels differ, but fixed work in them takes as long.")
    if calling < SLOWER_AT_RATIO <= copying:
        # Memory that is slower, which nothing names, costs the same.
        return effect.evidence.supports(
            "The kernels differ, and only copying takes longer, as with slower memory.",
            proof=Proof.SETTING,
        )
    supported = effect.evidence.supports(
        "The kernels differ. With the CPUs' speeds taken out, fixed copying in the kernel takes "
        "{copying} as long, and system calls take {calling}.",
        copying=ratio_of(copying),
        calling=ratio_of(calling),
    )
    shares = (
        case.share_of_work(copying, in_copies(Kind.KERNEL)),
        case.share_of_work(calling, in_lookups(Kind.KERNEL)),
    )
    known = [share for share in shares if share is not None]
    too_little = (
        "The kernels differ, but what they do more slowly makes up {share} of the difference."
    )
    share = math.fsum(known) if known else None
    return supported.if_enough(case, share, too_little, NOT_RECORDED)


KERNEL = CauseRule(
    name="kernel",
    hypothesis="The slower side's kernel is slower.",
    fact=RankedFactRule(
        name="kernel",
        read=_kernel_version,
        unseen="The kernel could not be seen.",
        unranked="The kernels differ.",
    ).compare,
    cost=_kernel,
    weighed_facts={Fact.UNCLEAR},
    acts_through=in_all(Kind.KERNEL),
    change=Change(Resource.CPU, Target.IMAGE),
    remedies=(RemedyRule("run the faster side's kernel on both sides", Push.other_pool),),
)
