# SPDX-License-Identifier: MPL-2.0
"""Which look at the data a comparison is, and how strict it has to be.

Who looks again after adding workers has several chances to be wrong. So the 5 % are divided among the
looks of a schedule. There are three kinds of schedule:

- assumed: nothing says when somebody looks. Every number of workers counts as a look; a number between
  two scheduled ones has the level of the look before.
- declared, by `--looks` or by each task of both sides, as `submit --until-decided` makes them: the error
  is for these numbers of workers alone, which gets each of them more.
- planned: all tasks of both sides were created at once as so many replicates, and each has a result or
  ended without one. That is a single look.

Outside a declared or planned look the level is so strict that it costs hardly anything.

The chance that any of the looks is wrong is integrated (`crossing.py`). The levels are applied to p-values
of Student's t, which keeps the error also with few workers (Jennison and Turnbull 2000, chapter 4.4;
tests/simulation shows it).
"""

import itertools
import math
import re
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from functools import cache, lru_cache

from msgspec import Struct

from io_benchmark.analysis.inference.levels import EQUIVALENCE_LEVEL, LEVEL
from io_benchmark.analysis.model import Worker
from io_benchmark.analysis.statements import Statement, count, statement
from io_benchmark.results.format import PLAN_VARIABLE

# Workers per pool at the looks that are assumed where nothing is declared.
_DEFAULT_LOOKS = (3, 6, 12, 24)
_MOST_WORKERS = 100
_FEWEST_WORKERS = 2
# What the first, the last and each other look may spend, relative to each other. Three workers seldom
# show a difference, and what is not shown by 24 seldom matters.
_TO_DIFFER = (0.5, 1.0, 0.2)
# Equivalence needs more workers than a difference.
_TO_BE_EQUIVALENT = (0.1, 1.0, 1.0)
# A number of workers that is not a look gets this part of the error.
_UNSCHEDULED = 0.01
# The chance is integrated at numbers of workers that differ by this factor or by one.
_GROWTH = 1.08
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
# What `_common_factor` computes for the looks that are assumed, which most comparisons have: to differ,
# among so many comparisons, and to be equivalent. To compute one takes longer than to read a result.
_FACTORS_TO_DIFFER = (0.008321612313617364, 0.0037645729297637502, 0.0023843526866451324)
_FACTOR_TO_BE_EQUIVALENT = 0.012984510835373575
# The last correction makes a chance that is so close a hundred times closer.
_CLOSE = 1e-2


class _Spending(Struct, frozen=True):
    """What one look may spend of an error."""

    share: float = 1.0  # relative to the other looks; 0 outside the schedule
    counts: tuple[int, ...] = ()  # workers at which the error is spent; none for a single look
    shares: tuple[float, ...] = ()  # of these

    def p_value(self, alpha: float) -> float:
        """Return the largest p-value that decides, if all looks together keep `alpha`."""
        least = _UNSCHEDULED * alpha if 0.0 in (self.share, *self.shares) else 0.0
        looks = (self.counts, self.shares, alpha)
        factor = alpha
        if self.counts:
            factor = _known_factors().get(looks) or _common_factor(*looks, least)
        return max(self.share * factor, least)


class Look(Struct, frozen=True):
    """One reading of the data."""

    to_differ: _Spending = _Spending()
    to_be_equivalent: _Spending = _Spending()
    text: Statement | None = None  # which look it is; None: a single one, nothing is adjusted

    @property
    def equivalence_level(self) -> float:
        """Return the level of the interval that shows equivalence at this look."""
        return 1 - self.to_be_equivalent.p_value(1 - EQUIVALENCE_LEVEL)

    @property
    def is_scheduled(self) -> bool:
        return self.to_differ.share > 0


SINGLE = Look()


