# SPDX-License-Identifier: MPL-2.0
"""Pictures: SVG without scripts, images or fonts, and drawings with characters."""

from importlib import import_module
from typing import Any


def draw(plot: str, *arguments: Any) -> Any:
    """Draw a picture; its module is imported on use, because most of them need numpy."""
    return import_module(f"io_benchmark.report.plots.{plot}").draw(*arguments)
