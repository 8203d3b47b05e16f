# SPDX-License-Identifier: MPL-2.0
"""Where the time of sides goes: the parts of their difference, and what each side's storage did.

A difference of two sides' mean times is divided into parts that were measured on both, and blocked
time.

The same program measures different things where copies wait for storage and where they do not, and
a different figure is steady: the mean, or the median where the page cache takes everything.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from math import fsum
from statistics import fmean

from msgspec.structs import replace

from io_benchmark.analysis.model.figures import Division, PartDifference
from io_benchmark.analysis.model.measurement import Measurement
from io_benchmark.analysis.model.side import Runs, Side
from io_benchmark.analysis.model.time_parts import ON_CPU, Kind, Part, Phase
from io_benchmark.analysis.reading.capacity import waiting_per_work
from io_benchmark.analysis.reading.counters import others_busy_share
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.analysis.statistics.variances import MeanVariance

# Chosen: other processes that take so much of all CPUs' time, and so much more than on the faster
# side, may make an operation wait. A scanner works on one CPU of several.
_BUSY_SHARE, _MORE_BUSY_SHARE = 0.3, 0.2
# Chosen: a few bursts of fixed work may wait less by chance, where CPUs had little else to do.
MUCH_WAITING = 0.3
_PartMeans = Mapping[Part, float]  # nanoseconds of an operation, of one machine


def with_divisions(measurement: Measurement) -> Measurement:
    """Return the measurement with the parts of the difference of each compared pair."""
    divisions = []
    for pair in measurement.pairs:
        candidate, baseline = (measurement.sides[name] for name in pair.names)
        divisions.append(divide(candidate, baseline))
    return replace(measurement, divisions=tuple(divisions))


def divide(candidate: Side, baseline: Side, names: tuple[str, str] | None = None) -> Division:
    """Divide the difference of two sides, all of whose runs measured the same.

    A phase that some machine did not record in full is compared as far as all of them did.
    """
    sides = baseline.divided_like(candidate)
    common = frozenset.intersection(
        *(parts for side in sides for parts in side.by_worker(_recorded_parts))
    )
    times = [side.by_worker(_times_in(common)) for side in sides]
    parts = {part for side in times for machine in side for part in machine}
    differences = tuple(
        _difference(Part(phase, kind), *times)
        for phase in Phase
        for kind in Kind
        if (phase, kind) in parts
    )
    candidate_name, baseline_name = names or (candidate.name, baseline.name)
    return Division(baseline_name, candidate_name, differences)


def _machine_means(runs: Runs) -> _PartMeans:
    """Return the average of the runs of one machine, in what all of them recorded."""
    parts = [run.parts_ns for run in runs if run.is_measured]
    common = set.intersection(*map(set, parts))
    merged = [_merged(run, common) for run in parts]
    return {part: fmean(run.get(part, 0.0) for run in merged) for part in merged[0]}


def _recorded_parts(runs: Runs) -> frozenset[Part]:
    return frozenset(_machine_means(runs))


@cache
def _times_in(common: frozenset[Part]) -> Callable[[Runs], _PartMeans]:
    """Return how to read a worker's times in these parts, the same for the same parts."""
    return lambda runs: _merged(_machine_means(runs), common)


def _merged(machine: _PartMeans, common: AbstractSet[Part]) -> dict[Part, float]:
    """Put what not every machine recorded into the phase's unexplained part."""
    merged: dict[Part, float] = defaultdict(float)
    for part, mean_ns in machine.items():
        merged[part if part in common else Part(part.phase, Kind.UNEXPLAINED)] += mean_ns
    return merged


def _difference(
    part: Part, baseline: Sequence[_PartMeans], candidate: Sequence[_PartMeans]
) -> PartDifference:
    values = [[machine.get(part, 0.0) for machine in side] for side in (baseline, candidate)]
    baseline_ns, candidate_ns = map(fmean, values)
    low = high = None
    if min(map(len, values)) > 1:
        # Welch's interval of the difference of the means.
        variance = MeanVariance.of_sum([MeanVariance.of_mean(side) for side in values])
        margin, difference = variance.half_width(LEVEL), candidate_ns - baseline_ns
        low, high = difference - margin, difference + margin
    return PartDifference(part.phase, part.kind, baseline_ns, candidate_ns, low, high)


def others_are_busier(slower: Side, faster: Side) -> bool | None:
    """Return whether others kept the slower side's CPUs busy while it worked; None if unknown."""
    busy, busy_of_faster = (side.mean(others_busy_share) for side in (slower, faster))
    if busy is None or busy_of_faster is None:
        return None
    return busy >= max(_BUSY_SHARE, busy_of_faster + _MORE_BUSY_SHARE)


def waits_longer_ns(
    slower: Side, faster: Side, division: Division | None, phases: Collection[Phase]
) -> tuple[float, float]:
    """Return how much longer the slower side waits for CPUs in these phases, by its fixed work.

    The second is how much longer at most, where its time on CPUs is not recorded, or others kept
    the CPUs busy. Both are 0 on Linux, which records waiting.
    """
    are_busier = others_are_busier(slower, faster)
    waits = [side.mean(waiting_per_work) or 0.0 for side in (slower, faster)]
    if are_busier is False and waits[0] < waits[1] + MUCH_WAITING:
        return 0.0, 0.0
    parts = [part for part in (division.parts if division else ()) if part.phase in phases]
    divided = {part.phase for part in parts if part.kind in ON_CPU}
    longer_ns = fsum(_longer_ns(part, waits) for part in parts if part.kind in ON_CPU)
    shares = [wait / (1 + wait) for wait in waits]
    at_most_ns = fsum(_longer_ns(part, shares) for part in parts if part.phase not in divided)
    unknown_ns = 0.0
    if are_busier:
        unknown_ns = fsum(part.difference_ns for part in parts if part.kind is Kind.UNEXPLAINED)
    return longer_ns, max(longer_ns + at_most_ns, unknown_ns)


def _longer_ns(part: PartDifference, factors: Sequence[float]) -> float:
    return part.candidate_ns * factors[0] - part.baseline_ns * factors[1]
