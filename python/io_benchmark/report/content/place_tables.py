# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Storage configurations compared: a row per place, a column per pool, and the ratios between them."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Self

from msgspec import Struct

from io_benchmark.analysis.inference import decisions, estimates
from io_benchmark.analysis.model import DIFFERENT, Comparison, Subject
from io_benchmark.analysis.report_model import AtPlace, PlaceRow, Places
from io_benchmark.number_text import NOTHING, agree, digits, interval, ratio, ratio_range
from io_benchmark.report.content.screen_lines import COMPARED
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.content.subject_text import unit_text
from io_benchmark.report.content.tables import INTERVAL_HEAD, ColumnHead, FiguresRow, FiguresTable
from io_benchmark.results import workloads
from io_benchmark.text import name

_SHORT_CELLS = 22
_THIS_MACHINE = "the interval holds for that worker alone, because others may differ"


class _PlacesTable(Struct, frozen=True):
    title: str
    means: FiguresTable  # a row per place; a row's note says what the place is
    first: str  # the place that the others are compared with
    ratios: FiguresTable  # to the first place
    notes: tuple[str, ...]  # what is missing, or was measured in another way


class PlacesPart(Struct, frozen=True):
    """Every destination of cache-retrieve; of another workload what differs most, if anything does."""

    tables: tuple[_PlacesTable, ...]
    further: tuple[_PlacesTable, ...]  # the other measurements
    alike: str  # workloads that differ nowhere, in one sentence
    assumptions: tuple[str, ...]  # behind the intervals

    @property
    def counted(self) -> str:
        count = len(self.further)
        if not count:
            return ""
        rest = "measurement is" if count == 1 else "measurements are"
        return f"{count:,} more {rest} in the HTML page and the JSON."

    @property
    def places(self) -> tuple[tuple[str, str], ...]:
        """What each place is, once."""
        rows = [row for table in self.tables for row in table.means.rows]
        return tuple(dict.fromkeys((row.label, row.note) for row in rows if row.note))

    @classmethod
    def of(cls, measured: Sequence[Places], margin_ratio: float, *, details: bool) -> Self | None:
        """Write what was measured in several places; with `details` each measurement has a table."""
        if not measured:
            return None
        shown = [each for each in measured if each.subject.workload not in workloads.IN_BATCHES]
        by_workload: dict[str, list[Places]] = {}
        for each in measured:
            if each.subject.workload in workloads.IN_BATCHES:
                by_workload.setdefault(each.subject.workload, []).append(each)
        alike = []
        for workload, same in by_workload.items():
            different = [each for each in same if _is_notable(each, margin_ratio)]
            if details:
                shown += same
            elif different:
                shown.append(max(different, key=_smallest_difference))
            else:
                alike.append(f"{workload} ({_range_text(same)})")
        return cls(
            tuple(map(_table, shown)),
            tuple(_table(each) for each in measured if each not in shown),
            f"No proven difference between places: {', '.join(alike)}." if alike else "",
            _assumptions([side for each in measured for row in each.rows for side in row.sides]),
        )


def _is_notable(places: Places, margin_ratio: float) -> bool:
    """Is a difference proven, between places or between pools, or is something missing?"""
    bounds = decisions.margin_bounds(margin_ratio)
    sides = [side for row in places.rows for side in row.sides]
    intervals = [side.interval for side in sides if side.interval is not None]
    return (
        any(each.excludes(1.0) and not each.within(*bounds) for each in intervals)
        or any(each.verdict in DIFFERENT for row in places.rows for each in row.comparisons)
        or any(side.missing or side.not_compared for side in sides)
    )


def _range_text(measured: Sequence[Places]) -> str:
    """Return '3 measurements, 0.99× to 1.01×'."""
    sides = [side for each in measured for row in each.rows for side in row.sides]
    ratios = [side.ratio for side in sides if side.ratio is not None]
    count = f"{len(measured):,} measurement{'s' if len(measured) > 1 else ''}"
    return ", ".join(filter(None, (count, ratio_range(ratios))))


def _smallest_difference(places: Places) -> float:
    """Return how far a ratio is from 1 at least, by its interval: the largest over the places."""
    intervals = [side.interval for row in places.rows for side in row.sides]
    return max(
        (
            min(abs(math.log(each.low_ratio)), abs(math.log(each.high_ratio)))
            for each in intervals
            if each is not None and each.excludes(1.0) and each.low_ratio > 0
        ),
        default=0.0,
    )


def _table(places: Places) -> _PlacesTable:
    sides = list(dict.fromkeys(side.side for row in places.rows for side in row.sides))
    pairs = list(
        dict.fromkeys(
            (each.candidate, each.baseline) for row in places.rows for each in row.comparisons
        )
    )
    pools = tuple(ColumnHead(side) for side in sides)
    ratios = tuple(ColumnHead(f"{candidate}/{baseline}") for candidate, baseline in pairs)
    # These names are short of width: the pools' columns stand next to them.
    short = {
        text: name(text, _SHORT_CELLS) for text in (*sides, *(row.place for row in places.rows))
    }
    shown = workloads.of(places.subject.workload).shown
    return _PlacesTable(
        title=_title(places.subject),
        means=FiguresTable(
            (*pools, *ratios),
            tuple(
                _means_row(row, sides, pairs, short, lambda mean: digits(shown(mean)))
                for row in places.rows
            ),
        ),
        first=places.rows[0].place,
        ratios=FiguresTable(
            pools, tuple(line for row in places.rows[1:] for line in _ratio_rows(row, sides, short))
        ),
        notes=(
            *_notes(places.rows, short),
            *_compared_means(places.rows, short, lambda mean: digits(shown(mean))),
        ),
    )


