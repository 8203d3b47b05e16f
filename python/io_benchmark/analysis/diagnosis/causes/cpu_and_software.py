# SPDX-License-Identifier: MPL-2.0
"""The machine and its software: CPU, kernel, image and tools."""

import math
import re
from functools import partial
from operator import attrgetter

from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import EVERY_WORKLOAD, Case
from io_benchmark.analysis.diagnosis.causes.operation_costs import lookup_ns
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
from io_benchmark.analysis.parts.time_parts import ON_CPU, Kind, in_all, in_copies, in_lookups
from io_benchmark.analysis.statements import Quantity, Unit, Value, statement
from io_benchmark.results import workloads
from io_benchmark.results.trials import TrialKind

ORDER = 80
# Work that takes less than this of the CPU time is too short for a factor.
_COUNTS_SHARE = 0.02
_SLOWER_RATIO = 1.1
# All work takes longer by one factor if each kind has at least this share of the largest slowdown.
_SAME_FACTOR_SHARE = 0.6
_MS = 1_000_000
_TOOLS = ("python3", "bash", "cp", "grep", "sed")
_COPY_FILE_RANGE_SINCE = 9  # coreutils


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


def _slowed_kinds(case: Case) -> frozenset[Kind] | None:
    """Return the kinds of work that are slower by one factor in lookups and copies; None: unknown.

    A slower CPU slows all work; a slower kernel all that is done in it. Where only one phase is
    slower, it has more to do.
    """
    division = case.division
    if division is None:
        return None
    worked = [part for part in division.parts if part.kind in ON_CPU]
    least_ns = _COUNTS_SHARE * math.fsum(
        min(part.baseline_ns, part.candidate_ns) for part in worked
    )
    if not least_ns:
        return None
    factors: dict[Kind, list[float]] = {}
    for part in worked:
        faster, slower = part.baseline_ns, part.candidate_ns
        if min(slower, faster) >= least_ns:
            factor = slower / faster if case.candidate_is_slower else faster / slower
            factors.setdefault(part.kind, []).append(factor)
    highest = max(factor for of_kind in factors.values() for factor in of_kind)
    least = 1 + _SAME_FACTOR_SHARE * (highest - 1)
    return frozenset(
        kind
        for kind, of_kind in factors.items()
        if highest >= _SLOWER_RATIO and min(of_kind) >= least
    )


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
    slowed = _slowed_kinds(case)
    effect = _MODEL.judge(case, evidence)
    if effect.fact is Fact.UNSEEN:
        return replace(effect, workload=spawn)
    if effect.fact is Fact.SAME:
        return _throttled(case, effect) if slowed == frozenset(ON_CPU) else effect
    if slowed is not None and not slowed >= set(ON_CPU):
        return evidence.opposes(
            "The CPUs differ, but the slower side's CPU time is not longer by one factor in all of "
            "its work, as with a slower CPU."
        )
    share = case.explained_share(_OWN_CPU_NS)
    if share is None:
        return evidence.unclear(
            f"The CPUs differ, and the CPU time per {operation} was not recorded.", workload=spawn
        )
    return evidence.supports("The CPUs differ, and all work takes longer.").if_enough(
        case, share, "The CPUs differ, but CPU time makes up {share} of the difference."
    )


def _throttled(case: Case, effect: Effect) -> Effect:
    """Support that a CPU of the same model is slower, where all work takes longer by one factor."""
    share = case.explained_share(_OWN_CPU_NS)
    if share is None or not is_enough(share):
        return effect
    return effect.evidence.supports(
        "The CPUs are of one model, but all work takes longer by one factor on the slower side, as on a "
        "CPU that is throttled, or that shares its cores.",
        proof=Proof.LEFTOVER,
    ).as_part(case, share)


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
    slowed = _slowed_kinds(case)
    if slowed is not None and slowed != {Kind.KERNEL}:
        return effect.evidence.opposes(
            "The kernels differ, but the slower side's time in the kernel is not longer by one "
            "factor, in lookups and copies and not in user mode, as with a slower kernel."
        )
    share = case.explained_share(_OWN_SYSTEM_NS)
    if share is None or not is_enough(share):
        return effect
    supported = effect.evidence.supports("The kernels differ, and all work in it takes longer.")
    return supported.as_part(case, share)


def _tools(view: View) -> RankedFact | None:
    host = view.host
    if host is None:
        return None
    values: dict[str, Value] = {"distribution": host.distribution or "unknown"}
    for name in _TOOLS:
        tool = host.tools.get(name)
        values[name] = _number(tool.version) if tool is not None else "absent"
    listed = ", ".join(f"{name} {{{name}}}" for name in _TOOLS)
    return RankedFact(statement(f"{{distribution}}: {listed}", **values))


def _number(version: str | None) -> str:
    match = re.search(r"[0-9]+(\.[0-9]+)+", version or "")
    return match.group() if match else "unknown"


def _coreutils(view: View) -> float | None:
    tool = view.host.tools.get("cp") if view.host is not None else None
    match = re.search(r"([0-9]{1,3})\.[0-9]", (tool.version if tool is not None else "") or "")
    return float(match.group(1)) if match else None


_IMAGE = Ranking(
    name="tools",
    read=_tools,
    unseen="The result does not have the versions of the tools.",
    unranked="The tools differ, and the workload has no times to compare their cost with.",
)


@cause(
    "image-and-tools",
    "The slower side's image has slower tools.",
    remedies={"use the same image on both sides": other_pool},
    acts_through=in_lookups(*ON_CPU) | in_copies(*ON_CPU),
    tried_by=TrialKind.LOOKUP,
)
def _image_and_tools(case: Case) -> Effect:
    effect = _IMAGE.judge(case)
    if effect.fact is not Fact.UNCLEAR:
        return effect
    share = case.explained_share(lookup_ns)
    if share is not None and is_enough(share):
        # Starting a process is as large a part of a lookup as the tool's own work, and kernels that
        # count ticks do not tell one from the other.
        return effect.evidence.supports(
            "The tools differ, and the lookups, which they do, make up {share} of the difference.",
            share=as_share(share),
            proof=Proof.LEFTOVER,
        )
    if case.subject.fidelity == "real":
        slower, faster = case.means(_coreutils)
        if slower is None or faster is None or not slower < _COPY_FILE_RANGE_SINCE <= faster:
            return effect.evidence.unclear(
                "The tools that copy the files differ. Only the same image on both sides would "
                "show what that costs."
            )
        return effect.evidence.supports(
            "The slower side's cp reads and writes the bytes itself; from coreutils 9 on cp leaves "
            "that to the kernel (FICLONE, copy_file_range)."
        )
    if share is None:
        return effect
    return effect.evidence.opposes(
        "The tools differ, but the kernel copies here, and the lookups make up only {share} of the "
        "difference.",
        share=as_share(share),
    )
