# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The answer: a sentence for each candidate, with its cause and what to try.

Several measurements of one workload share a sentence, the most different one first.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Self

from msgspec import Struct

from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.model import DIFFERENT, Comparison, Subject, Verdict
from io_benchmark.number_text import interval, percent, ratio, ratio_range
from io_benchmark.report.content.hypotheses import Explanation
from io_benchmark.report.content.report_index import (
    BASELINE,
    NO_VERDICT,
    MeasuredSide,
    MeasuredSubject,
)
from io_benchmark.report.content.subject_text import Distinction

# More measurements than this are counted; of those that differ this many are always named.
_NAMED, _DIFFERENT_NAMED = 3, 12
_ORDER = (*(verdict.value for verdict in Verdict), NO_VERDICT)


class PoolAnswer(Struct, frozen=True):
    """`lead` is what to read if one reads nothing else; `verdict` is NO_VERDICT where refused."""

    candidate: str
    verdict: str
    lead: str
    rest: str
    steps: tuple[tuple[str, str], ...]  # "Try", "To confirm", each with its sentence
    marks: tuple[int, ...]
    comparison: Comparison | None = None
    explanation: Explanation | None = None  # what the rest says about causes
    reason: str = ""  # why there is no verdict
    brief: str = ""  # the start of the rest: ratio and interval, or why there is no verdict

    @property
    def after_lead(self) -> str:
        steps = (f"{label}: {text}" for label, text in self.steps)
        return " ".join(filter(None, (self.rest, *steps)))


class AnsweredSubject(Struct, frozen=True):
    """One measurement and its answers."""

    part: MeasuredSubject
    answers: tuple[PoolAnswer, ...]

    @classmethod
    def of(cls, part: MeasuredSubject, margin_ratio: float) -> Self:
        """Write an answer for each candidate of one measurement."""
        has_baseline = any(side.side == part.baseline for side in part.sides)
        return cls(
            part,
            tuple(
                _refused(side, part.baseline, has_baseline)
                if side.comparison is None
                else _decided(side, side.comparison, part.baseline, margin_ratio)
                for side in part.all_sides
                if side.verdict != BASELINE
            ),
        )

    @staticmethod
    def combine(
        parts: Iterable["AnsweredSubject"], distinction: Distinction
    ) -> tuple[PoolAnswer, ...]:
        """Write one answer for each candidate that any of these measurements has an answer for."""
        by_candidate: dict[str, list[_SubjectAnswer]] = {}
        for each in parts:
            for answer in each.answers:
                by_candidate.setdefault(answer.candidate, []).append(
                    _SubjectAnswer(each.part.subject, answer)
                )
        return tuple(_combined(answers, distinction) for answers in by_candidate.values())


def _decided(
    side: MeasuredSide, comparison: Comparison, baseline: str, margin_ratio: float
) -> PoolAnswer:
    lead, rest = _verdict_text(comparison, margin_ratio)
    if side.median_ratio is not None:
        rest += (
            f", {ratio(side.median_ratio)} by the median, which varies less where nothing waits for "
            "a disk"
        )
    rest += _earlier_text(comparison)
    zones = f" {side.within_zones}" if side.within_zones else ""
    brief = f"{rest}.{zones}"
    to_change: str | None = ""
    if comparison.verdict is Verdict.FASTER:
        # A pool that is faster than before has been changed already.
        to_change = comparison.baseline if comparison.baseline == baseline else None
    explanation = (
        None
        if side.diagnosis is None
        else Explanation.of(side.diagnosis, side.to_confirm, to_change)
    )
    rest += ("." if explanation is None else f": {explanation.sentence}.") + zones
    return PoolAnswer(
        side.side,
        side.verdict,
        lead,
        rest,
        () if explanation is None else explanation.steps,
        side.answer_marks,
        comparison,
        explanation,
        brief=brief,
    )


