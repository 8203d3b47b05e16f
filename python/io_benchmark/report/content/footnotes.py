# SPDX-License-Identifier: MPL-2.0
"""Problems: refusals lead the report, warnings become numbered footnotes."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from io_benchmark.analysis.model import Problem, Severity, Subject
from io_benchmark.analysis.report_model import SubjectReport
from io_benchmark.analysis.validity.comparability import SIDE_RULES
from io_benchmark.analysis.validity.rules import COMPARISON_RULES
from io_benchmark.number_text import listed
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.content.subject_text import grouped
from io_benchmark.results import workloads

_SIDES_SHOWN = 6
# Of a sentence about many measurements.
_MARKS_SHOWN = 6
# Rules that change most how a verdict is read come first, those about single runs last.
_RANKS = {**dict.fromkeys(SIDE_RULES, 1), **dict.fromkeys(COMPARISON_RULES, 0)}
_LAST_RANK = 2


class _Footnote(NamedTuple):
    number: int
    rule: str
    text: str  # with the measurements that it is about, and its explanation
    brief: str
    is_allowed: bool  # by the reader, where the rule refuses


class ProblemNotes:
    """The refusals, and the warnings as footnotes, numbered in their order."""

    def __init__(self, problems: Sequence[Problem], subjects: Sequence[SubjectReport]) -> None:
        several = len(subjects) > 1
        by_severity = grouped(problems, lambda problem: problem.severity is Severity.REFUSED)
        # Each has its rule, what it is about, and its message with the consequence.
        self.refusals = [
            (alike[0].rule, _where(alike, several), _refusal(alike[0], subjects))
            for alike in _group_alike(by_severity.get(True, []))
        ]
        self.footnotes: list[_Footnote] = []
        # By the subject and the side that a problem is about, where None is every one.
        self._by_subject: dict[Subject | None, dict[str | None, list[int]]] = {}
        for number, alike in enumerate(_group_alike(by_severity.get(False, [])), 1):
            self.footnotes.append(_footnote(number, alike, several))
            for subject in dict.fromkeys(problem.subject for problem in alike):
                by_side = self._by_subject.setdefault(subject, defaultdict(list))
                for side in alike[0].sides or (None,):
                    by_side[side].append(number)

    def marks(self, subject: Subject, *sides: str) -> tuple[int, ...]:
        """Return the numbers of the footnotes that name any of these sides, or without one none."""
        numbers: set[int] = set()
        for by_side in (self._by_subject.get(about, {}) for about in (None, subject)):
            numbers.update(number for side in sides or (None,) for number in by_side.get(side, ()))
        return tuple(sorted(numbers))

    def briefs(self, *, is_allowed: bool) -> dict[str, str]:
        """Return the first warning of each rule, in the order of `_RANKS`."""
        notes = [note for note in self.footnotes if note.is_allowed is is_allowed]
        briefs = {}
        for rule, same in grouped(notes, lambda note: note.rule).items():
            more = len({note.brief for note in same}) - 1
            such = "such warning" if more == 1 else "such warnings"
            briefs[rule] = same[0].brief + (f" (and {more:,} more {such})" if more else "")
        order = sorted(briefs, key=lambda rule: _RANKS.get(rule, _LAST_RANK))
        return {rule: briefs[rule] for rule in order}


def _refusal(problem: Problem, subjects: Sequence[SubjectReport]) -> str:
    """Return the message, and what follows: without one run, the others of its side are compared."""
    compared = {
        side
        for part in subjects
        if problem.subject in (None, part.subject)
        for comparison in part.comparisons
        for side in (comparison.candidate, comparison.baseline)
    }
    left_out = len(problem.sides) == 1 and compared.issuperset(problem.sides)
    consequence = "This run is left out." if left_out else "No verdict is given."
    return f"{text_of(problem.message).rstrip('.')}. {consequence}"


def _group_alike(problems: Sequence[Problem]) -> list[list[Problem]]:
    """Group problems with the same rule, sides and message, which differ in their subject alone.

    Workloads in batches have dozens of measurements, so there one warning represents all of a rule.
    """

    def key(problem: Problem) -> tuple[object, ...]:
        workload = problem.subject.workload if problem.subject is not None else ""
        same = (problem.rule, problem.severity, problem.sides)
        if problem.severity is Severity.WARNING and workload in workloads.IN_BATCHES:
            return same
        return (*same, problem.message, problem.explanation)

    return list(grouped(problems, key).values())


def _footnote(number: int, alike: Sequence[Problem], several_subjects: bool) -> _Footnote:
    problem = alike[0]
    is_allowed = problem.severity is Severity.ALLOWED
    allowed = f"allowed by --allow {problem.rule}, " if is_allowed else ""
    message = text_of(problem.message)
    further = len({each.message for each in alike}) - 1
    if further:
        message += f", and {further:,} similar message" + ("" if further == 1 else "s")
    brief = f"{allowed}{_where(alike, several_subjects=False)}: {message}"
    if all(side in message for side in problem.sides):
        brief = allowed + message
    text = f"{allowed}{_where(alike, several_subjects)}: {message}" if several_subjects else brief
    if problem.explanation is not None:
        text += f". {text_of(problem.explanation)}"
    return _Footnote(number, problem.rule, text, brief, is_allowed)


def _where(alike: Sequence[Problem], several_subjects: bool) -> str:
    """Return the sides that these problems are about, and the measurements if there are several."""
    text = listed(alike[0].sides, _SIDES_SHOWN) or "all"
    subjects = list(dict.fromkeys(each.subject for each in alike if each.subject is not None))
    if not several_subjects or not subjects:
        return text
    if len(subjects) == 1:
        return f"{text}; {subjects[0]}"
    counts = Counter(subject.workload for subject in subjects)
    measurements = (
        f"{workload} ({count:,} measurements)" if count > 1 else workload
        for workload, count in counts.items()
    )
    return f"{text}; {', '.join(measurements)}"


def short_marks(numbers: Sequence[int], mark: str = "[{}]") -> str:
    """Return ' [1] [3] [4]'; of many notes the first ones are named and the others counted."""
    most = _MARKS_SHOWN if len(numbers) <= _MARKS_SHOWN else _MARKS_SHOWN - 1
    marks = [f" {mark.format(number)}" for number in numbers]
    return listed(marks, most, " and {:,} more notes", "")
