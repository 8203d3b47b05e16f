# SPDX-License-Identifier: MPL-2.0
"""Ratios of times with their intervals as a picture, in reports about tasks."""

from collections.abc import Mapping
from typing import NamedTuple

from io_benchmark.analysis.levels import DEFAULT_MARGIN
from io_benchmark.analysis.model import Interval, Verdict
from io_benchmark.analysis.tasks.task_model import TaskComparison
from io_benchmark.report.blocks import Picture


class DrawnRatio(NamedTuple):
    """A ratio that is not of a comparison: its verdict is where its interval is."""

    ratio: float
    interval: Interval
    interval_90: Interval
    verdict: Verdict

    @classmethod
    def of(cls, ratio: float, low: float, high: float, level: float) -> "DrawnRatio":
        bounds = Interval(low, high, level)
        verdict = (
            Verdict.SLOWER if low > 1 else Verdict.FASTER if high < 1 else Verdict.INCONCLUSIVE
        )
        return cls(ratio, bounds, bounds, verdict)


def forest(
    caption: str,
    rows: Mapping[str, DrawnRatio | TaskComparison],
    margin_ratio: float = DEFAULT_MARGIN,
) -> Picture:
    """Return a picture with a row per ratio."""
    return Picture(caption, "forest", ([*rows.values()], [*rows], margin_ratio))
