# SPDX-License-Identifier: MPL-2.0
"""A series over time: points, levels and numbered changes, as a picture and with characters."""

import itertools
from collections.abc import Iterable
from datetime import UTC, datetime

from markupsafe import Markup

from io_benchmark.analysis.history.history_model import HistorySeries, Point
from io_benchmark.number_text import digits, ratio
from io_benchmark.report.content.subject_text import change_kind, mean_texts
from io_benchmark.report.plots.drawing import Drawing, Scale, Spot, Tick, points
from io_benchmark.results import workloads

# An axis has at least this on both sides of the newest level, so that noise looks small.
_STEADY_RATIO = 0.1
# Above the plot is room for the numbers of the changes.
_HEAD, _HEIGHT = 22.0, 260.0
_DATES = 4
_DAY_S = 86_400
# The first one that gives few enough ticks.
_STEPS_DAYS = (1, 2, 7, 14, 28, 91, 182, 364, 728)
_DOT = "M-3.2 0A3.2 3.2 0 1 0 3.2 0A3.2 3.2 0 1 0 -3.2 0Z"
ROWS = 11
POINT, CHANGE = "●", "┊"
_LEVEL = "─"
# Where there is room, levels are visible between the points.
_WIDEST_STEP = 3


def picture(series: HistorySeries, title: str) -> Markup:
    """Draw pushes as large dots and their workers as small ones, on their levels."""
    shown = workloads.of(series.subject.workload).shown
    clock = Scale.around(map(_time_s, series.points))
    scale = _scale(series, (worker.mean_ns for point in series.points for worker in point.workers))
    drawing = Drawing(f"{title}: {_levels_text(series)}")

    def spot(point: Point, mean_ns: float, top: float = _HEAD) -> Spot:
        return clock.place(_time_s(point)), top + (1 - scale.place(shown(mean_ns))) * _HEIGHT

    several = [point for point in series.points if len(point.workers) > 1]
    workers = (spot(point, worker.mean_ns, 0) for point in several for worker in point.workers)
    dates = _dates(clock)
    levels = [(scale.place(value), digits(value)) for value in scale.ticks(5)]
    drawing.panel(_HEAD, _HEIGHT, dates, levels, [points(workers, "worker")])
    drawing.axis(dates, _HEAD + _HEIGHT)
    for number, change in enumerate(series.changes, start=1):
        kind = f"change {change_kind(change)}"
        # Between the last point before the change and the first one after
        place = sum(spot(series.points[change.at - step], 1)[0] for step in (0, 1)) / 2
        drawing.line((place, _HEAD - 4), (place, _HEAD + _HEIGHT), kind)
        label = f"{number}: {ratio(change.ratio)}"
        drawing.text((place, _HEAD - 8), label, f"verdict {change_kind(change)}")
    for level in series.levels:
        first, last = series.points[level.start], series.points[level.end - 1]
        if series.trend is None:
            drawing.line(spot(first, level.mean_ns), spot(last, level.mean_ns), "level")
    if series.trend is not None:
        for start, end in itertools.pairwise(map(spot, series.points, series.expected_ns)):
            drawing.line(start, end, "level")
    for point in series.points:
        drawing.mark(spot(point, point.mean_ns), _DOT, "mean")
    return drawing.markup()


def _time_s(point: Point) -> float:
    return point.time.timestamp()


def _scale(series: HistorySeries, means_ns: Iterable[float]) -> Scale:
    """Return a scale of means that is never narrow."""
    shown = workloads.of(series.subject.workload).shown
    newest = shown(series.levels[-1].mean_ns)
    steady = (newest * (1 - _STEADY_RATIO), newest * (1 + _STEADY_RATIO))
    return Scale.around([*map(shown, means_ns), *steady])


def _levels_text(series: HistorySeries) -> str:
    means = mean_texts(series, [level.mean_ns for level in series.levels])
    return "; ".join(
        f"{mean} from {series.points[level.start].date} to {series.points[level.end - 1].date}"
        for mean, level in zip(means, series.levels, strict=True)
    )


def _dates(clock: Scale) -> list[Tick]:
    """Return a few ticks at whole days."""
    length_days = (clock.high - clock.low) / _DAY_S
    step = next((step for step in _STEPS_DAYS if length_days / step <= _DATES), _STEPS_DAYS[-1])
    first = -(-clock.low // _DAY_S)
    return [
        (clock.place(day * _DAY_S), datetime.fromtimestamp(day * _DAY_S, UTC).date().isoformat())
        for day in range(int(first), int(clock.high // _DAY_S) + 1, step)
    ]


def characters(series: HistorySeries, width: int) -> list[str]:
    """Return lines of at most `width` characters: a column per point, levels behind."""
    scale = _scale(series, [point.mean_ns for point in series.points])
    workload = workloads.of(series.subject.workload)

    def row_of(value: float) -> int:
        return round((1 - scale.place(value)) * (ROWS - 1))

    labels = {row_of(value): digits(value) for value in scale.ticks(4)}
    gutter = max(len(label) for label in [*labels.values(), workload.unit]) + 2
    room = max(width - gutter, 10)
    columns = _columns(len(series.points), room)
    canvas = [[" "] * (columns[-1] + 2) for _ in range(ROWS)]
    means_ns = [level.mean_ns for level in series.levels for _ in range(level.start, level.end)]
    if series.trend is not None:
        means_ns = list(series.expected_ns)
    ends = {level.end - 1 for level in series.levels}
    for number, mean_ns in enumerate(means_ns):
        start = columns[number]
        stop = start + 1 if number in ends else columns[number + 1]
        canvas[row_of(workload.shown(mean_ns))][start:stop] = _LEVEL * (stop - start)
    numbers = [" "] * (columns[-1] + 2)
    for number, change in enumerate(series.changes, 1):
        column = columns[change.at] - 1
        numbers[column : column + len(str(number))] = str(number)
        for row in canvas:
            row[column] = CHANGE if row[column] == " " else row[column]
    for point, column in zip(series.points, columns, strict=True):
        canvas[row_of(workload.shown(point.mean_ns))][column] = POINT
    lines = [
        f"{workload.unit:>{gutter - 1}} {''.join(numbers)}",
        *(
            f"{labels.get(number, ''):>{gutter - 1}}{'┤' if number in labels else '│'}{''.join(row)}"
            for number, row in enumerate(canvas)
        ),
        f"{' ' * (gutter - 1)}└{'─' * (columns[-1] + 2)}",
        f"{' ' * gutter}{_dates_line(series, columns, room)}",
    ]
    return [line.rstrip() for line in lines]


def _columns(count: int, room: int) -> list[int]:
    """Return the column of each point; with more points than columns, some share one."""
    last = room - 2
    step = min(_WIDEST_STEP, last // count) if count > 1 else 1
    if step >= 1:
        return [1 + step * number for number in range(count)]
    return [1 + number * (last - 1) // (count - 1) for number in range(count)]


def _dates_line(series: HistorySeries, columns: list[int], room: int) -> str:
    """Write the first date, the last one and those of changes, where they do not overlap."""
    line = " " * room
    for number in [0, len(columns) - 1, *(change.at for change in series.changes)]:
        date = series.points[number].date
        start = min(max(columns[number] - 1, 0), room - len(date))
        end = start + len(date)
        if not line[max(start - 1, 0) : end + 1].strip():
            line = line[:start] + date + line[end:]
    return line
