# SPDX-License-Identifier: MPL-2.0
"""Which look at the data a comparison is.

Who looks again after adding workers has several chances to be wrong. So the 5 % are divided among
the looks of a schedule:

- assumed: nothing says when somebody looks. Every number of workers counts as a look; a number
  between two scheduled ones has the level of the look before.
- declared, by `--looks` or by each task of both sides, as `submit --until-decided` makes them: the
  error is for these numbers of workers alone, which gets each of them more. A plan declares a
  single look: all tasks of both sides were created at once as so many replicates, each with a
  result or ended without one.
"""

import itertools
import re
from bisect import bisect_right
from collections.abc import Sequence

from msgspec import Struct

from io_benchmark.analysis.model.statements import Statement, count, statement

# Workers per pool at the looks that are assumed where nothing is declared.
_DEFAULT_LOOKS = (3, 6, 12, 24)
FEWEST_WORKERS, MOST_WORKERS = 2, 100
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


class Look(Struct, frozen=True):
    """One reading of the data."""

    label: Statement | None = None  # which look it is; None: a single one, nothing is adjusted
    workers: int = 0
    schedule: "Schedule | None" = None  # None: it is in no schedule, or a single one


SINGLE = Look()


class Schedule(Struct, frozen=True):
    """When the data are looked at, in workers per pool."""

    looks: tuple[int, ...] = _DEFAULT_LOOKS
    is_declared: bool = False
    is_planned: bool = False  # by the tasks themselves: a single look

    @classmethod
    def parse(cls, declaration: str) -> "Schedule | None":
        """Parse a declaration, a rising list of numbers of workers; None for anything else."""
        numbers = declaration.split(",")
        looks = tuple(int(number) for number in numbers if re.fullmatch("[0-9]{1,3}", number))
        is_rising = len(looks) == len(numbers) and looks == tuple(sorted(set(looks)))
        if not is_rising or looks[0] < FEWEST_WORKERS or looks[-1] > MOST_WORKERS:
            return None
        return cls(looks, is_declared=True)

    @staticmethod
    def per_equal_pool(first: int, second: int) -> float:
        """Return how many workers in each of two equal pools would tell as much."""
        return 2 * first * second / (first + second)

    def look(self, workers: float) -> Look:
        number = int(workers)
        if number < FEWEST_WORKERS or (self.is_declared and self.looks == (number,)):
            return SINGLE
        if self.is_declared and number not in self.looks:
            label = statement(
                "{workers} workers per pool are not among the looks {looks}",
                workers=count(number),
                looks=",".join(map(str, self.looks)),
            )
            return Look(label)
        position = self.position(number)
        label = statement(
            "{ordinal} of at most {looks} looks",
            ordinal=_ORDINALS[position] if position < len(_ORDINALS) else f"{position + 1}th",
            looks=count(len(self.looks)),
        )
        return Look(label, number, self)

    def look_of_counts(self, counts: Sequence[int]) -> Look:
        """Return the look of two sides with these numbers of workers."""
        if min(counts) < FEWEST_WORKERS:
            return SINGLE
        return self.look(self.per_equal_pool(*counts))

    def next_look(self, first: int, second: int) -> int | None:
        number = int(self.per_equal_pool(first, second))
        return next((look for look in self.looks if look > number), None)

    def stretches(self, counts: Sequence[int], look: Look, most: int) -> list[tuple[Look, range]]:
        """Return numbers of workers with one level each, with their look, rising up to `most`.

        They are those that two sides may reach after a look. Nothing follows the last declared one.
        After that of a plan any number may follow, because the tasks do not say that nobody looks
        again.
        """
        if self.is_declared:
            now = int(self.per_equal_pool(*counts))
            # A single worker, of those that are still to come, is no look.
            if self.is_planned and look == SINGLE and min(counts) >= FEWEST_WORKERS:
                now = max(now, self.looks[-1])
            stretches = [range(number, number + 1) for number in self.looks if number > now]
            if self.is_planned:
                stretches.append(range(max(now, self.looks[-1]) + 1, most + 1))
        else:
            starts = [FEWEST_WORKERS, *self.looks[1:], most + 1]
            stretches = [range(*ends) for ends in itertools.pairwise(starts)]
        return [(self.look(stretch[0]), stretch) for stretch in stretches if stretch]

    def position(self, workers: int) -> int:
        """Return which look this number of workers has the level of."""
        return max(0, bisect_right(self.looks, workers) - 1)
