# SPDX-License-Identifier: MPL-2.0
"""The samples that are compared of two sides: the part that all runs have.

A run that its time budget ended measured more of the start: the cold start of a cache, or the time
before a burst credit was used up. What one side measured later is not compared with what the other
measured at the start.
"""

from typing import NamedTuple

from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.statistics.machine_ratios import MachineRatio


class InCommon(NamedTuple):
    """Two sides with the samples that all of their runs have."""

    candidate: Side
    baseline: Side
    length: int | None  # how many samples of each run; None: all


def in_common(candidate: Side, baseline: Side) -> InCommon:
    """Return what is compared of the candidate's and the baseline's runs.

    Retrieve i took the same file in each run. Windows of time hold different work, and are all
    used.
    """
    runs = [*candidate, *baseline]
    shortest = min(len(run.total_ns) for run in runs)
    longest = max(len(run.total_ns) for run in runs)
    if shortest == longest or not MachineRatio.did_same_work([run.first(shortest) for run in runs]):
        return InCommon(candidate, baseline, None)
    return InCommon(
        Side.of(run.first(shortest) for run in candidate),
        Side.of(run.first(shortest) for run in baseline),
        shortest,
    )
