# SPDX-License-Identifier: MPL-2.0
"""From kind.yml to tasks: the kind's schema, its transforms and the selection by name.

Runs in decision tasks of this project and of others: Python 3.9, taskgraph, voluptuous and the
standard library. A project's `config.yml` has `register: io_benchmark_taskgraph:register`.
"""

from pathlib import Path
from typing import Any


def register(graph_config: Any) -> None:
    """Add the parameters, the selection by name and the actions; taskgraph calls this first."""
    from io_benchmark_taskgraph import versions  # noqa: PLC0415

    versions.check_version()
    from io_benchmark_taskgraph import actions, mistakes, parameters  # noqa: PLC0415

    with mistakes.logged():
        mistakes.check_tree(Path(graph_config.root_dir).absolute())
    parameters.register()
    actions.register()
    if "treeherder" in graph_config:
        names = graph_config["treeherder"].setdefault("group-names", {})
        names.setdefault("IOB", "I/O benchmark")
        names.setdefault("IOBG", "I/O benchmark: gate of new images")
    # A project that has its own function calls `parameters.decision_parameters` there.
    graph_config["taskgraph"].setdefault(
        "decision-parameters", "io_benchmark_taskgraph.parameters:decision_parameters"
    )
