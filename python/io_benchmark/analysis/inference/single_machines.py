# SPDX-License-Identifier: MPL-2.0
"""Machines that do not belong to their pool: one alone is slower or faster than all the others.

Of each side, the machine that is farthest from the mean of the others is tested: does a prediction
interval for one more machine like the others hold it? This is Grubbs' test, with four additions:

- Three or four machines hardly show how far machines differ. The sides' other machines and an assumed
  variation contribute to the estimate, each by its degrees of freedom. The farthest machine of every
  side is left out, so that a bad one on each side does not hide the other.
- A run that met a few long stalls is slower by chance. What the noise within runs explains is not the
  machine's.
- Pools have heavier tails than a normal distribution, so the quantile is one of few degrees of freedom.
- The level is corrected for all machines that a report looks at, over all its measurements.

tests/simulation/test_single_machines.py has the rates of false alarms and of machines that are found.
Two bad machines in one pool hide each other: such a pool is mixed, and no machine of it is named.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from statistics import fmean

from msgspec import Struct

from io_benchmark.analysis.inference.estimates import SideData, compare_means
from io_benchmark.analysis.inference.variances import MeanVariance, reach
from io_benchmark.analysis.model import Interval, Run, Subject
from io_benchmark.analysis.observed.machine_identity import by_machine, by_side

# The part of reports that may name a machine although all machines of their pools are equal.
_FALSE_ALARMS = 0.0125
# Two other machines that differ do not show which of them is as usual.
_FEWEST_OTHERS = 3
# Pools may vary more than is assumed of equal machines: twice its variance, as of seven machines.
_ASSUMED_FACTOR, _ASSUMED_DEGREES = 2.0, 6.0
_MOST_DEGREES = 8.0
# Nobody replaces a machine for less.
_LEAST_RATIO = 1.25


class SingleMachine(Struct, frozen=True):
    """A machine that alone is slower or faster than its side's others, on one measurement."""

    subject: Subject
    side: str
    runs: tuple[Run, ...]
    others: tuple[Run, ...]
    ratio: float  # its mean time over that of the others
    usual: Interval  # of that ratio for one more machine like the others

    @classmethod
    def find_all(
        cls,
        compared: Mapping[Subject, Sequence[Run]],
        data_of: Mapping[Subject, Mapping[str, SideData]],
        assumed_variation: float,
    ) -> "list[SingleMachine]":
        """Return at most one machine per measurement and side; `data_of` is that of the same runs."""
        counts = [side.count for sides in data_of.values() for side in sides.values()]
        candidates = sum(number for number in counts if number > _FEWEST_OTHERS)
        level = 1 - _FALSE_ALARMS / max(1, candidates)
        machines = []
        for subject, sides in data_of.items():
            for side, index, log_ratio, width in _outside(sides, assumed_variation, level):
                runs = by_machine(by_side(compared[subject])[side])
                usual = Interval(math.exp(-width), math.exp(width), level)
                machine = tuple(runs.pop(index))
                rest = tuple(chain(*runs))
                machines.append(cls(subject, side, machine, rest, math.exp(log_ratio), usual))
        return machines


def _outside(
    sides: Mapping[str, SideData], assumed_variation: float, level: float
) -> Iterator[tuple[str, int, float, float]]:
    """Yield the sides whose farthest machine is outside of what is usual.

    Each with the machine's position, ln of its ratio to the others, and how far that usually is from 0.
    """
    farthest: dict[str, tuple[int, float]] = {}
    variances = [MeanVariance(_ASSUMED_FACTOR * assumed_variation**2, _ASSUMED_DEGREES)]
    for side, data in sides.items():
        logs = list(data.log_means)
        if data.count > _FEWEST_OTHERS:
            mean = fmean(logs)
            distances = [abs(log - mean) for log in logs]
            index = distances.index(max(distances))
            log = logs.pop(index)
            farthest[side] = index, log - fmean(logs)
        if len(logs) > 1:
            variances.append(MeanVariance.of_values(logs))
    usual = MeanVariance.combined(variances)
    factor = reach(level, min(usual.degrees, _MOST_DEGREES))
    for side, (index, log_ratio) in farthest.items():
        error = math.sqrt(usual.variance * (1 + 1 / (sides[side].count - 1)))
        if abs(log_ratio) > factor * error:
            error = math.hypot(error, _error_within_runs(sides[side], index))
        width = max(factor * error, math.log(_LEAST_RATIO))
        if abs(log_ratio) > width:
            yield side, index, log_ratio, width


def _error_within_runs(side: SideData, index: int) -> float:
    """Return the error of a machine's ratio to the rest, by the noise within their runs.

    A run of one sample shows none.
    """
    machines = list(side.runs)
    blocks = compare_means(machines.pop(index), list(chain(*machines))).blocks
    return math.sqrt(math.fsum(part.variance for part in blocks if part.variance < math.inf))