def _verdict_text(comparison: Comparison, margin_ratio: float) -> tuple[str, str]:
    candidate, baseline = comparison.candidate, comparison.baseline
    times = ratio(comparison.ratio)
    bounds = interval(comparison.interval.low_ratio, comparison.interval.high_ratio)
    around = f"({percent(LEVEL)} interval {bounds})"
    match comparison.verdict:
        case Verdict.SLOWER:
            return f"{candidate} is {times} slower than {baseline}", around
        case Verdict.FASTER:
            return f"{candidate} is faster than {baseline}", f"at {times} its time {around}"
        case Verdict.EQUIVALENT:
            lead = f"{candidate} is equivalent to {baseline}"
            return lead, f"within ±{percent(margin_ratio)}: {times} its time {around}"
        case Verdict.INCONCLUSIVE:
            return f"{candidate} compared with {baseline} is inconclusive", f"at {times} {around}"


def _earlier_text(comparison: Comparison) -> str:
    """Write that an earlier look decided, and what all workers give where they do not agree."""
    if comparison.of_all is None:
        return ""
    if comparison.of_all.verdict is comparison.verdict:
        return ", decided at an earlier look"
    times, found = ratio(comparison.of_all.ratio), comparison.of_all.interval
    bounds = interval(found.low_ratio, found.high_ratio)
    return f", decided at an earlier look, which stands; all workers: {times} ({bounds})"


def _refused(side: MeasuredSide, baseline: str, has_baseline: bool) -> PoolAnswer:
    lead = f"{side.side} compared with {baseline}: {NO_VERDICT},"
    if side.refused_by:
        reason = f"refused by {', '.join(side.refused_by)}"
    elif not has_baseline:
        reason = f"because {baseline} has no samples of this"
    else:
        reason = "because they were not compared"
    rest = f"{reason}."
    return PoolAnswer(
        side.side, NO_VERDICT, lead, rest, (), side.answer_marks, reason=reason, brief=rest
    )


class _SubjectAnswer(Struct, frozen=True):
    """One candidate's answer for one measurement."""

    subject: Subject
    answer: PoolAnswer

    @property
    def difference(self) -> float:
        comparison = self.answer.comparison
        return 0.0 if comparison is None else abs(math.log(comparison.ratio))

    @property
    def rank(self) -> tuple[bool, float]:
        """Explained differences come first, then large ones."""
        return self.answer.explanation is not None, self.difference


def _combined(answers: Sequence[_SubjectAnswer], distinction: Distinction) -> PoolAnswer:
    kinds: dict[str, list[_SubjectAnswer]] = {}
    for each in answers:
        kinds.setdefault(each.answer.verdict, []).append(each)
    different = [each for verdict in DIFFERENT for each in kinds.get(verdict.value, [])]
    if different:
        # The sentence leads with a difference that is explained, if there is one.
        leading = [max(different, key=lambda each: each.rank)]
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
        first.steps,
        tuple(sorted({mark for each in answers for mark in each.answer.marks})),
    )


def _leading_text(leading: Sequence[_SubjectAnswer], distinction: Distinction) -> tuple[str, str]:
    """Return what to read first, and what the sentence says next."""
    first = leading[0].answer
    if first.comparison is None:
        return first.lead, f"{first.reason} ({_names(leading, distinction)})."
    if first.comparison.verdict in DIFFERENT:
        return f"{first.lead} {distinction.phrase(leading[0].subject)}", first.rest
    # A count is of measurements, which have "on" like a label; a place has its "in".
    preposition = "on " if distinction.label or _is_counted(leading) else ""
    return first.lead, f"{preposition}{_names(leading, distinction)}."


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
        ratios = ratio_range([comparison.ratio for comparison in compared])
        count = f"{len(rest):,}{' more' if named else ''} measurements"
        texts.append(", ".join(filter(None, (count, ratios))))
    return "; ".join(texts)


def _name(each: _SubjectAnswer, distinction: Distinction) -> str:
    comparison = each.answer.comparison
    ratio_text = "" if comparison is None else ratio(comparison.ratio)
    return " ".join(filter(None, (distinction.short(each.subject), ratio_text)))
