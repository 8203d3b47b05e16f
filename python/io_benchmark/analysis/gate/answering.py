# SPDX-License-Identifier: MPL-2.0
"""From the workers of two pools to the answer of a gate: passed, failed or not decided."""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.compare import Compared
from io_benchmark.analysis.comparing.pairs import EarlierPushes, Options
from io_benchmark.analysis.explaining.mixed_pools import MIXED_POOL
from io_benchmark.analysis.gate import wording
from io_benchmark.analysis.gate.gate_model import Answer, Gate, GateAnswer, MarginTest, SlowWorkers
from io_benchmark.analysis.gate.margin_tests import tested
from io_benchmark.analysis.gate.missing_results import (
    Absent,
    reasons_against_any_answer,
    reasons_against_passing,
)
from io_benchmark.analysis.gate.mixed_sides import Meaning, MixedSides, find_mixed_sides
from io_benchmark.analysis.model.cause import State
from io_benchmark.analysis.model.measurement import ComparedSides
from io_benchmark.analysis.model.plan import AFTER, AGAINST, BEFORE, Plan
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.statistics.gate_sizes import workers_to_fail, workers_to_pass
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
    workers = [worker for worker in results.workers if worker.side in gate.sides]
    lost = [side for side in results.absent.lost if side in gate.sides]
    compared = Compared.of(
        _plan(gate, is_change=results.is_change),
        workers,
        replace(options, margin=gate.margin),
        earlier=results.earlier,
        lost=lost,
    )
    report = compared.explained(
        prices=prices, unreadable=results.unreadable, remarks=results.remarks
    )
    pairs = {
        measurement.subject: measurement.pairs[0]
        for measurement in compared.everything
        if measurement.pairs
    }
    mixed = {
        subject: find_mixed_sides(pair, compared, gate.margin, len(pairs))
        for subject, pair in pairs.items()
    }
    tests = [
        tested(subject, pair, mixed[subject].usual_baseline, gate.margin, len(pairs))
        for subject, pair in pairs.items()
    ]
    invalid = [*reasons_against_any_answer(gate, compared, results.sides, results.absent)]
    missing = [*reasons_against_passing(gate, compared, results.absent)]
    return _Evidence(gate, report, pairs, mixed, tests, invalid, missing).answer()


def _plan(gate: Gate, *, is_change: bool) -> Plan:
    title = f"{gate.candidate} against {gate.baseline}"
    if is_change:
        return Plan(title, BEFORE, AGAINST, (gate.sides,))
    return Plan(title, gate.baseline, "named by the gate", (gate.sides,))


