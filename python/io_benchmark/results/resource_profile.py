# SPDX-License-Identifier: MPL-2.0
"""Resource profiles: what a whole machine did while a task ran, as Firefox's tasks publish it.

mozsystemmonitor's SystemResourceMonitor writes them in the format of the Firefox Profiler. Per
sample there is a marker `CPU Use` with shares of all CPUs as text, and a marker `IO` with what grew
meanwhile, summed over all disks of the machine as psutil sums them. Newer versions of the format
are read as long as they have these markers.

Like a result, such a file may come from anyone: see `reader`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from io_benchmark.results.format import TaskProfile
from io_benchmark.results.machine import LINUX, WINDOWS
from io_benchmark.results.parts import Count, Finite
from io_benchmark.results.reader import check_size, decode, parse_profile, reading_error

OTHER_SYSTEM = "another system"
_NAMES = ("CPU Use", "Memory", "IO")
# A day of samples, one per second; each has three markers.
MAXIMUM_RESOURCE_BYTES = 64 * 1024 * 1024
_MAXIMUM_PARTS = (
    (b",", 8_000_000, "commas"),
    (b'"', 16_000_000, "quotation marks"),
    (b"{", 1_000_000, "objects"),
    (b"[", 20_000, "lists"),
)
_MAXIMUM_MS = 1e9  # twelve days
_ROUNDED_MS = 2.0  # times of samples are rounded to milliseconds
_MARKERS = "$.threads[0].markers"
# In a short sample, ticks of 10 ms may be more than all of it.
_PERCENT = re.compile(r"(-?[0-9]{1,4}(?:\.[0-9]{1,3})?)%", re.ASCII)

_Rows = Meta(max_length=500_000)


class _Meta(Struct, frozen=True):
    version: Count
    logical_cpus: Annotated[int, Meta(ge=1, le=100_000)] = msgspec.field(name="logicalCPUs")


class _Markers(Struct, frozen=True, rename="camel"):
    name: Annotated[list[Count], _Rows]
    start_time: Annotated[list[Finite], _Rows]
    end_time: Annotated[list[Finite | None], _Rows]
    data: Annotated[list[msgspec.Raw], _Rows]


class _Strings(Struct, frozen=True, kw_only=True, rename="camel"):
    string_array: list[str] = []  # newer versions share one array between all threads


class _Thread(_Strings, frozen=True, kw_only=True):
    markers: _Markers


class _Profile(Struct, frozen=True):
    meta: _Meta
    threads: Annotated[list[_Thread], Meta(min_length=1, max_length=1)]
    shared: _Strings = _Strings()


class _Cpu(Struct, frozen=True):
    """Shares of the time of all CPUs; what a system does not know has no such text."""

    user_pct: str
    system_pct: str
    nice_pct: str | None = None
    iowait_pct: str | None = None

    @property
    def system(self) -> str:
        """Return the system of which psutil has these times."""
        if self.iowait_pct is not None:
            return LINUX
        return WINDOWS if self.nice_pct is None else OTHER_SYSTEM


class _Io(Struct, frozen=True):
    read_bytes: Count
    write_bytes: Count
    write_count: Count


class _Memory(Struct, frozen=True):
    cached: Count | None = None


class ResourceSample(Struct, frozen=True):
    """One sample of the machine. Times are since the profile's start; shares are of all CPUs."""

    start_ms: float
    end_ms: float
    user: float
    kernel: float
    waiting: float | None  # idle while I/O was pending; only Linux knows it
    read_bytes: int
    written_bytes: int
    writes: int
    cached_bytes: int | None  # files in memory at the end; Windows does not say it


class ResourceProfile(Struct, frozen=True):
    """The samples of a task's machine, in order."""

    cpus: int
    samples: tuple[ResourceSample, ...]
    system: str = LINUX

    @property
    def wall_ns(self) -> int:
        return round((self.samples[-1].end_ms - self.samples[0].start_ms) * 1e6)


