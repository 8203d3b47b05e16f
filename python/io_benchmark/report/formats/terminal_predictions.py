# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Predictions as text: as wide as the terminal, or plain."""

from io_benchmark.analysis.prediction.prediction_model import Predictions
from io_benchmark.report.content import prediction_content
from io_benchmark.report.formats import PLAIN, Layout
from io_benchmark.report.formats.page import Page

# Columns are left out in this order where there is no room.
_DROPPED = ("CPU", "syncs", "writes", "measured", "ratio")


def render_predictions(predictions: Predictions, layout: Layout = PLAIN) -> str:
    content = prediction_content.build(predictions)
    page = Page(layout)
    page.paragraph(content.title, "bold", indent="")
    for task in content.tasks:
        page.heading(task.title)
        page.paragraph(task.profiled)
        if task.asked:
            page.paragraph(task.asked)
        columns = dict(task.columns)
        if columns:
            for dropped in _DROPPED:
                if page.fits(task.pools, [*columns], [*columns.values()]):
                    break
                columns.pop(dropped, None)
            page.line()
            page.grid("pool", task.pools, [*columns], [*columns.values()])
        for title, lines in task.lists:
            page.line()
            page.paragraph(f"{title}:", "bold")
            page.items(lines)
    for title, lines in content.lists:
        page.heading(title)
        page.items(lines)
    return page.text()
