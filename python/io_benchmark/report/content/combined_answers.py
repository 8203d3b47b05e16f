# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Several measurements of one workload in one sentence per candidate, the most different one first."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from io_benchmark.analysis.model import DIFFERENT, Comparison, Subject, Verdict
from io_benchmark.number_text import ratio_range
from io_benchmark.report.content.answers import AnsweredSubject, PoolAnswer
from io_benchmark.report.content.report_index import NO_VERDICT
from io_benchmark.report.content.subject_text import Distinction

# More measurements than this are counted; of those that differ this many are always named.
_NAMED, _DIFFERENT_NAMED = 3, 12
_ORDER = (*(verdict.value for verdict in Verdict), NO_VERDICT)


@dataclass(frozen=True)
class _SubjectAnswer:
    """One candidate's answer for one measurement."""

    subject: Subject
    answer: PoolAnswer

    @property
    def difference(self) -> float:
        comparison = self.answer.comparison
        return 0.0 if comparison is None else abs(math.log(comparison.ratio))


def combine(parts: Iterable[AnsweredSubject], distinction: Distinction) -> tuple[PoolAnswer, ...]:
    """Write one answer for each candidate that any of these measurements has an answer for."""
    by_candidate: dict[str, list[_SubjectAnswer]] = {}
    for each in parts:
        for answer in each.answers:
            by_candidate.setdefault(answer.candidate, []).append(
                _SubjectAnswer(each.part.subject, answer)
            )
    return tuple(_combined(answers, distinction) for answers in by_candidate.values())


def _combined(answers: Sequence[_SubjectAnswer], distinction: Distinction) -> PoolAnswer:
    kinds: dict[str, list[_SubjectAnswer]] = {}
    for each in answers:
        kinds.setdefault(each.answer.verdict, []).append(each)
    different = [each for verdict in DIFFERENT for each in kinds.get(verdict.value, [])]
    if different:
        # The sentence leads with a difference that is explained, if there is one.
        leading = [max(different, key=lambda each: (each.answer.explained, each.difference))]
    else:
        undecided = (Verdict.INCONCLUSIVE.value, Verdict.EQUIVALENT.value, NO_VERDICT)
        leading = next(kinds[kind] for kind in undecided if kind in kinds)
    first = leading[0].answer
    lead, rest = _leading_text(leading, distinction)
    others = {
        kind: [each for each in kinds.get(kind, ()) if each not in leading] for kind in _ORDER
    }
    more = [
        f"{_also(kind, first.verdict)}: {_names(group, distinction)}."
        for kind, group in others.items()
        if group
    ]
    return PoolAnswer(
        first.candidate,
        first.verdict,
        lead,
        " ".join([rest, *more]),
        first.attempt,
        tuple(sorted({mark for each in answers for mark in each.answer.marks})),
    )


def _leading_text(leading: Sequence[_SubjectAnswer], distinction: Distinction) -> tuple[str, str]:
    """Return what to read first, and what the sentence says next."""
    first = leading[0].answer
    if first.comparison is None:
        return first.lead, f"{first.reason} ({_names(leading, distinction)})."
    candidate, baseline = first.candidate, first.comparison.baseline
    # A count is of measurements, which have "on" like a label; a place has its "in".
    preposition = "on " if distinction.label or _is_counted(leading) else ""
    rest = f"{preposition}{_names(leading, distinction)}."
    match first.comparison.verdict:
        case Verdict.EQUIVALENT:
            return f"{candidate} is equivalent to {baseline}", rest
        case Verdict.INCONCLUSIVE:
            return f"{candidate} compared with {baseline} is inconclusive", rest
    return f"{first.lead} {distinction.phrase(leading[0].subject)}", first.rest


def _also(kind: str, leading: str) -> str:
    return f"Also {kind}" if kind == leading else kind.capitalize()


def _is_counted(group: Sequence[_SubjectAnswer]) -> bool:
    """Are these only counted, so that none has its name in the sentence?"""
    return len(group) > _NAMED and group[0].answer.verdict not in DIFFERENT


def _names(group: Sequence[_SubjectAnswer], distinction: Distinction) -> str:
    """Return 'stat, 4 at once 1.25×; stat, 2 at once 1.10×', the most different one first."""
    ordered = sorted(group, key=lambda each: each.difference, reverse=True)
    named = ordered[:_DIFFERENT_NAMED]
    if group[0].answer.verdict not in DIFFERENT:
        named = [] if _is_counted(group) else ordered
    texts = [_name(each, distinction) for each in named]
    rest = ordered[len(named) :]
    if rest:
        compared = [each.answer.comparison for each in rest if each.answer.comparison is not None]
        count = f"{len(rest):,}{' more' if named else ''} measurements"
        texts.append(", ".join(filter(None, (count, _range_text(compared)))))
    return "; ".join(texts)


def _range_text(comparisons: Sequence[Comparison]) -> str:
    return ratio_range([comparison.ratio for comparison in comparisons])


def _name(each: _SubjectAnswer, distinction: Distinction) -> str:
    comparison = each.answer.comparison
    ratio_text = "" if comparison is None else _range_text([comparison])
    return " ".join(filter(None, (distinction.short(each.subject), ratio_text)))
