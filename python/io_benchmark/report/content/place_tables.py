# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Storage configurations side by side: a row a place, a column a pool, and the ratios between them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from io_benchmark.analysis import workloads
from io_benchmark.analysis.inference import estimates
from io_benchmark.analysis.model import Comparison, Subject
from io_benchmark.analysis.report_model import AtPlace, PlaceRow, Places, Report
from io_benchmark.report.content.answers import DIFFERENT, LEVEL
from io_benchmark.report.content.figures_table import FiguresTable, Head, Row
from io_benchmark.report.content.measures import label, unit
from io_benchmark.report.content.units import NOTHING, digits, interval, percent, ratio
from io_benchmark.text import clean, name

# Names of places and sides in notes.
NOTE_NAME = 22


@dataclass(frozen=True)
class PlacesTable:
    title: str
    means: FiguresTable  # a row a place; its notes say what the place is
    first: str  # what the others are held against
    held: FiguresTable  # the ratios to it
    notes: tuple[str, ...]  # what is missing, or was not done alike


@dataclass(frozen=True)
class PlacesPart:
    """Every destination of cache-retrieve; of another workload what differs most, if anything does."""

    tables: tuple[PlacesTable, ...]
    further: tuple[PlacesTable, ...]  # the other measurements
    alike: str  # workloads that differ nowhere, in one sentence
    basis: tuple[str, ...]  # what the intervals rest on

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


def part(report: Report, *, details: bool = False) -> PlacesPart | None:
    """With `details` every measurement has its table."""
    if not report.places:
        return None
    shown = [one for one in report.places if one.subject.workload not in workloads.IN_BATCHES]
    by_workload: dict[str, list[Places]] = {}
    for one in report.places:
        if one not in shown:
            by_workload.setdefault(one.subject.workload, []).append(one)
    alike = []
    for workload, together in by_workload.items():
        if details:
            shown += together
            continue
        telling = [one for one in together if _tells(one, report.margin_ratio)]
        if telling:
            shown.append(max(telling, key=_differs))
        else:
            alike.append(f"{name(workload)} ({_range(together)})")
    return PlacesPart(
        tuple(map(_table, shown)),
        tuple(_table(one) for one in report.places if one not in shown),
        f"Not decided to differ between places: {', '.join(alike)}." if alike else "",
        _basis([side for one in report.places for row in one.rows for side in row.sides]),
    )


def _tells(places: Places, margin_ratio: float) -> bool:
    """Is a difference decided, between places or between pools, or is something missing?"""
    bounds = estimates.margin_bounds(margin_ratio)
    sides = [side for row in places.rows for side in row.sides]
    intervals = [side.interval for side in sides if side.interval is not None]
    return (
        any(one.excludes(1.0) and not one.within(*bounds) for one in intervals)
        or any(one.verdict in DIFFERENT for row in places.rows for one in row.comparisons)
        or any(side.missing or side.not_held for side in sides)
    )


def _range(together: Sequence[Places]) -> str:
    """'3 measurements, 0.99× to 1.01×'."""
    ratios = [
        side.ratio
        for places in together
        for row in places.rows
        for side in row.sides
        if side.ratio is not None
    ]
    count = f"{len(together):,} measurement{'s' if len(together) > 1 else ''}"
    ends = dict.fromkeys((ratio(min(ratios)), ratio(max(ratios)))) if ratios else ()
    return ", ".join([count, *([" to ".join(ends)] if ends else [])])


def _differs(places: Places) -> float:
    """How far a ratio is from 1 at least, by its interval: the largest of them."""
    intervals = [side.interval for row in places.rows for side in row.sides]
    return max(
        (
            min(abs(math.log(one.low_ratio)), abs(math.log(one.high_ratio)))
            for one in intervals
            if one is not None and one.excludes(1.0) and one.low_ratio > 0
        ),
        default=0.0,
    )


