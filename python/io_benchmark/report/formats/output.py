# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A report on a stream, or as text in any format."""

import io
from collections.abc import Mapping
from typing import TextIO

from rich.console import Console

from io_benchmark.analysis.report_model import Report
from io_benchmark.report import load

TEXT_COLUMNS = 80
# A terminal that says it is narrower, COLUMNS=0 for instance, would get nothing to read.
LEAST_COLUMNS = 20
# The formats that can tell all in full or what is decided alone.
FOLDING = ("text", "markdown")


def show(
    report: Report,
    form: str,
    stream: TextIO,
    environment: Mapping[str, str],
    *,
    details: bool = False,
) -> None:
    """Text follows the terminal; every other format is written as it is."""
    if form == "text":
        load(form)(console(stream, environment), report, details=details)
    else:
        stream.write(rendered(report, form, details=details))


def console(stream: TextIO, environment: Mapping[str, str]) -> Console:
    """As wide as it is, where that is wide enough for a word."""
    made = Console(file=stream, _environ=environment)
    made.width = max(made.width, LEAST_COLUMNS)
    return made


def rendered(report: Report, form: str, *, details: bool = False) -> str:
    if form == "text":
        stream = io.StringIO()
        load(form)(Console(file=stream, width=TEXT_COLUMNS), report, details=details)
        return stream.getvalue()
    return str(load(form)(report, details=details) if form in FOLDING else load(form)(report))
