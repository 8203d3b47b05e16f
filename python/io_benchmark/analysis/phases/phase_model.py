# SPDX-License-Identifier: MPL-2.0
"""The data of a run's phases: what it did one after another, and how many bytes that moved.

Times are since the start of the run, by the queue where it is known. What is before it is negative.
"""

from enum import StrEnum

from msgspec import Struct


class PhaseName(StrEnum):
    """What a run does, in the order in which it usually does it."""

    PENDING = "pending"
    WORKER_START = "worker start"
    CACHES = "mounts and caches"
    IMAGE_DOWNLOAD = "image download"
    IMAGE_LOAD = "image load"
    IMAGE_PULL = "image pull"  # download and unpacking at once
    CONTAINER_START = "container start"
    CHECKOUT = "checkout"
    DOWNLOAD = "download of fetches"
    UNPACK = "unpacking of fetches"
    STREAMED = "fetches unpacked as they arrive"  # where the log divides neither
    PACKAGES = "installing packages"
    OWN_WORK = "own work"
    ARTIFACTS = "artifacts"
    CACHES_KEPT = "caches kept"
    OTHER = "other"  # between two known lines

    @property
    def is_before_run(self) -> bool:
        return self in (PhaseName.PENDING, PhaseName.WORKER_START)

    @property
    def waits(self) -> "Waits":
        """Return what it waits for most, which its lines never say themselves."""
        return _WAITS.get(self, Waits.UNKNOWN)


class Waits(StrEnum):
    """What a phase waits for most."""

    DISKS = "disks"
    CPUS = "CPUs"  # where the benchmark has slower CPUs, and disks that are alike
    NETWORK = "network"
    BOTH = "disks and network"  # the log does not divide it
    UNKNOWN = "not known"


# Unpacking and loading need CPUs as well, and writing follows each download.
_WAITS = {
    PhaseName.CACHES: Waits.DISKS,
    PhaseName.IMAGE_DOWNLOAD: Waits.NETWORK,
    PhaseName.IMAGE_LOAD: Waits.DISKS,
    PhaseName.IMAGE_PULL: Waits.BOTH,
    PhaseName.CONTAINER_START: Waits.DISKS,
    PhaseName.CHECKOUT: Waits.BOTH,
    PhaseName.DOWNLOAD: Waits.NETWORK,
    PhaseName.UNPACK: Waits.DISKS,
    PhaseName.STREAMED: Waits.BOTH,
    PhaseName.PACKAGES: Waits.BOTH,
    PhaseName.ARTIFACTS: Waits.BOTH,
    PhaseName.CACHES_KEPT: Waits.DISKS,
}


class Span(Struct, frozen=True):
    """One stretch of a run that belongs to one phase; spans of a run do not overlap."""

    phase: PhaseName
    start_ns: int
    duration_ns: int
    size_bytes: int | None = None  # that were moved, where the log says so
    # That the log itself gives for them: where several were moved at once, longer than the span.
    busy_ns: int | None = None


class Part(Struct, frozen=True):
    """What a program measured within a phase, and wrote into the log for Perfherder."""

    phase: PhaseName
    name: str  # as the program names it: clone, pull, update
    duration_ns: int


class RunPhases(Struct, frozen=True, kw_only=True):
    """The phases of one run of a task. What comes from its log is what anybody may have written."""

    label: str  # empty: not known, as of a file
    pool: str  # PROVISIONER/WORKERTYPE; empty: not known
    task_id: str
    run_id: int | None
    worker: str  # GROUP/ID
    started: str  # as the queue writes times; of a file, the first stamp of its log
    run_ns: int  # from the start to the end of the run; of a file, between its first and last stamp
    spans: tuple[Span, ...]  # in the order of time, without gaps within the run
    is_complete: bool = True  # False: the log or the run has not ended, or the log was cut
    messages: tuple[str, ...] = ()  # why a phase is not known
    parts: tuple[Part, ...] = ()

    def duration_ns(self, phase: PhaseName) -> int:
        """Return how long all spans of a phase took."""
        return sum(span.duration_ns for span in self.spans if span.phase is phase)
