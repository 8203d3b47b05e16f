# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What the rules about I/O schedulers share: the disks' settings, and sync-write as their proof."""

from collections.abc import Sequence

from io_benchmark.analysis import words
from io_benchmark.analysis.diagnosis.case import Beside, Case, Finding, View
from io_benchmark.analysis.diagnosis.other_measurements import (
    AS_FAST_RATIO,
    decided,
    most_telling,
    slower_by,
)
from io_benchmark.analysis.model import State
from io_benchmark.analysis.observed.device_stack import stack_of
from io_benchmark.results.format import Device

SYNC_WRITE = "sync-write"
FAIR_QUEUEING = ("bfq", "cfq")
# Each in ms and, on later kernels, in µs as well.
IDLING = ("slice_idle", "group_idle")


def disks_of(view: View) -> tuple[Device, ...] | None:
    """Each with its scheduler; none for a place in memory; None where one is unseen."""
    if view.place is not None and view.place.kind == "memory":
        return ()
    stack = stack_of(view)
    if stack is None or any(disk.scheduler is None for disk in stack.disks):
        return None
    return stack.disks


def fair_disks(disks: Sequence[Device]) -> list[Device]:
    return [disk for disk in disks if disk.scheduler in FAIR_QUEUEING]


def idle_settings(disk: Device) -> dict[str, int]:
    """How long it waits for more of the same; in µs only where that is under a millisecond."""
    found = {}
    for name in IDLING:
        ms, us = (disk.scheduler_settings.get(each) for each in (name, f"{name}_us"))
        if us is not None and not ms and us > 0:
            found[f"{name}_us"] = us
        elif ms is not None or us is not None:
            found[name] = ms if ms is not None else (us or 0) // 1000
    return found


def worst_sync_write(case: Case) -> Beside | None:
    return most_telling(case, case.measured(SYNC_WRITE))


def sync_writes(case: Case, worst: Beside) -> str:
    slower, faster = case.in_order(worst)
    return (
        f"{words.time(slower.mean_ns)} a synchronous write against {words.time(faster.mean_ns)} "
        f"(sync-write, {worst.subject.variant})"
    )


def held_against_sync_writes(case: Case, finding: Finding) -> Finding:
    """A scheduler that makes writers wait shows in synchronous writes, where these were measured."""
    worst = worst_sync_write(case)
    if worst is None:
        return finding
    evidence = finding.baseline_evidence, finding.candidate_evidence
    if slower_by(case, worst) < AS_FAST_RATIO:
        return Finding(
            State.RULED_OUT,
            *evidence,
            f"synchronous writes are as fast on the slower side: {sync_writes(case, worst)}",
        )
    if not decided(worst):
        return Finding(
            State.NOT_OBSERVABLE,
            *evidence,
            f"{sync_writes(case, worst)}, which may be chance: more workers would tell",
        )
    return finding
