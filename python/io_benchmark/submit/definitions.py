# SPDX-License-Identifier: MPL-2.0
"""Make final task definitions for the queue from generated tasks.

Routes are dropped: they would add a push to the index and to Treeherder, and there is no push.
Pure: no clock, no network.
"""

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.gate.gate_model import Gate
from io_benchmark.costs.worker_time import Price
from io_benchmark.errors import UsageError
from io_benchmark.results.format import PLAN_VARIABLE
from io_benchmark.sources.run_results import NATIVE, engine_of
from io_benchmark.submit.gate_tasks import replicates_for_gates, tasks_of_gates
from io_benchmark.submit.new_pools import measured_tasks
from io_benchmark.submit.values import Image
from io_benchmark_taskgraph.payloads import (
    after_run_task,
    is_of_run_task,
    line_of_windows,
    text_of,
)
from io_benchmark_taskgraph.repeating import derived_id, job_of, rename

if TYPE_CHECKING:
    from io_benchmark.graph.generate import GeneratedTask

VOLUMES = "TASKCLUSTER_VOLUMES"
_TIME_BUDGET = re.compile(r"(?<!\S)--time-budget[ =]([0-9]{1,6})\b")
_NO_REVISION = "/blob/" + "0" * 40 + "/"
_PUSH_LINK = re.compile(r" \(\[Treeherder push\]\([^ ]*\)\)$")
_REFERENCES = ("task-reference", "artifact-reference", "docker-image-reference")

# Workers per pool at which results are compared until they decide. A difference of 10 % mostly
# needs 6 to 12, equivalence within 5 % needs 24.
LOOKS = (3, 6, 12, 24)


class SubmissionOptions(Struct, frozen=True, kw_only=True):
    """Which of the kinds' tasks are created, what changes in them, and what is done around that."""

    jobs: Sequence[str] = ("io-benchmark",)
    root: Path | None = None
    capacities: bool = False  # measure what predictions use, instead of what the kind says
    image: Image | None = None
    queues: Mapping[str, str] = {}  # PROVISIONER/WORKERTYPE by pool, instead of the kind's
    replicates: int | None = None  # None: as many as the kind has
    owner: str | None = None  # an e-mail address; None: git's
    dry_run: bool = False
    yes: bool = False
    no_wait: bool = False
    until_decided: bool = False
    budget_hours: float | None = None
    baseline: str | None = None
    gates: Sequence[Gate] = ()  # the questions, instead of a baseline's
    prices: Mapping[str, Price] = {}

    @property
    def written_gates(self) -> list[str]:
        return [gate.written for gate in self.gates]

    @property
    def baseline_or_gates(self) -> str | list[str] | None:
        return self.written_gates or self.baseline


class Repetition(NamedTuple):
    """A task that is created once more."""

    task_id: str
    pool: str
    bytes_per_s: int | None = None  # the pace of its copies, where it confirms a cause


class NewTask(Struct, frozen=True):
    """A task to create. Its dates count from its creation."""

    label: str
    job: str  # the label without a replicate's number
    pool: str
    definition: Mapping[str, Any]
    task_id: str = ""

    @property
    def queue(self) -> str:
        return f"{self.definition['provisionerId']}/{self.definition['workerType']}"

    @property
    def limit_s(self) -> float:
        """Return the script's time budget, by its last such argument; else the task's limit."""
        payload = self.definition["payload"]
        budgets = _TIME_BUDGET.findall(text_of(payload))
        return float(budgets[-1] if budgets else payload.get("maxRunTime", 0))

    @property
    def submitter_scopes(self) -> set[str]:
        """Return the scopes that creating it needs, as queue.createTask documents them."""
        made = self.definition
        return {
            f"queue:scheduler-id:{made['schedulerId']}",
            f"queue:create-task:project:{made.get('projectId', 'none')}",
            f"queue:create-task:{made.get('priority', 'lowest')}:{self.queue}",
            *made["scopes"],
        }


def select_tasks(
    tasks: Sequence["GeneratedTask"], settings: SubmissionOptions, group_id: str
) -> list[NewTask]:
    """Return the pools' tasks of a new group; its id is that of the first task.

    They are interleaved, so that a pool's workers start at different times.
    """
    # By kind as well: tasks of one pool in different kinds are not replicates of each other.
    by_pool: dict[tuple[str, str], list[GeneratedTask]] = {}
    measured = measured_tasks(tasks, settings.queues)
    if settings.gates:
        measured = tasks_of_gates(measured, settings.gates)
        if settings.replicates is None:
            settings = replace(settings, replicates=replicates_for_gates(measured, settings.gates))
    for task in measured:
        by_pool.setdefault((task.pool, task.kind), []).append(task)
    if not by_pool:
        labels = ", ".join(task.label for task in tasks) or "nothing"
        raise UsageError(f"-j selects {labels}, which does not measure a pool; name a pool")
    queued = [list(_replicates(replicates, settings)) for replicates in by_pool.values()]
    interleaved = (task for turn in zip_longest(*queued) for task in turn if task is not None)
    return [
        replace(
            task,
            task_id=derived_id(group_id, number) if number else group_id,
            definition={**task.definition, "taskGroupId": group_id},
        )
        for number, task in enumerate(interleaved)
    ]


