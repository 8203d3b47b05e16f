# SPDX-License-Identifier: MPL-2.0
"""What a task demanded, by the resource profile that it published.

Such a profile is of the whole machine: all disks, all processes. It has no syncs, and no time in which the
task waited, only that in which a CPU had nothing to do while I/O was pending. What it lacks is an unknown
of the prediction (`pool_change`).
"""

import numpy as np
from msgspec import Struct

from io_benchmark.analysis.prediction.demand import Demand, Numbers, PlaceDemand
from io_benchmark.analysis.statements import Quantity, Statement, Unit, statement
from io_benchmark.results.resource_profile import ResourceProfile

# Windows as `measure`'s.
_WINDOW_MS = 180.0
_LEAST_MS = 1000.0
# Longer samples hide when the task wrote.
_COARSE_MS = 6000.0
_SMALL_SHARE = 0.1
_PAGE_BYTES = 4096


class PublishedRun(Struct, frozen=True):
    """A run of a task that published a resource profile."""

    profile: ResourceProfile
    label: str
    pool: str | None  # the worker type where the queue knows the task
    # From start to end by the queue, in which set-up before the profile is included; None: not known.
    task_ns: int | None

    @property
    def wall_ns(self) -> int:
        """Return the time of the whole task, as far as it is known."""
        samples = self.profile.samples
        return max(self.task_ns or 0, round((samples[-1].end_ms - samples[0].start_ms) * 1e6))


def demand_of_run(run: PublishedRun, place: str) -> Demand | Statement:
    """Return what the profile shows, as if all was done at one place; or why it cannot be used."""
    samples, cpus = run.profile.samples, run.profile.cpus
    starts, ends = (
        np.array([getattr(each, name) for each in samples]) for name in ("start_ms", "end_ms")
    )
    profiled_ms = float(ends[-1] - starts[0])
    if profiled_ms < _LEAST_MS:
        return statement(
            "the profile is shorter than {least}, which does not show when the task wrote; use one "
            "of a longer task",
            least=Quantity(_LEAST_MS * 1e6, Unit.NANOSECONDS),
        )
    spans_ms = ends - starts
    missing_ms = profiled_ms - float(np.sum(spans_ms))
    coarse_ms = float(np.sum(spans_ms[spans_ms > _COARSE_MS]))
    if max(missing_ms, coarse_ms) > _SMALL_SHARE * profiled_ms:
        return statement(
            "samples of the profile are missing, or longer than {longest}: they do not show when the "
            "task wrote; run the task with measure",
            longest=Quantity(_COARSE_MS * 1e6, Unit.NANOSECONDS),
        )
    columns = {
        name: np.array([getattr(each, name) or 0.0 for each in samples])
        for name in ("user", "kernel", "waiting", "written_bytes", "writes", "read_bytes")
    }
    first = _first_rows(ends, starts[0])
    spans = np.diff([starts[0], *ends[first[1:] - 1], ends[-1]]) * 1e6

    def grown(name: str) -> Numbers:
        sums: Numbers = np.add.reduceat(columns[name], first)
        return sums

    def on_cpus(name: str) -> Numbers:
        sums: Numbers = np.add.reduceat(columns[name] * spans_ms, first) * 1e6 * cpus
        return sums

    user, kernel = on_cpus("user"), on_cpus("kernel")
    wall_ns = float(np.sum(spans))
    is_waiting_known = all(each.waiting is not None for each in samples)
    writes = grown("writes")
    place_demand = PlaceDemand(
        name=place,
        written_bytes=grown("written_bytes"),
        writes=writes,
        unmerged_writes=np.maximum(writes, grown("written_bytes") / _PAGE_BYTES),
        flushes=np.zeros(len(spans)),
        read_bytes=float(np.sum(columns["read_bytes"])),
        syncs=None,
    )
    cpus_used = float(np.sum(user + kernel)) / wall_ns
    return Demand(
        wall_ns=run.wall_ns,
        spans_ns=spans,
        places=(place_demand,),
        cpus_used=cpus_used,
        cpu_share=min(1.0, cpus_used),
        cpus=float(cpus),
        kernel_share=min(1.0, float(np.sum(kernel)) / wall_ns),
        unwritten_bytes=np.zeros(len(spans)),
        waiting_share=np.clip(on_cpus("waiting") / spans, 0.0, 1.0) if is_waiting_known else None,
        busy_ns=np.minimum(user + kernel, cpus * spans),
    )


def _first_rows(ends_ms: Numbers, start_ms: float) -> np.ndarray:
    """Return the rows with which windows begin."""
    first, begin_ms = [0], start_ms
    for row, end_ms in enumerate(ends_ms[:-1].tolist(), 1):
        if end_ms - begin_ms >= _WINDOW_MS:
            first.append(row)
            begin_ms = end_ms
    return np.array(first)
