# SPDX-License-Identifier: MPL-2.0
"""What is compared of two sides: the part that all runs have, now, at earlier looks, and how many workers it needs.

A run that its time budget ended measured more of the start: the cold
start of a cache, or the time before a burst credit was used up. What one side measured later is not
compared with what the other measured at the start.

A look is repeated by the workers of that time, which started first, and only if nobody could choose it:
the tasks or --looks declare the numbers of workers, or a plan does. Without these the report does not
know when somebody looked.

An inconclusive comparison is advised how many workers to add: the smallest number with which 80 of 100
repetitions would reach the more probable verdict, if the estimate is true and workers vary as assumed.
"""

import functools
import math
from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.inference.estimates import Estimate, did_same_work
from io_benchmark.analysis.inference.looks import SINGLE, Look, Schedule
from io_benchmark.analysis.inference.variations import Prior, PushVariation
from io_benchmark.analysis.levels import LEVEL, margin_bounds
from io_benchmark.analysis.model import UNKNOWN, Advice, Verdict, WorkerVariation
from io_benchmark.analysis.observed.runs import Run
from io_benchmark.analysis.observed.sides import Side, SideData
from io_benchmark.analysis.statements import Statement, count, share, statement
from io_benchmark.analysis.variances import MeanVariance, reach, tail

# 80 of 100 are promised. The formulas are those of equal variances; Welch's test, which gives the
# verdict, reaches up to three of 100 fewer (measured in tests/simulation).
_POWER = 0.83
_MOST_WORKERS = 100
_Stretches = Sequence[tuple[Look, range]]  # of numbers of workers
_ONE_LOOK = ((SINGLE, range(2, 2 * _MOST_WORKERS + 1)),)
# The assumed variation counts as much as that of five workers.
_PRIOR_DEGREES = 4.0
# Errors whose density is e⁻³⁰ of the highest are left out. So many steps give three digits or more.
_NEGLIGIBLE = 30.0
_STEPS = 200


class Pair(Struct, frozen=True):
    """A candidate and its baseline, with what is compared of both."""

    candidate: str
    baseline: str
    candidate_side: SideData
    baseline_side: SideData
    variation: WorkerVariation  # assumed where a side has one or two workers
    look: Look = SINGLE
    schedule: Schedule | None = None  # for more workers; None: no more are advised
    is_one_machine: bool = False  # that ran all tasks of both
    are_pools: bool = True  # otherwise a single worker is compared for itself, not for its pool
    # What was compared at the looks before this one, by the workers per pool.
    earlier: Mapping[int, "Pair"] = field(default_factory=dict)
    push_variation: PushVariation | None = None  # where the sides are of different pushes
    priors: tuple[Prior | None, Prior | None] = (None, None)  # of the candidate, of the baseline

    @property
    def counts(self) -> tuple[int, int]:
        return self.candidate_side.count, self.baseline_side.count

    @property
    def estimate(self) -> Estimate:
        estimate = Estimate.of_sides(
            self.candidate_side, self.baseline_side, self.variation.ratio, self.look, self.priors
        )
        if self.push_variation is not None:
            estimate = estimate.with_further(self.push_variation.variance)
        return estimate if self.are_pools else replace(estimate, single_sides=0)

    def with_earlier_looks(self, candidate: Side, baseline: Side, lost: tuple[int, int]) -> "Pair":
        """Return the pair with what was compared at the looks before this one.

        `lost` counts the candidate's and the baseline's tasks without a result.
        """
        schedule = self.schedule
        is_planned_look = schedule is not None and schedule.is_planned and self.look == SINGLE
        if schedule is None or not schedule.is_declared or is_planned_look:
            return self
        sides = [sorted(side, key=_start) for side in (candidate, baseline)]
        earlier: dict[int, Pair] = {}
        if schedule.is_planned:
            planned = list(map(_first_planned, sides, lost))
            return replace(self, earlier=self._at_look(planned, SINGLE))
        for workers in schedule.looks:
            if workers <= min(self.counts) and self.counts != (workers, workers):
                first = [_first_workers(side_runs, workers) for side_runs in sides]
                earlier |= self._at_look(first, schedule.look(workers))
        return replace(self, earlier=earlier)

    def _at_look(self, sides: Sequence[Sequence[Run]], look: Look) -> "dict[int, Pair]":
        """Return the pair with these runs, by the workers that each side has at least."""
        if not all(sides):
            return {}
        candidate, baseline, _ = compared_samples(*map(Side.of, sides))
        pair = replace(self, candidate_side=candidate, baseline_side=baseline, look=look)
        return {min(pair.counts): pair} if min(pair.counts) > 1 else {}


