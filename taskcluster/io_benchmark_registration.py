# SPDX-License-Identifier: MPL-2.0
"""Register the package of this checkout, which is not installed; taskgraph calls this first."""
# ruff: noqa: INP001 - taskgraph puts this folder on the path; it is not a package

import sys
from pathlib import Path
from typing import Any


def register(graph_config: Any) -> None:
    # taskgraph puts taskcluster/ on the path, but not the folder next to it.
    root = Path(graph_config.root_dir).absolute().parent
    sys.path.insert(0, str(root / "python"))

    import io_benchmark_taskgraph  # noqa: PLC0415

    io_benchmark_taskgraph.register(graph_config)
