# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The result file: its format, and the only way to read one.

Anyone's task can have written it, so nothing in it is trusted: it is bounded in size, strict in
its types, and consistent in itself before anything else sees it. Keys that this program does not
know are passed over, so that a newer script may add some within one version.

Versions:
  1 (2026-11)  the first
"""

import math
import re
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from io_benchmark.errors import ResultError

VERSION = 1
MAXIMUM_BYTES = 64 * 1024 * 1024
MAXIMUM_RETRIEVES = 1_000_000

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Text = Annotated[str, Meta(max_length=10_000)]
Name = Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]
Column = Annotated[list[Count], Meta(max_length=MAXIMUM_RETRIEVES)]
SparseColumn = Annotated[list[Count | None], Meta(max_length=MAXIMUM_RETRIEVES)]


class Record(Struct, frozen=True, kw_only=True):
    """The base of every part of the file."""


class Script(Record):
    version: Text
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Task(Record):
    """What the worker's environment says of the task; null outside Taskcluster."""

    pool: Name
    task_id: Text | None
    task_group_id: Text | None
    run_id: Count | None
    root_url: Text | None
    instance_type: Text | None
    location: dict[Text, Text]


class Place(Record):
    name: Name
    path: Text


class Config(Record):
    """What was in force."""

    profile: Text
    workloads: list[Name]
    places: list[Place]
    destinations: list[Name]
    fidelity: Name
    retrieves: Count
    sizes_bytes: list[Count] | None
    seed: int
    precision_ratio: float | None
    time_budget_s: float | None
    artifacts: Text
    environment: dict[Text, Text]


class Tool(Record):
    path: Text
    version: Text | None


class Container(Record):
    engine: Text | None
    root_filesystem: Text | None


class Host(Record):
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
    container: Container | None
    user_id: Count
    transparent_huge_pages: Text | None
    vm: dict[Text, int | None]
    first_touch_ns_per_mib: list[Count]
    tools: dict[Text, Tool | None]


class Mount(Record):
    device: Text
    root: Text
    point: Text
    options: Text
    filesystem: Text
    source: Text
    super_options: Text


class Overlay(Record):
    lower_layers: Count
    upper_directory: Text | None
    volatile: bool


class Filesystem(Record):
    type: Text
    ext4_options: list[Text] | None
    btrfs_data_profiles: list[Text] | None


class Probe(Record):
    """Eight MiB written and fsync'd: which devices took them, and how long fsync was."""

    failed: Text | None
    fsync_ns: Count | None
    written_bytes: dict[Text, Count] | None


class Device(Record):
    """A block device; what only a leaf has is unset above it."""

    name: Text
    number: Text | None
    kind: Text
    below: list[Text]
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
    scheduler_settings: dict[Text, int] = {}
    queue: dict[Text, int] = {}
    write_cache: Text | None = None


class StoragePlace(Record):
    """What a place is made of; `failed` says why it could not be looked at."""

    name: Name
    path: Text
    failed: Text | None = None
    resolved_path: Text | None = None
    kind: Text | None = None
    mount: Mount | None = None
    overlay: Overlay | None = None
    filesystem: Filesystem | None = None
    size_bytes: Count | None = None
    free_bytes: Count | None = None
    reflink: bool | None = None
    probe: Probe | None = None
    devices: list[Device] = []
    identified_by: Text | None = None

    @property
    def leaf_devices(self) -> list[Device]:
        return [device for device in self.devices if not device.below]


class Storage(Record):
    places: list[StoragePlace]


class IoLimit(Record):
    group: Text
    device: Text
    device_name: Text | None
    kind: Text
    value: Count


class Weight(Record):
    group: Text
    file: Text
    text: Text


class MemoryLimit(Record):
    group: Text
    file: Text
    bytes: int


class CpuLimit(Record):
    group: Text
    quota_us: Count
    period_us: Count


class Limits(Record):
    cgroup_versions: list[Text]
    groups: dict[Text, Text]
    io: list[IoLimit]
    weights: list[Weight]
    memory: list[MemoryLimit]
    cpu: list[CpuLimit]
    ulimits: dict[Text, int | None]


class CacheState(Record):
    """How cold the cache really was when the first retrieve began."""

    drop_caches: Text
    cache_bytes: Count
    resident_bytes: Count | None


class Trim(Record):
    after_retrieves: Count
    sync_ns: Count


class DeviceBytes(Record):
    read: Count
    written: Count


class Samples(Record):
    """One row a retrieve; start_ns counts from the script's start, by the monotonic clock."""

    file_index: Column
    start_ns: Column
    lookup_ns: Column
    copy_ns: Column


