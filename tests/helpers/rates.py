# SPDX-License-Identifier: MPL-2.0
"""Rates of a simulation, with their Monte-Carlo error."""

import math
from collections import Counter
from dataclasses import dataclass, field

# A program that just keeps its bar fails one test of so many.
_FALSE_FAILURES = 1e-4


@dataclass
class Rates:
    """How often several things happened in so many repetitions."""

    repetitions: int
    hits: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return "; ".join(f"{name} {self.text(name)}" for name in self.hits)

    def add(self, name: str, happened: bool) -> None:
        self.hits[name] += happened

    def keeps(self, name: str, bar: float) -> bool:
        """Return whether the rate is at most the bar, as far as so many repetitions tell."""
        from scipy.stats import binom  # takes a second

        return bool(self.hits[name] <= binom.isf(_FALSE_FAILURES, self.repetitions, bar))

    def reaches(self, name: str, bar: float) -> bool:
        """Return whether the rate is at least the bar, as far as so many repetitions tell."""
        from scipy.stats import binom

        return bool(self.hits[name] >= binom.ppf(_FALSE_FAILURES, self.repetitions, bar))

    def text(self, name: str) -> str:
        """Return '4.7 ± 0.5 %'."""
        rate = self.hits[name] / self.repetitions
        # Of none or all, the error is as of half a hit.
        inside = min(max(rate, 0.5 / self.repetitions), 1 - 0.5 / self.repetitions)
        error = math.sqrt(inside * (1 - inside) / self.repetitions)
        return f"{100 * rate:.1f} ± {100 * error:.1f} %"
