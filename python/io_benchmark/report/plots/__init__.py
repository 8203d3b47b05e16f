# SPDX-License-Identifier: MPL-2.0
"""Pictures: SVG without scripts, images or fonts."""

from importlib import import_module
from typing import Any


def draw(plot: str, *arguments: Any) -> Any:
    """Draw a picture by MODULE.FUNCTION, which is imported on use: most reports have no picture."""
    module, _, function = plot.partition(".")
    return getattr(import_module(f"{__name__}.{module}"), function)(*arguments)
