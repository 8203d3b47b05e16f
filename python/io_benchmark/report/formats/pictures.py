# SPDX-License-Identifier: MPL-2.0
"""The pictures: ratios with intervals, costs, distributions of samples, changes over time."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from statistics import fmean
from typing import TypeAlias

from markupsafe import Markup

from io_benchmark.analysis.history.history_model import HistorySeries, Point
from io_benchmark.analysis.model.comparison import Comparison
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.measurement import SubjectReport
from io_benchmark.analysis.model.report import SampleSeries
from io_benchmark.analysis.model.statements import MIB
from io_benchmark.analysis.prediction.prediction_model import WrittenOverTime
from io_benchmark.analysis.statistics.levels import margin_bounds
from io_benchmark.number_text import digits, duration_unit, number_of, ratio
from io_benchmark.report.content import ends_text, mean_texts
from io_benchmark.report.drawn import DrawnRatio
from io_benchmark.report.formats.drawing import SHAPES, WIDEST_RATIO, Drawing, Scale, Spot, Tick
from io_benchmark.results import workloads
from io_benchmark.results.parts import NS_PER_S, Workload
from io_benchmark.text import name

# Ratios: a row is a name above its interval.
_ROW_HEIGHT = 46
_WORKERS_DRAWN = 6
Ratio: TypeAlias = Comparison | DrawnRatio
_PANEL_HEIGHT, _LEGEND_HEIGHT, _GAP = 190.0, 19.0, 14.0
# Extreme samples would take most of the axis.
_PARTS = [0.002 + 0.996 * number / 80 for number in range(81)]
_LEVELS = ((0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %"))
# Histories: an axis has at least this on both sides of the newest level, so that noise looks small.
_STEADY_RATIO = 0.1
# Above the plot is room for the numbers of the changes.
_HEAD, _SERIES_HEIGHT = 22.0, 260.0
_DAY_S = 86_400
_DOT = "M-3.2 0A3.2 3.2 0 1 0 3.2 0A3.2 3.2 0 1 0 -3.2 0Z"


def forest(comparisons: Sequence[Comparison], names: Sequence[str], margin_ratio: float) -> Markup:
    """Draw a row per comparison: its name and verdict above its ratio and interval."""
    low, high = margin_bounds(margin_ratio)
    scale = Scale.around([*_visible_ends(comparisons), low, high, 0.9, 1.1], logarithmic=True)
    rows = [
        f"{title}: {ratio(comparison.ratio)}, {ends_text(comparison.interval)}, "
        f"{comparison.verdict}"
        for title, comparison in zip(names, comparisons, strict=True)
    ]
    drawing = Drawing(f"Ratios to the baseline with their intervals: {'; '.join(rows)}")
    bottom = float(_ROW_HEIGHT * len(comparisons) + 4)
    drawing.band(scale.place(low), scale.place(high), bottom, "margin")
    drawing.panel(0, bottom, scale.labels(5, "×"))
    drawing.line((scale.place(1), 0), (scale.place(1), bottom), "one")
    for number, (title, comparison) in enumerate(zip(names, comparisons, strict=True)):
        _ratio(drawing, title, comparison, scale, float(_ROW_HEIGHT * number))
    return drawing.markup()


def _visible_ends(ratios: Sequence[Ratio]) -> list[float]:
    return [
        end
        for row in ratios
        for end in (row.ratio, row.interval.low_ratio, row.interval.high_ratio)
        if 1 / WIDEST_RATIO <= end <= WIDEST_RATIO
    ]


def _ratio(drawing: Drawing, title: str, comparison: Comparison, scale: Scale, top: float) -> None:
    kind = comparison.verdict.value
    drawing.text((0, top + 16), title, "name")
    drawing.text((1, top + 16), f"{kind} {ratio(comparison.ratio)}", f"verdict {kind}")
    middle = top + 31
    outer, inner = (
        [scale.place(end) for end in (bounds.low_ratio, bounds.high_ratio)]
        for bounds in (comparison.interval, comparison.interval_90)
    )
    for (low, high), width in ((outer, "interval"), (inner, "interval inner")):
        drawing.line((low, middle), (high, middle), f"{width} {kind}")
    for place in outer:
        if 0 < place < 1:
            drawing.line((place, middle - 4), (place, middle + 4), f"interval {kind}")
    drawing.mark((scale.place(comparison.ratio), middle), SHAPES[comparison.verdict], kind)


def costs(rows: Mapping[str, tuple[Ratio, Ratio]]) -> Markup:
    """Draw a numbered dot per pool: its ratio of time to the right, that of cost upwards."""
    across, upwards = (
        Scale.around(
            [*_visible_ends([row[axis] for row in rows.values()]), 0.9, 1.1], logarithmic=True
        )
        for axis in (0, 1)
    )
    lines = [
        f"{number}: {name(pool, 40)}, {ratio(time.ratio)} the time, {ratio(cost.ratio)} the cost"
        for number, (pool, (time, cost)) in enumerate(rows.items(), start=1)
    ]
    drawing = Drawing(f"Cost against time: {'; '.join(lines)}")
    top = _legend(drawing, [(line, "") for line in lines])

    def spot(time_ratio: float, cost_ratio: float) -> Spot:
        return across.place(time_ratio), top + (1 - upwards.place(cost_ratio)) * _PANEL_HEIGHT

    drawing.panel(top, _PANEL_HEIGHT, across.labels(5, "×"), upwards.labels(5, "×"))
    drawing.line(spot(1, upwards.low), spot(1, upwards.high), "one")
    drawing.line(spot(across.low, 1), spot(across.high, 1), "one")
    for number, (time, cost) in enumerate(rows.values(), start=1):
        # A longer task costs more: both ends belong together.
        low = spot(time.interval.low_ratio, cost.interval.low_ratio)
        high = spot(time.interval.high_ratio, cost.interval.high_ratio)
        drawing.line(low, high, "interval")
        place, height = spot(time.ratio, cost.ratio)
        drawing.mark((place, height), _DOT, "mean")
        drawing.text((place + 0.01, height - 6), str(number), "name", "start")
    return drawing.markup()


def demand(written: WrittenOverTime) -> Markup:
    """Draw what a task wrote over time, and a line at the most that each pool's disks write."""
    means = [rate / MIB for rate in written.bytes_per_s]
    peaks = [rate / MIB for rate in written.peaks_bytes_per_s]
    ceilings = {pool: rate / MIB for pool, rate in written.ceilings_bytes_per_s.items()}
    pools = sorted(ceilings, key=lambda pool: (-ceilings[pool], pool))
    unit_s, unit = duration_unit(written.step_ns * len(means) / NS_PER_S)
    step = written.step_ns / NS_PER_S / unit_s
    clock = Scale(0.0, step * len(means))
    scale = Scale(0.0, max(*peaks, *ceilings.values()) / 0.94)
    kinds = {pool: f"average side-{number % 4}" for number, pool in enumerate(pools, 1)}
    window = f"most in {digits(written.window_ns / NS_PER_S)} s"
    legend = [
        (f"the task, {window}: up to {digits(max(peaks))} MiB/s", "curve"),
        (f"the task, average: {digits(fmean(means))} MiB/s", "level"),
        *((f"{name(pool, 40)}: {digits(ceilings[pool])} MiB/s", kinds[pool]) for pool in pools),
    ]
    drawing = Drawing(f"Bytes written over time: {'; '.join(line for line, _ in legend)}")
    top = _legend(drawing, legend)

    def height(rate: float) -> float:
        return (1 - scale.place(rate)) * _PANEL_HEIGHT

    for rates, kind in ((peaks, "curve"), (means, "level")):
        steps = [
            (clock.place(step * edge), height(rate))
            for number, rate in enumerate(rates)
            for edge in (number, number + 1)
        ]
        drawing.path(steps, kind)
    drawing.panel(top, _PANEL_HEIGHT, clock.labels(6, f" {unit}"), scale.labels(4))
    for pool, kind in kinds.items():
        middle = top + height(ceilings[pool])
        drawing.line((0, middle), (1, middle), kind)
    return drawing.markup()