class Schedule(Struct, frozen=True):
    """When the data are looked at, in workers per pool."""

    looks: tuple[int, ...] = _DEFAULT_LOOKS
    is_declared: bool = False
    is_planned: bool = False  # by the tasks themselves: a single look

    @classmethod
    def parse(cls, text: str) -> "Schedule | None":
        """Parse a declaration, a rising list of numbers of workers; None for any other text."""
        numbers = text.split(",")
        looks = tuple(int(number) for number in numbers if re.fullmatch("[0-9]{1,3}", number))
        is_rising = len(looks) == len(numbers) and looks == tuple(sorted(set(looks)))
        if not is_rising or looks[0] < _FEWEST_WORKERS or looks[-1] > _MOST_WORKERS:
            return None
        return cls(looks, is_declared=True)

    def look(self, workers: float) -> Look:
        """Return the look of this number of workers per pool."""
        number = int(workers)
        if number < _FEWEST_WORKERS:
            return SINGLE
        is_scheduled = number in self.looks or not self.is_declared
        text = self._ordinal(number) if is_scheduled else self._outside(number)
        if self.is_declared and len(self.looks) == 1:
            return SINGLE if is_scheduled else _outside(text)
        return Look(
            self._spending(number, _TO_DIFFER), self._spending(number, _TO_BE_EQUIVALENT), text
        )

    def next_look(self, first: int, second: int) -> int | None:
        """Return the workers per pool at the next look, for sides of these sizes; None: it was the last."""
        number = int(_of_equal_pools(first, second))
        return next((look for look in self.looks if look > number), None)

    def of_sides(self, sides: Sequence[Sequence[Worker]]) -> "Schedule":
        """Return the schedule that holds for two sides, by all results of each.

        One that is declared is believed; then the one that all tasks name. Without these, a plan is
        a single look, because it was made before there were results: each task names the number of
        replicates that were created with it.
        """
        recorded = _looks_recorded([worker for side in sides for worker in side])
        if recorded is not None and not self.is_declared:
            return recorded
        plans = [_replicates_planned(side) for side in sides]
        known = [plan for plan in plans if plan is not None]
        if self.is_declared or len(known) < len(sides):
            return self
        return Schedule((max(known),), is_declared=True, is_planned=True)

    def look_of_sides(
        self,
        counts: Sequence[int],
        sides: Sequence[Sequence[Worker]],
        lost: Sequence[int] = (0, 0),
    ) -> Look:
        """Return the look of two sides, by their independent workers and by all results of each.

        `lost` is the number of each side's tasks that ended and left no result.
        """
        if min(counts) < _FEWEST_WORKERS:
            return SINGLE
        if not self.is_planned:
            return self.look(_of_equal_pools(*counts))
        # Some runs of a plan are refused, or share a machine. One that is still to come is another
        # look, and so is one that was added later, also in place of one that was lost.
        for side, without_result in zip(sides, lost, strict=True):
            planned = _replicates_planned(side) or 0
            if len(side) + without_result != planned:
                return _outside(_not_as_planned(side[0].side, len(side), without_result, planned))
        return SINGLE

    def stretches(self, counts: Sequence[int], look: Look, most: int) -> list[range]:
        """Return numbers of workers with one level each, in rising order up to `most`.

        They are those that two sides may reach after a look. Nothing follows the last declared one. After
        that of a plan any number may follow, because the tasks do not say that nobody looks again.
        """
        if not self.is_declared:
            starts = [_FEWEST_WORKERS, *self.looks[1:], most + 1]
            return [range(*ends) for ends in itertools.pairwise(starts)]
        now = int(_of_equal_pools(*counts))
        # A single worker, of those that are still to come, is no look.
        if self.is_planned and look == SINGLE and min(counts) >= _FEWEST_WORKERS:
            now = max(now, self.looks[-1])
        looks = [range(number, number + 1) for number in self.looks if number > now]
        if self.is_planned:
            looks.append(range(max(now, self.looks[-1]) + 1, most + 1))
        return looks

    def _spending(self, workers: int, relative: tuple[float, float, float]) -> _Spending:
        counts = tuple(sorted({*_numbers_of_workers(), *self.looks}))
        shares = tuple(self._share(count, relative) for count in counts)
        return _Spending(self._share(workers, relative), counts, shares)

    def _share(self, workers: int, relative: tuple[float, float, float]) -> float:
        first, middle, last = relative
        if self.is_declared:
            # Nothing comes after the last one.
            is_first = workers == self.looks[0]
            return 0.0 if workers not in self.looks else first if is_first else middle
        at = self._position(workers)
        return first if at == 0 else last if at == len(self.looks) - 1 else middle

    def _position(self, workers: int) -> int:
        return max(0, bisect_right(self.looks, workers) - 1)

    def _ordinal(self, workers: int) -> Statement:
        at = self._position(workers)
        return statement(
            "{ordinal} of at most {looks} looks",
            ordinal=_ORDINALS[at] if at < len(_ORDINALS) else f"{at + 1}th",
            looks=count(len(self.looks)),
        )

    def _outside(self, workers: int) -> Statement:
        return statement(
            "{workers} workers per pool are not among the looks {looks}",
            workers=count(workers),
            looks=",".join(map(str, self.looks)),
        )


