# SPDX-License-Identifier: MPL-2.0
"""Whether a fact of its machines splits a pool into slower and faster ones.

Each fact that some machines have and others do not is a possible split. Of all splits the one with the
largest t is tested, at a level that is corrected for the number of splits. An exact test by random orders
of the machines was tried: with eight machines it has too few orders to find two slow ones.
tests/simulation/test_machine_splits.py has the rates, also where times have heavy tails.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean

from msgspec import Struct

from io_benchmark.analysis.inference.variances import tail

# The part of pools of equal machines that are called mixed.
_LEVEL = 0.05
# Nobody changes a pool's definition for less.
_LEAST_RATIO = 1.1
# One machine that differs is named as such by another test.
_FEWEST = 2

Members = frozenset[int]


class MachineSplit(Struct, frozen=True):
    """Machines, by their positions, that are slower than the others of their pool, and all their facts."""

    slower: Members
    faster: Members
    facts: tuple[str, ...]  # the names of the facts that split them so
    ratio: float  # the mean time of the slower ones over that of the others
    p_value: float  # for all splits that were tried together

    @classmethod
    def find(
        cls, log_means: Sequence[float], facts: Sequence[Mapping[str, str]], tests: int = 1
    ) -> "MachineSplit | None":
        """Return the split of the machines that their times show, if there is one; `tests` are made in all."""
        splits = _splits(facts)
        by_t = {split: _t_value(log_means, split) for split in splits}
        split = max(splits, key=lambda each: (by_t[each], -len(each), sorted(each)), default=None)
        if split is None:
            return None
        rest = frozenset(range(len(log_means))) - split
        sides = sorted((split, rest), key=lambda members: _mean(log_means, members))
        ratio = math.exp(_mean(log_means, sides[1]) - _mean(log_means, sides[0]))
        if ratio < _LEAST_RATIO:
            return None
        p_value = 2 * tail(by_t[split], len(log_means) - 2) * len(splits)
        if p_value * tests > _LEVEL:
            return None
        return cls(sides[1], sides[0], splits[split], ratio, p_value)


def _splits(facts: Sequence[Mapping[str, str]]) -> dict[Members, tuple[str, ...]]:
    """Return the machines with each value of each fact, once for each way to divide the pool."""
    names = [name for name in (facts[0] if facts else ()) if all(name in each for each in facts)]
    splits: dict[Members, tuple[str, ...]] = {}
    everyone = frozenset(range(len(facts)))
    for name in names:
        values = [each[name] for each in facts]
        for value in sorted(set(values)):
            having = frozenset(at for at, each in enumerate(values) if each == value)
            split = having if 0 in having else everyone - having
            is_new = name not in splits.get(split, ())
            if min(len(split), len(everyone - split)) >= _FEWEST and is_new:
                splits[split] = (*splits.get(split, ()), name)
    return splits


def _mean(log_means: Sequence[float], members: Members) -> float:
    return fmean(log_means[at] for at in members)


def _t_value(log_means: Sequence[float], split: Collection[int]) -> float:
    """Return the t of Student's test between the machines of a split and the others."""
    count, total = len(log_means), math.fsum(log_means)
    size, part = len(split), math.fsum(log_means[at] for at in split)
    rest = count - size
    squares = math.fsum(value * value for value in log_means)
    within = squares - part * part / size - (total - part) ** 2 / rest
    error = math.sqrt(max(within, 1e-12 * count) / (count - 2) * (1 / size + 1 / rest))
    return abs(part / size - (total - part) / rest) / error