def _start(run: Run) -> tuple[str, str, int]:
    return run.worker.started, run.worker.task_id, run.worker.run_id or 0


def _first_workers(runs: Sequence[Run], count: int) -> list[Run]:
    """Return the runs until so many workers have run; each whose machine is unknown is one."""
    machines: set[str] = set()
    first: list[Run] = []
    for index, run in enumerate(runs):
        if len(machines) == count:
            break
        machine = run.worker.machine
        machines.add(f"{machine} {index}" if machine == UNKNOWN else machine)
        first.append(run)
    return first


def _first_planned(runs: Sequence[Run], lost: int) -> list[Run]:
    """Return as many runs as were planned of each task, less those that were lost.

    Return none where some of these are still to come, or where it is not known which task lost one.
    """
    left: dict[Hashable, int] = {}
    first: list[Run] = []
    for run in runs:
        measured, plan = run.worker.plan
        left.setdefault(measured, int(plan) - lost)
        if left[measured] > 0:
            left[measured] -= 1
            first.append(run)
    return [] if any(left.values()) or (lost and len(left) > 1) else first


def compared_samples(candidate: Side, baseline: Side) -> tuple[SideData, SideData, int | None]:
    """Return what is compared of the candidate's and the baseline's runs: None, or so many samples of each.

    Retrieve i took the same file in each run. Windows of time hold different work, and are all used.
    """
    entries = [run.entry for run in (*candidate, *baseline)]
    lengths = {len(entry.total_ns) for entry in entries}
    shortest = min(lengths)
    if len(lengths) == 1 or not did_same_work([entry.first(shortest) for entry in entries]):
        return candidate.data, baseline.data, None
    candidate, baseline = (
        Side.of(replace(run, entry=run.entry.first(shortest)) for run in side)
        for side in (candidate, baseline)
    )
    return candidate.data, baseline.data, shortest


def advise(estimate: Estimate, pair: Pair, *, margin: float, comparisons: int) -> Advice:
    """Return how many workers to add, and which verdict is more probable.

    Without a schedule the workers are looked at once.
    """
    assumed = pair.variation.expected_ratio
    measured = MeanVariance.pooled([pair.candidate_side.log_means, pair.baseline_side.log_means])
    prior = MeanVariance(assumed**2, _PRIOR_DEGREES)
    variance = MeanVariance.combined([prior] if measured is None else [measured, prior]).variance
    between_pushes = pair.push_variation.variance.variance if pair.push_variation else 0.0
    # One worker's mean is not known exactly either, and would not be in a repetition.
    within = estimate.within_variance - between_pushes
    within = max(0.0, within) if math.isfinite(within) else 0.0
    variation = math.sqrt(variance + within / 2)
    low, high = margin_bounds(margin)
    leaning = Verdict.SLOWER if estimate.ratio > 1 else Verdict.FASTER
    if low <= estimate.ratio <= high:
        leaning = Verdict.EQUIVALENT
    lead = f"probably {leaning}, not proven; "
    hopeless = lead + "more workers are not expected to settle it: {obstacle}"
    if pair.is_one_machine:
        # Another run on it is no further worker.
        obstacle = statement("one machine ran all of these tasks")
        return Advice(leaning, None, variation, statement(hopeless, obstacle=obstacle), obstacle)
    basis = ", including an" if measured is None else ", estimated from these workers and an"
    assumption = statement(
        f"workers vary by {{variation}}{basis} assumed {{assumed}}",
        variation=share(variation),
        assumed=share(assumed),
    )
    question = _Question(
        estimate.log_ratio, variation, between_pushes, margin, comparisons, leaning
    )
    stretches: _Stretches = _ONE_LOOK
    if pair.schedule is not None:
        stretches = pair.schedule.stretches(pair.counts, pair.look, 2 * _MOST_WORKERS)
    total = question.workers_needed(stretches)
    add = _MOST_WORKERS + 1 if total is None else max(1, total - min(pair.counts))
    if add > _MOST_WORKERS:
        needed_anew = question.workers_needed(_ONE_LOOK)
        obstacle = _obstacle(pair.schedule, stretches, needed_anew)
        # Pushes are the obstacle only where workers of one push would decide.
        in_one_push = question._replace(between_pushes=0.0)
        if pair.push_variation and not needed_anew and in_one_push.workers_needed(_ONE_LOOK):
            obstacle = pair.push_variation.obstacle
        message = statement(hopeless + " if {assumption}", obstacle=obstacle, assumption=assumption)
        return Advice(leaning, None, variation, message, obstacle)
    workers = "worker" if add == 1 else "workers"
    message = statement(
        lead + f"{{add}} more {workers} per pool should settle it if {{assumption}}",
        add=count(add),
        assumption=assumption,
    )
    return Advice(leaning, add, variation, message)


