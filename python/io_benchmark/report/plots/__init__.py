# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Pictures: SVG without scripts, images or fonts, and drawings with characters."""

from importlib import import_module
from typing import Any


def draw(plot: str, *arguments: Any) -> Any:
    """Draw a picture; its module is imported on use, because most of them need numpy."""
    return import_module(f"io_benchmark.report.plots.{plot}").draw(*arguments)