def _table(places: Places) -> PlacesTable:
    sides = list(dict.fromkeys(one.side for row in places.rows for one in row.sides))
    pairs = list(
        dict.fromkeys(
            (one.candidate, one.baseline) for row in places.rows for one in row.comparisons
        )
    )
    pools = tuple(Head(name(side), "", ()) for side in sides)
    against = tuple(Head(f"{name(one)}/{name(other)}", "", ()) for one, other in pairs)
    return PlacesTable(
        title=_title(places.subject),
        means=FiguresTable(
            (*pools, *against),
            tuple(_means(places.subject, row, sides, pairs) for row in places.rows),
        ),
        first=name(places.rows[0].place),
        held=FiguresTable(
            pools, tuple(line for row in places.rows[1:] for line in _held(row, sides))
        ),
        notes=tuple(_notes(places.rows)),
    )


def _title(subject: Subject) -> str:
    parts = [name(subject.workload)]
    parts += [f"destination {name(subject.destination)}"] if subject.destination else []
    parts += [f"fidelity {name(subject.fidelity)}"] if subject.fidelity else []
    parts += [label(subject)] if subject.workload in workloads.IN_BATCHES else []
    return f"{', '.join(dict.fromkeys(parts))} {unit(subject.workload)}"


def _means(
    subject: Subject, row: PlaceRow, sides: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> Row:
    by_side = {one.side: one for one in row.sides}
    by_pair = {(one.candidate, one.baseline): one for one in row.comparisons}
    shown = workloads.of(subject.workload).shown
    means = [by_side[side].mean_ns if side in by_side else None for side in sides]
    compared = [by_pair.get(pair) for pair in pairs]
    return Row(
        name(row.place, NOTE_NAME),
        (
            *(NOTHING if mean is None else digits(shown(mean)) for mean in means),
            *map(_compared, compared),
        ),
        verdicts=(
            *("" for _ in means),
            *("" if one is None else one.verdict.value for one in compared),
        ),
        note=_what(row.sides),
    )


def _compared(comparison: Comparison | None) -> str:
    if comparison is None:
        return NOTHING
    return f"{ratio(comparison.ratio)} {comparison.verdict}"


def _what(sides: Sequence[AtPlace]) -> str:
    """What a place is; by pool where pools differ."""
    found: dict[str, list[str]] = {}
    for one in sides:
        if one.what:
            found.setdefault(clean(one.what, 120), []).append(name(one.side, NOTE_NAME))
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(f"{what} on {', '.join(who)}" for what, who in found.items())


def _held(row: PlaceRow, sides: Sequence[str]) -> list[Row]:
    by_side = {one.side: one for one in row.sides}
    found = [by_side.get(side) for side in sides]
    ratios = [None if one is None else one.ratio for one in found]
    intervals = [None if one is None else one.interval for one in found]
    return [
        Row(
            name(row.place, NOTE_NAME),
            tuple(NOTHING if one is None else ratio(one) for one in ratios),
            strong=True,
        ),
        Row(
            f"{percent(LEVEL)} interval",
            tuple(
                NOTHING if one is None else interval(one.low_ratio, one.high_ratio)
                for one in intervals
            ),
        ),
    ]


def _notes(rows: Iterable[PlaceRow]) -> list[str]:
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for one in row.sides:
            words = [one.missing, one.not_held and f"no ratio: {one.not_held}", *one.differs]
            for said in filter(None, words):
                found.setdefault((row.place, said), []).append(name(one.side, NOTE_NAME))
    return [
        f"{name(place, NOTE_NAME)}, {', '.join(who)}: {clean(said)}"
        for (place, said), who in found.items()
    ]


def _basis(sides: Iterable[AtPlace]) -> tuple[str, ...]:
    """Who rests on what; a pool is named once for each."""
    found: dict[str, dict[str, None]] = {}
    for one in sides:
        if one.interval is None:
            continue
        if one.method == estimates.WORKERS:
            words = (
                f"{one.workers:,} workers, each held against itself, by how far their ratios differ"
            )
        elif one.method == estimates.RUNS:
            words = (
                "one worker held against itself in each of its runs; the interval is that machine's, "
                "and nothing is assumed of how others differ"
            )
        else:
            words = (
                "one worker held against itself, in blocks of its samples; the interval is that "
                "machine's, and nothing is assumed of how others differ"
            )
        found.setdefault(words, {})[name(one.side, NOTE_NAME)] = None
    return tuple(f"{', '.join(who)}: {words}" for words, who in found.items())