def _legend(drawing: Drawing, lines: Sequence[tuple[str, str]]) -> float:
    """Write lines, each behind a stroke of its kind if it has one; return where they end."""
    for number, (line, kind) in enumerate(lines):
        middle = number * _LEGEND_HEIGHT + 9
        if kind:
            drawing.line((0, middle), (0.06, middle), kind)
        drawing.text((0.08 if kind else 0, middle + 4), line, anchor="start")
    return len(lines) * _LEGEND_HEIGHT + _GAP


def distribution(part: SubjectReport, series: Sequence[SampleSeries]) -> Markup:
    """Draw the share of samples up to a value, a line per worker."""
    workload = workloads.of(part.subject.workload)
    workers = grouped(series, lambda worker: worker.side)
    curves = {
        side: [_quantiles(worker, workload) for worker in _spread(same)]
        for side, same in workers.items()
    }
    ends = [values[end] for same in curves.values() for values in same for end in (0, -1)]
    scale = Scale.around(ends, logarithmic=True)
    means = {side: workload.shown(part.figures[side].mean_ns) for side in workers}
    labels = {}
    for side, mean in means.items():
        drawn, count = len(curves[side]), number_of(len(workers[side]), "worker")
        some = f"{drawn} of " if drawn < len(workers[side]) else ""
        labels[side] = f"{name(side, 24)}, {some}{count}, mean {digits(mean)} {workload.unit}"
    title = "Share of retrieves that took at most a given time"
    if workload.higher_is_better:
        title = "Share of samples with at most a given rate"
    drawing = Drawing(f"{title}: {'; '.join(labels.values())}")
    kinds = {side: f"side-{number}" for number, side in enumerate(labels)}
    top = _legend(drawing, [(labels[side], f"curve {kind}") for side, kind in kinds.items()])
    for side, kind in kinds.items():
        place = scale.place(means[side])
        drawing.line((place, top), (place, top + _PANEL_HEIGHT), f"average {kind}")
        for values in curves[side]:
            heights = ((1 - part) * _PANEL_HEIGHT for part in _PARTS)
            drawing.path([*zip(map(scale.place, values), heights, strict=True)], f"curve {kind}")
    drawing.panel(top, _PANEL_HEIGHT, scale.labels(6, f" {workload.unit}"), _LEVELS)
    return drawing.markup()


