# SPDX-License-Identifier: MPL-2.0
"""A series drawn with characters: a column per point, levels behind, changes numbered."""

from io_benchmark.analysis.history.history_model import HistorySeries
from io_benchmark.number_text import digits
from io_benchmark.report.plots.scales import Scale
from io_benchmark.results import workloads

ROWS = 11
POINT, _LEVEL, CHANGE = "●", "─", "┊"
# Where there is room, levels are visible between the points.
_WIDEST_STEP = 3
_TICKS = 4


def draw(series: HistorySeries, width: int) -> list[str]:
    """Return lines of at most `width` characters."""
    scale = Scale.of_means(series, [point.mean_ns for point in series.points])
    workload = workloads.of(series.subject.workload)
    labels = {_row(tick, scale): digits(tick) for tick in scale.ticks(_TICKS)}
    gutter = max(len(label) for label in [*labels.values(), workload.unit]) + 2
    room = max(width - gutter, 10)
    columns = _columns(len(series.points), room)
    canvas = [[" "] * (columns[-1] + 2) for _ in range(ROWS)]
    means_ns = [level.mean_ns for level in series.levels for _ in range(level.start, level.end)]
    if series.trend is not None:
        means_ns = list(series.expected_ns)
    for number, mean_ns in enumerate(means_ns):
        row = canvas[_row(workload.shown(mean_ns), scale)]
        ends_level = any(level.end == number + 1 for level in series.levels)
        for at in range(
            columns[number], columns[number] + 1 if ends_level else columns[number + 1]
        ):
            row[at] = _LEVEL
    for change in series.changes:
        for row in canvas:
            at = columns[change.at] - 1
            row[at] = CHANGE if row[at] == " " else row[at]
    for point, at in zip(series.points, columns, strict=True):
        canvas[_row(workload.shown(point.mean_ns), scale)][at] = POINT
    lines = [
        f"{labels.get(number, ''):>{gutter - 1}}{'┤' if number in labels else '│'}" + "".join(row)
        for number, row in enumerate(canvas)
    ]
    numbers = {columns[change.at] - 1: str(at) for at, change in enumerate(series.changes, 1)}
    top = "".join(numbers.get(at, " ") for at in range(columns[-1] + 2))
    bottom = f"{' ' * (gutter - 1)}└{'─' * (columns[-1] + 2)}"
    dates = _dates(series, columns, room)
    drawn = [f"{workload.unit:>{gutter - 1}} {top}", *lines, bottom, f"{' ' * gutter}{dates}"]
    return [line.rstrip() for line in drawn]


def _row(value: float, scale: Scale) -> int:
    return round((1 - scale.place(value)) * (ROWS - 1))


def _columns(points: int, room: int) -> list[int]:
    """Return the column of each point; with more points than columns, some share one."""
    last = room - 2
    step = min(_WIDEST_STEP, last // points) if points > 1 else 1
    if step >= 1:
        return [1 + step * at for at in range(points)]
    return [1 + at * (last - 1) // (points - 1) for at in range(points)]


def _dates(series: HistorySeries, columns: list[int], room: int) -> str:
    """Write the first date, the last one and those of changes, where they do not overlap."""
    first, last = 0, len(series.points) - 1
    line = [" "] * max(room, 10)
    for at in dict.fromkeys([first, last, *(change.at for change in series.changes)]):
        date = series.points[at].date
        start = min(max(columns[at] - 1, 0), len(line) - len(date))
        around_it = line[max(start - 1, 0) : start + len(date) + 1]
        if all(character == " " for character in around_it):
            line[start : start + len(date)] = date
    return "".join(line)
