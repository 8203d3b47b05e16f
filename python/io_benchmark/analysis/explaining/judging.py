# SPDX-License-Identifier: MPL-2.0
"""How a cause is judged: by the facts of whole sides, and by whether single workers follow them.

A rule compares the averages of both sides, in which one worker of five counts a fifth. Where its
fact is not on all workers, their times must follow it: each worker of the slower side is judged by
itself against the faster side, and each of the faster side against its others. A cause whose fact
is missing on slow workers, or present on fast ones, does not explain why the side is slow. Slow is
meant in the parts of the time that the cause acts through: half of the way from the faster side to
the workers that have the fact, and more than equal workers differ.
"""

import math
from collections.abc import Sequence
from statistics import fmean, median

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.causes import RULES_BY_NAME
from io_benchmark.analysis.explaining.effects import Effect, Fact, Proof
from io_benchmark.analysis.explaining.rules import CauseRule, OtherCause
from io_benchmark.analysis.model.cause import State
from io_benchmark.analysis.model.side import Runs, Side
from io_benchmark.analysis.model.statements import Statement, count, statement
from io_benchmark.analysis.model.time_parts import Part
from io_benchmark.analysis.statistics.levels import DEFAULT_WORKER_VARIATION

_CLEARLY = 2.0  # equal workers seldom differ by more than two standard deviations
_DEVIATION_OVER_MEDIAN = 1.4826  # the standard over the median deviation, if normal
# Chosen: a worker has a fact of some size if it has at least this share of its side's, and lacks it
# with the rest. Between the two it is not known.
_MOST_OF_IT_SHARE = 0.75


def effect_of(rule: CauseRule, case: Case) -> Effect:
    """Compare the fact, apply what other causes hold against it, and say what it costs."""
    effect = rule.fact(case)
    excluding = _first_that_holds(rule.excluded_by, case, effect)
    if excluding is not None:
        return effect.evidence.opposes(excluding.reason)
    doubting = _first_that_holds(rule.doubted_by, case, effect)
    if doubting is not None:
        effect = replace(effect, proof=Proof.SETTING).also(doubting.reason)
    if rule.cost is not None and effect.fact in rule.weighed_facts:
        effect = rule.cost(case, effect)
    return effect


def _first_that_holds(
    others: Sequence[OtherCause], case: Case, effect: Effect
) -> OtherCause | None:
    """Return the first cause whose rule finds the slower fact on the slower side."""
    if not case.differs:
        return None
    for other in others:
        rule = RULES_BY_NAME[other.cause]
        if (
            effect.fact in other.facts
            and rule.applies(case)
            and other.where(case)
            and effect_of(rule, case).is_slower
        ):
            return other
    return None


def judge_workers(rule: CauseRule, of_sides: Effect, case: Case) -> tuple[State, Statement] | None:
    """Return what single workers show about the fact that makes their side slower, if anything.

    Their times contradict it, or they follow it and not all workers have it.
    """
    workers, faster_side = case.slower.measured.workers, case.faster.measured
    slower = _Workers.divided(
        workers, [has_fact(rule, of_sides, case, runs, case.faster) for runs in workers]
    )
    if not slower.present or not faster_side.workers:
        return None
    faster = _faster_workers(rule, of_sides, case, faster_side)
    contradiction = _contradiction(slower, faster, _Scale.of(case, rule, slower.present))
    if contradiction is not None:
        return State.RULED_OUT, contradiction
    if not slower.missing:
        return None
    template = "On {number} of {workers} workers of the slower side; the others are faster."
    return State.SUPPORTED, slower.counted(template, len(slower.present))


def has_fact(
    rule: CauseRule, of_sides: Effect, case: Case, runs: Runs, others: Side
) -> bool | None:
    """Return whether one worker, compared with others, has the fact that its side is slower by.

    None: that is not known, another fact than that of its side supports the cause, or a part of the
    side's size does.
    """
    effect = effect_of(rule, case.of_worker(Side.of(runs), others))
    if effect.fact in (Fact.UNSEEN, Fact.UNCLEAR):
        return None
    if not effect.is_slower:
        return False
    if effect.size is not None and of_sides.size is not None and of_sides.size.times != 1:
        share = math.log(effect.size.times) / math.log(of_sides.size.times)
        if share <= 1 - _MOST_OF_IT_SHARE:
            return False
        if share < _MOST_OF_IT_SHARE:
            return None
    is_same_fact = effect.reasons[0].template == of_sides.reasons[0].template
    return True if is_same_fact else None


