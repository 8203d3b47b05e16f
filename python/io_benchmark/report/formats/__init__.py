# SPDX-License-Identifier: MPL-2.0
"""Output formats: the registry from which options, help and commands take them.

A format for people renders the blocks of a report; one for programs writes its data. A new one needs its
module and its entry here.
"""

from typing import NamedTuple

# For text that does not follow a terminal.
TEXT_COLUMNS = 80


class _Format(NamedTuple):
    """An output format. Its module, which is loaded on use, has `render` and returns the whole text.

    It takes a document of blocks and a layout, or where `takes_data` is set, the report.
    """

    audience: str
    module: str
    takes_data: bool = False
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
}
