# SPDX-License-Identifier: MPL-2.0
"""The lookup's part of a retrieve, and the process that it starts."""

import math
from operator import attrgetter

from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case, OtherMeasurement
from io_benchmark.analysis.diagnosis.evidence import span
from io_benchmark.analysis.diagnosis.rules import (
    Effect,
    Fact,
    SideEvidence,
    as_share,
    cause,
    is_enough,
)
from io_benchmark.analysis.evidence_model import Evidence, Observation
from io_benchmark.analysis.parts.time_parts import Kind, in_lookups
from io_benchmark.analysis.statements import Quantity, Unit, statement
from io_benchmark.results.trials import TrialKind

ORDER = 90
# The loop of fidelity seed starts grep; cached_download.sh starts grep twice, sed and cp.
_PROCESSES_SEED, _PROCESSES_REAL = 1, 4
# Whatever waits for a CPU waits for others: that is no cost of the lookups.
_PARTS = in_lookups(*set(Kind) - {Kind.WAITING})
_PART = "The lookups make up {share} of the difference."


lookup_ns = attrgetter("lookup_mean_ns")


def _by_lookups(case: Case, rest: str) -> Effect:
    """Support a cause where the lookups are a large enough part; `rest` names what else there is."""
    evidence = SideEvidence.of(case, span("lookup", lookup_ns, Unit.NANOSECONDS, "lookup {value}"))
    if case.difference_ns is None:
        return evidence.unseen("The workload has no times.", workload="spawn")
    share = case.explained_share(lookup_ns) or 0.0
    if not is_enough(share):
        return evidence.opposes(_PART, share=as_share(share)).also(rest)
    return evidence.supports(_PART, share=as_share(share))


@cause(
    "lookup-cost",
    "The lookups (grep) take longer, not the copies.",
    acts_through=_PARTS,
    tried_by=TrialKind.LOOKUP,
)
def _lookup_cost(case: Case) -> Effect:
    effect = _by_lookups(case, "The rest is in the copies.")
    if not effect.is_slower:
        return effect
    return effect.also("The workload spawn shows whether grep or starting it takes the time.")


@cause(
    "spawn-cost",
    "Starting a process (fork, exec) takes longer.",
    acts_through=_PARTS,
    tried_by=TrialKind.LOOKUP,
)
def _spawn_cost(case: Case) -> Effect:
    spawned = case.measured("spawn")
    if spawned and case.difference_ns is not None:
        return _judge_spawns(case, spawned[0])
    effect = _by_lookups(case, "Starting grep is only a part of a lookup.")
    if not effect.is_slower:
        return effect
    effect = replace(effect, fact=Fact.UNCLEAR, workload="spawn")
    return effect.also("How much of that is starting grep is not known.")


def _judge_spawns(case: Case, spawn: OtherMeasurement) -> Effect:
    """Compare how much longer a process takes with how many a retrieve starts."""
    evidence = SideEvidence(
        lambda: (_process_start(spawn.baseline.mean_ns), _process_start(spawn.candidate.mean_ns))
    )
    count = _PROCESSES_REAL if case.subject.fidelity == "real" else _PROCESSES_SEED
    share = count * spawn.difference_ns / (case.difference_ns or math.inf)
    template = (
        "The one process that a retrieve starts makes up {share} of the difference."
        if count == 1
        else f"The {count} processes that a retrieve starts make up {{share}} of the difference."
    )
    if not is_enough(share):
        return evidence.opposes(template, share=as_share(share))
    if not spawn.is_decided:
        return evidence.unclear(template, share=as_share(share)).may_be_chance()
    return evidence.supports(template, share=as_share(share))


def _process_start(mean_ns: float) -> Evidence:
    started = statement("process started in {time}", time=Quantity(mean_ns, Unit.NANOSECONDS))
    return Evidence.led_by(Observation.of_side("process-start", started))