class _Workers(Struct, frozen=True):
    """The workers of one side that have a cause's fact, and those that are known to lack it."""

    present: list[Runs] = []
    missing: list[Runs] = []

    @classmethod
    def divided(cls, workers: Sequence[Runs], answers: Sequence[bool | None]) -> "_Workers":
        answered = list(zip(workers, answers, strict=True))
        present = [runs for runs, answer in answered if answer is True]
        return cls(present, [runs for runs, answer in answered if answer is False])

    def counted(self, template: str, number: int) -> Statement:
        total = len(self.present) + len(self.missing)
        return statement(template, number=count(number), workers=count(total))


def _faster_workers(rule: CauseRule, of_sides: Effect, case: Case, side: Side) -> _Workers:
    """Divide the workers of the faster side, each judged against its others."""
    if len(side.workers) < 2:
        return _Workers()
    answers = [
        has_fact(rule, of_sides, case, runs, side.without(number))
        for number, runs in enumerate(side.workers)
    ]
    # Where no worker is worse than all others, the rule reads no fact of single workers.
    return _Workers() if all(answers) else _Workers.divided(side.workers, answers)


class _Scale(Struct, frozen=True):
    """What tells slow workers from fast ones, by the parts that a cause acts through."""

    case: Case
    parts: frozenset[Part]
    middle_ns: float  # between the faster side and the workers that have the fact
    variation_ns: float  # how far equal workers differ

    @classmethod
    def of(cls, case: Case, rule: CauseRule, with_fact: Sequence[Runs]) -> "_Scale":
        parts = rule.acts_through
        fast_ns = [case.time_in_parts(parts, runs) for runs in case.faster.measured.workers]
        slow_ns = [case.time_in_parts(parts, runs) for runs in with_fact]
        runs_of_both = [*case.slower, *case.faster]
        whole_ns = fmean(run.mean_ns for run in runs_of_both if run.is_measured)
        # The deviation within sides, which single workers that differ hardly change.
        deviations_ns = [abs(time - median(side)) for side in (fast_ns, slow_ns) for time in side]
        assumed_ns = DEFAULT_WORKER_VARIATION * whole_ns
        seen_ns = _DEVIATION_OVER_MEDIAN * median(deviations_ns)
        middle_ns = (fmean(fast_ns) + fmean(slow_ns)) / 2
        return cls(case, parts, middle_ns, max(assumed_ns, seen_ns))

    def is_slow(self, workers: Sequence[Runs]) -> bool:
        return self._above_ns(workers) > self._margin_ns(workers)

    def is_fast(self, workers: Sequence[Runs]) -> bool:
        return self._above_ns(workers) < -self._margin_ns(workers)

    def _above_ns(self, workers: Sequence[Runs]) -> float:
        return fmean(self.case.time_in_parts(self.parts, runs) for runs in workers) - self.middle_ns

    def _margin_ns(self, workers: Sequence[Runs]) -> float:
        return _CLEARLY * self.variation_ns / math.sqrt(len(workers))


def _contradiction(slower: _Workers, faster: _Workers, scale: _Scale) -> Statement | None:
    """Return why the times do not follow the fact, and on how many workers of which side."""
    slow_workers = "{number} of {workers} workers of the slower side"
    fast = [runs for runs in slower.present if scale.is_fast([runs])]
    if fast:
        template = f"As fast as the faster side in spite of this: {slow_workers}."
        return slower.counted(template, len(fast))
    slow = [runs for runs in slower.missing if scale.is_slow([runs])]
    # The mean of several workers is known better than the time of one.
    if not slow and slower.missing and scale.is_slow(slower.missing):
        slow = slower.missing
    if slow:
        return slower.counted(f"As slow without this: {slow_workers}.", len(slow))
    fast = [runs for runs in faster.present if scale.is_fast([runs])]
    if fast:
        template = "Fast in spite of this: {number} of {workers} workers of the faster side."
        return faster.counted(template, len(fast))
    if len(slower.present) == 1 and slower.missing:
        template = f"Only {slow_workers} has this; the others are slower for another reason."
        return slower.counted(template, 1)
    return None
