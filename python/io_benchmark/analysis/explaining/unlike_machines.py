# SPDX-License-Identifier: MPL-2.0
"""A machine that does not belong to its pool: it alone is slower or faster.

Of each side, the machine that is farthest from the mean of the others is tested: does a prediction
interval for one more machine like the others hold it? This is Grubbs' test, with four additions:

- Three or four machines hardly show how far machines differ. The sides' other machines and an
  assumed variation contribute to the estimate, each by its degrees of freedom. The farthest machine
  of every side is left out, so that a bad one on each side does not hide the other.
- A run that met a few long stalls is slower by chance. What the noise within runs explains is not
  the machine's.
- Pools have heavier tails than a normal distribution, so the quantile is one of few degrees of
  freedom.
- The level is corrected for all machines that a report looks at, over all its measurements.

tests/simulation/test_unlike_machines.py has the rates.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.model.measurement import Measurement
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.statistics.machine_ratios import MachineRatio
from io_benchmark.analysis.statistics.variances import MeanVariance, reach

_FALSE_ALARMS = 0.0125  # the part of reports that may name a machine although all are equal
_FEWEST_OTHERS = 3  # two other machines that differ do not show which of them is as usual
# Pools may vary more than is assumed of equal machines: twice its variance, as of seven machines.
_ASSUMED_FACTOR, _ASSUMED_DEGREES = 2.0, 6.0
_MOST_DEGREES = 8.0  # of freedom: the tails of pools are heavier than normal
_LEAST_SINGLE_RATIO = 1.25  # nobody replaces a machine for less


class SingleMachine(Struct, frozen=True):
    """A machine that alone is slower or faster than its side's others, on one measurement."""

    subject: Subject
    side: str
    machine: Side
    others: Side
    ratio: float  # its mean time over that of the others
    usual: Interval  # of that ratio for one more machine like the others

    @property
    def worker(self) -> Worker:
        return next(iter(self.machine)).worker

    @classmethod
    def find_all(
        cls, measurements: Sequence[Measurement], assumed_variation: float
    ) -> "list[SingleMachine]":
        """Return at most one machine per measurement and side."""
        counts = (side.count for measurement in measurements for side in measurement.sides.values())
        candidates = sum(number for number in counts if number > _FEWEST_OTHERS)
        level = 1 - _FALSE_ALARMS / max(1, candidates)
        machines = []
        for measurement in measurements:
            subject, sides = measurement.subject, measurement.sides
            for farthest in _outside(sides, assumed_variation, level):
                side, position = sides[farthest.side], farthest.position
                alone, others = Side.of(side.workers[position]), side.without(position)
                usual = Interval(math.exp(-farthest.width), math.exp(farthest.width), level)
                ratio = math.exp(farthest.log_ratio)
                machines.append(cls(subject, farthest.side, alone, others, ratio, usual))
        return machines


class _Farthest(Struct, frozen=True):
    """The machine of a side that is farthest from the mean of all of them."""

    side: str
    position: int
    log_ratio: float  # of its mean time to that of the others
    width: float = 0.0  # how far that usually is from 0


def _outside(
    sides: Mapping[str, Side], assumed_variation: float, level: float
) -> Iterator[_Farthest]:
    """Yield the farthest machines of the sides that are outside of what is usual."""
    farthest = []
    variances = [MeanVariance(_ASSUMED_FACTOR * assumed_variation**2, _ASSUMED_DEGREES)]
    for name, side in sides.items():
        logs = list(side.log_means)
        if side.count > _FEWEST_OTHERS:
            mean = fmean(logs)
            distances = [abs(log - mean) for log in logs]
            position = distances.index(max(distances))
            log_ratio = logs.pop(position) - fmean(logs)
            farthest.append(_Farthest(name, position, log_ratio))
        if len(logs) > 1:
            variances.append(MeanVariance.of_values(logs))
    usual = MeanVariance.combined(variances)
    factor = reach(level, min(usual.degrees, _MOST_DEGREES))
    for machine in farthest:
        side = sides[machine.side]
        error = math.sqrt(usual.variance * (1 + 1 / (side.count - 1)))
        if abs(machine.log_ratio) > factor * error:
            error = math.hypot(error, _error_within_runs(side, machine.position))
        width = max(factor * error, math.log(_LEAST_SINGLE_RATIO))
        if abs(machine.log_ratio) > width:
            yield replace(machine, width=width)


def _error_within_runs(side: Side, index: int) -> float:
    """Return the error of a machine's ratio to the rest, by the noise within their runs.

    A run of one sample shows none.
    """
    machines = list(side.workers)
    blocks = MachineRatio.between(machines.pop(index), list(chain(*machines))).blocks
    return math.sqrt(math.fsum(part.variance for part in blocks if part.variance < math.inf))
