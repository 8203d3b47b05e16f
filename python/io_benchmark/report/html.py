# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The report as one page that needs nothing else: no network, no scripts, no fonts."""

from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from io_benchmark.analysis.model import Report, SubjectReport
from io_benchmark.report import content as contents
from io_benchmark.report.plots import choose, distribution, forest, scatter, timeline
from io_benchmark.report.plots.scatter import Scatter

TEMPLATE = "report.html.jinja"
POOLS_AS_COLUMNS = 6
# More workers than this are folded away.
WORKERS_SHOWN = 12
LINES_SHOWN = 200


@dataclass(frozen=True)
class Pictures:
    """Those of one subject; None where there is nothing to draw, `left_out` what is not drawn."""

    forest: Markup | None
    distribution: Markup | None
    scatter: Scatter | None
    left_out: str


def render(report: Report) -> str:
    environment = Environment(
        loader=PackageLoader("io_benchmark.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=unbroken,
    )
    sides = dict.fromkeys(side for part in report.subjects for side in part.figures)
    lines = choose.timelines(report.timelines, report.series, list(sides))
    return environment.get_template(TEMPLATE).render(
        content=contents.build(report),
        pictures=[_pictures(report, part, at) for at, part in enumerate(report.subjects)],
        timelines=timeline.draw(lines, "timeline") if lines else (),
        pools_as_columns=POOLS_AS_COLUMNS,
        workers_shown=WORKERS_SHOWN,
        lines_shown=LINES_SHOWN,
        replication_heads=contents.REPLICATION_HEADS,
    )


def unbroken(value: object) -> object:
    """A number stays in one line with its sign."""
    return value.replace(" %", "\N{NO-BREAK SPACE}%") if isinstance(value, str) else value


def _pictures(report: Report, part: SubjectReport, at: int) -> Pictures:
    sides = choose.by_side(report.series, part.subject, list(part.figures))
    baselines = {comparison.candidate: comparison.baseline for comparison in part.comparisons}
    return Pictures(
        forest.draw(part.comparisons, report.margin_ratio, f"forest-{at}")
        if part.comparisons
        else None,
        distribution.draw(sides, part.figures, baselines, f"distribution-{at}") if sides else None,
        scatter.draw(sides, f"scatter-{at}") if sides else None,
        f"The first {len(sides)} of {len(part.figures):,} sides are drawn."
        if len(sides) == choose.SIDES_DRAWN < len(part.figures)
        else "",
    )
