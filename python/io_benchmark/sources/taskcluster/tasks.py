# SPDX-License-Identifier: MPL-2.0
"""A task as the queue describes it, and the record of a run.

The creator of a task wrote its definition. So names become one safe line, and no part of it becomes
a path.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self

from msgspec import Struct

from io_benchmark.sources.run_results import TaskRecord, engine_of, parse_time
from io_benchmark.sources.taskcluster.api_answers import QueueRun, TaskDefinition, TaskStatus
from io_benchmark.text import clean_name

ALL_KIND = "io-benchmark-all"  # every workload, with fewer retrieves
GATE_KIND = "io-benchmark-gate"  # pools with new images, and with the old ones
KINDS = ("io-benchmark", ALL_KIND, GATE_KIND)
REPORT_KIND = "io-benchmark-report"
FLEET_KIND = "io-benchmark-fleet"  # the table of all pools, and the readings that it is made of
_FOLDER = "public/io-benchmark"
ARTIFACT = f"{_FOLDER}/io-benchmark.json"
KEPT_READINGS = f"{_FOLDER}/fleet-readings.json"
_PROFILE = f"{_FOLDER}/task-profile.json"
# Profiles that a task may have, the best first: of `measure`, then those of Firefox's tests and
# builds.
_PROFILES = (
    _PROFILE,
    "public/test_info/profile_resource-usage.json",
    "public/build/profile_build_resources.json",
)

_POOL = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}"
_ROUTE_BY_DATE = re.compile(
    r"index\.([A-Za-z0-9_-]{1,50}\.v2\.[A-Za-z0-9_.-]{1,100}\.date\.io-benchmark\.([^.]{1,100}))"
    r"\.[0-9]{14}"
)
_ARTIFACT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]{0,199}")
# How the transform passes the pool to the script; the script's text has it in quotes at most.
_POOL_ARGUMENT = re.compile(rf"(?<!\S)--pool[ =]({_POOL})(?!\S)")


class QueueTask(Struct, frozen=True):
    status: TaskStatus
    label: str
    kind: str | None
    pool: str | None  # None: neither command nor label name it; the result file does
    image: str | None
    engine: str | None = None  # what runs it
    artifact_expires: datetime | None = None
    revision: str | None = None
    created: datetime | None = None
    own_times: str | None = None  # the artifact that says when its own work began and ended
    profiles: tuple[str, ...] = ()  # artifacts that its definition has room for
    baseline: str | None = None  # the pool that its kind compares others with
    logs: tuple[str, ...] = ()  # the names that its log may have, the best first
    system: str = ""  # linux, windows, macosx; empty: not known
    past: str | None = None  # the namespace of the index that has its pool's results by date

    @classmethod
    def of(cls, definition: TaskDefinition, status: TaskStatus) -> Self:
        """Return a task without its definition's text, which may have 100 kB."""
        payload = definition.decoded_payload()
        names = (definition.tags.label or "", definition.metadata.name)
        label = next(filter(None, map(clean_name, names)), status.task_id)
        kind = definition.tags.kind
        pool = _pool_of_command(payload.command) or _pool_of_label(label, kind)
        # A task's source is the address of its kind.yml at its revision.
        revision = re.search(r"/(?:blob|file|raw|rev)/([0-9a-f]{40})/", definition.metadata.source)
        return cls(
            status=status,
            label=label,
            kind=kind,
            pool=pool,
            image=_image(payload.image),
            engine=engine_of(payload.image, payload.command),
            artifact_expires=_artifact_expires(payload.artifacts, definition.expires),
            revision=revision[1] if revision else None,
            created=parse_time(definition.created),
            own_times=_own_times(payload.artifacts, kind),
            profiles=_profiles(payload.artifacts),
            past=_past(definition.routes, pool),
            # A task may run on a kind of Linux, such as linux-bitbar.
            system=clean_name(definition.tags.os or "").partition("-")[0],
            baseline=definition.baseline,
            logs=_logs(payload.log, payload.logs),
        )

    @property
    def task_id(self) -> str:
        return self.status.task_id

    @property
    def is_decision(self) -> bool:
        return self.kind in ("decision-task", "cron-task")

    @property
    def adds_tasks(self) -> bool:
        return self.is_decision or self.kind == "action-callback"

    @property
    def is_benchmark(self) -> bool:
        return self.kind in KINDS

    @property
    def work(self) -> str:
        """Return what to run again, where a result or a profile is missing."""
        return "benchmark" if self.is_benchmark else "task"

    @property
    def ending(self) -> str:
        """Return how the newest run ended, else the task's state."""
        runs = self.status.runs
        return runs[-1].ending if runs else f"is {clean_name(self.status.state)}"

    def title(self, run: QueueRun | None = None) -> str:
        """Return `task ID run 0 (io-benchmark-amd-16)`."""
        shown_run = "" if run is None else f" run {run.run_id}"
        return f"task {self.task_id}{shown_run} ({self.label})"

    def was_created_after(self, runs: Sequence[QueueRun]) -> bool:
        """Return whether it was created after all of these runs had started."""
        started = [date for date in (parse_time(run.started) for run in runs) if date is not None]
        return self.created is not None and bool(started) and self.created > max(started)

    def advice_on_run(self, run: QueueRun) -> str:
        """Advise what to do about a resolved run that left no result."""
        unresolved = (retry for retry in self.status.runs if not retry.is_resolved)
        newest = max(unresolved, key=lambda retry: retry.run_id, default=run)
        if newest.run_id > run.run_id:
            state = clean_name(newest.state)
            return f"run {newest.run_id} is {state}; read it again when that has ended"
        if run.started is None:
            return f"it never started, so that there is no log; run the {self.work} again"
        if run.reason_resolved == "claim-expired":
            return f"its worker died and left no log; run the {self.work} again"
        return "look at the task's log, or run it again"

    def record(self, run: QueueRun, pool: str) -> TaskRecord:
        """Return what only the queue knows about a run."""
        reason = run.reason_resolved
        return TaskRecord(
            task_id=self.task_id,
            run_id=run.run_id,
            label=self.label,
            pool=pool,
            task_queue=self.status.queue,
            worker_group=clean_name(run.worker_group or ""),
            worker_id=clean_name(run.worker_id or ""),
            state=clean_name(run.state),
            image=self.image,
            started=clean_name(run.started or ""),
            resolved=clean_name(run.resolved or ""),
            reason_resolved=None if reason is None else clean_name(reason),
            task_group_id=self.status.task_group_id,
            revision=self.revision,
            baseline=self.baseline,
            engine=self.engine,
        )