def _outside(text: Statement) -> Look:
    """Return a look that is in no schedule."""
    return Look(_Spending(0.0), _Spending(0.0), text)


def _numbers_of_workers() -> tuple[int, ...]:
    numbers = [_FEWEST_WORKERS]
    while numbers[-1] < _MOST_WORKERS:
        numbers.append(max(numbers[-1] + 1, int(numbers[-1] * _GROWTH)))
    return tuple(numbers)


def _looks_recorded(workers: Sequence[Worker]) -> Schedule | None:
    """Return the looks that all tasks name; None where one task names others, or a plan."""
    texts = {worker.result.config.environment.get(PLAN_VARIABLE) for worker in workers}
    recorded = Schedule.parse(next(iter(texts)) or "") if len(texts) == 1 else None
    return recorded if recorded is not None and len(recorded.looks) > 1 else None


def _replicates_planned(workers: Sequence[Worker]) -> int | None:
    """Return how many runs were planned at once; None where one run has no or a different plan."""
    plans: dict[Hashable, set[str | None]] = {}
    for worker in workers:
        config = worker.result.config
        measured = (config.profile, tuple(config.workloads))
        plans.setdefault(measured, set()).add(config.environment.get(PLAN_VARIABLE))
    total = 0
    for planned in plans.values():
        (text, *others) = planned
        if others or text is None or not re.fullmatch("[0-9]{1,3}", text) or int(text) < 2:
            return None
        total += int(text)
    return total or None


def _not_as_planned(side: str, runs: int, lost: int, planned: int) -> Statement:
    ended = "{runs} runs and {lost} without a result" if lost else "{runs} runs"
    return statement(
        f"{{side}} has {ended}, and its one look was planned at {{planned}}",
        side=side,
        runs=count(runs),
        lost=count(lost),
        planned=count(planned),
    )


def _of_equal_pools(first: int, second: int) -> float:
    """Return how many workers in each of two equal pools would tell as much."""
    return 2 * first * second / (first + second)


@cache
def _known_factors() -> Mapping[tuple[tuple[int, ...], tuple[float, ...], float], float]:
    """Return the factors that need not be computed, by numbers of workers, their shares and the error."""
    look = Schedule().look(_FEWEST_WORKERS)
    differ, equivalent = look.to_differ, look.to_be_equivalent
    factors = {
        (differ.counts, differ.shares, (1 - LEVEL) / comparisons): factor
        for comparisons, factor in enumerate(_FACTORS_TO_DIFFER, 1)
    }
    key = (equivalent.counts, equivalent.shares, 1 - EQUIVALENCE_LEVEL)
    return {**factors, key: _FACTOR_TO_BE_EQUIVALENT}


@lru_cache(maxsize=64)
def _common_factor(
    counts: tuple[int, ...], shares: tuple[float, ...], alpha: float, least: float
) -> float:
    """Return the factor with which the looks' shares are p-values that keep `alpha` together.

    No look has a p-value below `least`, whatever its share is.
    """
    # It imports numpy, which most comparisons do not need.
    from io_benchmark.analysis.inference.crossing import chance_of_crossing

    def chance_of(factor: float) -> float:
        p_values = [max(share * factor, least) for share in shares]
        return chance_of_crossing(counts, p_values)

    # The chance of all looks grows nearly with a power of the factor.
    factor, chance, power = alpha, chance_of(alpha), 1.0
    while abs(chance / alpha - 1) > _CLOSE:
        change = math.log(alpha / chance) / power
        factor *= math.exp(change)
        chance_before, chance = chance, chance_of(factor)
        power = math.log(chance / chance_before) / change
    return factor * math.exp(math.log(alpha / chance) / power)
