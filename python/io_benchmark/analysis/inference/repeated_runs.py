# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How well one machine's mean is known, when the machine measured it several times.

Two levels lie within a machine: blocks of samples within a run, and runs. What a run met as a whole
(where its files lie, who else was there) does not show in its own blocks, and runs of one machine
differ by far more than these say. The spread of the runs' means has both levels in it, with few
degrees of freedom; the level that reaches further is the one that is used.
"""

from collections.abc import Sequence

from io_benchmark.analysis.inference.student import MeanVariance, sample_variance, squared_reach

Means = Sequence[float]  # ln of the mean of each run of one machine


def of_pair(candidate: Means, baseline: Means) -> list[MeanVariance]:
    """The variance of each one's average by how far runs differ; nothing where neither has two.

    Two runs that agree by chance would make a side's spread too small. Both sides ran the same
    program, so that each one's runs differ at least as far as the other's are seen to; what the
    other shows counts no more than what the side itself does.
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
    """The level that reaches further."""
    return list(runs if squared_reach(runs) > squared_reach(blocks) else blocks)


def pooled(machines: Sequence[Means]) -> MeanVariance | None:
    """How far runs of one machine differ, over several machines; None where none ran twice."""
    several = [one for one in machines if len(one) > 1]
    if not several:
        return None
    degrees = sum(len(one) - 1 for one in several)
    squares = sum(sample_variance(one) * (len(one) - 1) for one in several)
    return MeanVariance(squares / degrees, float(degrees))
