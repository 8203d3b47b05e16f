# SPDX-License-Identifier: MPL-2.0
"""The answer: a sentence for each pool, with where the difference lies, its cause and what to try.

On a screen a pool has one sentence, in the full report one per workload.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from io_benchmark.analysis.model import DIFFERENT, Comparison, Verdict
from io_benchmark.analysis.report_model import Report
from io_benchmark.number_text import ratio, ratio_range
from io_benchmark.report.blocks import NO_VERDICT, WARNING, Item, Items, Marks, Words
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.content.subject_text import Distinction, unit_text
from io_benchmark.report.content.verdict_text import ends_text, verdict_text
from io_benchmark.report.sections.causes import explanation
from io_benchmark.report.sections.measured import Measurement, Side, leading_of
from io_benchmark.report.sections.parts import where

# Of more candidates than this only the most different ones have a sentence each on a screen.
_POOLS_EACH, _MOST_DIFFERENT = 4, 2
_POOLS_NAMED, _MEASUREMENTS_NAMED = 6, 12
# A screen leaves out which look it is before where a difference lies.
_NOTE, _WHERE = 5, 9


def screen_answer(measurements: Sequence[Measurement], report: Report) -> list[Item]:
    """Write one sentence per pool, those that are slower or faster first."""
    sides = [side for measurement in measurements for side in measurement.candidates]
    pools = _grouped(sides, lambda side: side.name)
    pools.sort(key=lambda pool: not leading_of(pool).differs)
    named = pools
    if len(pools) > _POOLS_EACH:
        different = [pool for pool in pools if leading_of(pool).differs]
        different.sort(key=lambda pool: leading_of(pool).rank, reverse=True)
        named = different[:_MOST_DIFFERENT]
    items = [_pool(pool, report, _others_by_workload) for pool in named]
    return [*items, *_summed_up([pool for pool in pools if pool not in named])]


def full_answer(measurements: Sequence[Measurement], report: Report) -> Iterator[Items]:
    """Write one list per workload: a sentence for each pool that differs, the others share some."""
    sides = [side for measurement in measurements for side in measurement.candidates]
    by_workload = _grouped(sides, lambda side: side.subject.workload)
    for same in by_workload:
        pools = _grouped(same, lambda side: side.name)
        named = [
            pool
            for pool in pools
            if len(pools) <= _POOLS_EACH or leading_of(pool).verdict in (*DIFFERENT, NO_VERDICT)
        ]
        items = [_pool(pool, report, _others_by_measurement, has_marks=True) for pool in named]
        items += _summed_up([pool for pool in pools if pool not in named])
        workload = same[0].subject.workload
        title = f"{workload} {unit_text(workload)}" if len(by_workload) > 1 else ""
        yield Items(tuple(items), title, shown=len(items))


def looks(measurements: Sequence[Measurement]) -> Iterator[Item]:
    """Write which looks at the data these are; a verdict of an earlier one says so itself."""
    sides = [side for measurement in measurements for side in measurement.candidates]
    compared = [leading_of(pool).comparison for pool in _grouped(sides, lambda side: side.name)]
    texts = dict.fromkeys(
        text_of(comparison.look)
        for comparison in compared
        if comparison is not None and comparison.look is not None and comparison.of_all is None
    )
    if texts:
        text = f"{', and '.join(texts)}; the intervals are wider for it"
        yield Item(Words(text, WARNING), mark="!", rank=_NOTE)


def _grouped(sides: Iterable[Side], key: Callable[[Side], Hashable]) -> list[list[Side]]:
    groups: dict[Hashable, list[Side]] = {}
    for side in sides:
        groups.setdefault(key(side), []).append(side)
    return list(groups.values())


def _pool(
    pool: Sequence[Side],
    report: Report,
    also: Callable[[Sequence[Side], Sequence[Side]], str],
    *,
    has_marks: bool = False,
) -> Item:
    """Write a pool's sentence: about what leads, then about its other measurements."""
    leading = leading_of(pool)
    lead, text = _verdict(leading, report)
    same = [side for side in pool if side.verdict == leading.verdict]
    if leading.differs or len(same) == 1:
        phrase = Distinction.of_all(leading.subject, [part.subject for part in report.subjects])
        texts = [" ".join(filter(None, (phrase, text)))]
        same = [leading]
    elif leading.comparison is None:
        texts = [f"{text.removesuffix('.')} ({len(same):,} measurements)."]
    else:
        texts = [f"on {_measurements(same)}."]
    others = [side for side in pool if side not in same]
    for verdict in (
        *DIFFERENT,
        *(verdict for verdict in _verdicts(others) if verdict not in DIFFERENT),
    ):
        alike = [side for side in others if side.verdict == verdict]
        if alike and verdict in DIFFERENT:
            texts.append(f"Also {verdict}: {also(alike, pool)}.")
        elif alike:
            texts.append(f"{verdict.capitalize()}: {_measurements(alike)}.")
    marks = {mark for side in pool for mark in side.answer_marks} if has_marks else ()
    line = (Words(lead, leading.verdict), f" {' '.join(texts)}", Marks(tuple(sorted(marks))))
    return Item(line, tuple(_reasons(leading)), leading.verdict)


