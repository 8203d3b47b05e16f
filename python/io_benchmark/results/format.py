# SPDX-License-Identifier: MPL-2.0
"""The result file and the profile of a task, in parts and types, as the worker writes them.

Unknown keys are skipped, so that a newer script may add keys within one version. Entries of an
unknown workload are skipped as well, and the reader names them.

Versions:
  1 (2026-11)     the first; no release wrote it, and it is not read
  2 (2026-11-22)  `outcome`, of the run and of each entry, says how it ended as data; before, there
                  were `completed` and a sentence in `incomplete_reason`
Versions of the profile:
  1 (2026-11-22)  the first
"""

import re
from typing import TYPE_CHECKING, Annotated, Union

from msgspec import Meta, defstruct

from io_benchmark.results.machine import Host, Limits, Storage
from io_benchmark.results.parts import (
    BatchEntry,
    Count,
    Few,
    Finite,
    Many,
    Name,
    Nanoseconds,
    ResultOutcome,
    ResultPart,
    Setting,
    SparseColumn,
    Text,
)
from io_benchmark.results.workloads import IN_BATCHES
from io_benchmark.results.workloads.cache_retrieve import CacheRetrieveEntry

VERSION = 2
PROFILE_VERSION = 1
MAXIMUM_ENTRIES = 400
# The queue's own pattern for a task id (a slug: 22 characters of URL-safe base64 of a v4 UUID).
SLUG_PATTERN = r"[A-Za-z0-9_-]{8}[Q-T][A-Za-z0-9_-][CGKOSWaeimquy26-][A-Za-z0-9_-]{10}[AQgw]"
# How many tasks of a pool were created at once; each of them has this variable.
PLAN_VARIABLE = "IO_BENCHMARK_REPLICATES"

# A URL that is the same in HTML, in Markdown and on a terminal; it names its host and no user.
_LINK = re.compile(
    r"https?://[A-Za-z0-9.-]+(:[0-9]+)?([/?#][A-Za-z0-9._~:/?#$*+,=&%!-]*)?", re.ASCII
)

if TYPE_CHECKING:
    AnyEntry = CacheRetrieveEntry | BatchEntry
else:  # those of all workloads, by the entry's name
    _BATCH_ENTRIES = (
        defstruct(f"{name}-entry", (), bases=(BatchEntry,), frozen=True, tag_field="name", tag=name)
        for name in sorted(IN_BATCHES)
    )
    AnyEntry = Union[CacheRetrieveEntry, *_BATCH_ENTRIES]
TimelineColumns = Annotated[dict[Text, SparseColumn], Few]


class _Script(ResultPart, frozen=True):
    version: Text
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class _CiJob(ResultPart, frozen=True):
    """The job of another CI system than Taskcluster, by variables that anyone may set."""

    system: Text
    run: Text | None = None
    attempt: Count | None = None
    job: Text | None = None
    url: Text | None = None

    @property
    def group(self) -> str | None:
        """Name the jobs that were started together."""
        if self.run is None:
            return None
        # Jenkins numbers the runs of each job.
        of_job = f" {self.job}" if self.job and self.system == "jenkins" else ""
        return f"{self.system}{of_job} {self.run}"

    @property
    def task_id(self) -> str | None:
        """Name the job; the jobs of a matrix may have the same name."""
        if self.group is None or self.job is None or self.system == "jenkins":
            return self.group
        return f"{self.group}/{self.job}"

    @property
    def link(self) -> str | None:
        """Return the job's URL, if a report can link to it: of the web, with nothing to escape."""
        is_link = self.url and len(self.url) <= 300 and _LINK.fullmatch(self.url)
        return self.url if is_link else None


class _ProfiledTask(ResultPart, frozen=True):
    """The task, by the worker's environment; all but the pool null outside Taskcluster."""

    pool: Name | None
    task_id: Text | None
    task_group_id: Text | None
    run_id: Count | None
    root_url: Text | None
    instance_type: Text | None
    location: Annotated[dict[Text, Text], Few]
    ci: _CiJob | None = None


class _RecordedTask(_ProfiledTask, frozen=True):
    """The task of a benchmark, which names its pool."""

    pool: Name

    @property
    def name(self) -> tuple[str | None, int | None]:
        """Return the ids of the task and its run, or what another CI system has in their place."""
        if self.task_id is not None or self.ci is None:
            return self.task_id, self.run_id
        return self.ci.task_id, self.ci.attempt

    @property
    def group(self) -> str | None:
        """Return what the tasks of one push have in common."""
        return self.task_group_id or (self.ci.group if self.ci is not None else None)


