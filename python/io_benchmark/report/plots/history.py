# SPDX-License-Identifier: MPL-2.0
"""A series over time: workers, points, levels and numbered changes."""

import itertools
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


def picture(series: HistorySeries, title: str) -> Markup:
    """Draw pushes as large dots and their workers as small ones, on their levels."""
    shown = workloads.of(series.subject.workload).shown
    clock = Scale.around(point.time.timestamp() for point in series.points)
    workers_ns = (worker.mean_ns for point in series.points for worker in point.workers)
    newest = shown(series.levels[-1].mean_ns)
    steady = (newest * (1 - _STEADY_RATIO), newest * (1 + _STEADY_RATIO))
    scale = Scale.around([*map(shown, workers_ns), *steady])
    means = mean_texts(series, [level.mean_ns for level in series.levels])
    levels = (
        f"{mean} from {series.points[level.start].date} to {series.points[level.end - 1].date}"
        for mean, level in zip(means, series.levels, strict=True)
    )
    drawing = Drawing(f"{title}: {'; '.join(levels)}")

    def spot(point: Point, mean_ns: float, top: float = _HEAD) -> Spot:
        return clock.place(point.time.timestamp()), top + (
            1 - scale.place(shown(mean_ns))
        ) * _HEIGHT

    several = [point for point in series.points if len(point.workers) > 1]
    workers = (spot(point, worker.mean_ns, 0) for point in several for worker in point.workers)
    dates = _dates(clock)
    grid = [(scale.place(value), digits(value)) for value in scale.ticks(5)]
    drawing.panel(_HEAD, _HEIGHT, dates, grid, [points(workers, "worker")])
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


def _dates(clock: Scale) -> list[Tick]:
    """Return a few ticks at whole days."""
    length_days = (clock.high - clock.low) / _DAY_S
    step = next((step for step in _STEPS_DAYS if length_days / step <= _DATES), _STEPS_DAYS[-1])
    first = -(-clock.low // _DAY_S)
    return [
        (clock.place(day * _DAY_S), datetime.fromtimestamp(day * _DAY_S, UTC).date().isoformat())
        for day in range(int(first), int(clock.high // _DAY_S) + 1, step)
    ]
