# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The sections of a report: one measurement of cache-retrieve, or all of another workload at one place."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.model import Comparison, Figures
from io_benchmark.analysis.report_model import NoiseFloor, SideBottleneck
from io_benchmark.number_text import interval, percent, size, times
from io_benchmark.report.content.answers import AnsweredSubject, PoolAnswer
from io_benchmark.report.content.report_index import MeasuredSubject
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.content.subject_text import (
    Distinction,
    place_of,
    table_title,
    unit_text,
)
from io_benchmark.report.content.tables import (
    FiguresTable,
    MeasureTable,
)
from io_benchmark.results import workloads

_NO_TABLE = FiguresTable((), ())
# No clock and no machine shows a smaller error; ±0 % would be a claim.
_SMALLEST_ERROR = 0.001
# By the method of a comparison.
_METHODS = {
    "workers": "{counts} workers, compared by Welch's test on the logarithms of their means",
    "paired retrieves": "one worker per pool, compared retrieve by retrieve in blocks",
    "paired batches": "one worker per pool, compared sample by sample in blocks",
    "batches in blocks": "one worker per pool, each with its own error from blocks of its samples",
    "runs of one worker": "one worker per pool, compared by the means of its runs and by how much "
    "runs of one worker differ",
}


class Section(Struct, frozen=True):
    """One measurement of cache-retrieve, or all of another workload's at one place."""

    title: str
    marks: tuple[int, ...]
    answers: tuple[PoolAnswer, ...]
    advice: tuple[tuple[str, str], ...]  # candidates, what would settle it
    certainty: tuple[tuple[str, str], ...]  # candidates, the assumptions behind the interval
    floors: tuple[str, ...]
    noise: tuple[tuple[str, str], ...]  # sides, how much they vary
    bottlenecks: tuple[tuple[str, str], ...] = ()  # sides, what their copies waited for
    subjects: tuple[int, ...] = ()  # their positions in the report
    table: FiguresTable = _NO_TABLE
    # Workloads besides cache-retrieve: all of a place's measurements, in `measures` instead.
    measures: MeasureTable | None = None

    @staticmethod
    def groups(answered: Iterable[AnsweredSubject]) -> list[tuple[AnsweredSubject, ...]]:
        """Group the measurements that share a section; each one of cache-retrieve has its own."""
        groups: dict[object, list[AnsweredSubject]] = {}
        for each in answered:
            subject = each.part.subject
            shares = subject.workload in workloads.IN_BATCHES
            key = (subject.workload, place_of(subject)) if shares else each.part.position
            groups.setdefault(key, []).append(each)
        return [tuple(members) for members in groups.values()]

    @staticmethod
    def of(members: Sequence[AnsweredSubject]) -> "Section":
        """Write the section of measurements that share one."""
        if members[0].part.subject.workload in workloads.IN_BATCHES:
            return _measures_section(members)
        (only,) = members
        part = only.part
        return Section(
            title=str(part.subject),
            marks=part.marks,
            answers=only.answers,
            advice=_group_names(
                (comparison.candidate, text_of(comparison.advice.message))
                for comparison in part.comparisons
                if comparison.advice is not None
            ),
            certainty=_group_names(
                (
                    comparison.candidate,
                    _assumptions(part, comparison) + _adjustments(part, comparison) + ".",
                )
                for comparison in part.comparisons
            ),
            floors=_floors(part.noise),
            noise=_noise([part]),
            bottlenecks=_group_names(
                (side, _bottleneck_text(bottleneck))
                for side, bottleneck in part.bottlenecks.items()
            ),
            subjects=(part.position,),
            table=FiguresTable.of(part),
        )


def _measures_section(members: Sequence[AnsweredSubject]) -> Section:
    """Write the section of one workload and place, whose measurements share a table."""
    parts = [each.part for each in members]
    subject = parts[0].subject
    return Section(
        title=f"{table_title(subject)} {unit_text(subject.workload)}",
        marks=(),
        answers=AnsweredSubject.combine(members, Distinction(label=True)),
        advice=_group_names(
            _combined_advice(comparison for part in parts for comparison in part.comparisons)
        ),
        certainty=_group_names(
            (comparison.candidate, _assumptions(part, comparison))
            for part in parts
            for comparison in part.comparisons
        ),
        floors=_floors([floor for part in parts for floor in part.noise]),
        noise=_noise(parts),
        subjects=tuple(part.position for part in parts),
        measures=MeasureTable.of(parts),
    )


