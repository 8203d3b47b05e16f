# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Output formats: the registry from which options, help and commands take them.

Each format turns the same comparison, history or predictions into text. A new one needs its module and its entry
here.
"""

from typing import NamedTuple

# For text that does not follow a terminal.
TEXT_COLUMNS = 80


class _Format(NamedTuple):
    """An output format. Its modules are loaded on use: jinja2 costs a terminal's reader nothing.

    `report` has a function `render_report(report, layout)`, `history` has
    `render_history(history, layout)`, `tasks` has `render_tasks(report, layout)`, `predictions` has
    `render_predictions(predictions, layout)`; all return the whole text. They may be the same module.
    """

    name: str
    audience: str
    report: str
    history: str = ""  # empty: it has none
    tasks: str = ""
    predictions: str = ""
    lists_unreadable: bool = False  # it has a line for each result that could not be read


class Layout(NamedTuple):
    """How much to show, and on what. A format ignores what does not apply to it."""

    details: bool = False  # every measurement in full
    columns: int = TEXT_COLUMNS
    styles: bool = False  # the reader is a terminal that shows bold text
    colors: bool = False  # and colors
    page: str = ""  # the file that has the whole report as a page
    lines_below: int = 0  # that the command writes below the report


PLAIN = Layout()

FORMATS = {
    entry.name: entry
    for entry in (
        _Format(
            "text",
            "a terminal",
            "terminal",
            "terminal_history",
            tasks="terminal_tasks",
            predictions="terminal_predictions",
            lists_unreadable=True,
        ),
        _Format(
            "markdown",
            "a bug in Bugzilla or on GitHub",
            "markdown",
            "markdown_history",
            tasks="markdown_tasks",
            predictions="markdown_predictions",
        ),
        _Format("html", "an attachment", "html", "html"),
        _Format(
            "json",
            "programs",
            "json_documents",
            "json_documents",
            tasks="json_documents",
            predictions="json_documents",
            lists_unreadable=True,
        ),
        _Format("perfherder", "Treeherder", "perfherder"),
    )
}
HISTORY_FORMATS = {name: entry for name, entry in FORMATS.items() if entry.history}
TASK_FORMATS = {name: entry for name, entry in FORMATS.items() if entry.tasks}
PREDICTION_FORMATS = {name: entry for name, entry in FORMATS.items() if entry.predictions}