class CacheRetrieve(Record, tag_field="name", tag="cache-retrieve"):
    place: Name
    destination: Name
    fidelity: Name
    retrieves_planned: Count
    file_sizes_bytes: Annotated[list[Count], Meta(max_length=100_000)]
    sequence_sha256: Text
    fresh_ring_bytes: Count | None
    populate_ns: Count | None
    cache_state: CacheState | None
    lookup_method: Text | None
    copy_method: Text | None
    run_ns: Count | None
    trims: list[Trim] | None
    stopped_early: Text | None
    precision_reached_ratio: float | None
    shares_extents: bool | None
    final_sync_ns: Count | None
    final_sync_method: Text | None
    dirty_before_sync_bytes: Count | None
    writeback_before_sync_bytes: Count | None
    device_bytes: dict[Text, DeviceBytes] | None
    samples: Samples
    completed: bool
    incomplete_reason: Text | None


class Timeline(Record):
    """Columns by name, one value a sample; a device's columns under its name."""

    interval_s: float
    columns: dict[Text, SparseColumn]
    devices: dict[Text, dict[Text, SparseColumn]]


class Warning(Record):
    name: Name
    message: Text


class Result(Record):
    """One task's measurement on one worker."""

    version: Annotated[int, Meta(ge=VERSION, le=VERSION)]
    script: Script
    started: Text
    ended: Text | None
    duration_ns: Count
    task: Task
    config: Config
    host: Host | None
    storage: Storage
    limits: Limits | None
    workloads: list[CacheRetrieve]
    timeline: Timeline | None
    warnings: list[Warning]
    completed: bool
    incomplete_reason: Text | None


class _VersionOnly(Struct):
    version: int


_VERSION_DECODER = msgspec.json.Decoder(_VersionOnly)
_DECODER = msgspec.json.Decoder(Result)


def parse(data: bytes, source: str) -> Result:
    """The result in `data`, or a ResultError that names `source`, the key and what is wrong."""
    if len(data) > MAXIMUM_BYTES:
        raise _error(source, f"holds {len(data):,} bytes, more than {MAXIMUM_BYTES:,}")
    version = _decode(_VERSION_DECODER, data, source).version
    if version < VERSION:
        raise _error(
            source,
            f"$.version: {version} is too old for this program, which reads {VERSION}: run the "
            f"benchmark again",
        )
    if version > VERSION:
        raise _error(
            source,
            f"$.version: {version} is newer than this program, which reads {VERSION}: update "
            f"io-benchmark",
        )
    result: Result = _decode(_DECODER, data, source)
    problem = _inconsistency(result)
    if problem:
        raise _error(source, problem)
    return result


def read(path: Path) -> Result:
    """The result in a file, read no further than the limit."""
    try:
        with path.open("rb") as file:
            data = file.read(MAXIMUM_BYTES + 1)
    except OSError as error:
        raise _error(str(path), error.strerror or str(error)) from None
    return parse(data, str(path))


def json_schema() -> dict[str, Any]:
    """The format as a JSON Schema, published beside the documentation."""
    schema = msgspec.json.schema(Result)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"io-benchmark result, version {VERSION}",
        **schema,
    }


def _decode(decoder: msgspec.json.Decoder[Any], data: bytes, source: str) -> Any:
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _error(source, str(error)) from None
    except RecursionError:
        raise _error(source, "is nested too deeply") from None


def _inconsistency(result: Result) -> str | None:
    """What the types alone cannot say, as 'key: problem'; None where all is well."""
    floats = {
        "$.config.precision_ratio": result.config.precision_ratio,
        "$.config.time_budget_s": result.config.time_budget_s,
        "$.timeline.interval_s": result.timeline and result.timeline.interval_s,
    }
    for key, value in floats.items():
        if value is not None and not math.isfinite(value):
            return f"{key}: is not a finite number"
    for at, entry in enumerate(result.workloads):
        problem = _entry_inconsistency(entry)
        if problem:
            return f"$.workloads[{at}].{problem}"
    if result.timeline is not None:
        lengths = {len(column) for column in result.timeline.columns.values()}
        for columns in result.timeline.devices.values():
            lengths |= {len(column) for column in columns.values()}
        if len(lengths) > 1:
            return "$.timeline: its columns differ in length"
    return None


def _entry_inconsistency(entry: CacheRetrieve) -> str | None:
    samples = entry.samples
    rows = len(samples.copy_ns)
    if not len(samples.file_index) == len(samples.start_ns) == len(samples.lookup_ns) == rows:
        return "samples: its columns differ in length"
    if rows > entry.retrieves_planned:
        return f"samples: {rows:,} retrieves, but {entry.retrieves_planned:,} were planned"
    if rows and max(samples.file_index) >= len(entry.file_sizes_bytes):
        return "samples.file_index: names a file that file_sizes_bytes does not have"
    ratio = entry.precision_reached_ratio
    if ratio is not None and not math.isfinite(ratio):
        return "precision_reached_ratio: is not a finite number"
    return None


def _error(source: str, problem: str) -> ResultError:
    # A key of a hostile file may hold anything; what is shown is one printable line.
    text = re.sub(r"[^\x20-\x7e]", "?", f"{source}: {problem}")
    return ResultError(text[:500])


if __name__ == "__main__":
    # What is published: python -m io_benchmark.results > taskcluster/docs/result.schema.json
    print(msgspec.json.format(msgspec.json.encode(json_schema()), indent=2).decode())  # noqa: T201
