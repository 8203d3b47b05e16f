# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The history as one page that needs nothing else: no network, no scripts, no fonts."""

from io_benchmark.analysis.history.history_model import History
from io_benchmark.report.content import history_content as contents
from io_benchmark.report.formats.html import template
from io_benchmark.report.history import plot

TEMPLATE = "history.html.jinja"
LINES_SHOWN = 200
# More points than this are folded away.
POINTS_SHOWN = 60


def render(history: History) -> str:
    return template(TEMPLATE).render(
        content=contents.build(history),
        pictures=[plot.draw(one, f"history-{at}") for at, one in enumerate(history.series)],
        lines_shown=LINES_SHOWN,
        points_shown=POINTS_SHOWN,
    )
