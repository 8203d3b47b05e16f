# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""One worker as analysis sees it: its entry and place for one subject, and figures derived from them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

import numpy as np

from io_benchmark.analysis.model import Entry, Retrieves, Subject, Worker
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.results.format import Host, Limits, StoragePlace


@dataclass(frozen=True)
class View:
    """One run of a worker and the place that it measured; None is what its file does not have."""

    worker: Worker
    entry: Entry | None
    place: StoragePlace | None

    @property
    def host(self) -> Host | None:
        return self.worker.result.host

    @property
    def limits(self) -> Limits | None:
        return self.worker.result.limits

    @property
    def instance_type(self) -> str | None:
        return self.worker.result.task.instance_type

    @property
    def retrieves(self) -> Retrieves | None:
        """Return what only cache-retrieve records."""
        return self.entry.retrieves if self.entry is not None else None

    @cached_property
    def mean_ns(self) -> float | None:
        return self.entry.mean_ns if self.entry is not None else None

    @cached_property
    def lookup_mean_ns(self) -> float | None:
        return float(self.retrieves.lookup_ns.mean()) if self.retrieves is not None else None

    @cached_property
    def copied_bytes(self) -> int | None:
        if self.entry is None or self.retrieves is None:
            return None
        return int(self.entry.size_bytes.sum(dtype=np.float64))  # each retrieve's size

    @cached_property
    def moved_bytes(self) -> tuple[int, int] | None:
        """Return the bytes that the disks read and wrote, from the first retrieve to the end of the final sync."""
        devices = self.entry.facts.device_bytes if self.entry is not None else None
        if not devices:
            return None
        return sum(d.read for d in devices.values()), sum(d.written for d in devices.values())

    @cached_property
    def written_share(self) -> float | None:
        """Return the bytes that reached the disks per byte copied."""
        if self.moved_bytes is None or not self.copied_bytes:
            return None
        return self.moved_bytes[1] / self.copied_bytes

    @cached_property
    def written_mib_per_s(self) -> float | None:
        if self.entry is None or self.moved_bytes is None or not self.entry.facts.run_ns:
            return None
        elapsed_ns = self.entry.facts.run_ns
        if self.retrieves is not None:
            elapsed_ns += self.retrieves.facts.final_sync_ns or 0
        return self.moved_bytes[1] / 2**20 / (elapsed_ns / 1e9)

    def growth(self, *columns: str) -> float | None:
        """Return how much counters of the timeline grew together per second, during the retrieves."""
        window = self._window
        timeline = self.worker.result.timeline
        if window is None or timeline is None:
            return None
        first, last, seconds = window
        total = 0
        for name in columns:
            column = timeline.columns.get(name)
            if column is None or column[first] is None or column[last] is None:
                return None
            total += (column[last] or 0) - (column[first] or 0)
        return total / seconds

    @cached_property
    def _window(self) -> tuple[int, int, float] | None:
        """Return the first and the last timeline sample within the retrieves, and the seconds between."""
        timeline = self.worker.result.timeline
        times = timeline.columns.get("time_ns") if timeline is not None else None
        if times is None or self.entry is None:
            return None
        begin_ns = int(self.entry.start_ns[0])
        end_ns = int(self.entry.start_ns[-1]) + int(self.entry.total_ns[-1])
        inside = [at for at, time in enumerate(times) if time and begin_ns <= time <= end_ns]
        if len(inside) < 2:
            return None
        first, last = inside[0], inside[-1]
        seconds = ((times[last] or 0) - (times[first] or 0)) / 1e9
        return (first, last, seconds) if seconds > 0 else None

    def per_operation_ms(self, *columns: str) -> float | None:
        """Return the growth of counters in ms per retrieve or operation."""
        growth = self.growth(*columns)
        if growth is None or self.entry is None:
            return None
        lasted_ns = float(self.entry.start_ns[-1] - self.entry.start_ns[0])
        # From the first sample's start to the last one's: what the last did is not in it.
        done = float(self.entry.operations[:-1].sum(dtype=np.float64))
        return growth * lasted_ns / 1e9 / max(1.0, done)

    @cached_property
    def io_wait_share(self) -> float | None:
        """Return the part of the time in which something waited for I/O (PSI).

        Not `full`: a neighbour that only computes would hide every wait of the copies.
        """
        growth = self.growth("psi_io_some_us")
        if growth is None:
            growth = self.growth("psi_io_full_us")
        return None if growth is None else growth / 1e6

    @cached_property
    def busiest_share(self) -> float | None:
        """Return the part of the time in which the busiest disk was busy."""
        timeline = self.worker.result.timeline
        if self._window is None or timeline is None:
            return None
        first, last, seconds = self._window
        columns = [columns.get("busy_ms") or [] for columns in timeline.devices.values()]
        shares = [
            (end - begin) / 1000 / seconds
            for column in columns
            if len(column) > last
            if (begin := column[first]) is not None and (end := column[last]) is not None
        ]
        return max(shares, default=None)


def view_of(worker: Worker, subject: Subject) -> View:
    """Return the worker's view for one subject."""
    entries = (e for e in worker.entries if e.subject == subject and len(e.total_ns))
    places = (p for p in worker.result.storage.places if p.name == subject.place)
    return View(worker, next(entries, None), next(places, None))


def of_workers(views: Sequence[View], value: Callable[[View], float | None]) -> list[float]:
    """Return the mean of each worker's runs, for the workers that have the value."""
    means = (mean_of_known(map(value, runs)) for runs in by_machine(views))
    return [mean for mean in means if mean is not None]


def mean_of(views: Sequence[View], value: Callable[[View], float | None]) -> float | None:
    """Return the mean over the workers that have the value; None where none has it."""
    return mean_of_known(of_workers(views, value))


def mean_of_known(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are known."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def cpu_quota(limits: Limits) -> float | None:
    """Return how many CPUs may be used at once; None without a quota."""
    quotas = [limit.quota_us / limit.period_us for limit in limits.cpu if limit.period_us]
    return min(quotas) if quotas else None
