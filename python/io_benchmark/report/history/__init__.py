# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""From a pool's history to what a person or a program reads. Pure, as `report` is."""

import io
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TextIO

from rich.console import Console

from io_benchmark.analysis.history.history_model import History
from io_benchmark.report.formats.output import TEXT_COLUMNS, console

# As the reports' own table of formats.
FORMATS: dict[str, tuple[str, str]] = {
    "text": ("io_benchmark.report.history.terminal", "show"),
    "markdown": ("io_benchmark.report.history.markdown", "render"),
    "html": ("io_benchmark.report.history.html", "render"),
    "json": ("io_benchmark.report.history.as_json", "render"),
}


def show(history: History, form: str, stream: TextIO, environment: Mapping[str, str]) -> None:
    """Text follows the terminal; every other format is written as it is."""
    if form == "text":
        _load(form)(console(stream, environment), history)
    else:
        stream.write(_load(form)(history))


def rendered(history: History, form: str) -> str:
    if form != "text":
        return str(_load(form)(history))
    stream = io.StringIO()
    _load(form)(Console(file=stream, width=TEXT_COLUMNS), history)
    return stream.getvalue()


def _load(name: str) -> Callable[..., Any]:
    module, function = FORMATS[name]
    loaded: Callable[..., Any] = getattr(import_module(module), function)
    return loaded