def _title(subject: Subject) -> str:
    parts = [subject.workload]
    parts += [f"destination {subject.destination}"] if subject.destination else []
    parts += [f"fidelity {subject.fidelity}"] if subject.fidelity else []
    parts += [subject.label] if subject.workload in workloads.IN_BATCHES else []
    return f"{', '.join(dict.fromkeys(parts))} {unit_text(subject.workload)}"


def _means_row(
    row: PlaceRow,
    sides: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    short: Mapping[str, str],
    mean_text: Callable[[float], str],
) -> FiguresRow:
    means = {side.side: side.mean_ns for side in row.sides}
    comparisons = {(each.candidate, each.baseline): each for each in row.comparisons}
    compared = [comparisons.get(pair) for pair in pairs]
    return FiguresRow(
        short[row.place],
        (
            *(
                NOTHING if mean is None else mean_text(mean)
                for mean in (means.get(side) for side in sides)
            ),
            *(
                NOTHING if each is None else f"{ratio(each.ratio)} {each.verdict}"
                for each in compared
            ),
        ),
        verdicts=(
            *("" for _ in sides),
            *("" if each is None else each.verdict.value for each in compared),
        ),
        note=_kind_of_place(row.sides, short),
    )


def _kind_of_place(sides: Sequence[AtPlace], short: Mapping[str, str]) -> str:
    """Return what a place is; per pool where pools differ."""
    pools: dict[str, list[str]] = {}
    for side in sides:
        if side.kind:
            pools.setdefault(side.kind, []).append(short[side.side])
    if len(pools) == 1:
        return next(iter(pools))
    return "; ".join(f"{kind} on {', '.join(names)}" for kind, names in pools.items())


def _ratio_rows(
    row: PlaceRow, sides: Sequence[str], short: Mapping[str, str]
) -> tuple[FiguresRow, FiguresRow]:
    by_side = {side.side: side for side in row.sides}
    present = [by_side.get(side) for side in sides]
    ratios = [None if side is None else side.ratio for side in present]
    intervals = [None if side is None else side.interval for side in present]
    return (
        FiguresRow(
            short[row.place],
            tuple(NOTHING if each is None else ratio(each) for each in ratios),
            strong=True,
        ),
        FiguresRow(
            INTERVAL_HEAD,
            tuple(
                NOTHING if each is None else interval(each.low_ratio, each.high_ratio)
                for each in intervals
            ),
        ),
    )


def _notes(rows: Iterable[PlaceRow], short: Mapping[str, str]) -> list[str]:
    pools: dict[tuple[str, str], list[str]] = {}
    for place, side in ((short[row.place], side) for row in rows for side in row.sides):
        texts = [text_of(each) for each in (side.missing, *side.differences) if each is not None]
        if side.not_compared is not None:
            texts.append(f"no ratio: {text_of(side.not_compared)}")
        for text in texts:
            pools.setdefault((place, text), []).append(short[side.side])
    return [f"{place}, {', '.join(names)}: {text}" for (place, text), names in pools.items()]


def _compared_means(
    rows: Sequence[PlaceRow], short: Mapping[str, str], mean_text: Callable[[float], str]
) -> Iterable[str]:
    """Write the means that a ratio is of, where the averages in the table give another one."""
    averages_ns = {(row.place, side.side): side.mean_ns for row in rows for side in row.sides}
    first = rows[0].place
    for row in rows:
        place = row.place
        compared: list[tuple[tuple[str, str], tuple[str, str], AtPlace | Comparison]] = [
            *(((place, each.side), (first, each.side), each) for each in row.sides),
            *(((place, each.candidate), (place, each.baseline), each) for each in row.comparisons),
        ]
        for here, there, each in compared:
            over, under = averages_ns.get(here), averages_ns.get(there)
            if not (over and under and each.ratio and each.means_ns):
                continue
            if not agree(over / under, each.ratio):
                means = (
                    f"{mean_text(mean_ns)} ({short[at]}, {short[side]})"
                    for (at, side), mean_ns in zip((here, there), each.means_ns, strict=True)
                )
                yield f"{COMPARED.lower()} of the ratio {ratio(each.ratio)}: {' and '.join(means)}"


def _assumptions(sides: Iterable[AtPlace]) -> tuple[str, ...]:
    """Write what the intervals assume; a pool is named once for each assumption."""
    pools: dict[str, dict[str, None]] = {}
    for side in sides:
        if side.interval is None:
            continue
        if side.method == estimates.WORKERS:
            text = (
                f"{side.workers:,} workers, each compared with itself; the interval follows from how "
                "much their ratios differ"
            )
        elif side.method == estimates.RUNS:
            text = f"one worker compared with itself in each of its runs; {_THIS_MACHINE}"
        else:
            text = f"one worker compared with itself, in blocks of its samples; {_THIS_MACHINE}"
        pools.setdefault(text, {})[name(side.side, _SHORT_CELLS)] = None
    return tuple(f"{', '.join(names)}: {text}" for text, names in pools.items())
