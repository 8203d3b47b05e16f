# SPDX-License-Identifier: MPL-2.0
"""Output formats: the registry from which options, help and commands take them.

A format for people renders the blocks of every report; one for programs writes the data of some
reports. A new one needs its module and its entry here.
"""

from collections.abc import Collection
from typing import NamedTuple

# For text that does not follow a terminal.
TEXT_COLUMNS = 80
# The kinds of reports, each a module of `sections`
COMPARISON, HISTORY, TASKS, PREDICTIONS = REPORTS = "comparison", "history", "tasks", "predictions"


class _Format(NamedTuple):
    """An output format. Its module, which is loaded on use, has `render` and returns the whole text.

    It takes a document of blocks and a layout, or where `takes_data` is set, the report.
    """

    audience: str
    module: str
    takes_data: bool = False
    reports: Collection[str] = REPORTS
    lists_unreadable: bool = False  # it has a line for each result that could not be read


class Layout(NamedTuple):
    """How much to show, and on what. A format ignores what does not apply to it."""

    details: bool = False  # every measurement in full
    columns: int = TEXT_COLUMNS
    styles: bool = False  # the reader is a terminal that shows bold text
    colors: bool = False  # and colors
    page: str = ""  # the file that has the whole report as a page
    lines_below: int = 0  # that the command writes below the report


FORMATS = {
    "text": _Format("a terminal", "text", lists_unreadable=True),
    "markdown": _Format("a bug in Bugzilla or on GitHub", "markdown"),
    "html": _Format("an attachment", "page"),
    "json": _Format("programs", "json_documents", takes_data=True, lists_unreadable=True),
    "perfherder": _Format("Treeherder", "perfherder", takes_data=True, reports=[COMPARISON]),
}
HISTORY_FORMATS, TASK_FORMATS, PREDICTION_FORMATS = (
    {name: entry for name, entry in FORMATS.items() if kind in entry.reports}
    for kind in (HISTORY, TASKS, PREDICTIONS)
)
