# SPDX-License-Identifier: MPL-2.0
"""The lookup's part of a retrieve, and the process that it starts."""

from operator import attrgetter

from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case, OtherMeasurement
from io_benchmark.analysis.diagnosis.evidence import span
from io_benchmark.analysis.diagnosis.rules import CauseRule, Judgement, Sides, is_enough, part
from io_benchmark.analysis.evidence_model import Evidence, Observation
from io_benchmark.analysis.model import State
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


def _by_lookups(case: Case, rest: str) -> Judgement:
    """Support a cause where the lookups are a large enough part; `rest` names what else there is."""
    evidence = Sides.of(case, span("lookup", lookup_ns, Unit.NANOSECONDS, "lookup {value}"))
    if case.difference_ns is None:
        return evidence.not_observable("The workload has no times.", workload="spawn")
    share = case.explained_share(lookup_ns)
    if share is None:
        return evidence.nothing_to_explain()
    if not is_enough(share):
        return evidence.ruled_out(_PART, share=part(share)).also(rest)
    return evidence.supported(_PART, share=part(share))


def _lookup_cost(case: Case) -> Judgement:
    judgement = _by_lookups(case, "The rest is in the copies.")
    if judgement.state is not State.SUPPORTED:
        return judgement
    return judgement.also("The workload spawn shows whether grep or starting it takes the time.")


def _spawn_cost(case: Case) -> Judgement:
    spawned = case.measured("spawn")
    if spawned and case.difference_ns is not None:
        return _judge_spawns(case, spawned[0])
    judgement = _by_lookups(case, "Starting grep is only a part of a lookup.")
    if judgement.state is not State.SUPPORTED:
        return judgement
    judgement = replace(judgement, state=State.NOT_OBSERVABLE, workload="spawn")
    return judgement.also("How much of that is starting grep is not known.")


def _judge_spawns(case: Case, spawn: OtherMeasurement) -> Judgement:
    """Compare how much longer a process takes with how many a retrieve starts."""
    evidence = Sides(
        lambda: (_process_start(spawn.baseline.mean_ns), _process_start(spawn.candidate.mean_ns))
    )
    if not case.differs or not case.difference_ns:
        return evidence.nothing_to_explain()
    count = _PROCESSES_REAL if case.subject.fidelity == "real" else _PROCESSES_SEED
    share = count * spawn.difference_ns / case.difference_ns
    template = (
        "The one process that a retrieve starts makes up {share} of the difference."
        if count == 1
        else f"The {count} processes that a retrieve starts make up {{share}} of the difference."
    )
    if not is_enough(share):
        return evidence.ruled_out(template, share=part(share))
    if not spawn.is_decided:
        return evidence.not_observable(template, share=part(share)).may_be_chance()
    return evidence.supported(template, share=part(share))


def _process_start(mean_ns: float) -> Evidence:
    started = statement("process started in {time}", time=Quantity(mean_ns, Unit.NANOSECONDS))
    return Evidence.led_by(Observation.of_side("process-start", started))


RULES = (
    CauseRule(
        "lookup-cost",
        "The lookups (grep) take longer, not the copies.",
        _lookup_cost,
        acts_through=_PARTS,
        tried_by=TrialKind.LOOKUP,
    ),
    CauseRule(
        "spawn-cost",
        "Starting a process (fork, exec) takes longer.",
        _spawn_cost,
        acts_through=_PARTS,
        tried_by=TrialKind.LOOKUP,
    ),
)
