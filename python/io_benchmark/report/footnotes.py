# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Problems: what was refused stands in front, warnings become numbered footnotes."""

from collections.abc import Iterable
from dataclasses import dataclass

from io_benchmark.analysis.model import Problem, Severity, Subject
from io_benchmark.report.untrusted import clean, name

SIDES_SHOWN = 6


@dataclass(frozen=True)
class Footnote:
    number: int
    rule: str
    text: str


class Footnotes:
    """Numbers the warnings in their order and says which concern what."""

    def __init__(self, problems: Iterable[Problem], *, several: bool) -> None:
        self._several = several
        noted = (problem for problem in problems if problem.severity is not Severity.REFUSED)
        self._numbered = tuple(enumerate(noted, start=1))

    def all(self) -> tuple[Footnote, ...]:
        return tuple(self._footnote(number, problem) for number, problem in self._numbered)

    def _footnote(self, number: int, problem: Problem) -> Footnote:
        rule = name(problem.rule)
        allowed = f"allowed by --allow {rule}, " if problem.severity is Severity.ALLOWED else ""
        about = where(problem, several=self._several)
        message = clean(problem.message)
        if not self._several and all(name(side) in message for side in problem.sides):
            return Footnote(number, rule, allowed + message)
        return Footnote(number, rule, f"{allowed}{about}: {message}")

    def of_sides(self, subject: Subject, *sides: str) -> tuple[int, ...]:
        """Those that name one of these sides."""
        return tuple(
            number
            for number, problem in self._numbered
            if concerns(problem, subject) and not set(sides).isdisjoint(problem.sides)
        )

    def of_subject(self, subject: Subject) -> tuple[int, ...]:
        """Those that name no side, and so concern them all."""
        return tuple(
            number
            for number, problem in self._numbered
            if concerns(problem, subject) and not problem.sides
        )


def concerns(problem: Problem, subject: Subject) -> bool:
    return problem.subject is None or problem.subject == subject


def where(problem: Problem, *, several: bool) -> str:
    """The sides that a problem is about, and the subject where there are several."""
    sides = [name(side) for side in problem.sides[:SIDES_SHOWN]]
    rest = len(problem.sides) - len(sides)
    text = ", ".join(sides) or "all"
    text += f" and {rest:,} more" if rest else ""
    return f"{text}; {clean(str(problem.subject))}" if several and problem.subject else text