def _pool_of_command(command: Any) -> str | None:
    """Return the last `--pool NAME`: the script comes before the line that starts it.

    A command is a list (docker-worker) or a list of lists (generic-worker).
    """
    parts = command if isinstance(command, list) else [command]
    lines = (" ".join(word for word in part if isinstance(word, str)) if isinstance(part, list)
             else part for part in parts)  # fmt: skip
    names = _POOL_ARGUMENT.findall("\n".join(line for line in lines if isinstance(line, str)))
    return names[-1] if names else None


def _pool_of_label(label: str, kind: str | None) -> str | None:
    """Return amd-16 for `io-benchmark-amd-16` of kind `io-benchmark`."""
    pool = label.removeprefix(f"{kind}-")
    return pool if pool != label and re.fullmatch(_POOL, pool) else None


def _image(image: Any) -> str | None:
    """Return the image: a name, or an artifact of a task, by id or by index."""
    if isinstance(image, str):
        return clean_name(image)
    if isinstance(image, dict):
        parts = [image.get(key) for key in ("namespace", "taskId", "name", "path")]
        return clean_name("/".join(part for part in parts if isinstance(part, str))) or None
    return None


def _past(routes: Sequence[str], pool: str | None) -> str | None:
    """Return the namespace of a pool's results by date, as the transform `index` writes it."""
    matches = filter(None, map(_ROUTE_BY_DATE.fullmatch, routes))
    return next((match[1] for match in matches if match[2].replace("~", ".") == pool), None)


def _own_times(artifacts: Any, kind: str | None) -> str | None:
    """Return the result of a benchmark's task, or the profile of a task that `measure` wraps."""
    if kind in KINDS:
        return ARTIFACT
    return _PROFILE if _FOLDER in (name for name, _ in _artifact_entries(artifacts)) else None


def _profiles(artifacts: Any) -> tuple[str, ...]:
    """Return the profiles that are in one of the task's artifacts, or are one."""
    names = tuple(f"{name}/" for name, _ in _artifact_entries(artifacts) if isinstance(name, str))
    return tuple(profile for profile in _PROFILES if f"{profile}/".startswith(names))


def _logs(live: Any, names: Any) -> tuple[str, ...]:
    """Return what its log is called: the whole one, then the one that grows."""
    backing = None
    if isinstance(names, dict):
        live, backing = names.get("live"), names.get("backing")
    if not (isinstance(live, str) and _ARTIFACT_NAME.fullmatch(live)):
        live = "public/logs/live.log"
    if not (isinstance(backing, str) and _ARTIFACT_NAME.fullmatch(backing)):
        backing = f"{live.rpartition('/')[0]}/live_backing.log".lstrip("/")
    return backing, live


def _artifact_entries(artifacts: Any) -> list[tuple[Any, Any]]:
    if isinstance(artifacts, dict):  # docker-worker: by name
        return [(key, entry) for key, entry in artifacts.items()]
    if isinstance(artifacts, list):  # generic-worker: with a name
        return [(entry.get("name"), entry) for entry in artifacts if isinstance(entry, dict)]
    return []


def _artifact_expires(artifacts: Any, task_expires: str | None) -> datetime | None:
    """Return the artifact's date of expiry, else the task's."""
    stamps = [
        entry.get("expires")
        for key, entry in _artifact_entries(artifacts)
        if isinstance(key, str) and isinstance(entry, dict) and f"{ARTIFACT}/".startswith(f"{key}/")
    ]
    return next(filter(None, map(parse_time, (*stamps, task_expires))), None)