class _Question(NamedTuple):
    """The verdict to be reached, if the estimate is true and workers vary as assumed."""

    log_ratio: float
    variation: float  # between workers
    between_pushes: float  # a variance that more workers do not reduce
    margin: float
    comparisons: int
    leaning: Verdict

    def workers_needed(self, stretches: _Stretches) -> int | None:
        """Return the number per side; None if it is in none of the stretches, which have one level each."""
        for look, numbers in stretches:
            # More workers have a better chance, as long as the level is the same.
            place = bisect_left(numbers, _POWER, key=partial(self.chance, look))
            if place < len(numbers):
                return numbers[place]
        return None

    def chance(self, look: Look, workers: int) -> float:
        """Return the chance that so many workers per side reach the verdict, over the possible errors."""
        degrees = 2 * workers - 2
        error = math.sqrt(self.variation**2 * 2 / workers + self.between_pushes)
        shift = abs(self.log_ratio) / error
        if self.leaning is not Verdict.EQUIVALENT:
            # The first of Holm's steps, which is the hardest, so that the number is not too small.
            errors = reach(1 - look.p_value((1 - LEVEL) / self.comparisons), degrees)
            return math.fsum(
                chance * tail(errors * estimated - shift, math.inf)
                for estimated, chance in _estimated_errors(degrees)
            )
        errors, edge = reach(look.equivalence_level, degrees), math.log1p(self.margin) / error
        return math.fsum(
            chance * (tail(-room - shift, math.inf) - tail(room - shift, math.inf))
            for estimated, chance in _estimated_errors(degrees)
            if (room := edge - errors * estimated) > 0
        )


@functools.lru_cache(maxsize=256)
def _estimated_errors(degrees: int) -> Sequence[tuple[float, float]]:
    """Return what an estimated error can be, in units of the true one, each with its probability.

    Its square is chi-squared over its degrees of freedom. The steps are even in the logarithm.
    """
    width = math.sqrt(_NEGLIGIBLE / degrees)
    lowest, step = -width - width**2, (2 * width + width**2) / _STEPS
    logs = [lowest + step * number for number in range(_STEPS + 1)]
    densities = [math.exp(degrees * (log - math.expm1(2 * log) / 2)) for log in logs]
    total = math.fsum(densities)
    return [(math.exp(log), density / total) for log, density in zip(logs, densities, strict=True)]


def _obstacle(
    schedule: Schedule | None, stretches: _Stretches, needed_anew: int | None
) -> Statement:
    """Return why more workers would not decide, by the number that a measurement with one look needs."""
    has_looks = schedule is not None and schedule.is_declared and not schedule.is_planned
    if schedule is None or not has_looks or needed_anew is None or needed_anew > _MOST_WORKERS:
        return statement("that would take more than {most} per pool", most=count(_MOST_WORKERS))
    reason = (
        "the chance at the last declared look, {last} workers per pool, is below 80 %"
        if stretches
        else "no look is declared after {last} workers per pool"
    )
    return statement(
        reason + "; a new measurement with {needed} per pool and one look should settle it",
        last=count(schedule.looks[-1]),
        needed=count(needed_anew),
    )
