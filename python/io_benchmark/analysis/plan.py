# SPDX-License-Identifier: MPL-2.0
"""Which sides there are, and which are compared."""

from collections.abc import Collection, Iterable

from msgspec import Struct

from io_benchmark.errors import UsageError
from io_benchmark.text import clean_name

BEFORE, AFTER = "before", "after"
_AGAINST = "--against"


class Plan(Struct, frozen=True):
    title: str
    baseline: str
    baseline_reason: str
    pairs: tuple[tuple[str, str], ...]  # candidate, baseline

    def pool(self, side: str) -> str:
        """Return a side's pool, of which a change has two sides."""
        return side.rpartition(" ")[0] if self.baseline_reason == _AGAINST else side

    def order(self, sides: Collection[str]) -> list[str]:
        """Return each pair's baseline before its candidate, then the sides that are in no pair."""
        paired = [side for pair in self.pairs for side in reversed(pair)]
        return [side for side in dict.fromkeys([*paired, *sorted(sides)]) if side in sides]

    @classmethod
    def of_pools(
        cls, names: Iterable[str], wanted: str | None, missing: Iterable[str] = ()
    ) -> "Plan":
        """Compare each pool with one of them; say so where it should be one that left no result."""
        known = sorted(set(names))
        expected = sorted({*known, *missing})
        if wanted is not None and wanted not in expected:
            listed = ", ".join(known) or "none"
            raise UsageError(
                f"--baseline {clean_name(wanted)}: no such pool here; there are {listed}"
            )
        if not known:
            return cls("Comparison of pools", "", "there are no results", ())
        meant = wanted or expected[-1]
        baseline = meant if meant in known else known[-1]
        reason = "--baseline" if wanted else "the last by name; --baseline chooses another"
        if baseline != meant:
            reason = f"instead of {meant}, which has no result"
        candidates = [pool for pool in known if pool != baseline]
        return cls(
            f"{', '.join(candidates)} against {baseline}" if candidates else baseline,
            baseline,
            reason,
            tuple((pool, baseline) for pool in candidates),
        )

    @classmethod
    def before_and_after(cls, names: Iterable[str]) -> "Plan":
        """Compare each pool with itself before a change."""
        known = sorted(set(names))
        return cls(
            f"{', '.join(known)}: {AFTER} against {BEFORE}",
            BEFORE,
            _AGAINST,
            tuple((f"{pool} {AFTER}", f"{pool} {BEFORE}") for pool in known),
        )
