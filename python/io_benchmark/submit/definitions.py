# SPDX-License-Identifier: MPL-2.0
"""Make final task definitions for the queue from generated tasks.

Routes are dropped, because they would add a push to the index and to Treeherder, and there is no push.
Pure: no clock, no network.
"""

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from io_benchmark.errors import UsageError
from io_benchmark.results.format import PLAN_VARIABLE
from io_benchmark.sources.taskcluster.addresses import IndexAddress, TaskAddress, parse
from io_benchmark.submit import sizes
from io_benchmark.text import clean, clean_name

if TYPE_CHECKING:
    from io_benchmark.graph.generate import GeneratedTask

PRIORITIES = ("highest", "very-high", "high", "medium", "low", "very-low", "lowest")
UNGROUPED = "-"  # the queue's own default for schedulerId
QUEUE_NAME = re.compile(r"[a-zA-Z0-9_-]{1,38}/[a-z]([-a-z0-9]{0,36}[a-z0-9])?")
VOLUMES = "TASKCLUSTER_VOLUMES"
IMAGE_ARTIFACT = "public/image.tar.zst"  # where taskgraph's docker-image tasks leave theirs
# Registry, path, tag and digest; Docker itself judges the details.
_IMAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,254}")
_NO_REVISION = "/blob/" + "0" * 40 + "/"
_PUSH_LINK = re.compile(r" \(\[Treeherder push\]\([^ ]*\)\)$")
_REFERENCES = ("task-reference", "artifact-reference", "docker-image-reference")

# In the form of a docker-worker payload: a registry's name, or a task that built it.
Image = str | dict[str, str]


class SubmissionSettings(Struct, frozen=True):
    """Changes to the kind's tasks from the command line."""

    image: Image | None = None
    pools: Mapping[str, str] = field(default_factory=dict)  # pool -> PROVISIONER/WORKERTYPE
    replicates: int | None = None  # None: as many as the kind has
    priority: str | None = None
    scheduler: str = UNGROUPED
    profile: str = sizes.FULL
    owner: str | None = None  # an e-mail address; None: the kind's own
    # Workers per pool at which results are compared until they decide; none: all tasks at once.
    looks: tuple[int, ...] = ()
    budget_hours: float | None = None  # of worker time, for all looks


class SelectedTask(Struct, frozen=True):
    """A task to create; its dates are still relative, and it has neither an id nor a group."""

    label: str
    job: str  # the label without a replicate's number
    pool: str
    definition: Mapping[str, Any]

    @property
    def queue(self) -> str:
        return f"{self.definition['provisionerId']}/{self.definition['workerType']}"


class GroupMember(Struct, frozen=True):
    """A task of a submission's group, by what identifies it."""

    task_id: str
    label: str


class ReadyTask(GroupMember, frozen=True):
    """A task that can be created without further changes."""

    definition: Mapping[str, Any]


def parse_image(text: str) -> Image:
    """Parse --image: `NAME[:TAG]` of a registry, `task:ID` or `index:NAMESPACE` of a task with an image."""
    if text.startswith(("task:", "index:")):
        # Without an environment, because the payload does not depend on the deployment.
        meaning = parse(text, {})
        if isinstance(meaning, TaskAddress) and meaning.run_id is None:
            return {"type": "task-image", "taskId": meaning.task_id, "path": IMAGE_ARTIFACT}
        if isinstance(meaning, IndexAddress):
            return {"type": "indexed-image", "namespace": meaning.route, "path": IMAGE_ARTIFACT}
    elif _IMAGE_NAME.fullmatch(text):
        return text
    raise UsageError(
        f"--image {clean(text, 200)}: is not an image; give a registry's NAME:TAG, or task:ID or "
        "index:NAMESPACE of a task that built one"
    )


def select_tasks(
    tasks: Sequence["GeneratedTask"], settings: SubmissionSettings
) -> tuple[SelectedTask, ...]:
    """Return the pools' tasks, interleaved so that a pool's workers start at different times."""
    # By kind as well: tasks of one pool in different kinds are not replicates of each other.
    of_pools: dict[tuple[str, str], list[GeneratedTask]] = {}
    for task in tasks:
        if task.pool:
            of_pools.setdefault((task.pool, task.kind), []).append(task)
    if not of_pools:
        labels = ", ".join(task.label for task in tasks) or "nothing"
        raise UsageError(f"-j selects {labels}, which does not measure a pool; name a pool")
    pools = list(dict.fromkeys(pool for pool, _ in of_pools))
    for pool, queue in settings.pools.items():
        if pool not in pools:
            known = ", ".join(pools)
            shown = f"{clean_name(pool)}={queue}"
            raise UsageError(f"--pool {shown}: pool is not selected; choose one of {known}")
    queued = [list(_of_pool(some, settings)) for some in of_pools.values()]
    return tuple(task for turn in zip_longest(*queued) for task in turn if task is not None)


def job_of(label: str, pool: str) -> str | None:
    """Return a label without what was added to it; None where it is not of the pool.

    Replicates have a number, confirming tasks `-confirm`.
    """
    match = re.fullmatch(rf"(.+?-{re.escape(pool)})(-confirm)?(-[0-9]+)?", label)
    return match and match[1]


