# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What held a run's copies up: memory, writeback, the disks, a cap, the CPU or reading.

The same program measures different things in different regimes, and another figure of it is steady:
where the page cache takes everything, the median; where writers wait for the disk, the mean.
taskcluster/docs/comparing.md has the signatures.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from io_benchmark.analysis.causes.case import View
from io_benchmark.analysis.causes.waiting import WAITS_SHARE, write_cap
from io_benchmark.analysis.words import percent

# Bytes that hardly count beside those that were copied.
HARDLY_MOVED_SHARE = 0.2
# A rate this near to a cap is the cap's; a disk this busy is the one that is waited for.
AT_CAP_SHARE = 0.85
BUSY_SHARE = 0.8
# Looking up takes longer than copying, or runnable processes wait for a CPU.
LOOKUPS_SHARE = 0.5
CPU_PRESSURE_SHARE = 0.3


class Regime(StrEnum):
    PAGE_CACHE = "absorbed by the page cache"
    WRITEBACK = "bound by writeback"
    DEVICE = "bound by a device"
    CAP = "bound by a cap"
    CPU = "bound by the CPU"
    READING = "bound by reading"
    UNKNOWN = "unknown"

    @property
    def steady_figure(self) -> str:
        """The figure that hardly differs between identical runs in this regime."""
        return "p50" if self in (Regime.PAGE_CACHE, Regime.CPU) else "mean"


@dataclass(frozen=True)
class RunRegime:
    """One run's regime with what it was told by."""

    regime: Regime
    why: str
    written_bytes: int | None  # what reached the disks, the final sync's included
    read_bytes: int | None
    left_dirty_bytes: int | None  # what the last copy left to be written
    drain_ns: int | None  # how long writing that took


def regime_of(view: View) -> RunRegime:
    moved = view.moved_bytes
    facts = view.retrieves.facts if view.retrieves is not None else None
    regime, why = _judge(view)
    return RunRegime(
        regime=regime,
        why=why,
        written_bytes=None if moved is None else moved[1],
        read_bytes=None if moved is None else moved[0],
        left_dirty_bytes=_left_dirty(view),
        drain_ns=facts.final_sync_ns if facts is not None else None,
    )


def agreed(regimes: Sequence[RunRegime]) -> Regime:
    """The regime of most of a side's runs that tell one; unknown where there is no such."""
    told = Counter(one.regime for one in regimes)
    del told[Regime.UNKNOWN]
    for regime, count in told.most_common(1):
        if count * 2 > told.total():
            return regime
    return Regime.UNKNOWN


def _judge(view: View) -> tuple[Regime, str]:
    waits, during = view.io_wait_share, _written_meanwhile_share(view)
    if waits is None or during is None:
        return Regime.UNKNOWN, "neither pressure nor the disks' counters were recorded"
    waited = f"waiting for I/O {percent(waits)} of the time"
    if waits < WAITS_SHARE:
        return _without_waits(view, waited)
    if during >= HARDLY_MOVED_SHARE:
        regime, why = _writing(view)
        return regime, f"{waited}, {percent(during)} of the bytes written meanwhile{why}"
    if _read_share(view) >= HARDLY_MOVED_SHARE:
        return (
            Regime.READING,
            f"{waited}, {percent(_read_share(view))} of the bytes read from disk",
        )
    return Regime.UNKNOWN, f"{waited}, for neither writing nor reading of the place's disks"


def _without_waits(view: View, waited: str) -> tuple[Regime, str]:
    lookups = _lookups_share(view)
    if lookups >= LOOKUPS_SHARE:
        return Regime.CPU, f"{waited}, {percent(lookups)} of it looking up"
    pressure = (view.growth("psi_cpu_some_us") or 0) / 1e6
    if pressure >= CPU_PRESSURE_SHARE:
        return Regime.CPU, f"{waited}, for a CPU {percent(pressure)}"
    return Regime.PAGE_CACHE, waited


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
