# SPDX-License-Identifier: MPL-2.0
"""unpack: an archive of many small and some large files, as the set-up of a task unpacks it."""

from operator import attrgetter

from io_benchmark.results.parts import (
    BatchEntry,
    Count,
    Nanoseconds,
    Observations,
    Parameters,
    Text,
    Workload,
    WorkloadFigure,
)

NOT_SYNCED = ("cold", "warm")  # the variants without a final sync
_MIB = 1024 * 1024


class _UnpackParameters(Parameters, frozen=True):
    files: Count
    files_bytes: Count
    sizes_sha256: Text
    warm_up: Count


class _UnpackObservations(Observations, frozen=True):
    """`resident_bytes`: of the archive, in memory before the first sample.

    `unpacked_bytes` and `sync_ns` are of all samples together; the latter only with a final sync.
    """

    method: Text | None
    python: Text | None
    resident_bytes: Count | None
    unpacked_bytes: Count | None
    sync_ns: Nanoseconds | None


class _UnpackEntry(BatchEntry, frozen=True, tag_field="name", tag="unpack"):
    parameters: _UnpackParameters
    observed: _UnpackObservations


def _mib_per_s(entry: _UnpackEntry) -> float | None:
    unpacked_bytes, times = entry.observed.unpacked_bytes, entry.process_times
    if unpacked_bytes is None or times is None:
        return None
    return unpacked_bytes / _MIB / (times.wall_ns / 1e9)


def _sync_share(entry: _UnpackEntry) -> float | None:
    sync_ns, times = entry.observed.sync_ns, entry.process_times
    return None if sync_ns is None or times is None else 100 * sync_ns / times.wall_ns


WORKLOAD = Workload(
    "unpack",
    _UnpackEntry,
    position=7,
    operation="file unpacked",
    unit="files/s",
    written_bytes=attrgetter("observed.unpacked_bytes"),
    figures=(
        WorkloadFigure(
            "bandwidth", "unpacked", unit="MiB/s", mean_of=_mib_per_s, higher_is_better=True
        ),
        WorkloadFigure("sync-share", "share of the final sync", unit="%", mean_of=_sync_share),
    ),
)
