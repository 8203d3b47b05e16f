# SPDX-License-Identifier: MPL-2.0
"""What a task demanded, by the resource profile that it published.

Such a profile is of the whole machine: all disks, all processes. It has no syncs, and no time in which the
task waited, only that in which a CPU had nothing to do while I/O was pending. What it lacks is an unknown
of the prediction (`pool_change`).
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from io_benchmark.analysis.prediction.demand import PAGE_BYTES, Demand, Numbers, PlaceDemand
from io_benchmark.analysis.statements import Quantity, Statement, Unit, statement
from io_benchmark.results.resource_profile import ResourceProfile, ResourceSample

# Windows as `measure`'s.
_WINDOW_MS = 180.0
_LEAST_MS = 1000.0
# Longer samples hide when the task wrote.
_COARSE_MS = 3000.0
_SMALL_SHARE = 0.1


def demand_of_resources(
    profile: ResourceProfile, wall_ns: int, place: str, counting: tuple[float, float]
) -> Demand | Statement:
    """Return what the profile shows, as if all was done at one place; or why it cannot be used.

    The task took `wall_ns`, also before and after the profile. `counting` is how many times the disks' counters hold each byte, at least and at most.
    """
    columns = _columns(profile.samples)
    starts_ms, ends_ms = columns["start_ms"], columns["end_ms"]
    profiled_ms = float(ends_ms[-1] - starts_ms[0])
    reason = _unusable(profiled_ms, ends_ms - starts_ms)
    if reason is not None:
        return reason
    if not (columns["read_bytes"] + columns["written_bytes"]).any():
        return statement("the profile has no counters of disks; run the task with measure")
    first = _first_rows(ends_ms, float(starts_ms[0]))
    spans = np.diff([starts_ms[0], *ends_ms[first[1:] - 1], ends_ms[-1]]) * 1e6

    def total(values: Numbers) -> Numbers:
        totals: Numbers = np.add.reduceat(values, first)
        return totals

    cpus = profile.cpus
    cpu_ns = (ends_ms - starts_ms) * 1e6 * cpus
    kernel_ns, busy_ns = (total(columns[name] * cpu_ns) for name in ("kernel", "busy"))
    waiting = np.clip(total(columns["waiting"] * cpu_ns) / spans, 0.0, 1.0)
    is_waiting_known = all(sample.waiting is not None for sample in profile.samples)
    writes, written_bytes = total(columns["writes"]), total(columns["written_bytes"])
    cpus_used = float(np.sum(busy_ns)) / profile.wall_ns
    return Demand(
        wall_ns=wall_ns,
        spans_ns=spans,
        places=(
            PlaceDemand(
                name=place,
                written_bytes=written_bytes,
                writes=writes,
                # Requests were as small as pages at most.
                unmerged_writes=np.maximum(writes, written_bytes / PAGE_BYTES),
                flushes=np.zeros(len(spans)),
                read_bytes=float(np.sum(columns["read_bytes"])),
                syncs=None,
                is_alone=False,
            ),
        ),
        cpus_used=cpus_used,
        cpu_share=min(1.0, cpus_used),
        cpus=float(cpus),
        kernel_share=min(1.0, float(np.sum(kernel_ns)) / profile.wall_ns),
        unwritten_bytes=_unwritten_bytes(columns, math.sqrt(counting[0] * counting[1]))[
            [*(first[1:] - 1), -1]
        ],
        waiting_share=waiting if is_waiting_known else None,
        busy_ns=np.minimum(busy_ns, cpus * spans),
        unseen_ns=float(wall_ns - profile.wall_ns),
        counting=counting,
    )


def _unusable(profiled_ms: float, spans_ms: Numbers) -> Statement | None:
    """Return why samples do not show when a task wrote."""
    if profiled_ms < _LEAST_MS:
        return statement(
            "the profile is shorter than {least}, which does not show when the task wrote; use one "
            "of a longer task",
            least=Quantity(_LEAST_MS * 1e6, Unit.NANOSECONDS),
        )
    missing_ms = profiled_ms - float(np.sum(spans_ms))
    coarse_ms = float(np.sum(spans_ms[spans_ms > _COARSE_MS]))
    if max(missing_ms, coarse_ms) > _SMALL_SHARE * profiled_ms:
        return statement(
            "samples of the profile are missing, or longer than {longest}, so that they do not show "
            "when the task wrote; run the task with measure",
            longest=Quantity(_COARSE_MS * 1e6, Unit.NANOSECONDS),
        )
    return None


def _columns(samples: Sequence[ResourceSample]) -> dict[str, Numbers]:
    columns = {
        name: np.array([getattr(sample, name) or 0.0 for sample in samples])
        for name in ResourceSample.__struct_fields__
    }
    return {**columns, "busy": columns["user"] + columns["kernel"]}


def _unwritten_bytes(columns: Mapping[str, Numbers], times: float) -> Numbers:
    """Return what the cache grew by and the disks did neither read nor write, after each sample."""
    cached = columns["cached_bytes"]
    moved = (columns["read_bytes"] + columns["written_bytes"]) / times
    unwritten = []
    left = 0.0
    for grown in (np.diff(cached, prepend=cached[0]) - moved).tolist():
        left = max(0.0, left + grown)
        unwritten.append(left)
    return np.array(unwritten)


def _first_rows(ends_ms: Numbers, start_ms: float) -> NDArray[np.int_]:
    """Return the rows with which windows begin."""
    first, begin_ms = [0], start_ms
    for row, end_ms in enumerate(ends_ms[:-1].tolist(), 1):
        if end_ms - begin_ms >= _WINDOW_MS:
            first.append(row)
            begin_ms = end_ms
    return np.array(first)