def _of_pool(
    tasks: Sequence["GeneratedTask"], settings: SubmissionSettings
) -> Iterator[SelectedTask]:
    pool = tasks[0].pool
    job = job_of(tasks[0].label, pool) or tasks[0].label
    if settings.replicates is None:
        for task in tasks:
            yield SelectedTask(task.label, job, pool, _final(task, settings))
        return
    # The kind's own replicates differ by their numbers alone.
    model = _final(tasks[0], settings)
    label = tasks[0].label
    if len(tasks) > 1:
        model, label = _renamed(model, label, -1), label.removesuffix("-1")
    model = _planned(model, settings.looks or (settings.replicates,))
    for number in range(1, settings.replicates + 1):
        if settings.replicates == 1:
            yield SelectedTask(label, job, pool, model)
        else:
            named = _renamed(model, label, number)
            yield SelectedTask(f"{label}-{number}", job, pool, named)


def _planned(definition: Mapping[str, Any], looks: Sequence[int]) -> dict[str, Any]:
    """Set the variable that tells a report the planned numbers of replicates."""
    payload = dict(definition["payload"])
    environment = {
        name: value for name, value in payload.pop("env", {}).items() if name != PLAN_VARIABLE
    }
    if max(looks) > 1:
        environment[PLAN_VARIABLE] = ",".join(map(str, looks))
    return {**definition, "payload": payload | ({"env": environment} if environment else {})}


def _renamed(definition: Mapping[str, Any], label: str, number: int) -> dict[str, Any]:
    """Number the label and the symbol as this replicate; -1 removes the number of the first."""

    def name(text: str) -> str:
        return text.removesuffix("-1") if number < 0 else f"{text}-{number}"

    made: dict[str, Any] = copy.deepcopy(dict(definition))
    made["metadata"]["name"] = name(label)
    if "label" in made.get("tags", {}):
        made["tags"]["label"] = name(label)
    treeherder = made.get("extra", {}).get("treeherder", {})
    if "symbol" in treeherder:
        treeherder["symbol"] = name(treeherder["symbol"])
    return made


def _final(task: "GeneratedTask", settings: SubmissionSettings) -> dict[str, Any]:
    made: dict[str, Any] = copy.deepcopy(dict(task.definition))
    for key in ("dependencies", "requires"):
        made.pop(key, None)
    made["routes"] = []
    if settings.priority is not None:
        made["priority"] = settings.priority
    _set_image(task, made["payload"], settings.image)
    image = made["payload"].get("image")
    if isinstance(image, Mapping) and "taskId" in image:
        # A worker takes an image only from a task that the task depends on.
        made["dependencies"] = [image["taskId"]]
    metadata = made["metadata"]
    metadata["description"] = _PUSH_LINK.sub("", metadata["description"])
    metadata["source"] = metadata["source"].replace(_NO_REVISION, "/blob/main/")
    if settings.owner is not None:
        _set_owner(made, settings.owner)
    if settings.profile == sizes.QUICK:
        sizes.make_quick(made)
    if task.pool in settings.pools:
        queue = settings.pools[task.pool]
        made["provisionerId"], made["workerType"] = queue.split("/")
        made.pop("taskQueueId", None)
        metadata["description"] += f"; submitted to {queue} instead"
    if made.get("extra", {}).get("parent") == "":
        del made["extra"]["parent"]
    made["scopes"] = sorted({*made.get("scopes", ()), *_payload_scopes(made["payload"])})
    _refuse_references(task.label, made, "")
    return made


def _set_owner(definition: dict[str, Any], owner: str) -> None:
    """Set the owner for the queue and for the pages of Treeherder and Taskcluster."""
    definition["metadata"]["owner"] = owner
    if "createdForUser" in definition.get("tags", {}):
        definition["tags"]["createdForUser"] = owner


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


def _payload_scopes(payload: Mapping[str, Any]) -> Iterator[str]:
    """Return the scopes that docker-worker requires for the payload."""
    for cache in payload.get("cache") or {}:
        yield f"docker-worker:cache:{cache}"
    capabilities = payload.get("capabilities") or {}
    if capabilities.get("privileged"):
        yield "docker-worker:capability:privileged"
    for device, wanted in (capabilities.get("devices") or {}).items():
        if wanted:
            yield f"docker-worker:capability:device:{device}"


def _refuse_references(label: str, value: Any, path: str) -> None:
    """Refuse references to other tasks, with a clearer message than the queue's."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in _REFERENCES:
                raise UsageError(
                    f"{label}: {path.lstrip('.')} refers to another task ({inner}), which a "
                    "submission does not create; select a different task, or push instead"
                )
            _refuse_references(label, inner, f"{path}.{key}")
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            _refuse_references(label, inner, f"{path}[{at}]")


def submitter_scopes(tasks: Sequence[SelectedTask], scheduler: str) -> list[str]:
    """Return the scopes that creating these tasks needs, as queue.createTask documents them."""
    scopes = {f"queue:scheduler-id:{scheduler}"}
    for task in tasks:
        made = task.definition
        project = made.get("projectId", "none")
        queue = f"{made['provisionerId']}/{made['workerType']}"
        scopes.add(f"queue:create-task:project:{project}")
        scopes.add(f"queue:create-task:{made.get('priority', 'lowest')}:{queue}")
        scopes.update(made["scopes"])
    return sorted(scopes)