class _Evidence(Struct, frozen=True, eq=False):
    """All that speaks for an answer."""

    gate: Gate
    report: Report
    pairs: Mapping[Subject, ComparedSides]
    mixed: Mapping[Subject, MixedSides]
    tests: Sequence[MarginTest]
    invalid: Sequence[Statement]  # nothing is decided
    missing: Sequence[Statement]  # it does not pass

    def answer(self) -> GateAnswer:
        failed = [test for test in self.tests if test.answer is Answer.FAILED]
        failing = self._slow(Meaning.FAILS)
        if self.invalid:
            return self._answer(Answer.NOT_DECIDED, self.invalid)
        if failing or failed:
            return self._failed(failing, failed)
        open_tests = [test for test in self.tests if test.answer is Answer.NOT_DECIDED]
        suspicious = self._slow(Meaning.CANNOT_PASS)
        baselines = self._slow_reasons(self._slow_baselines())
        if not open_tests and not self.missing and not suspicious and self.tests:
            return self._answer(Answer.PASSED, baselines)
        reasons = [*self.missing, *self._slow_reasons(suspicious)]
        needed = None
        if open_tests:
            excused = self._slow_reasons(self._slow(Meaning.NONE))
            reasons += [*excused, *baselines]
            needed = self._workers_needed(open_tests)
            to_decide = self._to_decide(open_tests, needed, is_mixed=bool(excused or suspicious))
            look = self.pairs[open_tests[0].subject].look
            reasons.append(wording.open_tests_reason(open_tests, len(self.tests), look, to_decide))
            if self.missing or excused or suspicious:
                needed = None
        return self._answer(Answer.NOT_DECIDED, reasons or [wording.NOTHING_MEASURED], needed)

    def _to_decide(
        self, open_tests: Sequence[MarginTest], needed: int | None, *, is_mixed: bool
    ) -> Statement:
        if is_mixed:
            return wording.OF_TWO_KINDS
        pushes = self.pairs[open_tests[0].subject].pushes
        if pushes is not None:
            return pushes.obstacle
        variation = max(test.variation_ratio for test in open_tests)
        return wording.workers_to_decide(needed, self.gate.margin, variation)

    def _failed(self, failing: Sequence[SlowWorkers], failed: Sequence[MarginTest]) -> GateAnswer:
        reasons = self._slow_reasons(failing)
        if failed:
            reasons.append(wording.failed_tests_reason(failed, len(self.tests)))
        failed_answer = self._answer(Answer.FAILED, reasons)
        if failing and failing[0].facts:
            return replace(failed_answer, cause=MIXED_POOL, cause_state=State.SUPPORTED)
        subject = failed_answer.tests[0].subject
        for diagnosis in self.report.diagnoses:
            is_same_workload = (
                diagnosis.subject is None or diagnosis.subject.workload == subject.workload
            )
            holding = [cause for cause in diagnosis.causes if cause.state.holds]
            if is_same_workload and holding:
                cause = max(holding, key=lambda cause: cause.share or 0.0)
                return replace(failed_answer, cause=cause.name, cause_state=cause.state)
        return failed_answer

    def _answer(
        self, answer: Answer, reasons: Sequence[Statement], workers_needed: int | None = None
    ) -> GateAnswer:
        replication = {entry.side: entry.workers for entry in self.report.replication}
        slow = [*self._slow(*Meaning), *self._slow_baselines()]
        return GateAnswer(
            candidate=self.gate.candidate,
            baseline=self.gate.baseline,
            margin_ratio=self.gate.margin,
            answer=answer,
            reasons=tuple(reasons),
            workers=(
                replication.get(self.gate.candidate, 0),
                replication.get(self.gate.baseline, 0),
            ),
            tests=tuple(sorted(self.tests, key=_order)),
            slow_workers=tuple(slow),
            cause=None,
            cause_state=None,
            workers_needed=workers_needed,
            workers_for_equal=self._workers_for_equal(),
            comparison=self.report,
        )

    def _slow_reasons(self, slow: Sequence[SlowWorkers]) -> list[Statement]:
        """Return the reason by the slow workers of the first of these measurements."""
        return [wording.slow_workers_reason(workers, len(self.tests)) for workers in slow[:1]]

    def _slow(self, *meanings: Meaning) -> list[SlowWorkers]:
        """Return the candidate's slow workers that mean this, the clearest measurement first."""
        slow = [
            mixed.candidate
            for mixed in self.mixed.values()
            if mixed.candidate is not None and mixed.meaning in meanings
        ]
        return sorted(slow, key=lambda workers: (not workers.facts, -workers.ratio))

    def _slow_baselines(self) -> list[SlowWorkers]:
        slow = [mixed.baseline for mixed in self.mixed.values() if mixed.baseline is not None]
        return sorted(slow, key=lambda workers: -workers.ratio)

    def _workers_needed(self, open_tests: Sequence[MarginTest]) -> int | None:
        """Return the workers per pool that decide it, if the true ratios are the measured ones.

        A single measurement beyond the margin fails; to pass takes all of them.
        """
        if self.pairs[open_tests[0].subject].pushes is not None:
            return None
        margin, measurements = self.gate.margin, len(self.tests)
        to_fail = [
            workers_to_fail(margin, test.variation_ratio, math.log(test.ratio), measurements)
            for test in self.tests
        ]
        numbers = [number for number in to_fail if number is not None]
        if numbers:
            return min(numbers)
        variations = [test.variation_ratio for test in self.tests]
        return workers_to_pass(margin, variations, [math.log(test.ratio) for test in self.tests])

    def _workers_for_equal(self) -> int | None:
        variations = [test.variation_ratio for test in self.tests]
        if not variations:
            return None
        return workers_to_pass(self.gate.margin, variations, [0.0] * len(variations))


def _order(test: MarginTest) -> tuple[int, float]:
    """Sort what failed first, then what is open, each with the highest ratio first."""
    ranks = {Answer.FAILED: 0, Answer.NOT_DECIDED: 1, Answer.PASSED: 2}
    size = test.interval.low_ratio if test.answer is Answer.FAILED else test.highest_ratio
    return ranks[test.answer], -size