def _replicates(tasks: Sequence["GeneratedTask"], settings: SubmissionOptions) -> Iterator[NewTask]:
    first = tasks[0]
    job = job_of(first.label, first.pool)
    if not settings.until_decided and settings.replicates is None:
        for task in tasks:
            yield NewTask(task.label, job, first.pool, _final(task, settings))
        return
    # The kind's own replicates differ by their numbers alone.
    former_end = "-1" if len(tasks) > 1 else ""
    model = _final(first, settings)
    looks = LOOKS if settings.until_decided else (settings.replicates or 1,)
    _name_looks(model, looks)
    for number in range(1, looks[0] + 1):
        end = f"-{number}" if looks[0] > 1 else ""
        made = copy.deepcopy(model)
        rename(made, former_end, end)
        yield NewTask(first.label.removesuffix(former_end) + end, job, first.pool, made)


def _name_looks(definition: Mapping[str, Any], looks: Sequence[int]) -> None:
    """Set the variable that tells a report the planned numbers of replicates."""
    payload = definition["payload"]
    variables = payload.pop("env", {})
    variables.pop(PLAN_VARIABLE, None)
    if max(looks) > 1:
        variables[PLAN_VARIABLE] = ",".join(map(str, looks))
    if variables:
        payload["env"] = variables


def _final(task: "GeneratedTask", settings: SubmissionOptions) -> dict[str, Any]:
    made: dict[str, Any] = copy.deepcopy(dict(task.definition))
    for key in ("dependencies", "requires"):
        made.pop(key, None)
    # The queue's own default for schedulerId.
    made |= {"routes": [], "schedulerId": "-"}
    _set_image(task, made["payload"], settings.image)
    _leave_out_run_task(task, made["payload"])
    image = made["payload"].get("image")
    if isinstance(image, Mapping) and "taskId" in image:
        # A worker takes an image only from a task that the task depends on.
        made["dependencies"] = [image["taskId"]]
    metadata = made["metadata"]
    metadata["description"] = _PUSH_LINK.sub("", metadata["description"])
    metadata["source"] = metadata["source"].replace(_NO_REVISION, "/blob/main/")
    metadata["owner"] = settings.owner
    if "createdForUser" in made.get("tags", {}):
        made["tags"]["createdForUser"] = settings.owner
    queue = settings.queues.get(task.pool, "")
    if queue and queue != f"{made['provisionerId']}/{made['workerType']}":
        made["provisionerId"], made["workerType"] = queue.split("/")
        made.pop("taskQueueId", None)
        metadata["description"] += f"; submitted to {queue} instead"
    if made.get("extra", {}).get("parent") == "":
        del made["extra"]["parent"]
    # taskgraph writes the scope of a cache as a reference to no task.
    made["scopes"] = sorted(
        scope if isinstance(scope, str) else scope["task-reference"]
        for scope in made.get("scopes", ())
    )
    text = json.dumps(made)
    for name in _REFERENCES:
        if f'"{name}"' in text:
            # With a clearer message than the queue's.
            raise UsageError(
                f"{task.label}: has a {name}, and a submission does not create other tasks; select "
                "a different task, or push instead"
            )
    return made


def _leave_out_run_task(task: "GeneratedTask", payload: dict[str, Any]) -> None:
    """Let a native worker start the command itself.

    It would take run-task from a decision task, and there is none. Without a checkout, run-task
    only starts the command.
    """
    if engine_of(payload.get("image"), payload.get("command")) != NATIVE:
        return
    command = line_of_windows(payload) or after_run_task(payload)
    if command is None:
        raise UsageError(
            f"{task.label}: its command is not `run-task … -- …`; select a task that uses run-task"
        )
    payload["command"] = [command]
    mounts = payload.get("mounts", [])
    payload["mounts"] = [mount for mount in mounts if not is_of_run_task(mount)]


def _set_image(task: "GeneratedTask", payload: dict[str, Any], image: Image | None) -> None:
    if "image" not in payload:
        return
    given = payload["image"]
    if isinstance(image, str):
        payload["image"] = image
        # The in-tree image's volumes: run-task would stop at one that another image lacks.
        payload.get("env", {}).pop(VOLUMES, None)
    elif image is not None:
        path = given.get("path") if isinstance(given, Mapping) else None
        payload["image"] = {**image, "path": path} if isinstance(path, str) else image
    elif any(name in str(given) for name in _REFERENCES):
        raise UsageError(
            f"{task.label} runs in the image {task.image or 'of another task'}, which only a "
            "decision task builds; give --image NAME:TAG of a registry, or --image task:ID or "
            "index:NAMESPACE of a task that built it"
        )
