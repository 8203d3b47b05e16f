# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Predictions for a bug, in the Markdown that GitHub and Bugzilla share."""

from collections.abc import Iterable, Mapping, Sequence

from io_benchmark.analysis.prediction.prediction_model import Predictions
from io_benchmark.report.content import prediction_content
from io_benchmark.report.formats import PLAIN, Layout
from io_benchmark.report.formats.markdown_text import cut_for_comment, prose

_LINES_SHOWN = 30


def render_predictions(predictions: Predictions, _layout: Layout = PLAIN) -> str:
    """Return all predictions, or as many as fit in a comment."""
    content = prediction_content.build(predictions)
    blocks = [f"## {prose(content.title)}"]
    for task in content.tasks:
        blocks += [
            f"### {prose(task.title)}",
            " ".join(map(prose, filter(None, (task.profiled, task.asked)))),
            _table(task.pools, task.columns) if task.columns else "",
            *(_list(title, lines) for title, lines in task.lists),
        ]
    blocks += [_list(title, lines) for title, lines in content.lists]
    return cut_for_comment("\n\n".join(block for block in blocks if block) + "\n")


def _table(labels: Sequence[str], columns: Mapping[str, Sequence[str]]) -> str:
    rows = [("pool", *columns), ("---", *("---:" for _ in columns))]
    rows += zip(map(prose, labels), *(map(prose, cells) for cells in columns.values()), strict=True)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _list(title: str, lines: Iterable[str]) -> str:
    shown = [f"- {prose(line)}" for line in lines]
    if len(shown) > _LINES_SHOWN:
        shown[_LINES_SHOWN:] = [f"- and {len(shown) - _LINES_SHOWN:,} more"]
    return f"{title}:\n\n" + "\n".join(shown)
