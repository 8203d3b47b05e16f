# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a reader needs for a decision, short enough for a terminal of 80 × 24.

One sentence per pool, where the difference lies, its cause, what to try, what a decision costs, what
changes how a verdict is read, and the figures of the measurement that leads.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Self

from msgspec import Struct

from io_benchmark.analysis.model import DIFFERENT, Comparison, Subject
from io_benchmark.analysis.report_model import Report
from io_benchmark.number_text import ratio_range
from io_benchmark.report.content.answers import AnsweredSubject, PoolAnswer
from io_benchmark.report.content.divisions import DividedDifference
from io_benchmark.report.content.footnotes import ProblemNotes
from io_benchmark.report.content.report_index import NO_VERDICT, MeasuredSubject
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.content.subject_text import Distinction
from io_benchmark.report.content.tables import FiguresTable, MeasureTable
from io_benchmark.report.content.worker_rows import WorkersPart
from io_benchmark.results import workloads
from io_benchmark.text import name

# Of more candidates than this only the most different ones have a sentence each.
_POOLS_EACH, _MOST_DIFFERENT = 4, 2
_NAMED, _SINGLE_WORKERS, _WARNINGS = 6, 2, 2
_WARNING_LENGTH = 200
# In the order in which they are left out where the screen is full.
_ROWS = ("Total", "P50", "P95", "P99", "Avg")
_NOTE, _MEASURES, _AVERAGE, _WHERE, _TRY, _ALWAYS = range(len(_ROWS), len(_ROWS) + 6)
_ROW_RANKS = dict(zip(_ROWS, (*range(1, len(_ROWS)), _AVERAGE), strict=True))


class _Line(Struct, frozen=True):
    lead: str
    text: str
    verdict: str = ""  # by which the lead is coloured
    mark: str = "-"  # nothing: it belongs to the line above
    rank: int = _ALWAYS  # the lowest ones are left out first


class FirstScreen(Struct, frozen=True):
    title: str
    lines: tuple[_Line, ...]
    table_title: str = ""  # the measurement, where there are several
    figures: FiguresTable | None = None  # of that measurement
    measures: MeasureTable | None = None  # instead of them, for workloads in batches
    spaced: bool = True  # there is room for empty lines

    def that_fits(self, write: Callable[[Self], str], lines: int) -> str:
        """Write the screen; where it would have more lines, leave out what matters least."""
        texts = (write(self._cut(rank)) for rank in range(_ALWAYS + 1))
        text = ""
        for text in texts:
            if text.count("\n") <= lines:
                break
        return text

    def _cut(self, rank: int) -> Self:
        """Leave out the lines and the rows of figures that are below this rank."""
        figures = self.figures
        if figures is not None:
            kept = tuple(row for row in figures.rows if _ROW_RANKS[row.label] >= rank)
            figures = FiguresTable(figures.heads, kept) if kept else None
        measures = self.measures if rank <= _MEASURES else None
        lines = tuple(line for line in self.lines if line.rank >= rank)
        has_table = figures is not None or measures is not None
        table_title = self.table_title if has_table else ""
        return type(self)(self.title, lines, table_title, figures, measures, spaced=rank == 0)

    @classmethod
    def of(
        cls,
        report: Report,
        answered: Sequence[AnsweredSubject],
        single_workers: Sequence[PoolAnswer],
        notes: ProblemNotes,
        workers: WorkersPart,
        nothing: str,
    ) -> Self:
        """Write the screen; `nothing` is why there is no answer at all, or nothing."""
        # An option needs no explanation.
        reason = "" if report.baseline_reason.startswith("--") else report.baseline_reason
        title = report.title + (f" ({reason})" if report.baseline and reason else "")
        pools = _Pool.all_of(answered)
        single = [line for each in single_workers[:_SINGLE_WORKERS] for line in _single(each)]
        left = len(single_workers) - _SINGLE_WORKERS
        if left > 0:
            single.append(_Line("", f"and {left:,} more workers that do not belong to their pool"))
        lines = (
            *([_Line(nothing, "", NO_VERDICT)] if nothing else []),
            *_pool_lines(pools),
            *single,
            *([_Line("", workers.cost)] if workers.cost else []),
            *_looks(pools),
            *_warnings(report, notes, workers),
        )
        if nothing or not pools:
            return cls(title, lines)
        part = pools[0].leading.part
        table_title = f"{part.subject}" if len(answered) > 1 else ""
        if part.subject.workload in workloads.IN_BATCHES:
            return cls(title, lines, table_title, measures=MeasureTable.of([part]))
        table = FiguresTable.of(part)
        rows = tuple(row for row in table.rows if row.label in _ROWS)
        heads = tuple(type(head)(head.text, head.verdict) for head in table.heads)
        return cls(title, lines, table_title, FiguresTable(heads, rows))


