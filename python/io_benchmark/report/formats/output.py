# SPDX-License-Identifier: MPL-2.0
"""Render a comparison, a history, predictions or a report about tasks in any format, or write it to a stream."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, TextIO

from io_benchmark.report.content.harmless import make_harmless
from io_benchmark.report.formats import FORMATS, TEXT_COLUMNS, Layout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from io_benchmark.analysis.history.history_model import History
    from io_benchmark.analysis.prediction.prediction_model import Predictions
    from io_benchmark.analysis.report_model import Report
    from io_benchmark.analysis.tasks.task_model import TaskReport
    from io_benchmark.report.blocks import Document

_DUMB_TERMINALS = ("dumb", "unknown")
# COLUMNS=0 and similar settings would leave nothing to read.
_LEAST_COLUMNS = 20
# The modules of `sections` that write the blocks of each class
_SECTIONS = {"History": "history", "TaskReport": "tasks", "Predictions": "predictions"}


def show(
    report: Report | History | TaskReport | Predictions,
    form: str,
    stream: TextIO,
    environment: Mapping[str, str],
    *,
    details: bool = False,
    page: str = "",
    lines_below: int = 0,
) -> None:
    """Write to a stream; text follows the terminal behind it and names the file of a page.

    The first screen leaves room for the lines that the command writes below.
    """
    layout = Layout(details)
    if form == "text":
        is_dumb = environment.get("TERM", "").lower() in _DUMB_TERMINALS
        has_styles = _is_terminal(stream, environment) and not is_dumb
        has_colors = has_styles and not environment.get("NO_COLOR")
        layout = Layout(details, _columns(environment), has_styles, has_colors, page, lines_below)
    stream.write(rendered(report, form, layout=layout))


def _is_terminal(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Ask the stream, unless a variable decides that several programs know."""
    compatible = environment.get("TTY_COMPATIBLE")
    if compatible in ("0", "1"):
        return compatible == "1"
    forced = environment.get("FORCE_COLOR")
    return stream.isatty() if forced is None else bool(forced)


def _columns(environment: Mapping[str, str]) -> int:
    """Return the width of the terminal where the text is read, perhaps through a pager."""
    columns = environment.get("COLUMNS", "")
    if columns.isdecimal():
        return max(int(columns[:9]), _LEAST_COLUMNS)
    for descriptor in range(3):
        with suppress(OSError):  # not a terminal
            return max(os.get_terminal_size(descriptor).columns or TEXT_COLUMNS, _LEAST_COLUMNS)
    return TEXT_COLUMNS


def rendered(
    report: Report | History | TaskReport | Predictions,
    form: str,
    *,
    details: bool = False,
    layout: Layout | None = None,
) -> str:
    """Return the whole text, which is the same each time."""
    entry = FORMATS[form]
    content = report if entry.takes_data else document_of(report)
    written: str = _module(f"formats.{entry.module}").render(content, layout or Layout(details))
    return written


def document_of(report: Report | History | TaskReport | Predictions) -> Document:
    """Return everything that a report says, as blocks."""
    section = _SECTIONS.get(type(report).__name__, "comparison")
    document: Document = _module(f"sections.{section}").document(make_harmless(report))
    return document


def _module(name: str) -> Any:
    return import_module(f"io_benchmark.report.{name}")
