# SPDX-License-Identifier: MPL-2.0
"""From what was measured of two pools to the answer: passed, failed or not decided."""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.gate import wording
from io_benchmark.analysis.gate.gate_model import Answer, MarginTest, SlowWorkers
from io_benchmark.analysis.gate.margin_tests import margin_test
from io_benchmark.analysis.gate.mixed_sides import Meaning, MixedSides, find_mixed_sides
from io_benchmark.analysis.model.measurement import ComparedSides
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.statistics.gate_sizes import (
    workers_for_margin,
    workers_to_fail,
    workers_to_pass,
)


class Judgement(Struct, frozen=True):
    """An answer with what it rests on, before it is explained."""

    answer: Answer
    reasons: tuple[Statement, ...]
    tests: tuple[MarginTest, ...]
    slow_workers: tuple[SlowWorkers, ...]
    workers_needed: int | None
    workers_for_equal: int | None
    is_mixed: bool = False  # it failed by slow workers of the candidate, and a fact says why


class Evidence(Struct, frozen=True, eq=False):
    """All that speaks for or against passing."""

    margin: float
    pairs: Mapping[Subject, ComparedSides]
    mixed: Mapping[Subject, MixedSides]
    tests: Sequence[MarginTest]
    invalid: Sequence[Statement] = ()  # why nothing is decided
    missing: Sequence[Statement] = ()  # why it does not pass

    @classmethod
    def of(
        cls,
        margin: float,
        pairs: Mapping[Subject, ComparedSides],
        workers: Sequence[Worker] = (),
        invalid: Sequence[Statement] = (),
        missing: Sequence[Statement] = (),
    ) -> "Evidence":
        """Test each pair; `workers` have the runs that no pair has because they ended early."""
        number = len(pairs)
        mixed = {
            subject: find_mixed_sides(pair, workers, margin, number)
            for subject, pair in pairs.items()
        }
        tests = [
            margin_test(subject, pair, mixed[subject].usual_baseline, margin, number)
            for subject, pair in pairs.items()
        ]
        return cls(margin, pairs, mixed, tests, invalid, missing)

    def judge(self) -> Judgement:
        """Return the answer; what fails comes before what is missing."""
        failed = [test for test in self.tests if test.answer is Answer.FAILED]
        failing = self._slow(Meaning.FAILS)
        if self.invalid:
            return self._judgement(Answer.NOT_DECIDED, self.invalid)
        if failing or failed:
            reasons = self._slow_reasons(failing)
            if failed:
                reasons.append(wording.failed_tests_reason(failed, len(self.tests)))
            is_mixed = bool(failing) and bool(failing[0].facts)
            return replace(self._judgement(Answer.FAILED, reasons), is_mixed=is_mixed)
        open_tests = [test for test in self.tests if test.answer is Answer.NOT_DECIDED]
        suspicious = self._slow(Meaning.CANNOT_PASS)
        baselines = self._slow_reasons(self._slow_baselines())
        if not open_tests and not self.missing and not suspicious and self.tests:
            return self._judgement(Answer.PASSED, baselines)
        reasons = [*self.missing, *self._slow_reasons(suspicious)]
        needed = None
        if open_tests:
            excused = self._slow_reasons(self._slow(Meaning.NONE))
            reasons += [*excused, *baselines]
            needed = self._workers_needed(open_tests)
            to_decide = self._to_decide(open_tests, needed, is_mixed=bool(excused or suspicious))
            look = self.pairs[open_tests[0].subject].look
            number = len(self.tests)
            reasons.append(wording.open_tests_reason(open_tests, number, look, to_decide))
            if self.missing or excused or suspicious:
                needed = None
        return self._judgement(Answer.NOT_DECIDED, reasons or [wording.NOTHING_MEASURED], needed)

    def _to_decide(
        self, open_tests: Sequence[MarginTest], needed: int | None, *, is_mixed: bool
    ) -> Statement:
        if is_mixed:
            return wording.OF_TWO_KINDS
        pushes = self.pairs[open_tests[0].subject].pushes
        if pushes is not None:
            return pushes.obstacle
        variation = max(test.variation_ratio for test in open_tests)
        return wording.workers_to_decide(needed, self.margin, variation)

    def _judgement(
        self, answer: Answer, reasons: Sequence[Statement], workers_needed: int | None = None
    ) -> Judgement:
        slow = [
            *self._slow(Meaning.FAILS),
            *self._slow(Meaning.CANNOT_PASS),
            *self._slow(Meaning.NONE),
            *self._slow_baselines(),
        ]
        return Judgement(
            answer=answer,
            reasons=tuple(reasons),
            tests=tuple(sorted(self.tests, key=_order)),
            slow_workers=tuple(slow),
            workers_needed=workers_needed,
            workers_for_equal=self._workers_for_equal(),
        )

    def _slow_reasons(self, slow: Sequence[SlowWorkers]) -> list[Statement]:
        """Return the reason by the slow workers of the first of these measurements."""
        return [wording.slow_workers_reason(workers, len(self.tests)) for workers in slow[:1]]

    def _slow(self, meaning: Meaning) -> list[SlowWorkers]:
        """Return the candidate's slow workers that mean this, the clearest measurement first."""
        slow = [
            mixed.candidate
            for mixed in self.mixed.values()
            if mixed.candidate is not None and mixed.meaning is meaning
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
        measurements = len(self.tests)
        to_fail = [
            workers_to_fail(self.margin, test.variation_ratio, math.log(test.ratio), measurements)
            for test in self.tests
        ]
        numbers = [number for number in to_fail if number is not None]
        if numbers:
            return min(numbers)
        return self._workers_to_pass([math.log(test.ratio) for test in self.tests])

    def _workers_for_equal(self) -> int | None:
        if not self.tests:
            return workers_for_margin(self.margin)
        return self._workers_to_pass([0.0] * len(self.tests))

    def _workers_to_pass(self, log_ratios: Sequence[float]) -> int | None:
        variations = [test.variation_ratio for test in self.tests]
        return workers_to_pass(self.margin, variations, log_ratios)


def _order(test: MarginTest) -> tuple[int, float]:
    """Sort what failed first, then what is open, each with the highest ratio first."""
    ranks = {Answer.FAILED: 0, Answer.NOT_DECIDED: 1, Answer.PASSED: 2}
    size = test.interval.low_ratio if test.answer is Answer.FAILED else test.highest_ratio
    return ranks[test.answer], -size
