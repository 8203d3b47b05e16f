# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""From a comparison to what a person or a program reads. Pure: the same report, the same bytes."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

# What each format is written by. `text` takes a console and a report and prints; the others take a
# report and return a text. Loaded when asked for: jinja2 costs a terminal's reader nothing.
FORMATS: dict[str, tuple[str, str]] = {
    "text": ("io_benchmark.report.formats.terminal", "show"),
    "markdown": ("io_benchmark.report.formats.markdown", "render"),
    "html": ("io_benchmark.report.formats.html", "render"),
    "json": ("io_benchmark.report.formats.as_json", "render"),
    "perfherder": ("io_benchmark.report.formats.perfherder", "render"),
}


def load(name: str) -> Callable[..., Any]:
    """The function that writes this format."""
    module, function = FORMATS[name]
    loaded: Callable[..., Any] = getattr(import_module(module), function)
    return loaded
