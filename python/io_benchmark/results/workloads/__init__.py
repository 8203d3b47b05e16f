# SPDX-License-Identifier: MPL-2.0
"""The workloads of the result file: all that the analysis and the reports know of each.

The worker's side of one is a module in scripts/io-benchmark/workloads/, which has its name and says
what is measured. All but cache-retrieve time batches of operations.
"""

from collections.abc import Callable
from operator import attrgetter
from statistics import median

from io_benchmark.results.parts import BatchEntry, Workload, WorkloadFigure
from io_benchmark.results.workloads import cache_retrieve

# Every report has these of each measurement. The worker has the same list, in result/figures.py.
PERCENTILES = (50, 95, 99)
SCALING, NOT_VISIBLE, OVER_HARDLINKED = "scaling", "not-visible", "over-hardlinked"
VISIBILITY = "visibility"  # the variant of metadata that counts files that appear late
OVER_ONE_CONNECTION = "over-one-connection"
# The variants of unpack without a final sync; only Windows has the last three.
NOT_SYNCED = ("cold", "warm", "warm-zip", "warm-tar-gz", "warm-tar-xz")
_MIB = 1024 * 1024


def _latency_p99_us(entry: BatchEntry) -> float | None:
    latency_ns = entry.observed.latency_ns
    return None if latency_ns is None else latency_ns.p99 / 1e3


def _cpu_ms(entry: BatchEntry) -> float | None:
    return None if entry.observed.cpu_ns is None else entry.observed.cpu_ns / 1e6


def _mib_per_s(entry: BatchEntry) -> float | None:
    unpacked_bytes, times = entry.observed.unpacked_bytes, entry.process_times
    if unpacked_bytes is None or times is None:
        return None
    return unpacked_bytes / _MIB / (times.wall_ns / 1e9)


def _sync_share(entry: BatchEntry) -> float | None:
    sync_ns, times = entry.observed.sync_ns, entry.process_times
    return None if sync_ns is None or times is None else sync_ns / times.wall_ns


def _sync_percent(entry: BatchEntry) -> float | None:
    share = _sync_share(entry)
    return None if share is None else 100 * share


def _middle_ms(*names: str) -> Callable[[BatchEntry], float | None]:
    """Return what reads the median time of these steps of a download together."""

    def read(entry: BatchEntry) -> float | None:
        steps = entry.observed.steps
        columns = [steps.times_ns(name) for name in names] if steps is not None else []
        columns = [column for column in columns if column]
        return sum(median(column) for column in columns) / 1e6 if columns else None

    return read


_BATCHES = (
    # Small reads or writes past the page cache, all over a file.
    Workload(
        "random-io",
        operation="read or write",
        unit="IOPS",
        figures=(WorkloadFigure("latency-p99", "latency P99", unit="µs", mean_of=_latency_p99_us),),
    ),
    # Starting a process and waiting for its end.
    Workload("spawn", operation="process started", unit="µs", unit_ns=1e3, per_place=False),
    # Small writes, each of which waits until it is on the disk.
    Workload("sync-write", operation="write", unit="µs", unit_ns=1e3, synced=lambda _: 1.0),
    # Looking at files, creating, renaming and removing them, by several threads at once.
    Workload(
        "metadata",
        operation="operation",
        unit="ops/s",
        figures=(
            WorkloadFigure(
                SCALING,
                "over one alone",
                over_one_thread=True,
                higher_is_better=True,
                finding=(
                    "{threads} at once do {percent} of what one alone does (metadata, {variant}): "
                    "something locks"
                ),
                # Several that together do no more than one alone wait for each other.
                at_most=1.0,
                needs_spare_cpu=True,
            ),
            WorkloadFigure(
                NOT_VISIBLE,
                "not visible",
                total_of=attrgetter("observed.not_visible"),
                finding=(
                    "files that one thread had created were not visible to another at once, as "
                    "POSIX promises: {count} (metadata, visibility)"
                ),
                at_least=1,
            ),
        ),
    ),
    # One large binary executed by several processes at once, hardlinked or copied for each.
    Workload(
        "exec",
        operation="execution",
        unit="ms",
        unit_ns=1e6,
        figures=(
            WorkloadFigure(
                OVER_HARDLINKED,
                "over hardlinks",
                over_variant=("copies", "hardlinked"),
                finding=(
                    "a copy of the binary for each of {threads} processes makes executing it take "
                    "{ratio} the time that hardlinks to one take (exec): builders that share the "
                    "file share the caches"
                ),
                at_least=1.2,
            ),
            WorkloadFigure(
                "cpu-time", "CPU time of one", unit="ms", mean_of=_cpu_ms, per_operation=True
            ),
        ),
    ),
    # Small objects over HTTP.
    Workload(
        "upload",
        operation="object",
        unit="ms",
        unit_ns=1e6,
        per_place=False,
        figures=(
            WorkloadFigure(
                "over-keep-alive", "over keep-alive", over_variant=("connection-each", "keep-alive")
            ),
            WorkloadFigure(
                "expect-stalls",
                "stalled",
                total_of=attrgetter("observed.expect_100_stalls"),
                finding=(
                    "{count} uploads waited for an answer to Expect: 100-continue that did not "
                    "come (upload): do not send this header"
                ),
                at_least=1,
            ),
        ),
    ),
    # An archive of many small and some large files, as the set-up of a task unpacks it.
    Workload(
        "unpack",
        operation="file unpacked",
        unit="files/s",
        written_bytes=attrgetter("observed.unpacked_bytes"),
        synced=_sync_share,
        figures=(
            WorkloadFigure(
                "bandwidth", "unpacked", unit="MiB/s", mean_of=_mib_per_s, higher_is_better=True
            ),
            WorkloadFigure(
                "sync-share", "share of the final sync", unit="%", mean_of=_sync_percent
            ),
        ),
    ),
    # The first bytes of an artifact over HTTP, to memory and to the place, by several connections.
    Workload(
        "download",
        operation="MiB downloaded",
        unit="MiB/s",
        without_place=("to-memory",),
        written_bytes=attrgetter("observed.written_bytes"),
        synced=_sync_share,
        figures=(
            WorkloadFigure(
                OVER_ONE_CONNECTION,
                "over one connection",
                over_one_thread=True,
                higher_is_better=True,
            ),
            WorkloadFigure(
                "connecting", "connecting", unit="ms", mean_of=_middle_ms("connect_ns", "tls_ns")
            ),
            WorkloadFigure(
                "first-byte", "first byte", unit="ms", mean_of=_middle_ms("first_byte_ns")
            ),
            WorkloadFigure(
                "retries",
                "broken off",
                total_of=attrgetter("observed.retries"),
                finding="{count} downloads broke off and were repeated (download)",
                at_least=1,
            ),
        ),
    ),
)
# In the order in which a report has them: the first one that was compared leads.
WORKLOADS = {workload.name: workload for workload in (cache_retrieve.WORKLOAD, *_BATCHES)}
# Those whose measurements share a table; a retrieve has parts and a separate table.
IN_BATCHES = frozenset(workload.name for workload in _BATCHES)


def of(name: str) -> Workload:
    """Return the workload; an unknown one is a time in milliseconds."""
    return WORKLOADS.get(name) or Workload(name, "operation", "ms", unit_ns=1e6)