class _Content(Struct, frozen=True):
    """What tells the two kinds of profile apart."""

    meta: msgspec.Raw = msgspec.Raw()
    threads: msgspec.Raw = msgspec.Raw()


def parse_any_profile(data: bytes, source: str) -> TaskProfile | ResourceProfile:
    """Parse either kind of profile; a ResultError names `source`, the key and the problem."""
    check_size(data, source, MAXIMUM_RESOURCE_BYTES, _MAXIMUM_PARTS)
    is_object = data.lstrip().startswith(b"{")
    content = decode(_Content, data, source) if is_object else _Content()
    if not content.meta or not content.threads:
        return parse_profile(data, source)
    profile = decode(_Profile, data, source)
    try:
        systems, samples = zip(*_samples(profile, source), strict=True)
    except ValueError as error:
        raise reading_error(source, str(error)) from None
    system = systems[0] if len(set(systems)) == 1 else OTHER_SYSTEM
    return ResourceProfile(profile.meta.logical_cpus, samples, system)


def _samples(profile: _Profile, source: str) -> Iterator[tuple[str, ResourceSample]]:
    """Yield each sample, and the system that writes such samples."""
    thread = profile.threads[0]
    markers, strings = thread.markers, thread.string_array or profile.shared.string_array
    columns = (markers.name, markers.start_time, markers.end_time, markers.data)
    if len({len(column) for column in columns}) > 1:
        raise ValueError(f"{_MARKERS}: its columns differ in length")
    rows = [_rows(markers, strings, name) for name in _NAMES]
    if not all(rows):
        raise ValueError(
            f"has no markers named {', '.join(_NAMES)}, in version {profile.meta.version} of the "
            "format: it is not a resource profile by mozsystemmonitor; name one, or update "
            "io-benchmark"
        )
    if len({tuple(markers.start_time[row] for row in named) for named in rows}) > 1:
        raise ValueError(f"{_MARKERS}: {', '.join(_NAMES)} are not of the same samples")
    earliest_ms = 0.0
    for cpu_row, memory_row, io_row in zip(*rows, strict=True):
        start_ms, end_ms = markers.start_time[cpu_row], markers.end_time[cpu_row]
        if end_ms is None or not earliest_ms <= start_ms < end_ms <= _MAXIMUM_MS:
            raise ValueError(
                f"{_MARKERS}[{cpu_row}]: its time is not after the sample before it: the clock was "
                "set, or the file is damaged; use another run of the task"
            )
        earliest_ms = end_ms - _ROUNDED_MS
        path = f"{source}: {_MARKERS}.data"
        cpu = decode(_Cpu, markers.data[cpu_row], f"{path}[{cpu_row}]")
        memory = decode(_Memory, markers.data[memory_row], f"{path}[{memory_row}]")
        io = decode(_Io, markers.data[io_row], f"{path}[{io_row}]")
        yield (
            cpu.system,
            ResourceSample(
                start_ms=start_ms,
                end_ms=end_ms,
                user=_share(cpu.user_pct) + _share(cpu.nice_pct or "0%"),
                kernel=_share(cpu.system_pct),
                waiting=None if cpu.iowait_pct is None else _share(cpu.iowait_pct),
                read_bytes=io.read_bytes,
                written_bytes=io.write_bytes,
                writes=io.write_count,
                cached_bytes=memory.cached,
            ),
        )


def _rows(markers: _Markers, strings: Sequence[str], name: str) -> list[int]:
    """Return the markers of this name; others are of phases, tests and commands."""
    number = strings.index(name) if name in strings else -1
    return [row for row, marker in enumerate(markers.name) if marker == number]


def _share(percent: str) -> float:
    """Return `19.5%` as 0.195. The kernel's iowait may decrease, which is nothing to wait for."""
    match = _PERCENT.fullmatch(percent)
    if match is None:
        raise ValueError(f"{_MARKERS}: {percent[:20]!r} is not a share such as 19.5%")
    return min(1.0, max(0.0, float(match[1]) / 100))
