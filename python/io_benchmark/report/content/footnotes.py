# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Problems: what was refused stands in front, warnings become numbered footnotes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from io_benchmark.analysis import workloads
from io_benchmark.analysis.model import Problem, Severity, Subject
from io_benchmark.text import clean, name

SIDES_SHOWN = 6
# A sentence about many measurements has many notes: from so many in a row on the ends are enough.
RUN = 3
RUNS_SHOWN = 4


@dataclass(frozen=True)
class Footnote:
    number: int
    rule: str
    text: str


def alike(problems: Iterable[Problem]) -> list[tuple[Problem, ...]]:
    """Those that say the same of the same sides, and differ only in what was measured.

    Of workloads in batches, which have dozens of measurements, one warning stands for all.
    """
    found: dict[tuple[object, ...], list[Problem]] = {}
    for problem in problems:
        workload = problem.subject.workload if problem.subject is not None else ""
        many = problem.severity is Severity.WARNING and workload in workloads.IN_BATCHES
        message = None if many else problem.message
        found.setdefault((problem.rule, problem.severity, problem.sides, message), []).append(
            problem
        )
    return [tuple(same) for same in found.values()]


class Footnotes:
    """Numbers the warnings in their order and says which concern what."""

    def __init__(self, problems: Iterable[Problem], *, several: bool) -> None:
        self._several = several
        noted = (problem for problem in problems if problem.severity is not Severity.REFUSED)
        self._numbered = tuple(enumerate(alike(noted), start=1))

    def all(self) -> tuple[Footnote, ...]:
        return tuple(self._footnote(number, same) for number, same in self._numbered)

    def _footnote(self, number: int, same: Sequence[Problem]) -> Footnote:
        problem = same[0]
        rule = name(problem.rule)
        allowed = f"allowed by --allow {rule}, " if problem.severity is Severity.ALLOWED else ""
        about = where(same, several=self._several)
        message = clean(problem.message)
        others = {one.message for one in same} - {problem.message}
        message += f", and {len(others):,} more like it" if others else ""
        if not self._several and all(name(side) in message for side in problem.sides):
            return Footnote(number, rule, allowed + message)
        return Footnote(number, rule, f"{allowed}{about}: {message}")

    def of_sides(self, subject: Subject, *sides: str) -> tuple[int, ...]:
        """Those that name one of these sides."""
        return tuple(
            number
            for number, same in self._numbered
            if any(concerns(problem, subject) for problem in same)
            and not set(sides).isdisjoint(same[0].sides)
        )

    def of_subject(self, subject: Subject) -> tuple[int, ...]:
        """Those that name no side, and so concern them all."""
        return tuple(
            number
            for number, same in self._numbered
            if any(concerns(problem, subject) for problem in same) and not same[0].sides
        )


def short_marks(numbers: Sequence[int], mark: str) -> str:
    """' [1] [3] to [6]': of many that follow each other the ends, and not more than a few of these."""
    found = _runs(numbers)
    shown = found if len(found) <= RUNS_SHOWN else found[: RUNS_SHOWN - 1]
    parts = [
        mark.format(first) if first == last else f"{mark.format(first)} to {mark.format(last)}"
        for first, last in shown
    ]
    left = len(numbers) - sum(last - first + 1 for first, last in shown)
    if left:
        parts.append(f"and {left:,} more notes")
    return "".join(f" {part}" for part in parts)


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Numbers that follow each other as first and last, where there are RUN of them."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return [
        pair
        for first, last in found
        for pair in (
            [(first, last)]
            if last - first + 1 >= RUN
            else [(one, one) for one in range(first, last + 1)]
        )
    ]


def concerns(problem: Problem, subject: Subject) -> bool:
    return problem.subject is None or problem.subject == subject


def where(same: Sequence[Problem], *, several: bool) -> str:
    """The sides that problems alike are about, and what was measured where there is more of it."""
    sides = [name(side) for side in same[0].sides[:SIDES_SHOWN]]
    rest = len(same[0].sides) - len(sides)
    text = ", ".join(sides) or "all"
    text += f" and {rest:,} more" if rest else ""
    subjects = list(dict.fromkeys(one.subject for one in same if one.subject is not None))
    return f"{text}; {_measured(subjects)}" if several and subjects else text


def _measured(subjects: Sequence[Subject]) -> str:
    if len(subjects) == 1:
        return clean(str(subjects[0]))
    counts = Counter(subject.workload for subject in subjects)
    return ", ".join(
        f"{name(workload)} ({count:,} measurements)" if count > 1 else name(workload)
        for workload, count in counts.items()
    )
