# SPDX-License-Identifier: MPL-2.0
"""A ratio with its interval and verdict, as every report writes it."""

from typing import Protocol

from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.model import Interval, Verdict
from io_benchmark.number_text import interval, percent, ratio


class Compared(Protocol):
    """Two sides with a verdict: pools by a benchmark or by their tasks."""

    @property
    def candidate(self) -> str: ...
    @property
    def baseline(self) -> str: ...
    @property
    def ratio(self) -> float: ...
    @property
    def interval(self) -> Interval: ...
    @property
    def verdict(self) -> Verdict: ...


def verdict_text(compared: Compared, margin_ratio: float) -> tuple[str, str]:
    """Return what to read if one reads nothing else, and the rest of the sentence."""
    candidate, baseline, times = compared.candidate, compared.baseline, ratio(compared.ratio)
    bounds = bounds_text(compared.interval)
    match compared.verdict:
        case Verdict.SLOWER:
            return f"{candidate} is {times} slower than {baseline}", bounds
        case Verdict.FASTER:
            return f"{candidate} is faster than {baseline}", f"at {times} its time {bounds}"
        case Verdict.EQUIVALENT:
            lead = f"{candidate} is equivalent to {baseline}"
            return lead, f"within ±{percent(margin_ratio)}: {times} its time {bounds}"
        case Verdict.INCONCLUSIVE:
            return f"{candidate} compared with {baseline} is inconclusive", f"at {times} {bounds}"


def bounds_text(bounds: Interval, level_ratio: float = LEVEL) -> str:
    """Return '(95 % interval 1.68 to 2.19)'; an adjusted interval counts as one of 95 %."""
    return f"({percent(level_ratio)} interval {ends_text(bounds)})"


def ends_text(bounds: Interval) -> str:
    return interval(bounds.low_ratio, bounds.high_ratio)
