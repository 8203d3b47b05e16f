# SPDX-License-Identifier: MPL-2.0
"""What a task demanded, by the resource profile that it published: of a whole machine.

It has neither syncs nor pressure, and that of Windows no waiting at all. What it lacks is an
unknown of the prediction.
"""

import math

import numpy as np

from io_benchmark.analysis.model.statements import Quantity, Statement, Unit, count, statement
from io_benchmark.analysis.prediction.demand import (
    LEAST_NS,
    NS_PER_MS,
    PAGE_BYTES,
    UNCOVERED_SHARE,
    WINDOW_NS,
    Demand,
    Numbers,
    PlaceDemand,
    window_ends,
)
from io_benchmark.number_text import number_of
from io_benchmark.results.machine import WINDOWS
from io_benchmark.results.resource_profile import ResourceProfile, ResourceSample

# psutil reads the CPUs of one group, and for others whatever was in memory (its issue 2972).
_CPUS_OF_GROUP = 64
_COARSE_NS = 3e9  # longer samples hide when the task wrote; chosen


def machine_demand(
    profile: ResourceProfile, wall_ns: int, place: str, counting: tuple[float, float]
) -> Demand | Statement:
    """Return what the profile shows, as if all was done at one place; or why it cannot be used.

    The task took `wall_ns`, also before and after the profile. `counting` is how many times the
    disks' counters hold each byte, at least and at most.
    """
    columns = {  # what is not known counts as 0
        name: np.array([getattr(sample, name) or 0.0 for sample in profile.samples])
        for name in ResourceSample.__struct_fields__
    }
    times_ms = np.array([columns["start_ms"][0], *columns["end_ms"]])
    samples_ns = (columns["end_ms"] - columns["start_ms"]) * NS_PER_MS
    moved_bytes = columns["read_bytes"] + columns["written_bytes"]
    reason = _unusable(profile, samples_ns, moved_bytes)
    if reason is not None:
        return reason
    ends = window_ends(times_ms.tolist(), WINDOW_NS / NS_PER_MS)
    spans = np.diff(times_ms[ends]) * NS_PER_MS
    cpu_ns = samples_ns * profile.cpus

    def in_windows(values: Numbers) -> Numbers:
        """Return the sum of the samples of each window."""
        sums: Numbers = np.add.reduceat(values, ends[:-1])
        return sums

    kernel_ns = in_windows(columns["kernel"] * cpu_ns)
    busy_ns = in_windows((columns["user"] + columns["kernel"]) * cpu_ns)
    waiting_ns = in_windows(columns["waiting"] * cpu_ns)
    writes = in_windows(columns["writes"])
    written_bytes = in_windows(columns["written_bytes"])
    is_waiting_known = all(sample.waiting is not None for sample in profile.samples)
    disks = PlaceDemand(
        name=place,
        written_bytes=written_bytes,
        writes=writes,
        # Requests were as small as pages at most.
        unmerged_writes=np.maximum(writes, written_bytes / PAGE_BYTES),
        flushes=np.zeros(len(spans)),
        read_bytes=in_windows(columns["read_bytes"]),
        syncs=None,
        is_alone=False,
    )
    return Demand(
        wall_ns=wall_ns,
        spans_ns=spans,
        places=(disks,),
        cpus_used=float(np.sum(busy_ns)) / profile.wall_ns,
        cpus=float(profile.cpus),
        kernel_share=min(1.0, float(np.sum(kernel_ns)) / profile.wall_ns),
        unwritten_bytes=_unwritten(columns["cached_bytes"], moved_bytes, counting)[ends[1:]],
        waiting_share=np.clip(waiting_ns / spans, 0.0, 1.0) if is_waiting_known else None,
        busy_ns=np.minimum(busy_ns, profile.cpus * spans),
        unseen_ns=float(wall_ns - profile.wall_ns),
        counting=counting,
    )


def _unwritten(
    cached_bytes: Numbers, moved_bytes: Numbers, counting: tuple[float, float]
) -> Numbers:
    """Return what was not written yet at the start and after each sample.

    That is what the cache grew by and the disks did neither read nor write.
    """
    fewest, most = counting
    moved = moved_bytes / math.sqrt(fewest * most)
    unwritten = [0.0]
    for step in np.diff(cached_bytes, prepend=cached_bytes[0]) - moved:
        unwritten.append(max(0.0, unwritten[-1] + float(step)))
    return np.array(unwritten)


def _unusable(
    profile: ResourceProfile, samples_ns: Numbers, moved_bytes: Numbers
) -> Statement | None:
    """Return why samples do not show when a task wrote or computed, or None."""
    profiled_ns = profile.wall_ns
    if profile.system == WINDOWS and profile.cpus > _CPUS_OF_GROUP:
        return statement(
            "the profile is of a Windows machine with {cpus}, and shows at most {group} of "
            "them, those of one processor group; profile the task on a smaller machine",
            cpus=number_of(profile.cpus, "CPU"),
            group=count(_CPUS_OF_GROUP),
        )
    if profiled_ns < LEAST_NS:
        return statement(
            "the profile is shorter than {least}, which does not show when the task wrote; use one "
            "of a longer task",
            least=Quantity(LEAST_NS, Unit.NANOSECONDS),
        )
    missing_ns = profiled_ns - float(np.sum(samples_ns))
    coarse_ns = float(np.sum(samples_ns[samples_ns > _COARSE_NS]))
    if max(missing_ns, coarse_ns) > UNCOVERED_SHARE * profiled_ns:
        return statement(
            "samples of the profile are missing, or longer than {longest}, so that they do not "
            "show when the task wrote; run the task with measure",
            longest=Quantity(_COARSE_NS, Unit.NANOSECONDS),
        )
    if not moved_bytes.any():
        return statement("the profile has no counters of disks; run the task with measure")
    return None
