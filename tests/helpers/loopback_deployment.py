# SPDX-License-Identifier: MPL-2.0
"""A Taskcluster in memory: the recorded one, and groups of any size made in its shape."""

import gzip
import json
import random
import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from checkout import ROOT

EXCHANGES = ROOT / "tests" / "fixtures" / "taskcluster" / "exchanges.json"
RESULT = ROOT / "tests" / "fixtures" / "result-v2.json"
STATUS_KEYS = (
    "provisionerId",
    "workerType",
    "taskQueueId",
    "schedulerId",
    "projectId",
    "taskGroupId",
    "priority",
    "deadline",
    "expires",
)
ARTIFACT = "public/io-benchmark/io-benchmark.json"
PROFILE = "public/io-benchmark/task-profile.json"
RESOLVED = ("completed", "failed", "exception")
SCHEDULED = "2026-11-21T08:38:21.418Z"
STARTED = "2026-11-21T08:38:22.384Z"
TAKEN_UNTIL = "2026-11-21T08:58:22.383Z"
ENDED = "2026-11-21T08:48:22.000Z"
GROUP = "Fqm6GL_zRPurCmd1rRuTRQ"
AMD_16 = "Prp_WjpGRx26VH-wA8fjTA"
AMD_30 = "MOdWcuTGQvm3BthmXbZHwg"
INTEL = "Qh77Ox1nTlqlkGLffMbrXg"
FAILED = "WlI9hw2zTUm81V5GhlpAhw"
WITHOUT_ARTIFACT = "P146hPECSxWk--lC-1qGjw"
MALFORMED = "HXAowmvaQ12zvSyauM1SkA"
NO_WORKER = "SdE5-o8jRqmVdKbE7_DEeQ"
RERUN = "WN0Mkk5DTTSPlkXIkgKImw"
UNSCHEDULED = "Em1l8d_cQOWJnihhoFFzCQ"


def run(
    run_id: int = 0, state: str = "completed", reason: str | None = None, **changes: Any
) -> dict[str, Any]:
    """Return a run as the queue shows it."""
    shape = _pending(run_id, "scheduled" if run_id == 0 else "rerun")
    if state != "pending":
        shape |= {
            "state": "running",
            "workerGroup": "us-central1-a",
            "workerId": f"worker-{run_id}",
            "started": STARTED,
            "takenUntil": TAKEN_UNTIL,
        }
    if state in RESOLVED:
        reason = reason or ("worker-shutdown" if state == "exception" else state)
        shape |= {"state": state, "resolved": ENDED, "reasonResolved": reason}
    return shape | changes


def schedule(status: dict[str, Any]) -> None:
    """Make a task pending: its dependencies are resolved."""
    status["runs"].append(_pending(0, "scheduled"))
    status["state"] = "pending"


def cancel(status: dict[str, Any]) -> None:
    """Cancel a task; a resolved one does not change."""
    if status["state"] in RESOLVED:
        return
    if not status["runs"]:
        # It never ran, and gets a run for the reason alone.
        status["runs"].append({**_pending(0, "exception"), "scheduled": ENDED})
    status["runs"][-1] |= {"state": "exception", "resolved": ENDED, "reasonResolved": "canceled"}
    status["state"] = "exception"


def _pending(run_id: int, reason: str) -> dict[str, Any]:
    return {"runId": run_id, "state": "pending", "reasonCreated": reason, "scheduled": SCHEDULED}


@dataclass
class Artifact:
    """Content, or the reason why there is none."""

    body: bytes = b""
    storage_type: str = "s3"
    gzipped: bool = True
    headers: dict[str, str] = field(default_factory=dict)
    url: str | None = None  # for `reference`, and to lead astray
    reason: str = "file-missing-on-worker"
    message: str = "Could not read file '/home/task_x/artifact0.json'"
    content_type: str = "application/json"

    def __post_init__(self) -> None:
        # Now and not when it is asked for: a bomb takes its time, and the client's is short.
        self.stored = gzip.compress(self.body, mtime=0) if self.gzipped else self.body

    def listed(self, name: str) -> dict[str, Any]:
        """Return artifacts as a list shows them."""
        kind = "application/binary" if self.storage_type == "error" else self.content_type
        return {"storageType": self.storage_type, "name": name, "contentType": kind}


