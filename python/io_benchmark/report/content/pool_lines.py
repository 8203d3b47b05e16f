# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What the first screen says about each pool, and about workers that do not belong to theirs.

A sentence has the verdict; below it are where the difference lies, its cause and what to do next.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Self

from msgspec import Struct

from io_benchmark.analysis.model import DIFFERENT, Comparison, Subject
from io_benchmark.number_text import ratio_range
from io_benchmark.report.content.answers import AnsweredSubject, PoolAnswer
from io_benchmark.report.content.divisions import DividedDifference
from io_benchmark.report.content.report_index import MeasuredSubject
from io_benchmark.report.content.screen_lines import ALWAYS, CONFIRM, NOTE, TRY, WHERE, ScreenLine
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.content.subject_text import Distinction

# Of more candidates than this only the most different ones have a sentence each.
_POOLS_EACH, _MOST_DIFFERENT = 4, 2
_NAMED, _SINGLE_WORKERS = 6, 2
_STEP_RANKS = {"Try": TRY, "To confirm": CONFIRM}


class PoolsPart(Struct, frozen=True):
    """The sentences about pools and single workers."""

    lines: tuple[ScreenLine, ...]
    looks: tuple[ScreenLine, ...]  # which ones at the data these are
    leading: MeasuredSubject | None  # whose figures are shown; None: there are no pools

    @classmethod
    def of(cls, answered: Sequence[AnsweredSubject], single_workers: Sequence[PoolAnswer]) -> Self:
        """Write what was found, the pools that are slower or faster first."""
        pools = _Pool.all_of(answered)
        single = [line for each in single_workers[:_SINGLE_WORKERS] for line in _single(each)]
        left = len(single_workers) - _SINGLE_WORKERS
        if left > 0:
            workers = "worker that does" if left == 1 else "workers that do"
            single.append(ScreenLine("", f"and {left:,} more {workers} not belong to their pool"))
        leading = pools[0].leading.part if pools else None
        return cls((*_pool_lines(pools), *single), tuple(_looks(pools)), leading)


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
    def sentence(self) -> ScreenLine:
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
        return ScreenLine(answer.lead, " ".join([*texts, *_others(others)]), answer.verdict)

    @property
    def reasons(self) -> tuple[ScreenLine, ...]:
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
            lines.append(_below(f"Where ({divided.difference})", f"{divided.parts}.", WHERE))
        return (*lines, *_causes(self.leading.answer))


def _leading(findings: Sequence[_Finding]) -> _Finding:
    """Return what a pool's sentence is about: of the first workload that differs, the most different."""
    different = [each for each in findings if each.differs]
    if different:
        workload = different[0].part.subject.workload
        same = (each for each in different if each.part.subject.workload == workload)
        return max(same, key=lambda each: each.rank)
    return next((each for each in findings if each.comparison is not None), findings[0])


def _pool_lines(pools: Sequence[_Pool]) -> Iterable[ScreenLine]:
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
        yield ScreenLine(f"{verdict.capitalize()}:", f"{names}{ratios and f', {ratios}'}.", verdict)


def _looks(pools: Sequence[_Pool]) -> Iterable[ScreenLine]:
    """Write which look it is; a verdict of an earlier one says so itself."""
    compared = [pool.leading.comparison for pool in pools]
    looks = {
        text_of(each.look): None
        for each in compared
        if each is not None and each.look is not None and each.of_all is None
    }
    if looks:
        text = f"{', and '.join(looks)}; the intervals are wider for it"
        yield ScreenLine("", text, mark="!", rank=NOTE)


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


def _single(answer: PoolAnswer) -> Iterable[ScreenLine]:
    """Write about a worker that does not belong to its pool."""
    yield ScreenLine(answer.lead, answer.brief, answer.verdict)
    yield from _causes(answer)


def _causes(answer: PoolAnswer) -> Iterable[ScreenLine]:
    explanation = answer.explanation
    if explanation is None:
        return
    label = f"Cause ({explanation.standing})" if explanation.standing else "Cause"
    yield _below(label, f"{explanation.claim}.")
    for label, text in explanation.steps:
        yield _below(label, text, _STEP_RANKS[label])


def _below(label: str, text: str, rank: int = ALWAYS) -> ScreenLine:
    return ScreenLine(f"{label}:", text, mark="", rank=rank)
