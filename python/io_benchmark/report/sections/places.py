# SPDX-License-Identifier: MPL-2.0
"""Storage configurations compared: a row per place, a column per pool, and their ratios."""

from collections.abc import Iterator, Sequence

from io_benchmark.analysis.model.comparison import DIFFERENT
from io_benchmark.analysis.model.report import PlaceRow, Places, Report
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.statistics.levels import margin_bounds
from io_benchmark.number_text import NOTHING, digits, number_of, ratio
from io_benchmark.report import blocks
from io_benchmark.report.content import ends_text, sharing, text_of, unit_text
from io_benchmark.report.sections.measurements import INTERVAL_HEAD
from io_benchmark.results import workloads
from io_benchmark.text import name


def places(report: Report) -> Iterator[blocks.Block]:
    """Write all destinations of cache-retrieve, and of other workloads what differs or lacks."""
    if not report.places:
        return
    yield blocks.Heading("Places")
    kinds = {}
    for row in (row for measured in report.places for row in measured.rows):
        shared = [*sharing((_short(side.side), side.kind) for side in row.sides if side.kind)]
        pools = "; ".join(f"{kind} on {names}" for names, kind in shared)
        kinds[_short(row.place)] = shared[0][1] if len(shared) == 1 else pools
    yield blocks.Items.of(f"{place}: {kind}" for place, kind in kinds.items() if kind)
    notable = [measured for measured in report.places if _is_notable(measured, report.margin_ratio)]
    for measured in notable:
        yield from _tables(measured)
    further = [measured for measured in report.places if measured not in notable]
    if further:
        summary = f"No proven difference between places in {number_of(len(further), 'measurement')}"
        yield blocks.Fold(summary, [block for measured in further for block in _tables(measured)])


def _is_notable(measured: Places, margin_ratio: float) -> bool:
    """Is it of cache-retrieve, is a difference proven, or is something missing?"""
    bounds = margin_bounds(margin_ratio)
    sides = [side for row in measured.rows for side in row.sides]
    intervals = (side.interval for side in sides if side.interval is not None)
    return (
        measured.subject.workload not in workloads.IN_BATCHES
        or any(interval.excludes(1.0) and not interval.within(*bounds) for interval in intervals)
        or any(pair.verdict in DIFFERENT for row in measured.rows for pair in row.comparisons)
        or any(side.missing or side.not_compared for side in sides)
    )


def _tables(measured: Places) -> Iterator[blocks.Block]:
    sides = list(dict.fromkeys(side.side for row in measured.rows for side in row.sides))
    pairs = dict.fromkeys(
        (pair.candidate, pair.baseline) for row in measured.rows for pair in row.comparisons
    )
    workload = workloads.of(measured.subject.workload)
    means: list[blocks.Row] = []
    for row in measured.rows:
        cells: dict[object, blocks.Line] = {
            side.side: digits(workload.shown(side.mean_ns))
            for side in row.sides
            if side.mean_ns is not None
        }
        cells |= {
            (pair.candidate, pair.baseline): blocks.Words(
                f"{ratio(pair.ratio)}, {pair.verdict}", pair.verdict
            )
            for pair in row.comparisons
        }
        columns = [cells.get(key, NOTHING) for key in (*sides, *pairs)]
        means.append(blocks.Row(_short(row.place), columns))
    heads = (*sides, *(f"{candidate}/{baseline}" for candidate, baseline in pairs))
    title = f"{_name(measured.subject)} {unit_text(measured.subject.workload)}"
    yield blocks.Table("Place", heads, means, title, turned_corner="Pool")
    title = f"Ratio of times to {measured.rows[0].place}, each worker compared with itself"
    if not all(side.in_turns for row in measured.rows for side in row.sides):
        title += (
            "; one place was measured after the other: what slowed a machine meanwhile is in the "
            "ratios"
        )
    # At the first place there is nothing to compare with.
    ratios = [line for row in measured.rows[1:] for line in _ratios(row, sides)]
    yield blocks.Table("Place", sides, ratios, title, turned_corner="Pool")
    yield blocks.Items.of(_notes(measured.rows))


def _name(subject: Subject) -> str:
    workload, _place, *variant = subject.parts
    return ", ".join((workload, *variant))


def _short(place: str) -> str:
    """Shorten a name: the pools' columns are next to it."""
    return name(place, 22)


def _ratios(row: PlaceRow, sides: Sequence[str]) -> Iterator[blocks.Row]:
    by_side = {side.side: side for side in row.sides}
    places = [by_side.get(side) for side in sides]
    ratios = [ratio(side.ratio) if side and side.ratio is not None else NOTHING for side in places]
    intervals = [ends_text(side.interval) if side and side.interval else NOTHING for side in places]
    strong = blocks.Row(_short(row.place), ratios, is_strong=True)
    yield from (strong, blocks.Row(INTERVAL_HEAD, intervals))


def _notes(rows: Sequence[PlaceRow]) -> Iterator[str]:
    pairs = []
    for place, side in ((_short(row.place), side) for row in rows for side in row.sides):
        notes = [text_of(note) for note in (side.missing, *side.differences) if note is not None]
        if side.not_compared is not None:
            notes.append(f"no ratio: {text_of(side.not_compared)}")
        pairs += [(_short(side.side), (place, note)) for note in notes]
    return (f"{place}, {names}: {note}" for names, (place, note) in sharing(pairs))
