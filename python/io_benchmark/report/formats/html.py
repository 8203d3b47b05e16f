# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Comparisons and histories as one HTML page that loads nothing: no scripts, fonts or network."""

from collections.abc import Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.history.history_model import History
from io_benchmark.analysis.inference.levels import EQUIVALENCE_LEVEL
from io_benchmark.analysis.model import Comparison
from io_benchmark.analysis.report_model import Report, SampledReport, SubjectReport
from io_benchmark.number_text import percent
from io_benchmark.report.content import document as contents
from io_benchmark.report.content import history_content
from io_benchmark.report.content.divisions import DivisionsPart
from io_benchmark.report.content.report_sections import Section
from io_benchmark.report.content.trial_rows import TRIAL_HEADS
from io_benchmark.report.content.worker_rows import REPLICATION_HEADS
from io_benchmark.report.formats import PLAIN, Layout
from io_benchmark.report.plots import (
    choose,
    distribution,
    forest,
    history_plot,
    scatter,
    timeline,
    waterfall,
)
from io_benchmark.report.plots.scales import TIMES, Axis
from io_benchmark.report.plots.scatter import Scatter
from io_benchmark.results import workloads
from io_benchmark.text import name

_REPORT_TEMPLATE, _HISTORY_TEMPLATE = "report.html.jinja", "history.html.jinja"
_POOLS_AS_COLUMNS = 6
# More workers than this are folded away.
_WORKERS_SHOWN = 12
_LINES_SHOWN = 200
# More points of a history than this are folded away.
_POINTS_SHOWN = 60
# Dozens of measurements must not make the page large.
_POINTS_PER_MEASUREMENT, _MEASUREMENTS_DRAWN = 800, 60


class _Pictures(Struct, frozen=True):
    """The pictures of one section; None where there is nothing to draw."""

    forest: Markup | None
    distribution: Markup | None
    scatter: Scatter | None
    remark: str  # which lines the distribution has, and which sides are not drawn
    measures: tuple[tuple[str, "_Pictures"], ...] = ()  # by the label of each measurement


def render_report(report: SampledReport, _layout: Layout = PLAIN) -> str:
    sides = dict.fromkeys(side for part in report.subjects for side in part.figures)
    content = contents.build(report)
    return _template(_REPORT_TEMPLATE).render(
        content=content,
        pictures=[_pictures(report, section) for section in content.sections],
        waterfalls=_waterfalls(content.divisions),
        timelines=timeline.draw(report.timelines, list(sides), "timeline"),
        pools_as_columns=_POOLS_AS_COLUMNS,
        workers_shown=_WORKERS_SHOWN,
        lines_shown=_LINES_SHOWN,
        neither=contents.NEITHER,
        replication_heads=REPLICATION_HEADS,
        heading=contents.Heading,
        trial_heads=TRIAL_HEADS,
        thicker_level=percent(EQUIVALENCE_LEVEL),
    )


def render_history(history: History, _layout: Layout = PLAIN) -> str:
    content = history_content.build(history)
    return _template(_HISTORY_TEMPLATE).render(
        content=content,
        pictures=[
            history_plot.draw(series, f"history-{at}", f"{part.drawn}, push by push")
            for at, (part, series) in enumerate(zip(content.series, history.series, strict=True))
        ],
        point_heads=history_content.POINT_HEADS,
        lines_shown=_LINES_SHOWN,
        points_shown=_POINTS_SHOWN,
    )


@cache
def _template(file: str) -> Template:
    """Return a page's template, which escapes everything that is put into it."""
    environment = Environment(
        loader=PackageLoader("io_benchmark.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_unbroken,
    )
    return environment.get_template(file)


def _unbroken(value: object) -> object:
    """Keep a number in one line with its percent sign."""
    return value.replace(" %", "\N{NO-BREAK SPACE}%") if isinstance(value, str) else value


def _waterfalls(part: DivisionsPart | None) -> dict[int, Markup]:
    """Draw the differences that have a table, by their position among all of them."""
    return {
        at: waterfall.draw(
            divided.rows, name(divided.baseline, 22), name(divided.candidate, 22), f"parts-{at}"
        )
        for at, divided in enumerate(
            [*part.shown, *part.further][:_MEASUREMENTS_DRAWN] if part else []
        )
    }


def _pictures(report: SampledReport, section: Section) -> _Pictures:
    """Draw one subject, or the ratios of several with the pictures of each below."""
    parts = [(at, report.subjects[at]) for at in section.subjects]
    if section.measures is None:
        ((at, part),) = parts
        return replace(
            _subject_pictures(report, part, at), forest=_forest(report, part.comparisons, at)
        )
    labels = [measure.label for measure in section.measures.measures]
    compared = [
        (comparison, label)
        for (_, part), label in zip(parts, labels, strict=True)
        for comparison in part.comparisons
    ]
    names = [f"{label}: {name(comparison.candidate, 22)}" for comparison, label in compared]
    return _Pictures(
        _forest(report, [comparison for comparison, _ in compared], parts[0][0], names),
        None,
        None,
        "",
        tuple(
            (label, _subject_pictures(report, part, at))
            for (at, part), label in zip(parts, labels, strict=True)
            if at < _MEASUREMENTS_DRAWN
        ),
    )


def _forest(
    report: Report, comparisons: Sequence[Comparison], at: int, names: Sequence[str] = ()
) -> Markup | None:
    if not comparisons:
        return None
    return forest.draw(comparisons, report.margin_ratio, f"forest-{at}", names)


def _subject_pictures(report: SampledReport, part: SubjectReport, at: int) -> _Pictures:
    sides = choose.by_side(report.series, part.subject, list(part.figures))
    baselines = {comparison.candidate: comparison.baseline for comparison in part.comparisons}
    workload = workloads.of(part.subject.workload)
    axis = Axis(workload.unit) if workload.higher_is_better else TIMES
    leading = part.subject.workload == "cache-retrieve"
    points = scatter.POINTS_DRAWN if leading else _POINTS_PER_MEASUREMENT
    return _Pictures(
        None,
        distribution.draw(sides, part.figures, baselines, f"distribution-{at}", axis)
        if sides
        else None,
        scatter.draw(sides, f"scatter-{at}", axis, points) if sides else None,
        _remark(len(sides), len(part.figures)),
    )


def _remark(drawn: int, sides: int) -> str:
    """Write what the lines of a distribution are, and how many sides it has not."""
    texts = ["Each line is a worker, each vertical line the mean of a side."]
    if drawn > distribution.TOGETHER:
        texts.append("The dashed line is the baseline's typical worker.")
    if drawn == choose.SIDES_DRAWN < sides:
        texts.append(f"Only the first {drawn} of {sides:,} sides are drawn.")
    return " ".join(texts)
