# SPDX-License-Identifier: MPL-2.0
"""What taskgraph makes of a tree: the tasks of a push.

taskgraph keeps global state. Here it makes one tree after another in one process.
"""

import copy
import logging
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct
from taskgraph import parameters
from taskgraph.config import GraphConfig
from taskgraph.generator import TaskGraphGenerator
from taskgraph.parameters import Parameters

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.graph.root import Root
from io_benchmark_taskgraph.versions import UserMistake

REPOSITORY = "https://github.com/mozilla-releng/io-benchmark"
POOL_ATTRIBUTE = "io_benchmark_pool"
# `.invalid` is reserved (RFC 2606), so a rehearsal cannot send requests to a real deployment.
NO_ROOT_URL = "https://taskcluster.invalid"
_VARIABLES = {
    # taskgraph would fork a process per kind, which is unsafe in a program with threads.
    "TASKGRAPH_SERIAL": "1",
    # A native worker's task takes run-task from there.
    "TASKCLUSTER_ROOT_URL": NO_ROOT_URL,
}
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


def _parameters(jobs: Sequence[str], *, capacities: bool) -> Parameters:
    """Return every parameter, so that taskgraph reads neither a checkout nor the network."""
    # Only then, because an older tree does not know it.
    optional = {"io_benchmark_capacities": True} if capacities else {}
    return Parameters(
        strict=True,
        **optional,
        base_repository=REPOSITORY,
        base_ref="main",
        base_rev=_NO_REVISION,
        build_date=0,
        build_number=1,
        do_not_optimize=[],
        enable_always_target=False,
        existing_tasks={},
        files_changed=[],
        filters=["target_tasks_method"],
        head_ref="main",
        head_repository=REPOSITORY,
        head_rev=_NO_REVISION,
        head_tag="",
        io_benchmark_jobs=list(jobs),
        level="1",
        moz_build_date="19700101000000",
        next_version=None,
        optimize_strategies=None,
        optimize_target_tasks=False,
        owner="nobody@mozilla.com",
        project="io-benchmark",
        pushdate=0,
        pushlog_id="0",
        repository_type="git",
        target_tasks_method="io-benchmark",
        tasks_for="github-push",
        version=None,
    )


def _one_line(message: str) -> str:
    """Return the first line of a message; taskgraph prints the whole task after it."""
    lines = [" ".join(line.split()) for line in message.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].endswith(":"):
        return f"{lines[0]} {lines[1]}"
    return lines[0] if lines else "no reason given"


def _problem(error: BaseException, tree: Path) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        place = str(error.problem_mark.name).removeprefix(f"{tree}/")
        problem = _one_line(error.problem or str(error))
        return f"{place} line {error.problem_mark.line + 1}: {problem}; correct the YAML there"
    if isinstance(error, FileNotFoundError):
        return f"{error.filename}: no such file; create it or correct the kind that names it"
    alias = re.match(r"No (?:worker-type|alias) matching '(.+?)' ", str(error))
    if alias is not None:
        return (
            f"taskcluster/config.yml: workers.aliases has no {alias[1]!r}, which a task names as "
            "its worker-type; add the alias or correct the task"
        )
    # taskgraph raises plain `Exception` for what its schemas do not cover.
    if isinstance(error, UserMistake | OSError) or type(error) is Exception:
        return _one_line(str(error))
    # A kind of an unexpected form, or a bug.
    return (
        f"the kinds in {tree}/taskcluster cannot be generated ({type(error).__name__}: "
        f"{_one_line(str(error))}); `taskgraph full` shows where"
    )


def _generated(task: Any, tree: Path) -> GeneratedTask:
    metadata = task.task["metadata"]
    # taskgraph names the kind by its path here, as its own command line does not.
    source = metadata["source"].replace(f"/{tree}/", "/")
    return GeneratedTask(
        label=task.label,
        pool=task.attributes.get(POOL_ATTRIBUTE, ""),
        kind=task.task["tags"]["kind"],
        definition={**task.task, "metadata": {**metadata, "source": source}},
        image=task.dependencies.get("docker-image", "").removeprefix("docker-image-") or None,
    )


def _position(task: GeneratedTask) -> tuple[str, list[Any]]:
    """Return a sort key with `x-2` before `x-10`; taskgraph's order is undefined."""
    parts = re.split("([0-9]+)", task.label)
    return task.kind, [int(part) if part.isdigit() else part for part in parts]


@contextmanager
def _isolated(tree: Root) -> Iterator[Callable[[str], Any]]:
    """Run taskgraph in this block as in a new process; yield an import of the tree's modules."""
    with ExitStack() as stack:
        module = stack.enter_context(tree.modules())
        # What a tree's registration module changes in taskgraph.
        for owner, name in (
            (GraphConfig, "_PATH_MODIFIED"),
            (parameters, "_parameter_extensions"),
            (parameters, "defaults_functions"),
        ):
            before = getattr(owner, name)
            stack.callback(setattr, owner, name, before)
            setattr(owner, name, copy.copy(before))
        GraphConfig._PATH_MODIFIED = False  # noqa: SLF001 - otherwise one tree per process
        stack.callback(logging.disable, logging.root.manager.disable)
        logging.disable(logging.CRITICAL)
        for name, value in _VARIABLES.items():
            if name not in os.environ:
                os.environ[name] = value
                stack.callback(os.environ.pop, name)
        # taskgraph leaves it to the interpreter to close the files of an image's context.
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", ResourceWarning)
        yield module


def generate(root: Root, jobs: Sequence[str], *, capacities: bool = False) -> list[GeneratedTask]:
    """Return the tasks of jobs, pools or labels by their names, sorted by kind and label."""
    with root.usable_tree() as tree, _isolated(tree) as module:
        folder = tree.path / "taskcluster"
        generator = TaskGraphGenerator(str(folder), _parameters(jobs, capacities=capacities))
        try:
            # A decision task checks the files only after it loaded config.yml.
            module("mistakes").check_tree(folder)
            selected = generator.target_task_set.tasks.values()
        except (Exception, UserMistake) as error:
            # The message names the tree itself, because a copy is removed before people read it.
            problem = _problem(error, tree.path)
            raise IoBenchmarkError(problem.replace(str(tree.path), str(root.path))) from error
        return sorted((_generated(task, tree.path) for task in selected), key=_position)
