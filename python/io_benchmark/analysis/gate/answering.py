# SPDX-License-Identifier: MPL-2.0
"""A gate from the results that were read to its answer, with the comparison that explains it."""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.compare import Compared
from io_benchmark.analysis.comparing.pairs import EarlierPushes, Options
from io_benchmark.analysis.explaining.mixed_pools import MIXED_POOL
from io_benchmark.analysis.gate.gate_model import Answer, Gate, GateAnswer
from io_benchmark.analysis.gate.judging import Evidence, Judgement
from io_benchmark.analysis.gate.missing_results import (
    Absent,
    reasons_against_any_answer,
    reasons_against_passing,
)
from io_benchmark.analysis.model.cause import Cause, State
from io_benchmark.analysis.model.plan import AFTER, AGAINST, BEFORE, Plan
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.run import Worker
from io_benchmark.costs.worker_time import NO_PRICES, Price


class GateResults(Struct, frozen=True):
    """All results that were read, of a gate's pools and of others."""

    workers: Sequence[Worker]
    absent: Absent = Absent()
    is_change: bool = False  # each pool has a side before and one after a change
    earlier: EarlierPushes | None = None
    unreadable: Sequence[str] = ()
    remarks: Sequence[str] = ()

    @property
    def sides(self) -> set[str]:
        return {worker.side for worker in self.workers}

    def gates_of(self, gate: Gate) -> list[Gate]:
        """Return the gate; `after/before` is a gate for each pool."""
        if not self.is_change or gate.sides != (AFTER, BEFORE):
            return [gate]
        ends = (f" {AFTER}", f" {BEFORE}")
        sides = self.sides | self.absent.sides | set(self.absent.lost)
        pools = {side.removesuffix(end) for side in sides for end in ends if side.endswith(end)}
        return [
            Gate(f"{pool} {AFTER}", f"{pool} {BEFORE}", gate.margin) for pool in sorted(pools)
        ] or [gate]


def answer(
    gate: Gate,
    results: GateResults,
    options: Options,
    prices: Mapping[str, Price] = NO_PRICES,
) -> GateAnswer:
    """Answer a gate by the workers of its two pools alone."""
    compared = Compared.of(
        _plan(gate, is_change=results.is_change),
        [worker for worker in results.workers if worker.side in gate.sides],
        replace(options, margin=gate.margin),
        earlier=results.earlier,
        lost=results.absent.lost,
    )
    pairs = {
        measurement.subject: pair
        for measurement in compared.everything
        for pair in measurement.pairs
    }
    invalid = [*reasons_against_any_answer(gate, compared, results.sides, results.absent)]
    missing = [*reasons_against_passing(gate, compared, results.absent)]
    evidence = Evidence.of(gate.margin, pairs, compared.counted, invalid, missing)
    report = compared.explained(
        prices=prices, unreadable=results.unreadable, remarks=results.remarks
    )
    return _explained(gate, evidence.judge(), report)


def _plan(gate: Gate, *, is_change: bool) -> Plan:
    title = f"{gate.candidate} against {gate.baseline}"
    if is_change:
        return Plan(title, BEFORE, AGAINST, (gate.sides,))
    return Plan(title, gate.baseline, "named by the gate", (gate.sides,))


def _explained(gate: Gate, judgement: Judgement, report: Report) -> GateAnswer:
    workers = {side.side: side.workers for side in report.replication}
    name: str | None = None
    state: State | None = None
    cause = _first_cause(judgement, report)
    if judgement.is_mixed:
        name, state = MIXED_POOL, State.SUPPORTED
    elif cause is not None:
        name, state = cause.name, cause.state
    return GateAnswer(
        candidate=gate.candidate,
        baseline=gate.baseline,
        margin_ratio=gate.margin,
        answer=judgement.answer,
        reasons=judgement.reasons,
        workers=(workers.get(gate.candidate, 0), workers.get(gate.baseline, 0)),
        tests=judgement.tests,
        slow_workers=judgement.slow_workers,
        cause=name,
        cause_state=state,
        workers_needed=judgement.workers_needed,
        workers_for_equal=judgement.workers_for_equal,
        comparison=report,
    )


def _first_cause(judgement: Judgement, report: Report) -> Cause | None:
    """Return the largest cause that holds of the workload that decides, where the gate failed."""
    if judgement.answer is not Answer.FAILED or not judgement.tests:
        return None
    workload = judgement.tests[0].subject.workload
    for diagnosis in report.diagnoses:
        holding = [cause for cause in diagnosis.causes if cause.state.holds]
        if holding and diagnosis.subject is not None and diagnosis.subject.workload == workload:
            return max(holding, key=lambda cause: cause.share or 0.0)
    return None
