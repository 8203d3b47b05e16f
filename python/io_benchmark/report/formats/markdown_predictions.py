# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Predictions for a bug, in the Markdown that GitHub and Bugzilla share."""

from collections.abc import Mapping, Sequence

from io_benchmark.analysis.prediction.prediction_model import Predictions
from io_benchmark.report.content import prediction_content
from io_benchmark.report.formats import PLAIN, Layout
from io_benchmark.report.formats.markdown_text import (
    cut_for_comment,
    prose,
    table_row,
    titled_items,
)


def render_predictions(predictions: Predictions, _layout: Layout = PLAIN) -> str:
    """Return all predictions, or as many as fit in a comment."""
    content = prediction_content.build(predictions)
    blocks = [f"## {prose(content.title)}"]
    for task in content.tasks:
        blocks += [
            f"### {prose(task.title)}",
            " ".join(map(prose, filter(None, (task.profiled, task.asked)))),
            _table(task.pools, task.columns) if task.columns else "",
            *(titled_items(f"{title}:", lines) for title, lines in task.lists),
        ]
    blocks += [titled_items(f"{title}:", lines) for title, lines in content.lists]
    return cut_for_comment("\n\n".join(block for block in blocks if block) + "\n")


def _table(labels: Sequence[str], columns: Mapping[str, Sequence[str]]) -> str:
    rows = [("pool", *columns), ("---", *("---:" for _ in columns))]
    rows += zip(map(prose, labels), *(map(prose, cells) for cells in columns.values()), strict=True)
    return "\n".join(map(table_row, rows))
