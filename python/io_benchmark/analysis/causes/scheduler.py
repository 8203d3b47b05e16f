# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The disks' I/O scheduler (seed 001)."""

from io_benchmark.analysis import words
from io_benchmark.analysis.causes.beside import AS_FAST_RATIO, decided, most_telling, slower_by
from io_benchmark.analysis.causes.case import Beside, Case, Finding, Rule, View, mean_of
from io_benchmark.analysis.causes.evidence import plain
from io_benchmark.analysis.causes.stack import stack_of
from io_benchmark.analysis.causes.weigh import Reading, Words, by_rank
from io_benchmark.analysis.model import State
from io_benchmark.results.format import Device

SYNC_WRITE = "sync-write"
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
        f"timed proof is {_timed_proof(case)}"
        if found
        else ""
    )
    finding = by_rank(
        case,
        _scheduler,
        Words(
            supported=f"the slower side's disks are scheduled by fair queueing (bfq, cfq), which "
            f"costs throughput on fast disks{proof}",
            missing="the disks' scheduler could not be seen",
            same=f"the same scheduler on both sides{proof}",
            undecided="they differ, and which is the faster one for this depends on the disk: only "
            "equal schedulers would tell, or workload sync-write",
            workload=SYNC_WRITE,
        ),
    )
    if finding.state is not State.NOT_OBSERVABLE or finding.workload != SYNC_WRITE:
        return finding
    worst = most_telling(case, case.measured(SYNC_WRITE))
    if worst is None or None in (mean_of(case.baseline, _seen), mean_of(case.candidate, _seen)):
        return finding
    return _by_sync_writes(case, finding, worst)


def _by_sync_writes(case: Case, finding: Finding, worst: Beside) -> Finding:
    """The schedulers differ: small synchronous writes wait for them as nothing else does."""
    evidence = finding.baseline_evidence, finding.candidate_evidence
    ratio = slower_by(case, worst)
    if ratio < AS_FAST_RATIO:
        return Finding(
            State.RULED_OUT, *evidence, "they differ, but synchronous writes are as fast by both"
        )
    only = "they differ, and what else differs may make synchronous writes slower as well: only "
    if not decided(worst) or case.subject.workload == SYNC_WRITE:
        return Finding(State.NOT_OBSERVABLE, *evidence, f"{only}equal schedulers would tell")
    return Finding(
        State.NOT_OBSERVABLE,
        *evidence,
        f"{only}equal schedulers would tell. Synchronous writes take {ratio:.2f}× as long",
    )


def _seen(view: View) -> float | None:
    return None if _scheduler(view) is None else 1.0


def _timed_proof(case: Case) -> str:
    worst = most_telling(case, case.measured(SYNC_WRITE))
    if worst is None:
        return "workload sync-write"
    subject = worst.subject
    slower, faster = case.in_order(worst)
    return (
        f"{words.time(slower.mean_ns)} a synchronous write against {words.time(faster.mean_ns)} "
        f"(sync-write, {subject.variant})"
    )


RULES = (
    Rule(
        "scheduler",
        "The slower side's I/O scheduler holds requests back.",
        scheduler,
        frozenset(("cache-retrieve", "random-io", SYNC_WRITE)),
    ),
)