class _Finding(Struct, frozen=True):
    """One pool's answer about one measurement."""

    part: MeasuredSubject
    answer: PoolAnswer

    @property
    def comparison(self) -> Comparison | None:
        return self.answer.comparison

    @property
    def differs(self) -> bool:
        return self.answer.verdict in DIFFERENT

    @property
    def rank(self) -> tuple[bool, float]:
        """Explained differences come first, then large ones."""
        ratio = 1.0 if self.comparison is None else self.comparison.ratio
        return self.answer.explanation is not None, abs(math.log(ratio))


class _Pool(Struct, frozen=True):
    """One candidate's answers about all measurements."""

    name: str
    leading: _Finding
    findings: tuple[_Finding, ...]
    subjects: tuple[Subject, ...]  # all of the report

    @classmethod
    def all_of(cls, answered: Sequence[AnsweredSubject]) -> list[Self]:
        """Return the candidates; those that are slower or faster come first."""
        subjects = tuple(each.part.subject for each in answered)
        by_name: dict[str, list[_Finding]] = {}
        for each in answered:
            for answer in each.answers:
                by_name.setdefault(answer.candidate, []).append(_Finding(each.part, answer))
        pools = [
            cls(name, _leading(findings), tuple(findings), subjects)
            for name, findings in by_name.items()
        ]
        return sorted(pools, key=lambda pool: not pool.leading.differs)

    @property
    def sentence(self) -> _Line:
        leading = self.leading
        answer = leading.answer
        same = [each for each in self.findings if each.answer.verdict == answer.verdict]
        if leading.differs or len(same) == 1:
            phrase = Distinction.of_all(leading.part.subject, self.subjects)
            texts = [" ".join(filter(None, (phrase, answer.brief)))]
            same = [leading]
        elif answer.comparison is None:
            texts = [f"{answer.brief.removesuffix('.')} ({len(same):,} measurements)."]
        else:
            texts = [f"on {_measurements(same)}."]
        others = [each for each in self.findings if each not in same]
        return _Line(answer.lead, " ".join([*texts, *_others(others)]), answer.verdict)

    @property
    def reasons(self) -> tuple[_Line, ...]:
        """Write where the difference lies, its cause and what to try."""
        if not self.leading.differs:
            return ()
        part, comparison = self.leading.part, self.leading.comparison
        side = next(side for side in part.all_sides if side.comparison is comparison)
        lines = []
        has_parts = side.division is not None and len(side.division.parts) > 1
        if comparison is not None and side.division is not None and has_parts:
            divided = DividedDifference.of(
                side.division, comparison.verdict, part.subject, self.subjects
            )
            text = divided.sentence.partition(";")[0].removesuffix(".")
            lines.append(_below("Where", f"{divided.difference}: {text}.", _WHERE))
        return (*lines, *_causes(self.leading.answer))


def _leading(findings: Sequence[_Finding]) -> _Finding:
    """Return what a pool's sentence is about: of the first workload that differs, the most different."""
    different = [each for each in findings if each.differs]
    if different:
        workload = different[0].part.subject.workload
        same = (each for each in different if each.part.subject.workload == workload)
        return max(same, key=lambda each: each.rank)
    return next((each for each in findings if each.comparison is not None), findings[0])


def _pool_lines(pools: Sequence[_Pool]) -> Iterable[_Line]:
    """Write a sentence per pool; of many pools those that differ most have one, the others share some."""
    if len(pools) <= _POOLS_EACH:
        named = list(pools)
    else:
        different = [pool for pool in pools if pool.leading.differs]
        different.sort(key=lambda pool: pool.leading.rank, reverse=True)
        named = different[:_MOST_DIFFERENT]
    for pool in named:
        yield pool.sentence
        yield from pool.reasons
    by_verdict: dict[str, list[_Pool]] = {}
    for pool in pools:
        if pool not in named:
            by_verdict.setdefault(pool.leading.answer.verdict, []).append(pool)
    for verdict, same in by_verdict.items():
        names = ", ".join(pool.name for pool in same[:_NAMED])
        names += f" and {len(same) - _NAMED:,} more" if len(same) > _NAMED else ""
        ratios = _ratios([pool.leading for pool in same])
        yield _Line(f"{verdict.capitalize()}:", f"{names}{ratios and f', {ratios}'}.", verdict)


