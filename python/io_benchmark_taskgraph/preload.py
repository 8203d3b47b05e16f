# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Load and compute once what several kinds need: taskgraph forks a process for each kind."""

import contextlib
import importlib
import pkgutil
from pathlib import Path

# What the kinds name in kind.yml.
from taskgraph.transforms import cached_tasks, docker_image, run, task  # noqa: F401

from io_benchmark_taskgraph import loader, transforms  # noqa: F401
from io_benchmark_taskgraph.mistakes import BadKeyError
from io_benchmark_taskgraph.script_modules import needed_modules, workload_names
from io_benchmark_taskgraph.transforms.measure import SCRIPT
from io_benchmark_taskgraph.zip_application import ZipApplication


def preload(root: Path) -> None:
    """Import all transforms, and compress the worker's script: each process then has it."""
    for module in pkgutil.iter_modules(transforms.__path__):
        importlib.import_module(f"{transforms.__name__}.{module.name}")
    # A mistake in the script is reported by the kind that needs it, with its file and task.
    with contextlib.suppress(BadKeyError, OSError):
        ZipApplication(needed_modules(root, SCRIPT, workload_names(root / SCRIPT)))
