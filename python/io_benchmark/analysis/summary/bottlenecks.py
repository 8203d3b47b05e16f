# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What held a run's copies up: memory, writeback, the disks, a cap, the CPU or reading.

The same program measures different things in different regimes, and another figure of it is steady:
where the page cache takes everything, the median; where writers wait for the disk, the mean.
taskcluster/docs/comparing.md has the signatures.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from io_benchmark.analysis.model import Subject, Worker
from io_benchmark.analysis.observed.disk_waits import WAITS_SHARE, write_cap
from io_benchmark.analysis.observed.worker_view import View, by_worker, mean_of_known, view_of
from io_benchmark.analysis.report_model import Regime, SideRegime
from io_benchmark.analysis.words import percent

COPIES = "cache-retrieve"
# Bytes that hardly count beside those that were copied.
HARDLY_MOVED_SHARE = 0.2
# A rate this near to a cap is the cap's; a disk this busy is the one that is waited for.
AT_CAP_SHARE = 0.85
BUSY_SHARE = 0.8
# Looking up takes longer than copying, or runnable processes wait for a CPU.
LOOKUPS_SHARE = 0.5
CPU_PRESSURE_SHARE = 0.3


def of_sides(subject: Subject, sides: Mapping[str, Sequence[Worker]]) -> dict[str, SideRegime]:
    """Each side's regime; nothing for what copies no files."""
    if subject.workload != COPIES:
        return {}
    return {
        side: _of_side(
            [
                [regime_of(view) for view in runs]
                for runs in by_worker([view_of(worker, subject) for worker in workers])
            ]
        )
        for side, workers in sides.items()
    }


def _of_side(workers: Sequence[Sequence[SideRegime]]) -> SideRegime:
    """The regime of most of a side's workers that tell one; unknown where there is no such."""
    regime = _of_most([_of_most([run.regime for run in runs]) for runs in workers])
    # One run's words for it, and the same ones in whichever order the runs come.
    told = sorted(run.why for runs in workers for run in runs if run.regime is regime)
    why = told[len(told) // 2] if told else "its workers differ in it"

    def mean(value: Callable[[SideRegime], float | None]) -> float | None:
        return mean_of_known(mean_of_known(map(value, runs)) for runs in workers)

    return SideRegime(
        regime=regime,
        why=why,
        copied_bytes=mean(lambda run: run.copied_bytes),
        written_bytes=mean(lambda run: run.written_bytes),
        left_dirty_bytes=mean(lambda run: run.left_dirty_bytes),
        drain_ns=mean(lambda run: run.drain_ns),
    )


def _of_most(regimes: Sequence[Regime]) -> Regime:
    told = Counter(regimes)
    del told[Regime.UNKNOWN]
    return next(
        (one for one, count in told.most_common(1) if 2 * count > told.total()), Regime.UNKNOWN
    )


def regime_of(view: View) -> SideRegime:
    """One run's."""
    facts = view.retrieves.facts if view.retrieves is not None else None
    regime, why = _judge(view)
    return SideRegime(
        regime=regime,
        why=why,
        copied_bytes=view.copied_bytes,
        written_bytes=None if view.moved_bytes is None else view.moved_bytes[1],
        left_dirty_bytes=_left_dirty(view),
        drain_ns=facts.final_sync_ns if facts is not None else None,
    )


def _judge(view: View) -> tuple[Regime, str]:
    written = _written_meanwhile_share(view)
    if written is None:
        return Regime.UNKNOWN, "the disks' counters were not recorded"
    read, waits = _read_share(view), view.io_wait_share
    shares = f"{percent(written)} of the bytes written meanwhile"
    if max(written, read) < HARDLY_MOVED_SHARE:
        return _in_memory(view, shares)
    if waits is None:
        return Regime.UNKNOWN, f"{shares}, but no pressure was recorded"
    waited = f"waiting for I/O {percent(waits)} of the time"
    if waits < WAITS_SHARE:
        return _in_memory(view, f"{waited}, {shares}")
    if written >= HARDLY_MOVED_SHARE:
        regime, why = _writing(view)
        return regime, f"{waited}, {shares}{why}"
    return Regime.READING, f"{waited}, {percent(read)} of the bytes read from disk"


def _in_memory(view: View, why: str) -> tuple[Regime, str]:
    lookups = _lookups_share(view)
    if lookups >= LOOKUPS_SHARE:
        return Regime.CPU, f"{why}, {percent(lookups)} of the time looking up"
    pressure = (view.growth("psi_cpu_some_us") or 0) / 1e6
    if pressure >= CPU_PRESSURE_SHARE:
        return Regime.CPU, f"{why}, waiting for a CPU {percent(pressure)} of the time"
    return Regime.PAGE_CACHE, why


def _writing(view: View) -> tuple[Regime, str]:
    rate, cap, busy = view.written_mib_per_s, write_cap(view), view.busiest_share
    if rate is not None and cap is not None and rate >= AT_CAP_SHARE * cap:
        return Regime.CAP, f", at {rate:,.0f} MiB/s of a cap of {cap:,.0f}"
    if busy is not None and busy >= BUSY_SHARE:
        return Regime.DEVICE, f", a disk busy {percent(busy)}"
    return Regime.WRITEBACK, "" if busy is None else f", no disk busy more than {percent(busy)}"


def _left_dirty(view: View) -> int | None:
    if view.retrieves is None:
        return None
    dirty = view.retrieves.facts.dirty_before_sync_bytes
    writeback = view.retrieves.facts.writeback_before_sync_bytes
    return None if dirty is None else dirty + (writeback or 0)


def _written_meanwhile_share(view: View) -> float | None:
    """Of the bytes copied, those that reached the disks before the final sync."""
    if view.moved_bytes is None or not view.copied_bytes:
        return None
    written = view.moved_bytes[1]
    return max(0, written - min(written, _left_dirty(view) or 0)) / view.copied_bytes


def _read_share(view: View) -> float:
    if view.moved_bytes is None or not view.copied_bytes:
        return 0.0
    return view.moved_bytes[0] / view.copied_bytes


def _lookups_share(view: View) -> float:
    if view.lookup_mean_ns is None or not view.mean_ns:
        return 0.0
    return view.lookup_mean_ns / view.mean_ns
