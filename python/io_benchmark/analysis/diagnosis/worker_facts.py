# SPDX-License-Identifier: MPL-2.0
"""A cause is judged per worker: where its fact is not on all of them, their times must follow it.

The rules compare the averages of both sides, in which one worker of five counts a fifth. Here each worker
of the slower side is judged by itself against the faster side, and each of the faster side against its
others. A cause whose fact is missing on slow workers, or present on fast ones, does not explain why
the side is slow. Slow is meant in the parts of the time that the cause acts through: half of the way from
the faster side to the workers that have the fact, and more than equal workers differ.
"""

import math
from collections.abc import Sequence
from functools import partial
from statistics import fmean, median

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.cause_rule import CauseJudgement, CauseRule
from io_benchmark.analysis.inference.levels import DEFAULT_WORKER_VARIATION
from io_benchmark.analysis.model import State
from io_benchmark.analysis.observed.side_views import Runs, SideViews
from io_benchmark.analysis.statements import Statement, count, statement

# Equal workers seldom differ by more than this many times their usual variation.
_CLEARLY = 2.0
# A normal distribution's standard deviation over its median absolute deviation.
_DEVIATION_OVER_MEDIAN = 1.4826


class _Workers(Struct, frozen=True):
    """The workers of one side, by whether they have the fact of a cause; unknown ones are in neither."""

    present: tuple[Runs, ...]
    missing: tuple[Runs, ...]

    @property
    def count(self) -> int:
        return len(self.present) + len(self.missing)


def hold_to_workers(judgement: CauseJudgement, rule: CauseRule, case: Case) -> CauseJudgement:
    """Rule a supported cause out where the times of the workers do not follow its fact."""
    if judgement.state is not State.SUPPORTED:
        return judgement
    fact = judgement.explanation[0].template
    workers, others = case.slower.measured.workers, case.faster.measured
    slower = _by_fact(workers, [_has(rule, case, fact, runs, case.faster) for runs in workers])
    if not slower.present or not others.workers:
        return judgement
    # Each worker of the faster side is judged against its others.
    having = [
        _has(rule, case, fact, runs, others.without(at)) if len(others.workers) > 1 else None
        for at, runs in enumerate(others.workers)
    ]
    # Where no worker is worse than all others, the rule reads no fact of single workers.
    faster = _by_fact(others.workers, having) if not all(having) else _Workers((), ())
    contradiction = _Times.of(rule, case, slower.present).contradiction(slower, faster)
    if contradiction is not None:
        return judgement.now(State.RULED_OUT, contradiction)
    if not slower.missing:
        return judgement
    return judgement.also(
        "{present} of {workers} workers of the slower side have this, and the others are faster.",
        present=count(len(slower.present)),
        workers=count(slower.count),
    )


def _by_fact(workers: Sequence[Runs], having: Sequence[bool | None]) -> _Workers:
    judged = list(zip(workers, having, strict=True))
    present, missing = (
        tuple(runs for runs, has in judged if has is each) for each in (True, False)
    )
    return _Workers(present, missing)


def _has(rule: CauseRule, case: Case, fact: str, runs: Runs, faster: SideViews) -> bool | None:
    """Judge one worker as if it were its side; the difference to explain stays that of the sides.

    A rule may read several facts. None: not known, or another fact than that of its side supports it.
    """
    slower = SideViews.of(runs)
    candidate, baseline = (slower, faster) if case.candidate_is_slower else (faster, slower)
    judged = rule.judge(replace(case, candidate=candidate, baseline=baseline, whole=case))
    if judged.state in (State.RULED_OUT, State.NOT_JUDGED):
        return False
    is_same = judged.state is State.SUPPORTED and judged.explanation[0].template == fact
    return True if is_same else None


class _Times(Struct, frozen=True):
    """What a cause's parts of the time take on the faster side and on workers that have its fact."""

    rule: CauseRule
    case: Case
    fast_ns: float
    slow_ns: float
    variation_ns: float  # between equal workers

    @classmethod
    def of(cls, rule: CauseRule, case: Case, present: Sequence[Runs]) -> "_Times":
        time_ns = partial(case.time_in_parts, rule.acts_through)
        known = (view.mean_ns for side in (case.slower, case.faster) for view in side)
        whole_ns = fmean(each for each in known if each is not None)
        fast_ns, slow_ns = (
            list(map(time_ns, workers)) for workers in (case.faster.measured.workers, present)
        )
        variation_ns = max(DEFAULT_WORKER_VARIATION * whole_ns, _variation(fast_ns, slow_ns))
        return cls(rule, case, fmean(fast_ns), fmean(slow_ns), variation_ns)

    def contradiction(self, slower: _Workers, faster: _Workers) -> Statement | None:
        """Return why the times do not follow the fact; None where they do."""
        fast = [runs for runs in slower.present if self._side_of([runs]) < 0]
        if fast:
            return statement(
                "As fast as the faster side in spite of this: {fast} of {workers} workers of the slower "
                "side.",
                fast=count(len(fast)),
                workers=count(slower.count),
            )
        slow = [runs for runs in slower.missing if self._side_of([runs]) > 0]
        if not slow and slower.missing and self._side_of(slower.missing) > 0:
            slow = [*slower.missing]
        if slow:
            return statement(
                "As slow without this: {slow} of {workers} workers of the slower side.",
                slow=count(len(slow)),
                workers=count(slower.count),
            )
        fast = [runs for runs in faster.present if self._side_of([runs]) < 0]
        if fast:
            return statement(
                "Fast in spite of this: {fast} of {workers} workers of the faster side.",
                fast=count(len(fast)),
                workers=count(faster.count),
            )
        if len(slower.present) == 1 and slower.missing:
            return statement(
                "Only 1 of {workers} workers of the slower side has this; the others are slower for "
                "another reason.",
                workers=count(slower.count),
            )
        return None

    def _side_of(self, workers: Sequence[Runs]) -> int:
        """Return 1 for workers that are clearly slow, -1 for fast, 0 for those in between."""
        time_ns = fmean(self.case.time_in_parts(self.rule.acts_through, runs) for runs in workers)
        above_ns = time_ns - (self.fast_ns + self.slow_ns) / 2
        if abs(above_ns) <= _CLEARLY * self.variation_ns / math.sqrt(len(workers)):
            return 0
        return 1 if above_ns > 0 else -1


def _variation(*sides: Sequence[float]) -> float:
    """Return the standard deviation within sides, which single workers that differ hardly change."""
    deviations = [abs(each - median(side)) for side in sides for each in side]
    return _DEVIATION_OVER_MEDIAN * median(deviations)
