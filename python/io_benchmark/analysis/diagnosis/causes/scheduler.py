# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The disks' I/O scheduler (seed 001): two ways in which it holds writers up, and what is left."""

from io_benchmark.analysis.diagnosis.case import Beside, Case, Finding, Rule, View, mean_of
from io_benchmark.analysis.diagnosis.causes import idling, starving
from io_benchmark.analysis.diagnosis.evidence import plain
from io_benchmark.analysis.diagnosis.io_schedulers import (
    FAIR_QUEUEING,
    SYNC_WRITE,
    fair_disks,
    worst_sync_write,
)
from io_benchmark.analysis.diagnosis.judging import Reading, Words, by_rank
from io_benchmark.analysis.diagnosis.other_measurements import AS_FAST_RATIO, decided, slower_by
from io_benchmark.analysis.model import State
from io_benchmark.analysis.observed.device_stack import stack_of
from io_benchmark.results.format import Device

SHOWN = ("slice_idle", "slice_idle_us", "group_idle", "group_idle_us", "low_latency")


def _text(disk: Device) -> str:
    settings = [
        f"{name}={disk.scheduler_settings[name]}"
        for name in (*SHOWN, "strict_guarantees")
        if name in disk.scheduler_settings and disk.scheduler in FAIR_QUEUEING
    ]
    return " ".join([disk.scheduler or "", *settings])


def _scheduler(view: View) -> Reading | None:
    stack = stack_of(view)
    if stack is None or any(disk.scheduler is None for disk in stack.disks):
        return None
    text = plain(", ".join(sorted({_text(disk) for disk in stack.disks})), 100)
    return Reading(text, len(fair_disks(stack.disks)) / len(stack.disks))


def scheduler(case: Case) -> Finding:
    finding = by_rank(
        case,
        _scheduler,
        Words(
            supported="the slower side's disks are scheduled by fair queueing (bfq, cfq), which "
            "costs throughput on fast disks",
            missing="the disks' scheduler could not be seen",
            same="the same scheduler on both sides",
            undecided="they differ, and which is the faster one for this depends on the disk: only "
            "equal schedulers would tell, or workload sync-write",
            workload=SYNC_WRITE,
        ),
    )
    evidence = finding.baseline_evidence, finding.candidate_evidence
    counted = counted_as(case)
    if finding.state is not State.RULED_OUT and counted is not None:
        return Finding(State.RULED_OUT, *evidence, f"what they differ in counts as {counted}")
    if finding.state is not State.NOT_OBSERVABLE or finding.workload != SYNC_WRITE:
        return finding
    worst = worst_sync_write(case)
    if worst is None or None in (mean_of(case.baseline, _seen), mean_of(case.candidate, _seen)):
        return finding
    return _by_sync_writes(case, finding, worst)


def counted_as(case: Case) -> str | None:
    """A way in which a scheduler makes writers wait is a cause of its own, and counts once."""
    for rule in (*idling.RULES, *starving.RULES):
        if case.subject.workload in rule.explains and rule.judge(case).state is State.SUPPORTED:
            return rule.name
    return None


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


RULES = (
    *idling.RULES,
    *starving.RULES,
    Rule(
        "scheduler",
        "The slower side's I/O scheduler holds requests back.",
        scheduler,
        frozenset(("cache-retrieve", "random-io", SYNC_WRITE)),
    ),
)
