# SPDX-License-Identifier: MPL-2.0
"""Which phase of their tasks makes the difference between pools, by the logs of runs.

A phase may take longer per task for three reasons, which are tested apart: the same work takes
longer, more bytes are moved, or the work is done in more of the runs, because the others find its
product in a cache. Only the first may be a slower machine.

Times and bytes are compared within labels, with the worker as the unit (`common_ratio`). How often
work is done is a difference of shares; its error is that of shares that do not differ, summed by
worker. All tests of all pairs are corrected together (Holm). The task's own work is not tested: its
time is the question of the tasks' comparison. tests/simulation/test_phases.py has the error rates.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from io_benchmark.analysis.model.looks import SINGLE
from io_benchmark.analysis.phases.phase_model import PhaseName, RunPhases, Waits
from io_benchmark.analysis.statistics import verdicts
from io_benchmark.analysis.statistics.levels import DEFAULT_MARGIN, LEVEL
from io_benchmark.analysis.statistics.ratios import Estimate
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.analysis.tasks.both_sides import BothSides
from io_benchmark.analysis.tasks.common_ratio import CommonRatio, Kind, common_ratio
from io_benchmark.analysis.tasks.difference_model import (
    PhaseDifference,
    PhasesOfPair,
    PhaseTimes,
    Reason,
)
from io_benchmark.analysis.tasks.phase_works import (
    LEAST_WORK_S,
    Mix,
    PhaseWorks,
    Work,
    mean_s,
    rate_of,
    share_of,
    worker_of,
)

_OF_RUN = tuple(phase for phase in PhaseName if not phase.is_before_run)
SET_UP = _OF_RUN[: _OF_RUN.index(PhaseName.OWN_WORK)]
# Smaller differences per task are not named, and phases that take less are not compared. Chosen:
# half of the second in which some lines of logs have their time.
_LEAST_S = 0.5
_SHORTEST_S = 0.001  # stamps have milliseconds
_LARGEST_LOG = 100.0  # of a ratio; an interval may have no end
_USUAL_DEGREES = 10.0  # of the usual variance. Chosen: simulated pools, see the rates
_FEWEST_WORKERS = 3  # of both sides, that show how shares vary


class _Effect(NamedTuple):
    """What may make a part of the difference, with its error."""

    phase: PhaseName
    reason: Reason
    estimate: Estimate  # of a ratio; of shares, their difference is in the place of its logarithm
    level_s: float  # per task midway between the sides; of shares, of a run that does the work
    usual_variance: float  # of workers that vary as usual

    def seconds(self, value: float) -> float:
        """Return the difference per task that a value makes."""
        if self.reason is Reason.SHARE:
            return value * self.level_s
        # Neither side is the standard: √ratio − 1/√ratio.
        bounded = min(max(value, -_LARGEST_LOG), _LARGEST_LOG)
        return 2 * math.sinh(bounded / 2) * self.level_s

    @property
    def evidence(self) -> tuple[bool, float]:
        """Return by what effects are ordered that are not decided: the most evidence last.

        Few workers that agree by chance are no evidence, so their variance is drawn to the usual
        one. A difference too small to be named comes before all others.
        """
        error, value = self.estimate.error, self.estimate.log_ratio
        weight = error.degrees + _USUAL_DEGREES
        variance = (error.degrees * error.variance + _USUAL_DEGREES * self.usual_variance) / weight
        return abs(self.seconds(value)) >= _LEAST_S, value**2 / variance if variance else math.inf

    def difference(self, test: verdicts.Adjusted) -> PhaseDifference:
        """Return the part of the difference, as its test decides."""
        value, width = self.estimate.log_ratio, self.estimate.error.half_width(test.level)
        difference_s = self.seconds(value)
        has_ratio = self.reason is not Reason.SHARE
        is_large = abs(difference_s) >= _LEAST_S
        if has_ratio:
            is_large = is_large and abs(value) > math.log1p(DEFAULT_MARGIN)
        return PhaseDifference(
            phase=self.phase,
            reason=self.reason,
            difference_s=difference_s,
            interval_s=(self.seconds(value - width), self.seconds(value + width)),
            ratio=self.estimate.ratio if has_ratio else None,
            p_value=test.p_value,
            is_decided=is_large and test.p_value <= 1 - LEVEL,
            waits=self.phase.waits if self.reason is Reason.PACE else Waits.UNKNOWN,
        )


def compare_phases(
    pairs: Iterable[tuple[str, str]], runs: Mapping[str, Sequence[RunPhases]]
) -> tuple[PhasesOfPair, ...]:
    """Compare the phases of each pair of a candidate and a baseline; `runs` are by side."""
    compared = []
    for candidate, baseline in pairs:
        pair = _Pair(runs.get(candidate, ()), runs.get(baseline, ()))
        if pair.mix:
            compared.append((candidate, baseline, pair, [*pair.effects()]))
    effects = [effect for *_, pair_effects in compared for effect in pair_effects]
    p_values = [effect.estimate.p_value for effect in effects]
    adjusted = verdicts.holm(p_values, [SINGLE] * len(effects))
    tests = {id(effect): test for effect, test in zip(effects, adjusted, strict=True)}
    made = []
    for candidate, baseline, pair, pair_effects in compared:
        # What is not decided has the order of its evidence.
        pair_effects.sort(key=lambda effect: effect.evidence, reverse=True)
        rows = [effect.difference(tests[id(effect)]) for effect in pair_effects]
        rows.sort(key=lambda row: -abs(row.difference_s) if row.is_decided else 0.0)
        made.append(pair.published(candidate, baseline, rows))
    return tuple(made)


class _Pair:
    """The runs of two sides whose logs are complete, of the labels that both have."""

    def __init__(self, candidate: Sequence[RunPhases], baseline: Sequence[RunPhases]) -> None:
        sides = [[run for run in side if run.is_complete] for side in (candidate, baseline)]
        counts = [Counter(run.label for run in side) for side in sides]
        labels = sorted(counts[0].keys() & counts[1].keys())
        # The harmonic mean, as of tasks.
        self.mix = {label: 2 / (1 / counts[0][label] + 1 / counts[1][label]) for label in labels}
        self._candidate, self._baseline = (
            [run for run in side if run.label in self.mix] for side in sides
        )
        self._works = [PhaseWorks.of(phase, self._candidate, self._baseline) for phase in _OF_RUN]

    def effects(self) -> Iterator[_Effect]:
        """Yield what may differ, of the phases that take long enough to matter."""
        for works in self._works:
            means_s = [mean_s(side, self.mix) for side in (works.candidate, works.baseline)]
            if works.phase is not PhaseName.OWN_WORK and max(means_s) >= _LEAST_S:
                yield from _ratios(works, fmean(means_s))
                yield from _share(works, self.mix)

    def published(
        self, candidate: str, baseline: str, rows: Sequence[PhaseDifference]
    ) -> PhasesOfPair:
        phases = [_times(works, self.mix) for works in self._works]
        set_up = [row.means_s for row in phases if row.phase in SET_UP]
        workers = [
            len({worker_of(run) for run in side}) for side in (self._baseline, self._candidate)
        ]
        return PhasesOfPair(
            baseline=baseline,
            candidate=candidate,
            runs=BothSides(len(self._baseline), len(self._candidate)),
            workers=BothSides(*workers),
            set_up_s=BothSides(
                math.fsum(means_s.baseline for means_s in set_up),
                math.fsum(means_s.candidate for means_s in set_up),
            ),
            phases=tuple(row for row in phases if max(row.means_s.baseline, row.means_s.candidate)),
            differences=tuple(rows),
        )


def _times(works: PhaseWorks, mix: Mix) -> PhaseTimes:
    baseline, candidate = works.baseline, works.candidate
    return PhaseTimes(
        phase=works.phase,
        means_s=BothSides(mean_s(baseline, mix), mean_s(candidate, mix)),
        shares=BothSides(share_of(baseline, mix), share_of(candidate, mix)),
        rates_bytes_per_s=BothSides(rate_of(baseline), rate_of(candidate)),
    )


def _ratios(works: PhaseWorks, phase_s: float) -> Iterator[_Effect]:
    """Yield the ratio of times of the same work, and that of bytes where they differ."""
    sizes: dict[Kind, list[int]] = defaultdict(list)
    for work in works.works:
        sizes[work.kind].append(work.size_bytes)
    usual_bytes = {kind: fmean(values) for kind, values in sizes.items()}

    def same_work_s(work: Work) -> float:
        scale = usual_bytes[work.kind] / work.size_bytes if work.size_bytes else 1.0
        return max(work.time_s * scale, _SHORTEST_S) if work.time_s else 0.0

    times = _compare(works, same_work_s)
    if times is None:
        return
    ratios = {Reason.PACE if works.is_same_work else Reason.TIME: times}
    bytes_moved = _compare(works, lambda work: float(work.size_bytes))
    if bytes_moved and abs(bytes_moved.estimate.log_ratio) > math.log1p(DEFAULT_MARGIN):
        ratios[Reason.SIZE] = bytes_moved
    log_ratio = math.fsum(ratio.estimate.log_ratio for ratio in ratios.values())
    # Midway between the sides, whose mean is larger the more they differ.
    level_s = phase_s / math.cosh(min(abs(log_ratio) / 2, _LARGEST_LOG))
    for reason, ratio in ratios.items():
        yield _Effect(works.phase, reason, ratio.estimate, level_s, ratio.usual_variance)


def _compare(works: PhaseWorks, value_of: Callable[[Work], float]) -> CommonRatio | None:
    """Return the ratio of a value within the same work; None where no work is on both sides."""
    sides = []
    for side in (works.candidate, works.baseline):
        logs: dict[Kind, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for work in side:
            value = value_of(work)
            if value > 0 and (work.is_done or work.time_s >= LEAST_WORK_S):
                logs[work.kind][work.worker].append(math.log(value))
        sides.append(logs)
    return common_ratio(*sides)


def _share(works: PhaseWorks, mix: Mix) -> Iterator[_Effect]:
    """Yield how much more often the candidate does the work, where some runs do not."""
    influences = works.influences(mix)
    squares = math.fsum(influence**2 for influence in influences)
    if len(influences) < _FEWEST_WORKERS or not squares:
        return
    degrees = len(influences) - 2.0
    error = MeanVariance(squares * len(influences) / degrees, degrees)
    change = share_of(works.candidate, mix) - share_of(works.baseline, mix)
    fewest = min(len({work.worker for work in side}) for side in (works.candidate, works.baseline))
    estimate = Estimate(change, error, can_decide=fewest > 1)
    done = [work for work in works.works if work.is_done]
    spared = [work for work in works.works if not work.is_done]
    level_s = mean_s(done, mix) - mean_s(spared, mix)
    yield _Effect(works.phase, Reason.SHARE, estimate, level_s, error.variance)
