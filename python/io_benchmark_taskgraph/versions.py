# SPDX-License-Identifier: MPL-2.0
"""What differs between the versions of taskgraph, from 8 on; no other module asks for a version.

- `UserMistake`: raised for a mistake of a user; taskgraph's command line ends with it, without a
  traceback. It is an `Exception` from 23.1 on, and a `SystemExit` in older versions. Who catches
  all that can go wrong writes `except (Exception, UserMistake)`.
- `MISTAKES_NEED_LOGGING`: whether nobody prints a mistake that is raised outside of a kind.
- `check_version`: refuse a version that is too old, and mention one that is newer than tested.
- `load_tasks`: taskgraph's loader of the tasks of a kind's file.
- `PARAMETERS_SCHEMA`: the project's parameters, as `extend_parameters_schema` takes them.
- `task_group`: the tasks of a task group, as the queue answers them.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import logging
import os
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import voluptuous
from taskgraph.loader import transform
from taskgraph.util import taskcluster

logger = logging.getLogger(__name__)

OLDEST = "8.0"
NEWEST_TESTED = "24.5.1"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"[0-9]+", version)[:3]))


_INSTALLED = importlib.metadata.version("taskcluster-taskgraph")
_VERSION = _numbers(_INSTALLED)

MISTAKES_NEED_LOGGING = _VERSION >= (23, 1)


class _Exit(SystemExit):
    """Python prints its message and exits with 1; taskgraph does not catch it."""


UserMistake: type[BaseException]
if MISTAKES_NEED_LOGGING:
    from taskgraph.util.schema import SchemaValidationError

    UserMistake = SchemaValidationError
else:
    # For each `Exception`, these versions print a traceback, often two.
    UserMistake = _Exit


# All but the first are optional, because actions read the parameters of pushes that may lack them.
# Values are checked where they are used, with messages of one line.
PARAMETERS_SCHEMA: Any
if _VERSION >= (23, 0):
    from taskgraph.util.schema import Schema

    # A class, because `Schema.from_dict` reads the source of every module that called it.
    class _Parameters(Schema, rename=None):  # type: ignore[call-arg, misc]
        io_benchmark_jobs: list[str]
        io_benchmark_replicates: int = 0
        io_benchmark_perfherder: str = ""
        io_benchmark_capacities: bool = False

    PARAMETERS_SCHEMA = _Parameters
else:
    PARAMETERS_SCHEMA = {
        voluptuous.Required("io_benchmark_jobs"): [str],
        voluptuous.Optional("io_benchmark_replicates"): int,
        voluptuous.Optional("io_benchmark_perfherder"): str,
        voluptuous.Optional("io_benchmark_capacities"): bool,
    }


def check_version() -> None:
    if _numbers(OLDEST) > _VERSION:
        raise UserMistake(
            f"io-benchmark-taskgraph needs taskgraph {OLDEST} or newer, and {_INSTALLED} is "
            f"installed; require taskcluster-taskgraph>={OLDEST} where the project pins it"
        )
    if _numbers(NEWEST_TESTED) < _VERSION:
        message = "taskgraph %s is newer than %s, the newest that io-benchmark was tested with"
        logger.warning(message, _INSTALLED, NEWEST_TESTED)


def load_tasks(
    kind: str, path: str, config: Mapping[str, Any], params: Any, loaded_tasks: list[Any]
) -> Iterator[dict[str, Any]]:
    """Yield the tasks of `tasks` and `tasks-from`, merged with `task-defaults`."""
    arguments = [kind, path, config, params, loaded_tasks]
    # Required from 15.3 on, and not used.
    if "write_artifacts" in inspect.signature(transform.loader).parameters:
        arguments.append(False)
    yield from transform.loader(*arguments)


def task_group(group_id: str) -> list[dict[str, Any]]:
    """Return the status and the definition of each task of a group."""
    pages: list[dict[str, Any]] = []
    if hasattr(taskcluster, "get_taskcluster_client"):  # from 16.0 on
        queue = taskcluster.get_taskcluster_client("queue")
        queue.listTaskGroup(group_id, paginationHandler=pages.append)
    else:
        # In an action's task the proxy adds the credentials.
        root_url = taskcluster.get_root_url("TASKCLUSTER_PROXY_URL" in os.environ)
        url = f"{root_url}/api/queue/v1/task-group/{group_id}/list"
        token = ""
        while not pages or token:
            query = {"continuationToken": token} if token else {}
            answer = taskcluster.get_session().get(url, params=query, timeout=60)
            answer.raise_for_status()
            pages.append(answer.json())
            token = pages[-1].get("continuationToken", "")
    return list(chain.from_iterable(page["tasks"] for page in pages))
