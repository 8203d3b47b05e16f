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
from collections.abc import Mapping, Sequence

from msgspec import Struct

from io_benchmark.analysis.inference import compared_means
from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.variances import MeanVariance, reach, sample_variance
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
        looked_at = sum(
            side.count
            for data in data_of.values()
            for side in data.values()
            if side.count > _FEWEST_OTHERS
        )
        return [
            cls._at(subject, side, by_machine(by_side(compared[subject])[side]), farthest, usual)
            for subject, data in data_of.items()
            for side, (farthest, usual) in _outside(data, assumed_variation, looked_at).items()
        ]

    @classmethod
    def _at(
        cls,
        subject: Subject,
        side: str,
        machines: Sequence[Sequence[Run]],
        farthest: "_Farthest",
        usual: Interval,
    ) -> "SingleMachine":
        rest = [*machines[: farthest.at], *machines[farthest.at + 1 :]]
        return cls(
            subject,
            side,
            tuple(machines[farthest.at]),
            tuple(run for runs in rest for run in runs),
            math.exp(farthest.log_ratio),
            usual,
        )


class _Farthest(Struct, frozen=True):
    """A side's farthest machine, by its position, and the others' mean and variance."""

    at: int
    log_ratio: float
    others: int
    variance: MeanVariance


def _outside(
    data: Mapping[str, SideData], assumed_variation: float, looked_at: int
) -> dict[str, tuple[_Farthest, Interval]]:
    """Return the sides whose farthest machine is outside of what is usual."""
    farthest = {
        side: _farthest(machines.log_means)
        for side, machines in data.items()
        if machines.count > _FEWEST_OTHERS
    }
    variances = [MeanVariance(_ASSUMED_FACTOR * assumed_variation**2, _ASSUMED_DEGREES)]
    variances += [machine.variance for machine in farthest.values()]
    variances += [
        MeanVariance(sample_variance(machines.log_means), machines.count - 1.0)
        for side, machines in data.items()
        if side not in farthest and machines.count > 1
    ]
    degrees = math.fsum(part.degrees for part in variances)
    variance = math.fsum(part.variance * part.degrees for part in variances) / degrees
    level = 1 - _FALSE_ALARMS / max(1, looked_at)
    outside = {}
    for side, machine in farthest.items():
        errors = [math.sqrt(variance * (1 + 1 / machine.others))]
        factor = reach(level, min(degrees, _MOST_DEGREES))
        if abs(machine.log_ratio) > factor * errors[0]:
            errors.append(_error_within_runs(data[side], machine.at))
        width = max(factor * math.hypot(*errors), math.log(_LEAST_RATIO))
        if abs(machine.log_ratio) > width:
            outside[side] = machine, Interval(math.exp(-width), math.exp(width), level)
    return outside


def _error_within_runs(side: SideData, at: int) -> float:
    """Return the error of a machine's ratio to the others, by the noise within their runs.

    A run of one sample shows none.
    """
    rest = [entry for runs in (*side.runs[:at], *side.runs[at + 1 :]) for entry in runs]
    blocks = compared_means.compare_means(side.runs[at], rest).blocks
    return math.sqrt(math.fsum(part.variance for part in blocks if part.variance < math.inf))


def _farthest(log_means: Sequence[float]) -> _Farthest:
    mean = math.fsum(log_means) / len(log_means)
    at = max(range(len(log_means)), key=lambda number: abs(log_means[number] - mean))
    others = [*log_means[:at], *log_means[at + 1 :]]
    return _Farthest(
        at,
        log_means[at] - math.fsum(others) / len(others),
        len(others),
        MeanVariance(sample_variance(others), len(others) - 1.0),
    )
