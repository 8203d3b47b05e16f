# SPDX-License-Identifier: MPL-2.0
"""The runs of one side by worker, what all workers show together, and their means as data.

Every rule asks a side, and asks it again for each worker that it compares with the others of its
side. So what a function reads is kept by worker, and a side without one of its workers takes it
from the whole side. Use functions of a module: one that is made for each question is another
function each time.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain
from operator import attrgetter
from statistics import fmean, median
from typing import Any, SupportsFloat, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.model.groups import by_machine, grouped
from io_benchmark.analysis.model.run import Run, Worker
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.model.time_parts import Kind, Part

Runs = Sequence[Run]  # of one worker
Answer = TypeVar("Answer")
Reading = TypeVar("Reading")
Value = TypeVar("Value", bound=Hashable)


class Side(Struct, frozen=True, eq=False, dict=True):
    """The runs of one side, by worker: several tasks on one machine are one worker."""

    _all: Sequence[Runs]
    # By functions: what one read of each worker's runs, and what another made of it.
    _answers: dict[tuple[object, object], list[Any]] = field(default_factory=dict)
    _left_out: int | None = None

    @classmethod
    def of(cls, views: Iterable[Run]) -> "Side":
        return cls(by_machine(views))

    @classmethod
    def of_workers(cls, workers: Iterable[Worker], subject: Subject) -> "Side":
        return cls.of(worker.run_of(subject) for worker in workers)

    @classmethod
    def by_name(cls, runs: Iterable[Run]) -> "dict[str, Side]":
        by_side = grouped(runs, attrgetter("side"))
        return {name: cls.of(side_runs) for name, side_runs in by_side.items()}

    @property
    def name(self) -> str:
        return self._all[0][0].side

    @property
    def subject(self) -> Subject:
        return self._all[0][0].subject

    @cached_property
    def log_means(self) -> tuple[float, ...]:
        """Return ln of the mean of each worker, in which its runs count alike."""
        return tuple(fmean(math.log(run.mean_ns) for run in runs) for runs in self.workers)

    @property
    def count(self) -> int:
        """Return the number of independent workers."""
        return len(self.workers)

    @property
    def mean_ns(self) -> float:
        """Return the geometric mean of the workers' means, of which ratios are."""
        return math.exp(fmean(self.log_means))

    @property
    def workers(self) -> list[Runs]:
        return self._without_left_out(list(self._all))

    def __iter__(self) -> Iterator[Run]:
        return chain.from_iterable(self.workers)

    @property
    def measured(self) -> "Side":
        if all(run.is_measured for run in self):
            return self
        return Side.of(run for run in self if run.is_measured)

    def without(self, worker: int) -> "Side":
        return replace(self, _left_out=worker)

    def divided_like(self, other: "Side") -> "tuple[Side, Side]":
        """Return both sides with blocked time in one part, if a run of them does not divide it."""
        if not {True, False} <= self.values(_is_divided) | other.values(_is_divided):
            return self, other
        return Side.of(map(_undivided, self)), Side.of(map(_undivided, other))

    def readings(self, read: Callable[[Run], Reading]) -> list[list[Reading]]:
        return self._answers_of(list, read)

    def mean(self, read: Callable[[Run], SupportsFloat | None]) -> float | None:
        """Return the mean over the workers that have the value; None where none has it."""
        return mean_of_known(self._answers_of(mean_of_known, read))

    def median(self, read: Callable[[Run], float | None]) -> float | None:
        """Return the median over the workers that have the value; None where none has it."""
        means = [mean for mean in self._answers_of(mean_of_known, read) if mean is not None]
        return median(means) if means else None

    def values(self, read: Callable[[Run], Value]) -> AbstractSet[Value]:
        # Few sets differ, so that few are joined.
        return frozenset[Value]().union(*set(self._answers_of(frozenset, read)))

    def by_worker(self, answer: Callable[[Runs], Answer]) -> list[Answer]:
        return self._answers_of(answer, _itself)

    def _answers_of(
        self, answer: Callable[[list[Reading]], Answer], read: Callable[[Run], Reading]
    ) -> list[Answer]:
        """Return an answer by what is read of the runs of each worker.

        Answers are made once, also that of a worker that is left out.
        """
        if (answer, read) not in self._answers:
            self._answers[answer, read] = [answer(list(map(read, runs))) for runs in self._all]
        return self._without_left_out(self._answers[answer, read])

    def _without_left_out(self, answers: list[Answer]) -> list[Answer]:
        if self._left_out is None:
            return answers
        return answers[: self._left_out] + answers[self._left_out + 1 :]


def _itself(run: Run) -> Run:
    return run


def _is_divided(run: Run) -> bool | None:
    is_divided = any(part.kind is Kind.ELSEWHERE for part in run.parts_ns)
    return is_divided if run.is_measured else None


def _undivided(run: Run) -> Run:
    parts: dict[Part, float] = {}
    for (phase, kind), mean_ns in run.parts_ns.items():
        part = Part(phase, Kind.BLOCKED if kind is Kind.ELSEWHERE else kind)
        parts[part] = parts.get(part, 0.0) + mean_ns
    return replace(run, parts_ns=parts)


def mean_of_known(values: Iterable[SupportsFloat | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return fmean(numbers) if numbers else None
