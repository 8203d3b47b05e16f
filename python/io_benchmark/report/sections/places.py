# SPDX-License-Identifier: MPL-2.0
"""Storage configurations compared: a row per place, a column per pool, and the ratios between them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from io_benchmark.analysis.inference import decisions, estimates
from io_benchmark.analysis.model import DIFFERENT, Comparison, Subject
from io_benchmark.analysis.report_model import AtPlace, PlaceRow, Places, Report
from io_benchmark.number_text import NOTHING, agree, digits, ratio
from io_benchmark.report.blocks import (
    Block,
    Fold,
    Heading,
    Items,
    Line,
    Row,
    Table,
    Words,
)
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.content.subject_text import unit_text
from io_benchmark.report.content.verdict_text import ends_text
from io_benchmark.report.sections.figures import COMPARED, INTERVAL_HEAD
from io_benchmark.results import workloads
from io_benchmark.text import name

_SHORT_CELLS = 22
_THIS_MACHINE = "the interval holds for that worker alone, because others may differ"


def places(report: Report) -> Iterator[Block]:
    """Write every destination of cache-retrieve, and of other workloads what differs or is missing."""
    if not report.places:
        return
    shown = [measured for measured in report.places if _is_notable(measured, report.margin_ratio)]
    yield Heading("Places")
    kinds = {
        _short(row.place): _kind_of_place(row.sides)
        for measured in report.places
        for row in measured.rows
    }
    lines = [f"{place}: {kind}" for place, kind in kinds.items() if kind]
    if lines:
        yield Items.of(lines)
    for measured in shown:
        yield from _tables(measured)
    further = [measured for measured in report.places if measured not in shown]
    if further:
        count = f"{len(further):,} measurement" + ("" if len(further) == 1 else "s")
        blocks = tuple(block for measured in further for block in _tables(measured))
        yield Fold(f"No proven difference between places in {count}", blocks)
    sides = [side for measured in report.places for row in measured.rows for side in row.sides]
    assumptions = list(_assumptions(sides))
    if assumptions:
        yield Items.of(assumptions, "Assumptions behind the intervals")


def _is_notable(measured: Places, margin_ratio: float) -> bool:
    """Is it of cache-retrieve, is a difference proven, or is something missing?"""
    if measured.subject.workload not in workloads.IN_BATCHES:
        return True
    bounds = decisions.margin_bounds(margin_ratio)
    sides = [side for row in measured.rows for side in row.sides]
    intervals = [side.interval for side in sides if side.interval is not None]
    return (
        any(bound.excludes(1.0) and not bound.within(*bounds) for bound in intervals)
        or any(each.verdict in DIFFERENT for row in measured.rows for each in row.comparisons)
        or any(side.missing or side.not_compared for side in sides)
    )


def _tables(measured: Places) -> Iterator[Block]:
    """Write the means at each place, the ratios to the first place, and what is missing."""
    sides = list(dict.fromkeys(side.side for row in measured.rows for side in row.sides))
    pairs = list(
        dict.fromkeys(
            (each.candidate, each.baseline) for row in measured.rows for each in row.comparisons
        )
    )
    heads = (*sides, *(f"{candidate}/{baseline}" for candidate, baseline in pairs))
    shown = workloads.of(measured.subject.workload).shown

    def mean_text(mean: float) -> str:
        return digits(shown(mean))

    rows = tuple(_means(row, sides, pairs, mean_text) for row in measured.rows)
    yield Table("Place", heads, rows, _title(measured.subject), turned_corner="Pool")
    title = f"Ratio of times to {measured.rows[0].place}, each worker compared with itself"
    ratios = tuple(line for row in measured.rows[1:] for line in _ratios(row, sides))
    yield Table("Place", tuple(sides), ratios, title, turned_corner="Pool")
    notes = [*_notes(measured.rows), *_compared_means(measured.rows, mean_text)]
    if notes:
        yield Items.of(notes)


def _title(subject: Subject) -> str:
    parts = [subject.workload]
    parts += [f"destination {subject.destination}"] if subject.destination else []
    parts += [f"fidelity {subject.fidelity}"] if subject.fidelity else []
    parts += [subject.label] if subject.workload in workloads.IN_BATCHES else []
    return f"{', '.join(dict.fromkeys(parts))} {unit_text(subject.workload)}"


def _short(text: str) -> str:
    """Shorten a name: the pools' columns stand next to it."""
    return name(text, _SHORT_CELLS)


