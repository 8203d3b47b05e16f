# SPDX-License-Identifier: MPL-2.0
"""The machine in a result: the host, the storage of the places, and limits."""

from typing import Annotated, Literal

from msgspec import field

from io_benchmark.results.parts import (
    Count,
    Duration,
    Few,
    Many,
    Name,
    Nanoseconds,
    Operations,
    ResultPart,
    Setting,
    Text,
)
from io_benchmark.results.windows import WindowsHost, WindowsPlace

LINUX, WINDOWS = "linux", "windows"


class _Tool(ResultPart, frozen=True):
    version: Text | None


class _Container(ResultPart, frozen=True):
    engine: Text | None
    root_filesystem: Text | None


class FixedWork(ResultPart, frozen=True):
    """One burst of the same work on one CPU.

    The time is exact; its division by mode may be in ticks.
    """

    work: Literal["user", "kernel-copy", "kernel-calls", "process-start"]
    start_ns: Nanoseconds
    duration_ns: Duration
    operations: Operations
    user_ns: Nanoseconds
    kernel_ns: Nanoseconds
    waiting_ns: Nanoseconds | None


class Host(ResultPart, frozen=True):
    kernel: Text
    kernel_version: Text
    architecture: Text
    distribution: Text | None
    cpu_model: Text | None
    cpu_count: Count
    cpu_online_count: Count | None
    memory_bytes: Count | None
    memory_available_bytes: Count | None
    machine_vendor: Text | None
    machine_product: Text | None
    boot_id: Text | None
    container: _Container | None
    user_id: Count | None  # null on Windows
    transparent_huge_pages: Text | None
    vm: Annotated[dict[Text, Setting | None], Many]
    first_touch_ns_per_mib: Annotated[list[Count], Many]
    tools: Annotated[dict[Text, _Tool | None], Few]
    fixed_work: Annotated[list[FixedWork], Few] | None = None  # in order of time
    # Of machines that show them; virtual machines do not.
    firmware: Text | None = None
    cpu_governor: Text | None = None
    cpu_throttle_count: Count | None = None  # since the boot, of all CPUs
    system: Text = LINUX
    windows: WindowsHost | None = None

    def usable_cpus(self, limits: "Limits | None") -> float:
        """Return how many CPUs a task may use at once: the machine's, or its quota."""
        # A damaged result may have none.
        count = float(max(1, min(self.cpu_count, self.cpu_online_count or self.cpu_count)))
        quota = limits.cpu_quota if limits is not None else None
        return count if quota is None else min(count, quota)


class _PlaceMount(ResultPart, frozen=True):
    root: Text
    options: Text
    filesystem: Text
    super_options: Text


class _Overlay(ResultPart, frozen=True):
    lower_layers: Count
    volatile: bool


class _Filesystem(ResultPart, frozen=True):
    type: Text
    ext4_options: Annotated[list[Text], Many] | None
    btrfs_data_profiles: Annotated[list[Text], Few] | None


class Device(ResultPart, frozen=True):
    """A block device; keys that only a leaf has are unset for the others."""

    name: Text
    number: Text | None
    kind: Text
    below: Annotated[list[Text], Many]
    size_bytes: Count | None
    stripe_count: Count | None
    minimum_io_bytes: Count | None
    raid_level: Text | None
    model: Text | None = None
    scheduler: Text | None = None
    scheduler_settings: Annotated[dict[Text, Setting], Few] = field(default_factory=dict)
    queue: Annotated[dict[Text, Setting], Few] = field(default_factory=dict)
    write_cache: Text | None = None
    bus: Text | None = None  # only of Windows, as the next one
    is_removable: bool | None = None


class StoragePlace(ResultPart, frozen=True):
    """The storage of a place; `failed` says why it could not be observed."""

    name: Name
    path: Text
    failed: Text | None = None
    kind: Text | None = None
    mount: _PlaceMount | None = None
    overlay: _Overlay | None = None
    filesystem: _Filesystem | None = None
    size_bytes: Count | None = None
    devices: Annotated[list[Device], Many] = field(default_factory=list)
    windows: WindowsPlace | None = None

    @property
    def leaf_devices(self) -> list[Device]:
        return [device for device in self.devices if not device.below]


class Storage(ResultPart, frozen=True):
    places: Annotated[list[StoragePlace], Few]


class IoLimit(ResultPart, frozen=True):
    group: Text
    device: Text
    device_name: Text | None
    kind: Text
    value: Count


class _MemoryLimit(ResultPart, frozen=True):
    bytes: Setting


class _CpuLimit(ResultPart, frozen=True):
    quota_us: Count
    period_us: Count


class Limits(ResultPart, frozen=True):
    cgroup_versions: Annotated[list[Text], Few]
    groups: Annotated[dict[Text, Text], Few]
    io: Annotated[list[IoLimit], Many]
    memory: Annotated[list[_MemoryLimit], Many]
    cpu: Annotated[list[_CpuLimit], Many]

    @property
    def cpu_quota(self) -> float | None:
        """Return how many CPUs may be used at once; None without a quota. A real one is not 0."""
        quotas = (
            limit.quota_us / limit.period_us
            for limit in self.cpu
            if limit.quota_us and limit.period_us
        )
        return min(quotas, default=None)
