# SPDX-License-Identifier: MPL-2.0
"""A cause is judged per worker: where its fact is not on all of them, their times must follow it.

The rules compare the averages of both sides, in which one worker of five counts a fifth. Here each worker
of the slower side is judged by itself against the faster side, and each of the faster side against its
others. A cause whose fact is missing on slow workers, or present on fast ones, does not explain why
the side is slow. Slow is meant in the parts of the time that the cause acts through: half of the way from
the faster side to the workers that have the fact, and more than equal workers differ.
"""

import math
from collections.abc import Callable, Sequence
from statistics import fmean, median
from typing import NamedTuple

from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.rules import CauseRule, Judgement
from io_benchmark.analysis.inference.levels import DEFAULT_WORKER_VARIATION
from io_benchmark.analysis.model import State
from io_benchmark.analysis.observed.side_views import Runs, SideViews
from io_benchmark.analysis.statements import count

# Equal workers seldom differ by more than this many times their usual variation.
_CLEARLY = 2.0
# A normal distribution's standard deviation over its median absolute deviation.
_DEVIATION_OVER_MEDIAN = 1.4826


class _Workers(NamedTuple):
    """The workers of one side, by whether they have the fact of a cause; unknown ones are in neither."""

    present: list[Runs]
    missing: list[Runs]


def hold_to_workers(judgement: Judgement, rule: CauseRule, case: Case) -> Judgement:
    """Rule a supported cause out where the times of the workers do not follow its fact."""
    if judgement.state is not State.SUPPORTED:
        return judgement
    fact = judgement.explanation[0].template
    workers, faster_side = case.slower.measured.workers, case.faster.measured
    slower = _by_fact(workers, [_has(rule, case, fact, runs, case.faster) for runs in workers])
    if not slower.present or not faster_side.workers:
        return judgement
    # Each worker of the faster side is judged against its others.
    having = [
        _has(rule, case, fact, runs, faster_side.without(at))
        for at, runs in enumerate(faster_side.workers)
        if len(faster_side.workers) > 1
    ]
    # Where no worker is worse than all others, the rule reads no fact of single workers.
    faster = _Workers([], []) if all(having) else _by_fact(faster_side.workers, having)
    contradiction = _contradiction(slower, faster, _speed(rule, case, slower.present))
    if contradiction is not None:
        template, workers_of_side, numbers = contradiction
        total = len(workers_of_side.present) + len(workers_of_side.missing)
        return judgement.evidence.ruled_out(
            template, **{name: count(each) for name, each in numbers.items()}, workers=count(total)
        )
    if not slower.missing:
        return judgement
    return judgement.also(
        "{present} of {workers} workers of the slower side have this, and the others are faster.",
        present=count(len(slower.present)),
        workers=count(len(slower.present) + len(slower.missing)),
    )


def _contradiction(
    slower: _Workers, faster: _Workers, speed: Callable[[Sequence[Runs]], int]
) -> tuple[str, _Workers, dict[str, int]] | None:
    """Return why the times do not follow the fact, of which side, and on how many workers."""
    of_slower = "of {workers} workers of the slower side"
    fast = [runs for runs in slower.present if speed([runs]) < 0]
    if fast:
        template = f"As fast as the faster side in spite of this: {{fast}} {of_slower}."
        return template, slower, {"fast": len(fast)}
    slow = [runs for runs in slower.missing if speed([runs]) > 0]
    if not slow and slower.missing and speed(slower.missing) > 0:
        slow = slower.missing
    if slow:
        return f"As slow without this: {{slow}} {of_slower}.", slower, {"slow": len(slow)}
    fast = [runs for runs in faster.present if speed([runs]) < 0]
    if fast:
        template = "Fast in spite of this: {fast} of {workers} workers of the faster side."
        return template, faster, {"fast": len(fast)}
    if len(slower.present) == 1 and slower.missing:
        template = f"Only 1 {of_slower} has this; the others are slower for another reason."
        return template, slower, {}
    return None


def _by_fact(workers: Sequence[Runs], having: Sequence[bool | None]) -> _Workers:
    judged = list(zip(workers, having, strict=True))
    return _Workers(*([runs for runs, has in judged if has is fact] for fact in (True, False)))


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


def _speed(rule: CauseRule, case: Case, present: Sequence[Runs]) -> Callable[[Sequence[Runs]], int]:
    """Return what tells workers apart: 1 for those that are clearly slow, -1 for fast, else 0.

    The scale is what the cause's parts of the time take on the faster side and on workers with its fact.
    """

    def times_ns(workers: Sequence[Runs]) -> list[float]:
        return [case.time_in_parts(rule.acts_through, runs) for runs in workers]

    fast_ns, slow_ns = times_ns(case.faster.measured.workers), times_ns(present)
    means_ns = (view.mean_ns for side in (case.slower, case.faster) for view in side)
    whole_ns = fmean(mean_ns for mean_ns in means_ns if mean_ns is not None)
    # The deviation within sides, which single workers that differ hardly change.
    deviations = [abs(time - median(side)) for side in (fast_ns, slow_ns) for time in side]
    variation_ns = max(
        DEFAULT_WORKER_VARIATION * whole_ns, _DEVIATION_OVER_MEDIAN * median(deviations)
    )
    middle_ns = (fmean(fast_ns) + fmean(slow_ns)) / 2

    def side_of(workers: Sequence[Runs]) -> int:
        above_ns = fmean(times_ns(workers)) - middle_ns
        if abs(above_ns) <= _CLEARLY * variation_ns / math.sqrt(len(workers)):
            return 0
        return 1 if above_ns > 0 else -1

    return side_of