def _means(
    row: PlaceRow,
    sides: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    mean_text: Callable[[float], str],
) -> Row:
    means = {side.side: side.mean_ns for side in row.sides}
    comparisons = {(each.candidate, each.baseline): each for each in row.comparisons}
    cells: list[Line] = []
    for side in sides:
        mean = means.get(side)
        cells.append(NOTHING if mean is None else mean_text(mean))
    for pair in pairs:
        comparison = comparisons.get(pair)
        if comparison is None:
            cells.append(NOTHING)
        else:
            text = f"{ratio(comparison.ratio)} {comparison.verdict}"
            cells.append(Words(text, comparison.verdict))
    return Row(_short(row.place), tuple(cells))


def _kind_of_place(sides: Sequence[AtPlace]) -> str:
    """Return what a place is; per pool where pools differ."""
    pools: dict[str, list[str]] = {}
    for side in sides:
        if side.kind:
            pools.setdefault(side.kind, []).append(_short(side.side))
    if len(pools) == 1:
        return next(iter(pools))
    return "; ".join(f"{kind} on {', '.join(names)}" for kind, names in pools.items())


def _ratios(row: PlaceRow, sides: Sequence[str]) -> Iterator[Row]:
    by_side: Mapping[str, AtPlace] = {side.side: side for side in row.sides}
    ratios, intervals = [], []
    for side in map(by_side.get, sides):
        ratios.append(NOTHING if side is None or side.ratio is None else ratio(side.ratio))
        interval = None if side is None else side.interval
        intervals.append(NOTHING if interval is None else ends_text(interval))
    yield Row(_short(row.place), tuple(ratios), is_strong=True)
    yield Row(INTERVAL_HEAD, tuple(intervals))


def _notes(rows: Iterable[PlaceRow]) -> Iterator[str]:
    pools: dict[tuple[str, str], list[str]] = {}
    for place, side in ((_short(row.place), side) for row in rows for side in row.sides):
        texts = [text_of(each) for each in (side.missing, *side.differences) if each is not None]
        if side.not_compared is not None:
            texts.append(f"no ratio: {text_of(side.not_compared)}")
        for text in texts:
            pools.setdefault((place, text), []).append(_short(side.side))
    return (f"{place}, {', '.join(names)}: {text}" for (place, text), names in pools.items())


def _compared_means(rows: Sequence[PlaceRow], mean_text: Callable[[float], str]) -> Iterator[str]:
    """Write the means that a ratio is of, where the averages in the table give another one."""
    averages_ns = {(row.place, side.side): side.mean_ns for row in rows for side in row.sides}
    first = rows[0].place
    for row in rows:
        place = row.place
        ratios: list[tuple[tuple[str, str], tuple[str, str], AtPlace | Comparison]] = [
            *(((place, side.side), (first, side.side), side) for side in row.sides),
            *(((place, pair.candidate), (place, pair.baseline), pair) for pair in row.comparisons),
        ]
        for here, there, compared in ratios:
            over, under = averages_ns.get(here), averages_ns.get(there)
            if not (over and under and compared.ratio and compared.means_ns):
                continue
            if not agree(over / under, compared.ratio):
                means = (
                    f"{mean_text(mean_ns)} ({_short(place)}, {_short(side)})"
                    for (place, side), mean_ns in zip((here, there), compared.means_ns, strict=True)
                )
                yield f"{COMPARED.lower()} of the ratio {ratio(compared.ratio)}: {' and '.join(means)}"


def _assumptions(sides: Iterable[AtPlace]) -> Iterator[str]:
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
        pools.setdefault(text, {})[_short(side.side)] = None
    return (f"{', '.join(names)}: {text}" for text, names in pools.items())