class _ConfiguredPlace(ResultPart, frozen=True):
    name: Name
    path: Text


class _Config(ResultPart, frozen=True):
    """The settings of the run."""

    profile: Text
    workloads: Annotated[list[Name], Few]
    places: Annotated[list[_ConfiguredPlace], Few]
    retrieves: Count
    seed: Setting
    time_budget_s: Finite | None
    environment: Annotated[dict[Text, Text], Many]
    trials: Name = "never"
    pace_bytes_per_s: Count | None = None


class RecordedTimeline(ResultPart, frozen=True):
    """Columns by name, one value per second; a device's columns are under its name.

    The reader returns the columns as arrays, or as a sequence with `None` where a value is missing.
    """

    columns: TimelineColumns
    devices: Annotated[dict[Text, TimelineColumns], Many]

    @property
    def inconsistency(self) -> str | None:
        tables = (self.columns, *self.devices.values())
        if len({len(column) for columns in tables for column in columns.values()}) > 1:
            return "$.timeline: its columns differ in length"
        return None


class Remark(ResultPart, frozen=True):
    name: Name
    message: Text


class Result(ResultPart, frozen=True):
    """One task's measurement on one worker."""

    version: Annotated[int, Meta(ge=VERSION, le=VERSION)]
    script: _Script
    started: Text
    ended: Text | None
    duration_ns: Count
    task: _RecordedTask
    config: _Config
    host: Host | None
    storage: Storage
    limits: Limits | None
    workloads: Annotated[list[AnyEntry], Meta(max_length=MAXIMUM_ENTRIES)]
    timeline: RecordedTimeline | None
    warnings: Annotated[list[Remark], Many]
    outcome: ResultOutcome
    # On Windows: how often another program held a file, so that a call was repeated.
    sharing_violations: Count | None = None

    @property
    def identity(self) -> tuple[str | int | None, ...]:
        """Identify a run, also without a task id, because its duration is in nanoseconds."""
        task = self.task
        boot_id = self.host.boot_id if self.host is not None else None
        return task.task_id, task.run_id, task.pool, boot_id, self.started, self.duration_ns

    @property
    def inconsistency(self) -> str | None:
        for number, entry in enumerate(self.workloads):
            problem = entry.inconsistency
            if problem:
                return f"$.workloads[{number}].{problem}"
        return self.timeline.inconsistency if self.timeline is not None else None


class _Command(ResultPart, frozen=True):
    """What ran, without its arguments: these may hold what must not be public."""

    program: Text
    arguments: Count  # how many
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]  # of all words, with a zero byte between
    label: Text | None = None  # of the task, by --label


class _Ending(ResultPart, frozen=True):
    """The exit code, or the signal that ended the command; `error` says why it was not started."""

    code: Count | None
    signal: Count | None
    error: Text | None


class _Usage(ResultPart, frozen=True):
    """CPU time of the command and of all processes that were waited for."""

    user_ns: Count
    kernel_ns: Count


class _Syncs(ResultPart, frozen=True):
    """What the kernel counted of synchronous writes, also of those of other tasks."""

    flushes: Count | None  # requests to flush the cache of a disk; the most of the place's disks
    commits: Count | None  # requested commits of an ext4 journal


class TaskProfile(ResultPart, frozen=True):
    """What one command asked of one machine, as `measure` in the worker's script writes it.

    A part that is null is not known; `unknown` has the reason, by the path of its keys. The
    timeline's counters and `syncs` are the whole machine's, so they include other tasks.
    """

    version: Annotated[int, Meta(ge=PROFILE_VERSION, le=PROFILE_VERSION)]
    script: _Script
    started: Text
    ended: Text
    task: _ProfiledTask
    command: _Command
    ending: _Ending
    wall_ns: Nanoseconds
    usage: _Usage | None
    other_cpu_ms: Count | None  # CPU time of all but the command and the measuring
    syncs: Annotated[dict[Name, _Syncs], Few]
    host: Host
    limits: Limits
    storage: Storage
    timeline: RecordedTimeline
    unknown: Annotated[dict[Text, Text], Many]
