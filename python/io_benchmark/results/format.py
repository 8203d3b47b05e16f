# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The parts of the result file and their types, as the worker's script writes them.

Unknown keys are skipped, so that a newer script may add keys within one version. Entries of an unknown
workload are skipped as well, and the reader names them.

Versions:
  1 (2026-11)     the first; entries of cache-retrieve, random-io, spawn, sync-write, metadata, exec
                  and upload; still read, see `version_1`
  2 (2026-11-22)  `outcome`, of the run and of each entry, says how it ended as data; before, there
                  were `completed` and a sentence in `incomplete_reason`
"""

import math
from collections.abc import Iterable
from typing import Annotated, Any, Union

from msgspec import Meta, defstruct, field

from io_benchmark.results.common_types import (
    Count,
    Few,
    FileSizes,
    Many,
    Name,
    ResultOutcome,
    ResultPart,
    SparseColumn,
    Text,
)
from io_benchmark.results.workload import BatchEntry
from io_benchmark.results.workloads.cache_retrieve import CacheRetrieveEntry

VERSION = 2
OLDEST_VERSION = 1
MAXIMUM_ENTRIES = 400
# Set for each of several tasks of a pool that are created at once: how many they are.
PLAN_VARIABLE = "IO_BENCHMARK_REPLICATES"

# One of the types in `workloads`, by the entry's name; the reader and the schema know all of them.
AnyEntry = CacheRetrieveEntry | BatchEntry
TimelineColumns = Annotated[dict[Text, SparseColumn], Few]


class Script(ResultPart, frozen=True):
    version: Text
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class _CiJob(ResultPart, frozen=True):
    """The job of another CI system than Taskcluster, by its environment: text that anyone may set."""

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


class ProfiledTask(ResultPart, frozen=True):
    """The task, by the worker's environment; all but the pool null outside Taskcluster."""

    pool: Name | None
    task_id: Text | None
    task_group_id: Text | None
    run_id: Count | None
    root_url: Text | None
    instance_type: Text | None
    location: Annotated[dict[Text, Text], Few]
    ci: _CiJob | None = None


class _RecordedTask(ProfiledTask, frozen=True):
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
    destinations: Annotated[list[Name], Few]
    fidelity: Name
    retrieves: Count
    sizes_bytes: FileSizes | None
    seed: int
    precision_ratio: float | None
    time_budget_s: float | None
    artifacts: Text
    environment: Annotated[dict[Text, Text], Many]
    upload_url: Text | None = None
    perfherder: Name = "pool"  # one series per pool; "neutral": one that all pools share
    trials: Name = "never"
    pace_bytes_per_s: Count | None = None


class _Tool(ResultPart, frozen=True):
    path: Text
    version: Text | None


class _Container(ResultPart, frozen=True):
    engine: Text | None
    root_filesystem: Text | None


class Host(ResultPart, frozen=True):
    kernel: Text
    kernel_version: Text
    architecture: Text
    distribution: Text | None
    cpu_model: Text | None
    cpu_count: Count
    cpu_online_count: Count | None
    l3_cache_bytes: Count | None
    memory_bytes: Count | None
    memory_available_bytes: Count | None
    machine_vendor: Text | None
    machine_product: Text | None
    boot_id: Text | None
    container: _Container | None
    user_id: Count
    transparent_huge_pages: Text | None
    vm: Annotated[dict[Text, int | None], Many]
    first_touch_ns_per_mib: Annotated[list[Count], Many]
    tools: Annotated[dict[Text, _Tool | None], Few]
    machine_id: Text | None = None  # a hash of /etc/machine-id; null in a container

    def usable_cpus(self, limits: "Limits | None") -> float:
        """Return how many CPUs a task may use at once: the machine's, or its quota."""
        count = float(self.cpu_online_count or self.cpu_count)
        quota = limits.cpu_quota if limits is not None else None
        return count if quota is None else min(count, quota)


class _PlaceMount(ResultPart, frozen=True):
    device: Text
    root: Text
    point: Text
    options: Text
    filesystem: Text
    source: Text
    super_options: Text


class _Overlay(ResultPart, frozen=True):
    lower_layers: Count
    upper_directory: Text | None
    volatile: bool


class _Filesystem(ResultPart, frozen=True):
    type: Text
    ext4_options: Annotated[list[Text], Many] | None
    btrfs_data_profiles: Annotated[list[Text], Few] | None


class _Probe(ResultPart, frozen=True):
    """8 MiB written and fsync'd: the devices that wrote them, and the time of fsync."""

    failed: Text | None
    fsync_ns: Count | None
    written_bytes: Annotated[dict[Text, Count], Many] | None


