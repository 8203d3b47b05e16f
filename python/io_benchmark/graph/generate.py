# SPDX-License-Identifier: MPL-2.0
"""Generates the selected tasks of a tree, as a decision task would."""

import importlib
import logging
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct
from taskgraph.generator import TaskGraphGenerator
from taskgraph.parameters import Parameters
from taskgraph.util.schema import SchemaValidationError
from taskgraph.util.yaml import load_yaml

from io_benchmark.errors import GraphError
from io_benchmark.graph.isolation import isolated, usable_tree
from io_benchmark.graph.root import Root

logger = logging.getLogger(__name__)

REPOSITORY = "https://github.com/mozilla-releng/io-benchmark"
TARGET_METHOD = "io-benchmark"
POOL_ATTRIBUTE = "io_benchmark_pool"
_CHECK = "io_benchmark_taskgraph.yaml_files"
_IMAGE_LABEL = "docker-image-"
# No commit: what is generated here was not pushed.
_NO_REVISION = "0" * 40


class GeneratedTask(Struct, frozen=True):
    label: str
    pool: str  # empty for a task that does not belong to a pool, such as an image's
    kind: str
    # The task's body as the queue would get it; references to other tasks and dates are left
    # as taskgraph writes them ({"task-reference": …}, {"relative-datestamp": …}).
    definition: Mapping[str, Any]
    image: str | None  # the in-tree image that it runs in


def _parameters(jobs: Sequence[str]) -> Parameters:
    """Return every parameter, so that taskgraph reads neither a checkout nor the network."""
    values: dict[str, Any] = {
        "base_repository": REPOSITORY,
        "base_ref": "main",
        "base_rev": _NO_REVISION,
        "build_date": 0,
        "build_number": 1,
        "do_not_optimize": [],
        "enable_always_target": False,
        "existing_tasks": {},
        "files_changed": [],
        "filters": ["target_tasks_method"],
        "head_ref": "main",
        "head_repository": REPOSITORY,
        "head_rev": _NO_REVISION,
        "head_tag": "",
        "io_benchmark_jobs": list(jobs),
        "level": "1",
        "moz_build_date": "19700101000000",
        "next_version": None,
        "optimize_strategies": None,
        "optimize_target_tasks": False,
        "owner": "nobody@mozilla.com",
        "project": "io-benchmark",
        "pushdate": 0,
        "pushlog_id": "0",
        "repository_type": "git",
        "target_tasks_method": TARGET_METHOD,
        "tasks_for": "github-push",
        "version": None,
    }
    return Parameters(strict=True, **values)


def _one_line(text: str) -> str:
    """Return the first line of a message; taskgraph prints the whole task after it."""
    lines = [" ".join(line.split()) for line in text.strip().splitlines()]
    lines = [line for line in lines if line]
    if len(lines) > 1 and lines[0].endswith(":"):
        return f"{lines[0]} {lines[1]}"
    return lines[0] if lines else "no reason given"


def _yaml_line(error: yaml.MarkedYAMLError, tree: Path) -> str:
    mark = error.problem_mark
    where = "a YAML file"
    if mark is not None:
        name = re.sub(f"^{re.escape(str(tree))}/", "", str(mark.name))
        where = f"{name} line {mark.line + 1}"
    return f"{where}: {_one_line(error.problem or str(error))}; correct the YAML there"


def _what_was_wrong(error: Exception, tree: Path) -> str:
    if isinstance(error, yaml.MarkedYAMLError):
        return _yaml_line(error, tree)
    if isinstance(error, FileNotFoundError):
        return f"{error.filename}: no such file; create it or correct the kind that names it"
    alias = re.match(r"No worker-type matching '(.+?)' ", str(error))
    if alias is not None:
        return (
            f"taskcluster/config.yml: workers.aliases has no {alias[1]!r}, which a task names as its "
            "worker-type; add the alias or correct the task"
        )
    # taskgraph raises plain `Exception` for what its schemas do not cover.
    if isinstance(error, SchemaValidationError | OSError) or type(error) is Exception:
        return _one_line(str(error))
    # A kind of an unexpected form, or a bug.
    reason = f"{type(error).__name__}: {_one_line(str(error))}"
    return f"the kinds in {tree}/taskcluster cannot be generated ({reason}); --verbose shows where"


def _generated(task: Any, tree: Path) -> GeneratedTask:
    image = task.dependencies.get("docker-image", "")
    metadata = dict(task.task["metadata"])
    # taskgraph names the kind by its path here, as its own command line does not.
    metadata["source"] = metadata["source"].replace(f"/{tree}/", "/")
    return GeneratedTask(
        label=task.label,
        pool=task.attributes.get(POOL_ATTRIBUTE, ""),
        kind=task.kind,
        definition={**task.task, "metadata": metadata},
        image=image.removeprefix(_IMAGE_LABEL) or None,
    )


def _natural(text: str) -> list[Any]:
    """Return a sort key with `x-2` before `x-10`."""
    return [int(part) if part.isdigit() else part for part in re.split("([0-9]+)", text)]


def _kind(tree: Path, name: str) -> Any:
    return load_yaml(str(tree / "taskcluster" / "kinds" / name / "kind.yml"))


def _in_kind_order(tasks: list[GeneratedTask], tree: Path) -> tuple[GeneratedTask, ...]:
    """Sort tasks by their kind's order; taskgraph's order is undefined."""
    pools: dict[str, list[str]] = {}
    for kind in {task.kind for task in tasks}:
        config = _kind(tree, kind)
        # A kind may have another one's pools.
        listing = _kind(tree, config["pools-from"]) if "pools-from" in config else config
        pools[kind] = list(listing.get("tasks", {}))

    def position(task: GeneratedTask) -> tuple[str, int, list[Any]]:
        known = pools[task.kind]
        index = known.index(task.pool) if task.pool in known else len(known)
        return task.kind, index, _natural(task.label)

    return tuple(sorted(tasks, key=position))


def _check_files(tree: Path) -> None:
    """Run the tree's own check; a decision task runs it only after it loaded config.yml."""
    sys.path.insert(0, str(tree / "python"))  # `isolated` puts it back
    importlib.import_module(_CHECK).check_tree(tree / "taskcluster")


def generate(root: Root, jobs: Sequence[str]) -> tuple[GeneratedTask, ...]:
    """Return the tasks that `jobs` name, in the order of kind.yml.

    A name is that of a job, a pool or a label; without names: `io-benchmark`.
    """
    with usable_tree(root.path) as tree, isolated(logger):
        generator = TaskGraphGenerator(str(tree / "taskcluster"), _parameters(jobs))
        try:
            _check_files(tree)
            selected = generator.target_task_set.tasks.values()
        except Exception as error:
            # The message names the tree itself, because a copy is removed before people read it.
            text = _what_was_wrong(error, tree).replace(str(tree), str(root.path))
            raise GraphError(text) from error
        return _in_kind_order([_generated(task, tree) for task in selected], tree)
