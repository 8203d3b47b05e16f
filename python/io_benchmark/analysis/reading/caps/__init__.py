# SPDX-License-Identifier: MPL-2.0
"""What clouds publish about their disks: one module per cloud, with its record `CLOUD`.

A cap is an upper bound: one copy is a single reader and writer at queue depth 1, and what the page
cache absorbs is not limited by it. What a cloud does not publish is not guessed.
"""

from importlib import import_module
from pkgutil import iter_modules

from io_benchmark.analysis.reading.caps.cloud import Cloud

_SHARED = ("cloud", "limits")
_MODULES = sorted(module.name for module in iter_modules(__path__) if module.name not in _SHARED)
CLOUDS: tuple[Cloud, ...] = tuple(import_module(f"{__name__}.{name}").CLOUD for name in _MODULES)
