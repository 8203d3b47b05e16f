# SPDX-License-Identifier: MPL-2.0
"""A series over time: workers, points, levels and changes."""

import itertools
from datetime import UTC, datetime

from markupsafe import Markup

from io_benchmark.analysis.history.history_model import Change, HistorySeries
from io_benchmark.number_text import digits, ratio
from io_benchmark.report.content.subject_text import change_kind, mean_texts
from io_benchmark.report.plots.scales import Scale
from io_benchmark.report.plots.svg import Drawing, points
from io_benchmark.results import workloads

_HEIGHT = 260.0
# Above the plot, for the numbers of the changes.
_HEAD = 22.0
_LEVELS = 5
_DATES = 4
_DAY_S = 86_400
# The first one that gives few enough ticks.
_STEPS_DAYS = (1, 2, 7, 14, 28, 91, 182, 364, 728)
_POINT = "M-3.2 0A3.2 3.2 0 1 0 3.2 0A3.2 3.2 0 1 0 -3.2 0Z"


def draw(series: HistorySeries, identifier: str, title: str) -> Markup:
    clock = Scale.around(
        (point.time.timestamp() for point in series.points), logarithmic=False, room=0.02
    )
    workers = (worker.mean_ns for point in series.points for worker in point.workers)
    scale = Scale.of_means(series, workers)
    workload = workloads.of(series.subject.workload)
    drawing = Drawing(identifier, title, _description(series))
    levels = [(scale.place(tick), digits(tick)) for tick in scale.ticks(_LEVELS)]
    dates = _dates(clock)
    drawing.grid((place for place, _ in dates), levels, _HEAD, _HEIGHT)
    drawing.axis(dates, _HEAD + _HEIGHT)
    for number, change in enumerate(series.changes, start=1):
        _draw_change(drawing, series, change, number, clock)
    _draw_levels(drawing, series, clock, scale)
    _draw_workers(drawing, series, clock, scale)
    for point in series.points:
        place = clock.place(point.time.timestamp())
        drawing.mark(place, _height(workload.shown(point.mean_ns), scale), _POINT, "mean")
    return drawing.markup()


def _description(series: HistorySeries) -> str:
    """Return a text for screen readers."""
    means = mean_texts(series, [level.mean_ns for level in series.levels])
    return "; ".join(
        f"{mean} from {series.points[level.start].date} to {series.points[level.end - 1].date}"
        for mean, level in zip(means, series.levels, strict=True)
    )


def _height(value: float, scale: Scale) -> float:
    return _HEAD + (1 - scale.place(value)) * _HEIGHT


def _dates(clock: Scale) -> list[tuple[float, str]]:
    """Return a few ticks at whole days."""
    length_days = (clock.high - clock.low) / _DAY_S
    step = next((step for step in _STEPS_DAYS if length_days / step <= _DATES), _STEPS_DAYS[-1])
    first = -(-clock.low // _DAY_S)
    ticks = range(int(first), int(clock.high // _DAY_S) + 1, step)
    return [
        (clock.place(tick * _DAY_S), datetime.fromtimestamp(tick * _DAY_S, UTC).date().isoformat())
        for tick in ticks
    ]


def _draw_change(
    drawing: Drawing, series: HistorySeries, change: Change, number: int, clock: Scale
) -> None:
    """Draw a line between the last point before the change and the first one after."""
    kind = change_kind(change)
    sides = (series.points[change.at - 1], series.points[change.at])
    place = sum(clock.place(point.time.timestamp()) for point in sides) / 2
    drawing.line((place, _HEAD - 4), (place, _HEAD + _HEIGHT), f"change {kind}")
    label = f"{number}: {ratio(change.ratio)}"
    drawing.text(place, _HEAD - 8, label, f"verdict {kind}", _anchor(place))


def _anchor(place: float) -> str:
    """Keep a label near an edge inside the picture."""
    return "start" if place < 0.1 else "end" if place > 0.9 else "middle"


def _draw_levels(drawing: Drawing, series: HistorySeries, clock: Scale, scale: Scale) -> None:
    shown = workloads.of(series.subject.workload).shown
    if series.trend is not None:
        spots = [
            (clock.place(point.time.timestamp()), _height(shown(expected_ns), scale))
            for point, expected_ns in zip(series.points, series.expected_ns, strict=True)
        ]
        for before, after in itertools.pairwise(spots):
            drawing.line(before, after, "level")
        return
    for level in series.levels:
        start, end = (series.points[at].time.timestamp() for at in (level.start, level.end - 1))
        height = _height(shown(level.mean_ns), scale)
        drawing.line((clock.place(start), height), (clock.place(end), height), "level")


def _draw_workers(drawing: Drawing, series: HistorySeries, clock: Scale, scale: Scale) -> None:
    """Draw the workers of points that have several."""
    several = [point for point in series.points if len(point.workers) > 1]
    across = [clock.place(point.time.timestamp()) for point in several for _ in point.workers]
    shown = workloads.of(series.subject.workload).shown
    down = [
        (1 - scale.place(shown(worker.mean_ns))) * _HEIGHT
        for point in several
        for worker in point.workers
    ]
    drawing.frame(_HEAD, _HEIGHT, [points(across, down, "worker")])