class Device(ResultPart, frozen=True):
    """A block device; keys that only a leaf has are unset for the others."""

    name: Text
    number: Text | None
    kind: Text
    below: Annotated[list[Text], Many]
    size_bytes: Count | None
    stripe_count: Count | None
    minimum_io_bytes: Count | None
    optimal_io_bytes: Count | None
    mapper_name: Text | None
    raid_level: Text | None
    backing_file: Text | None
    model: Text | None = None
    vendor: Text | None = None
    scheduler: Text | None = None
    scheduler_settings: Annotated[dict[Text, int], Few] = field(default_factory=dict)
    queue: Annotated[dict[Text, int], Few] = field(default_factory=dict)
    write_cache: Text | None = None


class StoragePlace(ResultPart, frozen=True):
    """The storage of a place; `failed` says why it could not be observed."""

    name: Name
    path: Text
    failed: Text | None = None
    resolved_path: Text | None = None
    kind: Text | None = None
    mount: _PlaceMount | None = None
    overlay: _Overlay | None = None
    filesystem: _Filesystem | None = None
    size_bytes: Count | None = None
    free_bytes: Count | None = None
    reflink: bool | None = None
    probe: _Probe | None = None
    devices: Annotated[list[Device], Many] = field(default_factory=list)
    identified_by: Text | None = None

    @property
    def leaf_devices(self) -> list[Device]:
        return [device for device in self.devices if not device.below]


class _Storage(ResultPart, frozen=True):
    places: Annotated[list[StoragePlace], Few]


class IoLimit(ResultPart, frozen=True):
    group: Text
    device: Text
    device_name: Text | None
    kind: Text
    value: Count


class _Weight(ResultPart, frozen=True):
    group: Text
    file: Text
    text: Text


class _MemoryLimit(ResultPart, frozen=True):
    group: Text
    file: Text
    bytes: int


class _CpuLimit(ResultPart, frozen=True):
    group: Text
    quota_us: Count
    period_us: Count


class Limits(ResultPart, frozen=True):
    cgroup_versions: Annotated[list[Text], Few]
    groups: Annotated[dict[Text, Text], Few]
    io: Annotated[list[IoLimit], Many]
    weights: Annotated[list[_Weight], Many]
    memory: Annotated[list[_MemoryLimit], Many]
    cpu: Annotated[list[_CpuLimit], Many]
    ulimits: Annotated[dict[Text, int | None], Few]

    @property
    def cpu_quota(self) -> float | None:
        """Return how many CPUs may be used at once; None without a quota."""
        quotas = (limit.quota_us / limit.period_us for limit in self.cpu if limit.period_us)
        return min(quotas, default=None)


class RecordedTimeline(ResultPart, frozen=True):
    """Columns by name, one value per second; a device's columns are under its name.

    The reader returns the columns as arrays, or as a sequence with `None` where a value is missing.
    """

    interval_s: float
    columns: TimelineColumns
    devices: Annotated[dict[Text, TimelineColumns], Many]

    @property
    def inconsistency(self) -> str | None:
        """Return the first inconsistency between values, as 'key: problem', or None."""
        if not math.isfinite(self.interval_s):
            return "$.timeline.interval_s: is not a finite number"
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
    script: Script
    started: Text
    ended: Text | None
    duration_ns: Count
    task: _RecordedTask
    config: _Config
    host: Host | None
    storage: _Storage
    limits: Limits | None
    workloads: Annotated[list[AnyEntry], Meta(max_length=MAXIMUM_ENTRIES)]
    timeline: RecordedTimeline | None
    warnings: Annotated[list[Remark], Many]
    outcome: ResultOutcome

    @property
    def identity(self) -> tuple[str | int | None, ...]:
        """What tells a run from all others, also where no task id does: its duration has nanoseconds."""
        task = self.task
        boot_id = self.host.boot_id if self.host is not None else None
        return task.task_id, task.run_id, task.pool, boot_id, self.started, self.duration_ns

    @classmethod
    def with_entries(cls, kinds: Iterable[type[ResultPart]]) -> type[Any]:
        """Return this type with entries of these types."""
        entries: Any = Union[tuple(kinds)]  # noqa: UP007
        return defstruct(
            "Result",
            [("workloads", Annotated[list[entries], Meta(max_length=MAXIMUM_ENTRIES)])],
            bases=(cls,),
            namespace={"__doc__": Result.__doc__},
            frozen=True,
            kw_only=True,
        )