def _group_names(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Put names with the same text on one line."""
    names_by_text: dict[str, dict[str, None]] = {}
    for name, text in pairs:
        names_by_text.setdefault(text, {})[name] = None
    return tuple((", ".join(names), text) for text, names in names_by_text.items())


def _combined_advice(comparisons: Iterable[Comparison]) -> list[tuple[str, str]]:
    """Return for each candidate what would settle its inconclusive measurements."""
    needed: dict[str, list[int | None]] = {}
    for comparison in comparisons:
        if comparison.advice is not None:
            needed.setdefault(comparison.candidate, []).append(comparison.advice.workers_to_add)
    return [(candidate, _advice_text(counts)) for candidate, counts in needed.items()]


def _advice_text(needed: Sequence[int | None]) -> str:
    """Return how many more workers settle how many of the measurements."""
    known = [count for count in needed if count is not None]
    never = len(needed) - len(known)
    text = f"{len(needed):,} inconclusive"
    if known:
        least, most = min(known), max(known)
        workers = f"{least:,} to {most:,}" if least < most else f"{most:,}"
        settled = f"{len(known):,} of them" if never else "all of them"
        text += f"; {workers} more workers per pool should settle {settled}"
    return text + (f"; more workers would not settle {never:,} of them" if never else "")


def _floors(floors: Sequence[NoiseFloor]) -> tuple[str, ...]:
    """Write the widest range of each kind of ratio between equals."""
    by_kind: dict[str, list[NoiseFloor]] = {}
    for floor in floors:
        by_kind.setdefault(floor.kind, []).append(floor)
    return tuple(
        f"{kind} {interval(min(each.low_ratio for each in same), max(each.high_ratio for each in same))}"
        for kind, same in by_kind.items()
    )


def _noise(parts: Sequence[MeasuredSubject]) -> tuple[tuple[str, str], ...]:
    """Write how much each side varies, by its measurement with the largest error."""
    worst: dict[str, Figures] = {}
    for side in (side for part in parts for side in part.sides):
        known = worst.get(side.side)
        if side.figures is not None and (
            known is None or side.figures.within_worker_ratio > known.within_worker_ratio
        ):
            worst[side.side] = side.figures
    return _group_names((side, _noise_text(figures)) for side, figures in worst.items())


def _noise_text(figures: Figures) -> str:
    error = percent(max(figures.within_worker_ratio, _SMALLEST_ERROR))
    text = f"one worker's mean is known to ±{error}"
    if figures.between_workers_ratio is None:
        return f"{text}; a single worker cannot show how much workers vary"
    variation = percent(figures.between_workers_ratio)
    return f"{text}; the {figures.workers:,} workers vary by {variation}"


def _assumptions(part: MeasuredSubject, comparison: Comparison) -> str:
    """Write what the interval of a comparison assumes, whatever was measured."""
    workers = {side.side: side.figures.workers for side in part.sides if side.figures is not None}
    if comparison.workers is not None:
        sides = (comparison.candidate, comparison.baseline)
        workers |= dict(zip(sides, comparison.workers, strict=True))
    counts = " and ".join(
        f"{workers[side]:,}"
        for side in (comparison.candidate, comparison.baseline)
        if side in workers
    )
    text = _METHODS.get(comparison.method, comparison.method).replace("{counts}", counts)
    if comparison.assumed_variation_ratio is not None:
        assumed = percent(comparison.assumed_variation_ratio)
        text += f", widened by an assumed variation of {assumed} between workers"
        known = comparison.assumed_variation
        if known is not None and known.shown_by is not None:
            text += f", from {text_of(known.shown_by)}"
    if comparison.of_all is not None:
        look = "the planned look" if comparison.look is None else text_of(comparison.look)
        return f"{text}; {look}, which decided: later workers are not part of it"
    return text if comparison.look is None else f"{text}; {text_of(comparison.look)}"


def _adjustments(part: MeasuredSubject, comparison: Comparison) -> str:
    text = ""
    if comparison.interval.level_ratio > LEVEL:
        level = f"{100 * comparison.interval.level_ratio:.4g} %"
        reasons = ["several candidates"] if len(part.comparisons) > 1 else []
        reasons += ["several looks"] if comparison.look is not None else []
        text += f"; computed at {level} because there are {' and '.join(reasons)}"
    if comparison.variation_to_explain_ratio is not None:
        needed = percent(comparison.variation_to_explain_ratio)
        text += f"; workers would have to vary by {needed} for this difference to be chance"
    return text


def _bottleneck_text(side: SideBottleneck) -> str:
    """Write what a side's copies waited for, and where their bytes went."""
    text = f"{side.bottleneck.value} ({text_of(side.reason)})"
    if side.copied_bytes is None or side.written_bytes is None:
        return text
    text += f"; of {size(side.copied_bytes)} copied, {size(side.written_bytes)} reached the disks"
    if side.left_dirty_bytes is not None:
        text += f"; after the last copy {size(side.left_dirty_bytes)} were still to be written"
    if side.drain_ns is not None:
        text += f"; the final sync took {times([side.drain_ns])[0]}"
    return text
