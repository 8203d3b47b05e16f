# SPDX-License-Identifier: MPL-2.0
"""Problems: refusals lead the report, warnings become numbered footnotes."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct

from io_benchmark.analysis.model import Problem, Severity, Subject
from io_benchmark.analysis.report_model import SubjectReport
from io_benchmark.analysis.validity.comparability import SIDE_RULES
from io_benchmark.analysis.validity.rules import COMPARISON_RULES
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.results import workloads

_SIDES_SHOWN = 6
# Of a sentence about many measurements.
_MARKS_SHOWN = 6
# Rules that change most how a verdict is read come first, those about single runs last.
_RANKS = {**dict.fromkeys(SIDE_RULES, 1), **dict.fromkeys(COMPARISON_RULES, 0)}
_LAST_RANK = 2


class _Footnote(Struct, frozen=True):
    number: int
    rule: str
    text: str  # with the measurements that it is about, and its explanation
    brief: str
    is_allowed: bool  # by the reader, where the rule refuses


class _Refusal(Struct, frozen=True):
    rule: str
    where: str
    message: str
    consequence: str


class ProblemNotes:
    """The refusals, and the warnings as footnotes, numbered in their order."""

    def __init__(self, problems: Sequence[Problem], subjects: Sequence[SubjectReport]) -> None:
        several = len(subjects) > 1
        refused = [each for each in problems if each.severity is Severity.REFUSED]
        self.refusals = tuple(
            _Refusal(
                alike[0].rule,
                _where(alike, several),
                text_of(alike[0].message).rstrip(".") + ".",
                _consequence(alike[0], subjects),
            )
            for alike in _group_alike(refused)
        )
        warnings = _group_alike(each for each in problems if each.severity is not Severity.REFUSED)
        self.footnotes = tuple(
            _footnote(number, alike, several) for number, alike in enumerate(warnings, 1)
        )
        # By the subject and the side that a problem is about, where None is every one.
        self._by_subject: dict[Subject | None, dict[str | None, list[int]]] = {}
        for number, alike in enumerate(warnings, 1):
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
        briefs: dict[str, dict[str, None]] = {}
        for each in self.footnotes:
            if each.is_allowed is is_allowed:
                briefs.setdefault(each.rule, {})[each.brief] = None
        order = sorted(briefs, key=lambda rule: _RANKS.get(rule, _LAST_RANK))
        return {rule: _first_of(list(briefs[rule])) for rule in order}


def _first_of(briefs: Sequence[str]) -> str:
    more = len(briefs) - 1
    such = "such warning" if more == 1 else "such warnings"
    return briefs[0] + (f" (and {more:,} more {such})" if more else "")


def _consequence(problem: Problem, subjects: Sequence[SubjectReport]) -> str:
    """Return what the refusal causes: without one run, the others of its side are compared."""
    compared = {
        side
        for part in subjects
        if problem.subject in (None, part.subject)
        for comparison in part.comparisons
        for side in (comparison.candidate, comparison.baseline)
    }
    if len(problem.sides) == 1 and compared.issuperset(problem.sides):
        return "This run is left out."
    return "No verdict is given."


def _group_alike(problems: Iterable[Problem]) -> list[tuple[Problem, ...]]:
    """Group problems with the same rule, sides and message, which differ in their subject alone.

    Workloads in batches have dozens of measurements, so there one warning represents all of a rule.
    """
    groups: dict[tuple[object, ...], list[Problem]] = {}
    for problem in problems:
        workload = problem.subject.workload if problem.subject is not None else ""
        many = problem.severity is Severity.WARNING and workload in workloads.IN_BATCHES
        message = None if many else problem.message
        explanation = None if many else problem.explanation
        key = (problem.rule, problem.severity, problem.sides, message, explanation)
        groups.setdefault(key, []).append(problem)
    return [tuple(alike) for alike in groups.values()]


def _footnote(number: int, alike: Sequence[Problem], several_subjects: bool) -> _Footnote:
    problem = alike[0]
    is_allowed = problem.severity is Severity.ALLOWED
    allowed = f"allowed by --allow {problem.rule}, " if is_allowed else ""
    message = text_of(problem.message)
    further = len({each.message for each in alike}) - 1
    message += f", and {further:,} similar messages" if further > 1 else ""
    message += ", and 1 similar message" if further == 1 else ""
    brief = f"{allowed}{_where(alike, several_subjects=False)}: {message}"
    if all(side in message for side in problem.sides):
        brief = allowed + message
    text = f"{allowed}{_where(alike, several_subjects)}: {message}" if several_subjects else brief
    if problem.explanation is not None:
        text += f". {text_of(problem.explanation)}"
    return _Footnote(number, problem.rule, text, brief, is_allowed)


def _where(alike: Sequence[Problem], several_subjects: bool) -> str:
    """Return the sides that these problems are about, and the measurements if there are several."""
    sides = alike[0].sides[:_SIDES_SHOWN]
    rest = len(alike[0].sides) - len(sides)
    text = ", ".join(sides) or "all"
    text += f" and {rest:,} more" if rest else ""
    subjects = list(dict.fromkeys(each.subject for each in alike if each.subject is not None))
    return f"{text}; {_subjects_text(subjects)}" if several_subjects and subjects else text


def _subjects_text(subjects: Sequence[Subject]) -> str:
    if len(subjects) == 1:
        return str(subjects[0])
    counts = Counter(subject.workload for subject in subjects)
    return ", ".join(
        f"{workload} ({count:,} measurements)" if count > 1 else workload
        for workload, count in counts.items()
    )


def short_marks(numbers: Sequence[int], mark: str = "[{}]") -> str:
    """Return ' [1] [3] [4]'; of many notes the first ones are named and the others counted."""
    shown = numbers if len(numbers) <= _MARKS_SHOWN else numbers[: _MARKS_SHOWN - 1]
    parts = [mark.format(number) for number in shown]
    if len(numbers) > len(shown):
        parts.append(f"and {len(numbers) - len(shown):,} more notes")
    return "".join(f" {part}" for part in parts)
