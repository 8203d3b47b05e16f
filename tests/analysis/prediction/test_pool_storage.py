# SPDX-License-Identifier: MPL-2.0
"""What the results of a pool show of its disks."""

from predicted_tasks import (
    SLOWING_DOWN,
    pool_workers,
)

from io_benchmark.analysis.prediction.pool_storage import PoolFigure, PoolStorage


def test_one_slow_end_of_two() -> None:
    """A disk that slows down does so in each run; a run that did alone shows no such disk."""
    slow, steady = (pool_workers("amd-16", (60, 60), **given) for given in (SLOWING_DOWN, {}))
    for runs, is_known in ((slow, True), ([slow[0], steady[1]], False)):
        figures = PoolStorage.of("amd-16", runs, {}).figures
        assert ((PoolFigure.SLOWING, "workspace") in figures) is is_known
