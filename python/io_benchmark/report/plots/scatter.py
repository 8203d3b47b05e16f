# SPDX-License-Identifier: MPL-2.0
"""Every retrieve when it happened: drift, stalls and regimes that no average shows."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from msgspec import Struct
from numpy.typing import NDArray

from io_benchmark.analysis.model import Integers
from io_benchmark.analysis.report_model import SampleSeries, SubjectReport
from io_benchmark.number_text import size
from io_benchmark.report.plots.choose import by_side, typical
from io_benchmark.report.plots.scales import Scale, axis_of
from io_benchmark.report.plots.svg import TITLE_HEIGHT, Drawing, points
from io_benchmark.results.workload import NS_PER_S
from io_benchmark.text import name

PANEL_HEIGHT = 118.0
PANEL_GAP = 12.0
_POINTS_IN_A_PANEL = 700
_CLASSES = 4
_TICKS = 6
LEVELS = 4
# Each class has a shape as well as a color: round, square, vertical, horizontal.
_STROKES = ("h0", "h0", "v5", "h5")


class _SizeClass(Struct, frozen=True):
    """Files up to a size; `kind` is the CSS class of its points and its swatch."""

    label: str
    kind: str
    stroke: str
    upper_bytes: int


# A symbol of the legend, by its stroke.
_SWATCHES = {"h0": "M0 0h0", "v5": "M0 -2.5v5", "h5": "M-2.5 0h5"}
_SWATCH = Markup(
    '<span class="swatch"><svg width="12" height="12" viewBox="-6 -6 12 12" aria-hidden="true">'
    '<path class="points {}" d="{}"/></svg>{}</span> '
)


def draw(
    part: SubjectReport, series: Sequence[SampleSeries], identifier: str, points_drawn: int
) -> Markup:
    """Draw a panel per side; below them is what the symbols mean, and which samples are not drawn."""
    sides, axis = by_side(series, part), axis_of(part.subject)
    # The points of all panels together, so that many pools do not make the page large.
    chosen = {side: typical(workers) for side, workers in sides.items()}
    classes = _size_classes([worker.file_size_bytes for worker in chosen.values()])
    most = min(_POINTS_IN_A_PANEL, points_drawn // len(chosen))
    values = {side: axis.values(worker.total_ns) for side, worker in chosen.items()}
    ends = [float(end) for times in values.values() for end in (np.min(times), np.max(times))]
    scale = Scale.around(ends, logarithmic=True, room=0.05)
    clock = Scale.from_zero(float(np.max(_since_start(worker))) for worker in chosen.values())
    drawing = Drawing(
        identifier,
        "Rate of each sample during the run"
        if axis.rate
        else "Time of each retrieve during the run",
        f"One worker per side: {', '.join(name(side) for side in chosen)}.",
    )
    ticks = clock.clock_ticks(_TICKS)
    levels = [(scale.place(tick), axis.tick(tick)) for tick in scale.ticks(LEVELS)]
    top, steps = 0.0, []
    for side, worker in chosen.items():
        drawing.name(top + 13, _panel_title(side, sides[side]))
        drawing.grid((place for place, _ in ticks), levels, top + TITLE_HEIGHT, PANEL_HEIGHT)
        kept, step = _thin(worker.total_ns, most)
        steps.append(step)
        down = (1 - scale.places(values[side][kept])) * PANEL_HEIGHT
        _draw_panel(drawing, worker, kept, down, classes, clock, top + TITLE_HEIGHT)
        top += TITLE_HEIGHT + PANEL_HEIGHT + PANEL_GAP
    bottom = top - PANEL_GAP
    drawing.axis(ticks, bottom)
    # Only retrieves have a size.
    noun = "retrieve" if classes[0].upper_bytes else "sample"
    symbols = (_SWATCH.format(each.kind, _SWATCHES[each.stroke], each.label) for each in classes)
    legend = Markup().join(symbols) if classes[0].upper_bytes else Markup()
    below = Markup('\n<p class="quiet">{}{}</p>').format(legend, _thinning_text(steps, noun))
    return drawing.markup() + below


def _size_classes(sizes_bytes: Sequence[Integers]) -> tuple[_SizeClass, ...]:
    """Return a class per size, the largest first, or classes with equal numbers of sizes."""
    distinct = np.unique(np.concatenate([np.asarray(sizes) for sizes in sizes_bytes]))
    if len(distinct) <= _CLASSES:
        uppers = distinct.tolist()
        labels = [size(upper) for upper in uppers]
    else:
        at = [round(part * (len(distinct) - 1) / _CLASSES) for part in range(1, _CLASSES + 1)]
        uppers = [int(distinct[index]) for index in at]
        labels = [f"up to {size(upper)}" for upper in uppers]
    pairs = list(zip(uppers, labels, strict=True))[::-1]
    return tuple(
        _SizeClass(label, f"size-{number}", _STROKES[number], upper)
        for number, (upper, label) in enumerate(pairs)
    )


def _panel_title(side: str, workers: Sequence[SampleSeries]) -> str:
    if len(workers) == 1:
        return name(side, 28)
    return f"{name(side, 24)}, typical of {len(workers):,} workers"


def _draw_panel(
    drawing: Drawing,
    worker: SampleSeries,
    kept: NDArray[np.int64],
    down: NDArray[np.float64],
    classes: Sequence[_SizeClass],
    clock: Scale,
    top: float,
) -> None:
    across = clock.places(_since_start(worker)[kept])
    uppers = np.array([each.upper_bytes for each in classes][::-1])
    number = len(classes) - 1 - np.searchsorted(uppers, np.asarray(worker.file_size_bytes)[kept])
    drawing.frame(
        top,
        PANEL_HEIGHT,
        [
            points(across[number == at], down[number == at], each.kind, each.stroke)
            for at, each in enumerate(classes)
        ],
    )


def _since_start(worker: SampleSeries) -> NDArray[np.float64]:
    starts_ns = np.asarray(worker.start_ns)
    since: NDArray[np.float64] = (starts_ns - starts_ns[0]) / NS_PER_S
    return since


def _thinning_text(steps: Sequence[int], noun: str) -> str:
    largest = max(steps)
    if largest == 1:
        return ""
    each = f"{largest}th" if largest > 3 else ("2nd", "3rd")[largest - 2]
    return f"Only every {each} {noun} and the slowest hundredth are drawn."


def _thin(values_ns: Integers, most: int) -> tuple[NDArray[np.int64], int]:
    """Return which samples to draw, and the step: every n-th, and the slowest 1 %."""
    count = len(values_ns)
    step = -(-count // most)
    if step <= 1:
        return np.arange(count), 1
    slowest = np.argsort(np.asarray(values_ns), kind="stable")[-max(count // 100, 1) :]
    return np.union1d(np.arange(0, count, step), slowest), step
