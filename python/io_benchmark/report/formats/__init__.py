# SPDX-License-Identifier: MPL-2.0
"""Output formats: the registry from which options, help and commands take them.

A format renders the blocks of every report, or writes the data of some reports. A new one needs its module and
its entry here.
"""

from collections.abc import Mapping
from typing import NamedTuple

# For text that does not follow a terminal.
TEXT_COLUMNS = 80
COMPARISON, HISTORY, TASKS, PREDICTIONS = "comparison", "history", "tasks", "predictions"


class _Format(NamedTuple):
    """An output format; its modules are loaded on use.

    The module of a format for people has `render(document, layout)`; all return the whole text.
    """

    name: str
    audience: str
    module: str = ""  # renders the blocks of every report
    # Modules that write the data of a report instead: `render_report`, `render_history`, `render_tasks`,
    # `render_predictions`, each with the report.
    data: Mapping[str, str] = {}
    lists_unreadable: bool = False  # it has a line for each result that could not be read

    def has(self, kind: str) -> bool:
        """Return whether it renders this kind of report."""
        return bool(self.module) or kind in self.data


class Layout(NamedTuple):
    """How much to show, and on what. A format ignores what does not apply to it."""

    details: bool = False  # every measurement in full
    columns: int = TEXT_COLUMNS
    styles: bool = False  # the reader is a terminal that shows bold text
    colors: bool = False  # and colors
    page: str = ""  # the file that has the whole report as a page
    lines_below: int = 0  # that the command writes below the report


PLAIN = Layout()
_JSON = {
    COMPARISON: "json_documents",
    HISTORY: "json_documents",
    TASKS: "json_documents",
    PREDICTIONS: "json_documents",
}
FORMATS = {
    entry.name: entry
    for entry in (
        _Format("text", "a terminal", "text", lists_unreadable=True),
        _Format("markdown", "a bug in Bugzilla or on GitHub", "markdown"),
        _Format("html", "an attachment", "page"),
        _Format("json", "programs", data=_JSON, lists_unreadable=True),
        _Format("perfherder", "Treeherder", data={COMPARISON: "perfherder"}),
    )
}
HISTORY_FORMATS, TASK_FORMATS, PREDICTION_FORMATS = (
    {name: entry for name, entry in FORMATS.items() if entry.has(kind)}
    for kind in (HISTORY, TASKS, PREDICTIONS)
)
