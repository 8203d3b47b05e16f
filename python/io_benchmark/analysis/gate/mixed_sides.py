# SPDX-License-Identifier: MPL-2.0
"""What the slow workers of both pools mean for a gate, on one measurement.

Slow workers with a fact of the image that no worker of the baseline has are the new image's. Slow
workers without such a fact may be anybody's: a neighbour or an older machine slows down the one
pool or the other. They fail the gate where it is improbable that so many of all slow ones are the
candidate's by chance (Fisher's exact test). Otherwise the candidate does not pass with them, unless
the baseline's are slow about as often; without a local SSD it never does.
"""

import math
from collections.abc import Sequence
from enum import Enum, auto
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.comparing.samples import in_common
from io_benchmark.analysis.explaining.mixed_pools import machine_name
from io_benchmark.analysis.gate.gate_model import SlowWorkers
from io_benchmark.analysis.gate.slow_workers import SlowPart, find_slow_part
from io_benchmark.analysis.model.measurement import ComparedSides
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.analysis.validity.rules import RUN_RULES

_, _TOO_FEW = RUN_RULES["too-few-retrieves"]


# Slow workers that are at most so many times as frequent as in the baseline are nothing new.
# Chosen: few workers do not tell frequencies that are nearer.
_AS_OFTEN = 2


class Meaning(Enum):
    NONE = auto()
    FAILS = auto()
    CANNOT_PASS = auto()


class MixedSides(Struct, frozen=True, eq=False):
    """The slow workers of a candidate and its baseline, as far as they have some."""

    meaning: Meaning = Meaning.NONE
    candidate: SlowWorkers | None = None
    baseline: SlowWorkers | None = None
    usual_baseline: Side | None = None  # to compare the candidate with as well


def find_mixed_sides(
    pair: ComparedSides, workers: Sequence[Worker], margin: float, tests: int
) -> MixedSides:
    """Return what is slow in two sides; `tests` is the number of measurements.

    The workers also have the runs that ended early.
    """
    candidate, baseline = _with_cut_off(pair, workers)
    slow_baseline = find_slow_part(baseline, candidate, (), tests)
    usual = baseline
    if slow_baseline is not None and 2 * len(slow_baseline.members) > baseline.count:
        slow_baseline = None  # most are the usual ones, and the others unusually fast
    if slow_baseline is not None:
        _, usual = slow_baseline.split(baseline)
    slow = find_slow_part(candidate, baseline, usual.log_means, tests)
    baseline_workers = None
    if slow_baseline is not None:
        baseline_workers = _described(slow_baseline, baseline, None)
    if slow is not None and _is_within(slow, candidate, usual, margin):
        # Without a local SSD it may be slower than the margin at other work.
        slow = replace(slow, is_proven=False) if slow.has_no_ssd and slow.is_new else None
    if slow is None:
        return MixedSides(baseline=baseline_workers, usual_baseline=_usual(slow_baseline, pair))
    alike = _as_slow(slow, candidate, baseline)
    counts = None if slow.is_new else (alike, baseline.count)
    candidate_workers = _described(slow, candidate, counts)
    meaning = _meaning(slow, candidate.count, alike, baseline.count)
    usual_baseline = None if meaning is Meaning.NONE else _usual(slow_baseline, pair)
    return MixedSides(meaning, candidate_workers, baseline_workers, usual_baseline)


def _with_cut_off(pair: ComparedSides, workers: Sequence[Worker]) -> tuple[Side, Side]:
    """Return the sides with the candidate's runs that ended early: slow workers do.

    They have enough samples for a mean. What is compared is the part that all have.
    """
    subject, name = pair.candidate.subject, pair.candidate.name
    runs = [worker.run_of(subject) for worker in workers if worker.side == name]
    enough = [run for run in runs if _TOO_FEW(run) is None]
    if len(enough) <= sum(1 for _ in pair.candidate):
        return pair.candidate, pair.baseline
    common = in_common(Side.of(enough), pair.baseline)
    return common.candidate, common.baseline


def _usual(slow: SlowPart | None, pair: ComparedSides) -> Side | None:
    """Return the baseline's workers that are not slow, where some are and it may be split."""
    if slow is None or not slow.is_proven:
        return None
    _, usual = slow.split(pair.baseline)
    return usual


def _is_within(slow: SlowPart, candidate: Side, usual: Side, margin: float) -> bool:
    """Return whether a slow part is still within the margin of the usual baseline."""
    part, _ = slow.split(candidate)
    return fmean(part.log_means) <= fmean(usual.log_means) + math.log1p(margin)


def _as_slow(slow: SlowPart, candidate: Side, baseline: Side) -> int:
    """Return how many workers of the baseline are nearer to the slow ones than to the others."""
    part, rest = slow.split(candidate)
    edge = (fmean(part.log_means) + fmean(rest.log_means)) / 2
    return sum(log > edge for log in baseline.log_means)


def _meaning(slow: SlowPart, workers: int, alike: int, baseline_count: int) -> Meaning:
    if not slow.is_proven:
        return Meaning.CANNOT_PASS
    number = len(slow.members)
    if slow.is_new or _chance_of_as_many(number, workers, alike, baseline_count) <= 1 - LEVEL:
        return Meaning.FAILS
    if slow.has_no_ssd:
        return Meaning.CANNOT_PASS
    is_as_often = number * baseline_count <= _AS_OFTEN * alike * workers
    return Meaning.NONE if is_as_often else Meaning.CANNOT_PASS


def _chance_of_as_many(number: int, workers: int, alike: int, baseline_count: int) -> float:
    """Return the chance that so many or more of all slow workers are the candidate's."""
    slow = number + alike
    ways = math.comb(workers + baseline_count, slow)
    as_many = sum(
        math.comb(workers, these) * math.comb(baseline_count, slow - these)
        for these in range(number, min(slow, workers) + 1)
    )
    return as_many / ways


def _described(
    slow: SlowPart, side: Side, like_these_in_baseline: tuple[int, int] | None
) -> SlowWorkers:
    machines = [
        machine_name(runs) for position, runs in enumerate(side.workers) if position in slow.members
    ]
    return SlowWorkers(
        subject=side.subject,
        side=side.name,
        machines=tuple(machines),
        workers=side.count,
        ratio=math.exp(slow.log_ratio),
        facts=slow.facts,
        facts_of_others=slow.facts_of_others,
        like_these_in_baseline=like_these_in_baseline,
        is_proven=slow.is_proven,
    )
