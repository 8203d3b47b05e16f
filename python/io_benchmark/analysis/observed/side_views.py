# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The runs of one side by worker, and what all workers of the side show together.

Every rule asks a side, and asks it again for each worker that it compares with the side, or with the
others of its own side. So each run is read once. Where a worker is left out, what it showed is taken out of
the answer. This is exact: the answer is, to the last bit, that of a side without this worker.

Answers are kept by the function that reads a run. Use functions of a module: one that is made for each
question is another function each time.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from functools import cached_property
from statistics import fmean, median
from typing import Any, SupportsFloat, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.model import Subject, Worker
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.analysis.observed.worker_view import View, mean_of_known

Runs = Sequence[View]  # of one worker
Answer = TypeVar("Answer")
Reading = TypeVar("Reading")
Value = TypeVar("Value", bound=Hashable)


class SideViews(Struct, frozen=True, eq=False, dict=True):
    """The runs of one side, by worker."""

    _all: Sequence[Runs]
    _answers: dict[tuple[object, object], Any] = field(default_factory=dict)
    _left_out: int | None = None

    @classmethod
    def of(cls, views: Iterable[View]) -> "SideViews":
        return cls(by_machine(views))

    @classmethod
    def of_workers(cls, workers: Iterable[Worker], subject: Subject) -> "SideViews":
        return cls.of(View(worker, subject) for worker in workers)

    @property
    def workers(self) -> list[Runs]:
        return [runs for at, runs in enumerate(self._all) if at != self._left_out]

    def __iter__(self) -> Iterator[View]:
        return (view for runs in self.workers for view in runs)

    @cached_property
    def measured(self) -> "SideViews":
        """Return the side without the runs that did not measure the subject."""
        if True not in self.values(_has_no_entry):
            return self
        return SideViews.of(view for view in self if view.entry is not None)

    def without(self, worker: int) -> "SideViews":
        """Return a whole side without the worker at this position."""
        return replace(self, _left_out=worker)

    def readings(self, read: Callable[[View], Reading]) -> list[list[Reading]]:
        """Return what was read of each worker's runs."""
        readings: list[list[Reading]] = self._answer(_readings, read)
        return [each for at, each in enumerate(readings) if at != self._left_out]

    def mean(self, read: Callable[[View], SupportsFloat | None]) -> float | None:
        """Return the mean over the workers that have the value; None where none has it."""
        return self._answer(_numbers, read).mean(self._left_out)

    def median(self, read: Callable[[View], float | None]) -> float | None:
        """Return the median over the workers that have the value; None where none has it."""
        return self._answer(_numbers, read).median(self._left_out)

    def values(self, read: Callable[[View], Value]) -> AbstractSet[Value]:
        """Return the different values of its runs."""
        return self._answer(_values, read).of_all(self._left_out)

    def values_of_workers(self, read: Callable[[Runs], Value]) -> AbstractSet[Value]:
        """Return the different values of its workers."""
        return self._answer(_values_of_workers, read).of_all(self._left_out)

    def means(self, read: Callable[[Runs], Mapping[Value, float]]) -> dict[Value, float]:
        """Return the means over all workers by key; a key that a worker does not have is 0 for it."""
        columns = self._answer(_columns, read)
        return {key: column.mean(self._left_out) or 0.0 for key, column in columns.items()}

    def _answer(
        self, kind: Callable[["SideViews", Callable[..., Any]], Answer], read: Callable[..., Any]
    ) -> Answer:
        """Return what all workers show, also the one that is left out here."""
        if (kind, read) not in self._answers:
            self._answers[kind, read] = kind(replace(self, _left_out=None), read)
        answer: Answer = self._answers[kind, read]
        return answer


class _Numbers:
    """A number of each worker; None where it is not known."""

    def __init__(self, numbers: Sequence[float | None]) -> None:
        self._numbers = numbers
        self._known = sorted(number for number in numbers if number is not None)

    @cached_property
    def _mean(self) -> float | None:
        return fmean(self._known) if self._known else None

    @cached_property
    def _median(self) -> float | None:
        return median(self._known) if self._known else None

    @cached_property
    def _sum(self) -> Fraction:
        """Return the exact sum, as fmean uses it before it rounds."""
        return sum(map(Fraction, self._known), start=Fraction())

    def mean(self, without: int | None) -> float | None:
        left_out = None if without is None else self._numbers[without]
        if left_out is None:
            return self._mean
        others = len(self._known) - 1
        return float(self._sum - Fraction(left_out)) / others if others else None

    def median(self, without: int | None) -> float | None:
        left_out = None if without is None else self._numbers[without]
        if left_out is None:
            return self._median
        others = len(self._known) - 1
        if not others:
            return None
        at = bisect_left(self._known, left_out)
        middle = [self._known[each + (each >= at)] for each in ((others - 1) // 2, others // 2)]
        return median(middle)


class _Values:
    """The values of each worker, counted by workers."""

    def __init__(self, values: Sequence[frozenset[Any]]) -> None:
        self._values = values
        self._workers = Counter(value for of_worker in values for value in of_worker)

    @cached_property
    def _all(self) -> frozenset[Any]:
        return frozenset(self._workers)

    def of_all(self, without: int | None) -> frozenset[Any]:
        if without is None:
            return self._all
        only = {value for value in self._values[without] if self._workers[value] == 1}
        return self._all - only if only else self._all


def _has_no_entry(view: View) -> bool:
    return view.entry is None


def _readings(side: SideViews, read: Callable[[View], Reading]) -> list[list[Reading]]:
    return [list(map(read, runs)) for runs in side.workers]


def _numbers(side: SideViews, read: Callable[[View], SupportsFloat | None]) -> _Numbers:
    return _Numbers([mean_of_known(of_worker) for of_worker in side.readings(read)])


def _values(side: SideViews, read: Callable[[View], Hashable]) -> _Values:
    return _Values(list(map(frozenset, side.readings(read))))


def _values_of_workers(side: SideViews, read: Callable[[Runs], Hashable]) -> _Values:
    return _Values([frozenset((read(runs),)) for runs in side.workers])


def _columns(
    side: SideViews, read: Callable[[Runs], Mapping[Value, float]]
) -> dict[Value, _Numbers]:
    rows = [read(runs) for runs in side.workers]
    keys = dict.fromkeys(key for row in rows for key in row)
    return {key: _Numbers([row.get(key, 0.0) for row in rows]) for key in keys}
