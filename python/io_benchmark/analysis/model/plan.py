# SPDX-License-Identifier: MPL-2.0
"""Which sides there are, and which of them are compared."""

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from io_benchmark.errors import UsageError
from io_benchmark.number_text import listed
from io_benchmark.suggestions import did_you_mean
from io_benchmark.text import clean_name

# A pool, or one before or after a change, as options name it
SIDE_NAME = r"[A-Za-z0-9_.-]+(?: +[A-Za-z0-9_.-]+)*"
_NAMES_IN_TITLE = 8
BEFORE, AFTER = "before", "after"
BY_OPTION, AGAINST = "--baseline", "--against"


class Plan(Struct, frozen=True):
    title: str
    baseline: str
    baseline_reason: str
    pairs: tuple[tuple[str, str], ...]  # candidate, baseline

    @property
    def is_change(self) -> bool:
        """Return whether each pool is compared with itself before a change."""
        return self.baseline_reason == AGAINST

    def pool(self, side: str) -> str:
        """Return a side's pool, of which a change has two sides."""
        return side.rpartition(" ")[0] if self.is_change else side

    def order(self, sides: Collection[str]) -> list[str]:
        """Return each pair's baseline before its candidate, then the sides that are in no pair."""
        paired = [side for pair in self.pairs for side in reversed(pair)]
        return [side for side in dict.fromkeys([*paired, *sorted(sides)]) if side in sides]

    @classmethod
    def of_pools(
        cls,
        names: Iterable[str],
        requested: str | None,
        missing: Iterable[str] = (),
        *,
        first: Iterable[str] = (),
        named: Iterable[str | None] = (),
    ) -> "Plan":
        """Compare each pool with one of them; say so where it should be one that left no result.

        `first` are the pools at the first of several addresses, `named` what the tasks name.
        """
        pools = sorted(set(names))
        expected = sorted({*pools, *missing})
        if requested is not None and requested not in expected:
            raise UsageError(
                f"--baseline {clean_name(requested)}: no such pool here; there are "
                f"{', '.join(pools) or 'none'}{did_you_mean(requested, pools)}"
            )
        if not pools:
            return cls("Comparison of pools", "", "there are no results", ())
        chosen, reason = _default_baseline(
            expected, sorted(set(first)), sorted({name for name in named if name})
        )
        if requested:
            chosen, reason = requested, BY_OPTION
        baseline = chosen if chosen in pools else pools[-1]
        if baseline != chosen:
            reason = f"instead of {chosen}, which has no result"
        candidates = [pool for pool in pools if pool != baseline]
        names = listed(candidates, _NAMES_IN_TITLE)
        title = f"{names} against {baseline}" if names else baseline
        return cls(title, baseline, reason, tuple((pool, baseline) for pool in candidates))

    @classmethod
    def before_and_after(cls, names: Iterable[str]) -> "Plan":
        pools = sorted(set(names))
        title = f"{listed(pools, _NAMES_IN_TITLE)}: {AFTER} against {BEFORE}"
        pairs = tuple((f"{pool} {AFTER}", f"{pool} {BEFORE}") for pool in pools)
        return cls(title, BEFORE, AGAINST, pairs)


def _default_baseline(
    pools: Sequence[str], first: Sequence[str], named: Sequence[str]
) -> tuple[str, str]:
    """Return the baseline that no option names, and why it is that one."""
    if len(first) == 1 and len(pools) > 1:
        return first[0], "the first address"
    if len(named) == 1:
        return named[0], "named by the tasks' kind"
    if named:
        return pools[-1], f"the last by name; the tasks' kinds name {', '.join(named)}"
    return pools[-1], "the last by name"