@dataclass
class Deployment:
    """The state of queue, index and storage."""

    definitions: dict[str, dict[str, Any]] = field(default_factory=dict)
    statuses: dict[str, dict[str, Any]] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    index: dict[str, str] = field(default_factory=dict)
    artifacts: dict[tuple[str, int, str], Artifact] = field(default_factory=dict)
    # Recorded tokens of recorded pages, by the number of tasks before them.
    tokens: dict[int, str] = field(default_factory=dict)
    page_limit: int = 1000
    # Where tasks are created: what refuses a definition (status, code, message), and what
    # happens to a task once it is there.
    refuse: Callable[[dict[str, Any]], tuple[int, str, str] | None] = lambda _definition: None
    on_create: Callable[["Deployment", str], None] = lambda _deployment, _task_id: None
    # By group and id, as worker-manager shows them; `claims` are what the queue knows.
    workers: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    worker_pools: set[str] | None = None  # None: whoever asks is not told
    empty_worker_pages: int = 0  # of expired workers

    def add(self, definition: dict[str, Any], status: dict[str, Any]) -> str:
        task_id: str = status["taskId"]
        self.definitions[task_id], self.statuses[task_id] = definition, status
        members = self.groups.setdefault(status["taskGroupId"], [])
        if task_id not in members:
            members.append(task_id)
        # The first task of each route: those of one rank do not replace each other at once.
        for route in definition.get("routes", []) if status["state"] == "completed" else ():
            if route.startswith("index."):
                self.index.setdefault(route.removeprefix("index."), task_id)
        return task_id

    def add_task(
        self,
        task_id: str,
        group_id: str,
        label: str,
        kind: str,
        queue: str,
        runs: Sequence[dict[str, Any]] | None = None,
        **definition: Any,
    ) -> str:
        """Add a task in the shape of the queue's, in the state of its last run.

        Without any, completed.
        """
        names = dict(zip(("provisionerId", "workerType"), queue.split("/"), strict=True))
        metadata = {"name": label, "description": "", "owner": "x@y.z", "source": ""}
        tags = {"kind": kind, "label": label}
        made = {"metadata": metadata, "tags": tags, "payload": {}, **definition, **names}
        made["taskGroupId"] = group_id
        return self.add(made, _status(task_id, made, [run()] if runs is None else runs))

    def create(self, task_id: str, definition: dict[str, Any]) -> None:
        """Add a new task, which waits for a worker or other tasks; ignore a known one."""
        if task_id in self.definitions:
            return
        status = _status(task_id, definition, ())
        dependencies = definition.get("dependencies", [])
        if all(self.statuses[task]["state"] == "completed" for task in dependencies):
            schedule(status)
        self.add(definition, status)
        image = definition.get("payload", {}).get("image")
        mounted = image.get("taskId") if isinstance(image, dict) else None
        if mounted in (None, *dependencies):
            self.on_create(self, task_id)
        else:
            # generic-worker: "[mounts] task.dependencies needs to include …".
            status |= {"runs": [run(0, "exception", "malformed-payload")], "state": "exception"}

    def indexed(self, route: str) -> dict[str, Any]:
        return {"namespace": route, "taskId": self.index[route], "rank": 0, "data": {}}

    def set_result(self, task_id: str, run_id: int, artifact: Artifact) -> None:
        self.artifacts[task_id, run_id, ARTIFACT] = artifact

    def leave(
        self, task_id: str, document: Mapping[str, Any], name: str = ARTIFACT, run_id: int = 0
    ) -> None:
        """Add what a run leaves: its result, or another file."""
        self.artifacts[task_id, run_id, name] = Artifact(json.dumps(document).encode())

    def complete(self, task_id: str, document: Mapping[str, Any], **changes: Any) -> None:
        """A worker runs the task, with this result; `changes` are the run's."""
        document["task"].update(task_id=task_id, run_id=0)
        made = run(**{"workerId": f"worker-{task_id}", **changes})
        self.statuses[task_id] |= {"runs": [made], "state": "completed"}
        self.leave(task_id, document)

    def change_runs(self, task_id: str, *states: str) -> None:
        """Replace the runs of a task."""
        status = self.statuses[task_id]
        status["runs"] = [run(number, state) for number, state in enumerate(states)]
        status["state"] = states[-1] if states else "unscheduled"


