# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The error of one machine's mean, if the machine measured it several times.

There are two levels within a machine: blocks of samples within a run, and runs. What affects a run as
a whole (where its files lie, what else the host did) is not visible in its blocks, and runs of one
machine differ by far more than their blocks do. The spread of the runs' means includes both levels,
but has few degrees of freedom. The level with the wider interval is used.
"""

from collections.abc import Sequence

from io_benchmark.analysis.inference.student import MeanVariance, sample_variance, squared_reach

LogMeans = Sequence[float]  # ln of the mean of each run of one machine


def of_pair(candidate: LogMeans, baseline: LogMeans) -> list[MeanVariance]:
    """Return the variance of each side's average by how far runs differ; empty without repeated runs.

    Two runs that agree by chance would make a side's spread too small. Both sides ran the same
    program, so each side's runs are taken to differ as far as the other's do. The degrees of freedom
    of the other side count at most as much as the side's own.
    """
    several = [side for side in (candidate, baseline) if len(side) > 1]
    if not several:
        return []
    variance = max(map(sample_variance, several))
    seen = sum(len(side) - 1 for side in several)
    return [
        MeanVariance(variance / len(side), float(min(seen, 2 * (len(side) - 1)) or seen))
        for side in (candidate, baseline)
    ]


def larger(blocks: Sequence[MeanVariance], runs: Sequence[MeanVariance]) -> list[MeanVariance]:
    """Return the level with the wider interval."""
    return list(runs if squared_reach(runs) > squared_reach(blocks) else blocks)


def pooled(machines: Sequence[LogMeans]) -> MeanVariance | None:
    """Return how far runs of one machine differ, over several machines; None if none ran twice."""
    several = [machine for machine in machines if len(machine) > 1]
    if not several:
        return None
    degrees = sum(len(machine) - 1 for machine in several)
    squares = sum(sample_variance(machine) * (len(machine) - 1) for machine in several)
    return MeanVariance(squares / degrees, float(degrees))
