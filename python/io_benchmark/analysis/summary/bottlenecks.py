# SPDX-License-Identifier: MPL-2.0
"""The bottleneck of a run's copies: memory, writeback, a disk, a cap, the CPU or reading.

The same program measures different things with different bottlenecks, and a different figure is
steady: the median where the page cache takes everything, the mean where writers wait for the disk.
taskcluster/docs/statistics.md has the signatures.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from io_benchmark.analysis.model import Subject
from io_benchmark.analysis.observed.runs import WAITS_SHARE, Run
from io_benchmark.analysis.observed.sides import Side
from io_benchmark.analysis.report_model import Bottleneck, SideBottleneck
from io_benchmark.analysis.statements import Quantity, Statement, Unit, joined, share, statement

# Fewer bytes than this part of those copied do not count.
_MOVED_SHARE = 0.2
# A rate this near to a cap is the cap's; a disk this busy is the one that is waited for.
_AT_CAP_SHARE = 0.85
_BUSY_SHARE = 0.8
_Judgement = tuple[Bottleneck, list[Statement]]
# Looking up takes longer than copying, or runnable processes wait for a CPU.
_LOOKUPS_SHARE = 0.5
_CPU_PRESSURE_SHARE = 0.3


def bottlenecks_of_sides(subject: Subject, sides: Mapping[str, Side]) -> dict[str, SideBottleneck]:
    """Return each side's bottleneck; only cache-retrieve has them."""
    if subject.workload != "cache-retrieve":
        return {}
    return {side: _side_bottleneck(views) for side, views in sides.items()}


def _side_bottleneck(side: Side) -> SideBottleneck:
    judged = side.readings(_judge)
    bottleneck = _most_common([_most_common([kind for kind, _ in runs]) for runs in judged])
    # The reason of the run in the middle, so that the order of the runs does not matter.
    reasons = sorted(
        (joined(reasons) for runs in judged for kind, reasons in runs if kind is bottleneck),
        key=repr,
    )
    if not reasons:
        reasons = [statement("its workers have different bottlenecks")]
    return SideBottleneck(
        bottleneck=bottleneck,
        reason=reasons[len(reasons) // 2],
        copied_bytes=side.mean(lambda run: run.copied_bytes),
        written_bytes=side.mean(lambda run: run.moved_bytes and run.moved_bytes[1]),
        left_dirty_bytes=side.mean(_left_dirty),
        drain_ns=side.mean(
            lambda run: run.entry.retrieves.final_sync_ns if run.entry.retrieves else None
        ),
    )


def _most_common(bottlenecks: Sequence[Bottleneck]) -> Bottleneck:
    """Return the bottleneck of more than half of those that are known."""
    counts = Counter(kind for kind in bottlenecks if kind is not Bottleneck.UNKNOWN)
    for bottleneck, count in counts.most_common(1):
        if 2 * count > counts.total():
            return bottleneck
    return Bottleneck.UNKNOWN


def _judge(run: Run) -> _Judgement:
    if run.moved_bytes is None or not run.copied_bytes:
        return Bottleneck.UNKNOWN, [statement("the disks' counters were not recorded")]
    read_bytes, written_bytes = run.moved_bytes
    # What reached the disks before the final sync.
    written = max(0, written_bytes - (_left_dirty(run) or 0)) / run.copied_bytes
    read = read_bytes / run.copied_bytes
    waits = run.io_wait_share
    bytes_written = statement("{written} of the bytes written meanwhile", written=share(written))
    if max(written, read) < _MOVED_SHARE:
        return _in_memory(run, [bytes_written])
    if waits is None:
        unknown = statement("{written}, but no pressure was recorded", written=bytes_written)
        return Bottleneck.UNKNOWN, [unknown]
    waited = statement("waiting for I/O {waiting} of the time", waiting=share(waits))
    if waits < WAITS_SHARE:
        return _in_memory(run, [waited, bytes_written])
    if written >= _MOVED_SHARE:
        bottleneck, reasons = _writing(run)
        return bottleneck, [waited, bytes_written, *reasons]
    bytes_read = statement("{read} of the bytes read from disk", read=share(read))
    return Bottleneck.READING, [waited, bytes_read]


def _in_memory(run: Run, reasons: list[Statement]) -> _Judgement:
    lookups = (run.entry.lookup_mean_ns or 0.0) / (run.mean_ns or math.inf)
    if lookups >= _LOOKUPS_SHARE:
        looking_up = statement("{lookups} of the time looking up", lookups=share(lookups))
        return Bottleneck.CPU, [*reasons, looking_up]
    pressure = (run.growth("psi_cpu_some_us") or 0) / 1e6
    if pressure >= _CPU_PRESSURE_SHARE:
        waiting = statement("waiting for a CPU {pressure} of the time", pressure=share(pressure))
        return Bottleneck.CPU, [*reasons, waiting]
    return Bottleneck.PAGE_CACHE, reasons


def _writing(run: Run) -> _Judgement:
    rate, cap, busy = run.written_bytes_per_s, run.write_cap, run.busiest_share
    if rate is not None and cap is not None and rate >= _AT_CAP_SHARE * cap:
        rates = {
            "rate": Quantity(rate, Unit.BYTES_PER_SECOND),
            "cap": Quantity(cap, Unit.BYTES_PER_SECOND),
        }
        return Bottleneck.CAP, [statement("at {rate} of a cap of {cap}", **rates)]
    if busy is None:
        return Bottleneck.WRITEBACK, []
    if busy >= _BUSY_SHARE:
        return Bottleneck.DEVICE, [statement("a disk busy {busy}", busy=share(busy))]
    return Bottleneck.WRITEBACK, [statement("no disk busy more than {busy}", busy=share(busy))]


def _left_dirty(run: Run) -> int | None:
    """Return what the final sync wrote; in older results, all that was dirty on the machine."""
    if run.entry.retrieves is None:
        return None
    if run.entry.retrieves.final_sync_device_bytes:
        return sum(
            device.written for device in run.entry.retrieves.final_sync_device_bytes.values()
        )
    dirty = run.entry.retrieves.dirty_before_sync_bytes
    writeback = run.entry.retrieves.writeback_before_sync_bytes
    return None if dirty is None else dirty + (writeback or 0)