def _status(
    task_id: str, definition: dict[str, Any], runs: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    complete = shown(task_id, definition)
    return {
        "taskId": task_id,
        **{key: complete[key] for key in STATUS_KEYS if key in complete},
        "retriesLeft": complete["retries"],
        "state": runs[-1]["state"] if runs else "unscheduled",
        "runs": [*runs],
    }


def exchanges() -> list[dict[str, Any]]:
    recorded: list[dict[str, Any]] = json.loads(EXCHANGES.read_text())["exchanges"]
    return recorded


def recorded() -> Deployment:
    """Return the recorded deployment, with results of the present script."""
    deployment = Deployment()
    by_note = {exchange["note"]: exchange["response"]["body"] for exchange in exchanges()}
    count = 0
    for exchange in exchanges():
        body = exchange["response"]["body"]
        if isinstance(body, dict) and "taskGroupId" in body and "tasks" in body:
            for member in body["tasks"]:
                deployment.add(member["task"], member["status"])
                count += 1
            if "continuationToken" in body:
                deployment.tokens[count] = body["continuationToken"]
    indexed = by_note["list tasks in a namespace (GET)"]["tasks"]
    deployment.index |= {task["namespace"]: task["taskId"] for task in indexed}
    for pool, task_id in {"amd-16": AMD_16, "amd-30": AMD_30, "intel": INTEL}.items():
        deployment.set_result(task_id, 0, Artifact(result(pool, task_id, 0)))
    deployment.set_result(FAILED, 0, Artifact(b"{}", gzipped=False))
    for run_id in (0, 1):
        deployment.set_result(RERUN, run_id, Artifact(b"{}", gzipped=False))
    error = by_note["error artifact content descriptor"]
    deployment.set_result(
        WITHOUT_ARTIFACT,
        0,
        Artifact(storage_type="error", reason=error["reason"], message=error["message"]),
    )
    return deployment


def result(pool: str, task_id: str, run_id: int) -> bytes:
    """Return a result file of a pool."""
    body = json.loads(RESULT.read_text())
    body["task"] |= {"pool": pool, "task_id": task_id, "run_id": run_id}
    return json.dumps(body).encode()


def shown(task_id: str, definition: dict[str, Any]) -> dict[str, Any]:
    """Return a definition as the queue shows it: complete, with dates in its form."""
    complete: dict[str, Any] = {
        **{key: [] for key in ("dependencies", "routes", "scopes")},
        **{key: {} for key in ("tags", "extra")},
        "schedulerId": "-",
        "projectId": "none",
        "taskGroupId": task_id,
        "requires": "all-completed",
        "priority": "lowest",
        "retries": 5,
        **definition,
    }
    if "provisionerId" in complete:
        queue = f"{complete['provisionerId']}/{complete['workerType']}"
        complete.setdefault("taskQueueId", queue)
    dates = {"created", "deadline", "expires"} & complete.keys()
    return {**complete, **{key: stamp(complete[key]) for key in dates}}


def stamp(text: str) -> str:
    """Return a date as the queue writes it: milliseconds, UTC."""
    return re.sub(r"(\.[0-9]{3})[0-9]+", r"\1", text)


def slug(dice: random.Random) -> str:
    """Return a task id of the queue's pattern."""
    letters = [dice.choice(string.ascii_letters + string.digits + "-_") for _ in range(22)]
    for place, choice in {8: "QRST", 10: "CGKOSWaeimquy26-", 21: "AQgw"}.items():
        letters[place] = dice.choice(choice)
    return "".join(letters)


def add_group(
    deployment: Deployment,
    count: int,
    *,
    seed: int = 1,
    pools: tuple[str, ...] = ("amd-16", "amd-30", "intel"),
) -> str:
    """Add a group of completed tasks; return its id."""
    dice = random.Random(seed)
    group_id = slug(dice)
    for number in range(count):
        pool = pools[number % len(pools)]
        label = f"io-benchmark-{pool}-{number // len(pools) + 1}"
        script = f'exec python3 -u -B "$application" \\\n  --pool {pool} --workload x\n'
        task_id = deployment.add_task(
            slug(dice),
            group_id,
            label,
            "io-benchmark",
            "proj-misc/b-linux",
            [run(workerId=f"worker-{number}")],
            payload={"command": ["bash", "-cx", f"cat << 'EOF'\nEOF\n{script}"]},
        )
        deployment.set_result(task_id, 0, Artifact(result(pool, task_id, 0)))
    return group_id