def _spread(workers: Sequence[SampleSeries]) -> list[SampleSeries]:
    """Return a few workers, evenly from the fastest to the slowest."""
    ordered = sorted(workers, key=lambda worker: (fmean(worker.total_ns), worker.worker))
    most = min(_WORKERS_DRAWN, len(ordered))
    return [
        ordered[round(number * (len(ordered) - 1) / max(most - 1, 1))] for number in range(most)
    ]


def _quantiles(worker: SampleSeries, workload: Workload) -> list[float]:
    values = sorted(workload.shown(max(total_ns, 1)) for total_ns in worker.total_ns)
    return [values[round(part * (len(values) - 1))] for part in _PARTS]


def history(series: HistorySeries, title: str) -> Markup:
    """Draw pushes as large dots, their workers as small ones, levels and numbered changes."""
    shown = workloads.of(series.subject.workload).shown
    clock = Scale.around(point.time.timestamp() for point in series.points)
    means = (shown(worker.mean_ns) for point in series.points for worker in point.workers)
    newest = shown(series.levels[-1].mean_ns)
    scale = Scale.around([*means, newest * (1 - _STEADY_RATIO), newest * (1 + _STEADY_RATIO)])
    texts = mean_texts(series.subject, [level.mean_ns for level in series.levels])
    levels = (
        f"{mean} from {series.points[level.start].date} to {series.points[level.end - 1].date}"
        for mean, level in zip(texts, series.levels, strict=True)
    )
    drawing = Drawing(f"{title}: {'; '.join(levels)}")

    def spot(point: Point, mean_ns: float, top: float = _HEAD) -> Spot:
        below_top = (1 - scale.place(shown(mean_ns))) * _SERIES_HEIGHT
        return clock.place(point.time.timestamp()), top + below_top

    several = (point for point in series.points if len(point.workers) > 1)
    workers = (spot(point, worker.mean_ns, 0) for point in several for worker in point.workers)
    drawing.points(workers, "worker")
    pairs = zip(series.points, series.expected_ns, strict=True)
    expected = [spot(point, mean_ns, 0) for point, mean_ns in pairs]
    for level in series.levels:
        drawing.path(expected[level.start : level.end], "level")
    grid = [(scale.place(value), digits(value)) for value in scale.ticks(5)]
    drawing.panel(_HEAD, _SERIES_HEIGHT, _dates(clock), grid)
    for number, change in enumerate(series.changes, start=1):
        # Between the last point before the change and the first one after
        place = sum(spot(series.points[change.at - step], 1)[0] for step in (0, 1)) / 2
        ends = (place, _HEAD - 4), (place, _HEAD + _SERIES_HEIGHT)
        drawing.line(*ends, f"change {change.verdict}")
        label = f"{number}: {ratio(change.ratio)}"
        drawing.text((place, _HEAD - 8), label, f"verdict {change.verdict}")
    for point in series.points:
        drawing.mark(spot(point, point.mean_ns), _DOT, "mean")
    return drawing.markup()


def _dates(clock: Scale) -> list[Tick]:
    days = Scale(clock.low / _DAY_S, clock.high / _DAY_S)
    return [
        (days.place(day), datetime.fromtimestamp(day * _DAY_S, UTC).date().isoformat())
        for day in days.ticks(4)
        if day == round(day)
    ]
