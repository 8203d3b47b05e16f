# SPDX-License-Identifier: MPL-2.0
"""Register the project's additions; taskgraph calls this first. Also makes python/ importable."""
# ruff: noqa: INP001 - taskgraph puts this folder on the path; it is not a package

import logging
import sys
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)


def register(graph_config: Any) -> None:
    # taskgraph puts taskcluster/ on the path, but not the folder next to it.
    root = Path(graph_config.root_dir).absolute().parent
    sys.path.insert(0, str(root / "python"))

    from io_benchmark_taskgraph import (  # noqa: PLC0415
        confirm_action,
        mistakes,
        more_workers_action,
        parameters,
        yaml_files,
    )

    try:
        yaml_files.check_tree(root / "taskcluster")
    except mistakes.UserMistake as error:
        # taskgraph's command line expects this error to be logged here.
        logger.error("%s", error)  # noqa: TRY400 - no traceback
        raise
    parameters.register()
    confirm_action.ACTION.register()
    more_workers_action.ACTION.register()
