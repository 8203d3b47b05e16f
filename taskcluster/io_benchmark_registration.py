# SPDX-License-Identifier: MPL-2.0
"""Register the project's additions; taskgraph calls this first. Also makes python/ importable."""
# ruff: noqa: INP001 - taskgraph puts this folder on the path; it is not a package

import sys
from pathlib import Path
from typing import Any


def register(graph_config: Any) -> None:
    # taskgraph puts taskcluster/ on the path, but not the folder next to it.
    root = Path(graph_config.root_dir).absolute().parent
    sys.path.insert(0, str(root / "python"))

    from io_benchmark_taskgraph import actions, mistakes, parameters, yaml_files  # noqa: PLC0415

    with mistakes.logged():
        yaml_files.check_tree(root / "taskcluster")
    parameters.register()
    actions.register()