def _verdict(side: Side, report: Report) -> tuple[str, str]:
    """Return the lead of a sentence and its rest: ratio and interval, or why there is no verdict."""
    comparison = side.comparison
    if comparison is None:
        lead = f"{side.name} compared with {side.baseline}: {NO_VERDICT},"
        part = next(part for part in report.subjects if part.subject == side.subject)
        if side.refused_by:
            return lead, f"refused by {', '.join(side.refused_by)}."
        if side.baseline not in part.figures:
            return lead, f"because {side.baseline} has no samples of this."
        return lead, "because they were not compared."
    lead, text = verdict_text(comparison, report.margin_ratio)
    if side.median_ratio is not None:
        median = ratio(side.median_ratio)
        text += f", {median} by the median, which varies less where nothing waits for a disk"
    zones = f" {side.within_zones}" if side.within_zones else ""
    return lead, f"{text}{_earlier_text(comparison)}.{zones}"


def _earlier_text(comparison: Comparison) -> str:
    """Write that an earlier look decided, and what all workers give where they do not agree."""
    if comparison.of_all is None:
        return ""
    text = ", decided at an earlier look"
    if comparison.of_all.verdict is comparison.verdict:
        return text
    bounds = ends_text(comparison.of_all.interval)
    return f"{text}, which stands; all workers: {ratio(comparison.of_all.ratio)} ({bounds})"


def _reasons(side: Side) -> Iterator[Item]:
    """Write where a difference lies, its cause and what to try."""
    if not side.differs or side.comparison is None:
        return
    if side.division is not None:
        difference, text = where(side.division, side.subject)
        lead = Words(f"Where ({difference}):", "strong")
        yield Item((lead, f" {text}."), rank=_WHERE)
    if side.diagnosis is not None:
        to_change: str | None = ""
        if side.comparison.verdict is Verdict.FASTER:
            # A pool that is faster than before has been changed already.
            to_change = None if side.is_before_after else side.baseline
        yield from explanation(side.diagnosis, side.to_confirm, to_change)


def _summed_up(pools: Sequence[Sequence[Side]]) -> Iterator[Item]:
    """Write a line per verdict about pools that share it."""
    leading = [leading_of(pool) for pool in pools]
    for verdict in _verdicts(leading):
        same = [side for side in leading if side.verdict == verdict]
        names = ", ".join(side.name for side in same[:_POOLS_NAMED])
        left_out = len(same) - _POOLS_NAMED
        names += f" and {left_out:,} more" if left_out > 0 else ""
        ratios = _ratios(same)
        text = f" {names}{ratios and f', {ratios}'}."
        yield Item((Words(f"{verdict.capitalize()}:", verdict), text), kind=verdict)


def _verdicts(sides: Iterable[Side]) -> list[str]:
    return list(dict.fromkeys(side.verdict for side in sides))


def _ratios(sides: Iterable[Side]) -> str:
    compared = (side.comparison for side in sides)
    return ratio_range([comparison.ratio for comparison in compared if comparison is not None])


def _measurements(sides: Sequence[Side]) -> str:
    ratios = _ratios(sides)
    counted = f"{len(sides):,} measurement" + ("" if len(sides) == 1 else "s")
    return f"{counted}{ratios and f', {ratios}'}"


def _others_by_workload(sides: Sequence[Side], _: Sequence[Side]) -> str:
    """Return 'random-io 1.98× to 2.00×, spawn 1.10×'."""
    by_workload = _grouped(sides, lambda side: side.subject.workload)
    return ", ".join(f"{same[0].subject.workload} {_ratios(same)}" for same in by_workload)


def _others_by_measurement(sides: Sequence[Side], pool: Sequence[Side]) -> str:
    """Return 'stat, 4 at once 1.25×; stat, 2 at once 1.10×', the most different one first."""
    distinction = Distinction.between(side.subject for side in pool)
    ordered = sorted(sides, key=lambda side: side.difference, reverse=True)
    texts = [
        f"{distinction.short(side.subject)} {_ratios([side])}"
        for side in ordered[:_MEASUREMENTS_NAMED]
    ]
    if len(ordered) > _MEASUREMENTS_NAMED:
        left_out = ordered[_MEASUREMENTS_NAMED:]
        texts.append(f"{len(left_out):,} more measurements, {_ratios(left_out)}")
    return "; ".join(texts)
