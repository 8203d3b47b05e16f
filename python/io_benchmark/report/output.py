# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A report on stdout, or as text in any format."""

import io
import sys

from rich.console import Console

from io_benchmark.analysis.model import Report
from io_benchmark.report import load

TEXT_COLUMNS = 80


def show(report: Report, form: str) -> None:
    """Text follows the terminal; every other format is written as it is."""
    if form == "text":
        load(form)(Console(), report)
    else:
        sys.stdout.write(load(form)(report))


def rendered(report: Report, form: str) -> str:
    if form != "text":
        return str(load(form)(report))
    stream = io.StringIO()
    load(form)(Console(file=stream, width=TEXT_COLUMNS), report)
    return stream.getvalue()