def _looks(pools: Sequence[_Pool]) -> Iterable[_Line]:
    """Write which look it is; a verdict of an earlier one says so itself."""
    compared = [pool.leading.comparison for pool in pools]
    looks = {
        text_of(each.look): None
        for each in compared
        if each is not None and each.look is not None and each.of_all is None
    }
    if looks:
        text = f"{', and '.join(looks)}; the intervals are adjusted"
        yield _Line("", text, mark="!", rank=_NOTE)


def _ratios(findings: Iterable[_Finding]) -> str:
    compared = (each.comparison for each in findings)
    return ratio_range([each.ratio for each in compared if each is not None])


def _measurements(findings: Sequence[_Finding]) -> str:
    ratios = _ratios(findings)
    counted = f"{len(findings):,} measurement" + ("" if len(findings) == 1 else "s")
    return f"{counted}{ratios and f', {ratios}'}"


def _others(findings: Iterable[_Finding]) -> Iterable[str]:
    """Write what else differs, by workload, and count the rest by verdict."""
    by_verdict: dict[str, list[_Finding]] = {}
    for each in findings:
        by_verdict.setdefault(each.answer.verdict, []).append(each)
    for verdict in [*DIFFERENT, *(each for each in by_verdict if each not in DIFFERENT)]:
        same = by_verdict.get(verdict, [])
        if same and verdict in DIFFERENT:
            workload_names = dict.fromkeys(each.part.subject.workload for each in same)
            texts = (
                f"{name} {_ratios([each for each in same if each.part.subject.workload == name])}"
                for name in workload_names
            )
            yield f"Also {verdict}: {', '.join(texts)}."
        elif same:
            yield f"{verdict.capitalize()}: {_measurements(same)}."


def _single(answer: PoolAnswer) -> Iterable[_Line]:
    """Write about a worker that does not belong to its pool."""
    yield _Line(answer.lead, answer.brief, answer.verdict)
    yield from _causes(answer)


def _causes(answer: PoolAnswer) -> Iterable[_Line]:
    explanation = answer.explanation
    if explanation is None:
        return
    label = f"Cause ({explanation.standing})" if explanation.standing else "Cause"
    yield _below(label, f"{explanation.claim}.")
    if explanation.attempt:
        yield _below("Try", explanation.attempt.removeprefix("Try: "), _TRY)


def _below(label: str, text: str, rank: int = _ALWAYS) -> _Line:
    return _Line(f"{label}:", text, mark="", rank=rank)


def _warnings(report: Report, notes: ProblemNotes, workers: WorkersPart) -> Iterable[_Line]:
    """Write what changes how the answers are read; more than a few are counted."""
    refusals = [
        (f"REFUSED by {each.rule}", f"({each.where}): {each.message} {each.consequence}")
        for each in notes.refusals
    ]
    yield from _first(refusals, "refused comparisons", NO_VERDICT)
    # What to do about it, and the reasons of a warning, are among the details.
    missing = [("Not read:", line.partition("; ")[0]) for line in report.unreadable]
    yield from _first(missing, "results not read")
    yield from _first([("", each) for each in workers.cautions], "cautions about workers")
    for is_allowed in (True, False):
        warnings = [
            (f"{each.rule}:", each.text.partition(";")[0])
            for each in notes.footnotes
            if each.is_allowed is is_allowed
        ]
        yield from _first(warnings, "warnings", rank=_ALWAYS if is_allowed else _NOTE)
    remarks = [("", text_of(remark)) for remark in report.remarks]
    yield from _first(remarks, "remarks", rank=_NOTE)


def _first(
    texts: Sequence[tuple[str, str]], kind: str, verdict: str = "", rank: int = _ALWAYS
) -> Iterable[_Line]:
    shown = texts if len(texts) <= _WARNINGS else texts[: _WARNINGS - 1]
    for lead, text in shown:
        yield _Line(lead, name(text, _WARNING_LENGTH), verdict, "!", rank)
    left = len(texts) - len(shown)
    if left:
        yield _Line("", f"and {left:,} more {kind}", "", "!", rank)
