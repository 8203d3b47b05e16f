# SPDX-License-Identifier: MPL-2.0
"""The profile of a task and its types, as `measure` in the worker's script writes them.

A part that is null is not known; `unknown` has the reason, by the path of its keys. Unknown keys are
skipped, as in a result.

Versions:
  1 (2026-11-22)  the first
"""

from typing import Annotated

from msgspec import Meta

from io_benchmark.results.common_types import (
    BytesByDevice,
    Count,
    Few,
    Many,
    Name,
    Nanoseconds,
    ResultPart,
    Text,
)
from io_benchmark.results.format import ProfiledTask, RecordedTimeline, Script
from io_benchmark.results.machine import Host, Limits, Storage

VERSION = 1


class _Command(ResultPart, frozen=True):
    """What ran, without its arguments: these may hold what must not be public."""

    program: Text
    arguments: Count  # how many
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]  # of all words, with a zero byte between


class _Ending(ResultPart, frozen=True):
    """The exit code, or the signal that ended the command; `error` says why it was not started."""

    code: Count | None
    signal: Count | None
    error: Text | None


class _Usage(ResultPart, frozen=True):
    """CPU time of the command and of all processes that were waited for."""

    user_ns: Count
    kernel_ns: Count


class _ProcessIo(ResultPart, frozen=True):
    """What the same processes read and wrote: bytes of disks, and by system calls."""

    read_bytes: Count
    written_bytes: Count  # made dirty in memory, also where it was removed before it was written
    read_characters: Count
    written_characters: Count
    read_calls: Count
    write_calls: Count


class _Syncs(ResultPart, frozen=True):
    """What the kernel counted of synchronous writes, also of those of other tasks."""

    flushes: Count | None  # requests to flush the cache of a disk; the most of the place's disks
    commits: Count | None  # requested commits of an ext4 journal


class TaskProfile(ResultPart, frozen=True):
    """What one command asked of one machine.

    The timeline's counters and `syncs` are the whole machine's, so they include other tasks.
    """

    version: Annotated[int, Meta(ge=VERSION, le=VERSION)]
    script: Script
    started: Text
    ended: Text
    task: ProfiledTask
    command: _Command
    ending: _Ending
    wall_ns: Nanoseconds
    usage: _Usage | None
    io: _ProcessIo | None
    other_cpu_ms: Count | None  # CPU time of all but the command and the measuring
    cgroup_bytes: BytesByDevice | None  # of the command's cgroup; the timeline has the machine's
    syncs: Annotated[dict[Name, _Syncs], Few]
    host: Host
    limits: Limits
    storage: Storage
    timeline: RecordedTimeline
    unknown: Annotated[dict[Text, Text], Many]
