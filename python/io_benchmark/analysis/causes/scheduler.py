# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The disks' I/O scheduler (seed 001)."""

from io_benchmark.analysis.causes.case import Case, Finding, Rule, View
from io_benchmark.analysis.causes.evidence import plain
from io_benchmark.analysis.causes.stack import stack_of
from io_benchmark.analysis.causes.weigh import Reading, Words, by_rank
from io_benchmark.results.format import Device

FAIR_QUEUEING = ("bfq", "cfq")
IDLING = ("slice_idle", "slice_idle_us", "group_idle", "group_idle_us")
JOURNALLING = ("ext3", "ext4")


def _text(disk: Device) -> str:
    settings = [
        f"{name}={disk.scheduler_settings[name]}"
        for name in (*IDLING, "low_latency", "strict_guarantees")
        if name in disk.scheduler_settings and disk.scheduler in FAIR_QUEUEING
    ]
    return " ".join([disk.scheduler or "", *settings])


def _scheduler(view: View) -> Reading | None:
    stack = stack_of(view)
    if stack is None or any(disk.scheduler is None for disk in stack.disks):
        return None
    fair = [disk for disk in stack.disks if disk.scheduler in FAIR_QUEUEING]
    text = plain(", ".join(sorted({_text(disk) for disk in stack.disks})), 100)
    rank = len(fair) / len(stack.disks)
    if fair and idles(view):
        text += "; would idle between this task's cgroup and ext4's journal"
        rank += 1
    return Reading(text, rank)


def idles(view: View) -> bool:
    """Seed 001's four preconditions: a cgroup of its own, ext4, bfq or cfq, idling switched on."""
    stack, place, limits = stack_of(view), view.place, view.limits
    if stack is None or place is None or place.filesystem is None or limits is None:
        return False
    on = any(
        disk.scheduler in FAIR_QUEUEING
        and any(disk.scheduler_settings.get(name, 0) > 0 for name in IDLING)
        for disk in stack.disks
    )
    # Inside a container its own group looks like the root: a container is a group of its own.
    own_group = (view.host is not None and view.host.container is not None) or any(
        group.rstrip("/").rsplit("/", 1)[-1] not in ("cgroup", "blkio", "unified")
        for controller, group in limits.groups.items()
        if controller in ("blkio", "unified")
    )
    return on and own_group and place.filesystem.type in JOURNALLING


def scheduler(case: Case) -> Finding:
    found = any(idles(view) for view in case.slower)
    proof = (
        "; idling's preconditions (own cgroup, ext4, the scheduler, its idle setting) are met, the "
        "timed proof is workload sync-write"
        if found
        else ""
    )
    return by_rank(
        case,
        _scheduler,
        Words(
            supported=f"the slower side's disks are scheduled by fair queueing (bfq, cfq), which "
            f"costs throughput on fast disks{proof}",
            missing="the disks' scheduler could not be seen",
            same=f"the same scheduler on both sides{proof}",
            undecided="they differ, and which is the faster one for this depends on the disk: only "
            "equal schedulers would tell, or workload sync-write",
            workload="sync-write",
        ),
    )


RULES = (Rule("scheduler", "The slower side's I/O scheduler holds requests back.", scheduler),)
