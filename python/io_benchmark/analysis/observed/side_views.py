# SPDX-License-Identifier: MPL-2.0
"""The runs of one side by worker, and what all workers of the side show together.

Every rule asks a side, and asks it again for each worker that it compares with the others of its side. So
what a function reads is kept by worker, and a side without one of its workers takes it from the whole side.
Use functions of a module: one that is made for each question is another function each time.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from statistics import median
from typing import Any, SupportsFloat, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.model import Run, Subject, Worker
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.analysis.observed.worker_view import View, mean_of_known

Runs = Sequence[View]  # of one worker
Answer = TypeVar("Answer")
Reading = TypeVar("Reading")
Value = TypeVar("Value", bound=Hashable)


class SideViews(Struct, frozen=True, eq=False):
    """The runs of one side, by worker."""

    _all: Sequence[Runs]
    # By functions: what one read of each worker's runs, and what another made of it.
    _answers: dict[tuple[object, object], list[Any]] = field(default_factory=dict)
    _left_out: int | None = None

    @classmethod
    def of(cls, views: Iterable[View]) -> "SideViews":
        return cls(by_machine(views))

    @classmethod
    def of_workers(cls, workers: Iterable[Worker], subject: Subject) -> "SideViews":
        return cls.of(View(worker, subject) for worker in workers)

    @classmethod
    def of_runs(cls, runs: Iterable[Run]) -> "SideViews":
        return cls.of(View(run.worker, run.entry.subject) for run in runs)

    @property
    def workers(self) -> list[Runs]:
        return self._without_left_out(list(self._all))

    def __iter__(self) -> Iterator[View]:
        return chain.from_iterable(self.workers)

    @property
    def measured(self) -> "SideViews":
        if all(view.entry is not None for view in self):
            return self
        return SideViews.of(view for view in self if view.entry is not None)

    def without(self, worker: int) -> "SideViews":
        return replace(self, _left_out=worker)

    def readings(self, read: Callable[[View], Reading]) -> list[list[Reading]]:
        return self._answers_of(list, read)

    def mean(self, read: Callable[[View], SupportsFloat | None]) -> float | None:
        """Return the mean over the workers that have the value; None where none has it."""
        return mean_of_known(self._answers_of(mean_of_known, read))

    def median(self, read: Callable[[View], float | None]) -> float | None:
        """Return the median over the workers that have the value; None where none has it."""
        means = [mean for mean in self._answers_of(mean_of_known, read) if mean is not None]
        return median(means) if means else None

    def values(self, read: Callable[[View], Value]) -> AbstractSet[Value]:
        # Few sets differ, so that few are joined.
        return frozenset[Value]().union(*set(self._answers_of(frozenset, read)))

    def by_worker(self, read: Callable[[Runs], Answer]) -> list[Answer]:
        """Return what is read of the runs of each worker."""
        return self._kept((Runs, read), lambda: map(read, self._all))

    def _answers_of(
        self, answer: Callable[[list[Reading]], Answer], read: Callable[[View], Reading]
    ) -> list[Answer]:
        """Return an answer by what is read of the runs of each worker."""
        return self._kept(
            (answer, read), lambda: (answer(list(map(read, runs))) for runs in self._all)
        )

    def _kept(
        self, key: tuple[object, object], make: Callable[[], Iterable[Answer]]
    ) -> list[Answer]:
        """Return the answers of the workers; they are made once, also of one that is left out."""
        if key not in self._answers:
            self._answers[key] = list(make())
        return self._without_left_out(self._answers[key])

    def _without_left_out(self, answers: list[Answer]) -> list[Answer]:
        if self._left_out is None:
            return answers
        return answers[: self._left_out] + answers[self._left_out + 1 :]
