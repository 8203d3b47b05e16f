# SPDX-License-Identifier: MPL-2.0
"""The disks' I/O scheduler, apart from the two ways in which it makes synchronous writers wait."""

from statistics import fmean

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.causes.scheduler_waits import (
    SYNC_WRITE,
    counted_as,
    listed,
    seen_disks,
)
from io_benchmark.analysis.diagnosis.evidence import SLOWER_AT_RATIO
from io_benchmark.analysis.diagnosis.measured_gains import as_other_pool
from io_benchmark.analysis.diagnosis.rules import Effect, Fact, Proof, RankedFact, Ranking, cause
from io_benchmark.analysis.observed.device_stack import FAIR_QUEUEING, described
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.parts.time_parts import Kind, in_copies
from io_benchmark.analysis.statements import Quantity, Unit
from io_benchmark.results.trials import TrialKind

ORDER = 62
_FAIR_SETTINGS = (
    *("slice_idle", "slice_idle_us", "group_idle", "group_idle_us", "low_latency"),
    "strict_guarantees",
)


def _scheduler(view: View) -> RankedFact | None:
    disks = seen_disks(view)
    if disks is None:
        return None
    is_fair = [disk.scheduler in FAIR_QUEUEING for disk in disks]
    settings = [
        [(name, disk.scheduler_settings.get(name)) for name in _FAIR_SETTINGS if fair]
        for disk, fair in zip(disks, is_fair, strict=True)
    ]
    return RankedFact(listed(map(described, disks, settings)), fmean(is_fair))


_SCHEDULER = Ranking(
    name="schedulers",
    read=_scheduler,
    supports="Fair queueing (bfq, cfq) schedules the slower side's disks, which costs "
    "throughput on fast disks.",
    unseen="The disks' scheduler could not be seen.",
    same="Both sides have the same scheduler.",
    unranked="The schedulers differ, and the disk decides which is faster. Only equal "
    "schedulers would show it.",
    workload=SYNC_WRITE,
)


@cause(
    "scheduler",
    "The slower side's I/O scheduler delays requests.",
    workloads=frozenset(("cache-retrieve", "unpack", "random-io", SYNC_WRITE)),
    remedies={"set the scheduler none or mq-deadline": as_other_pool},
    acts_through=in_copies(Kind.BLOCKED),
    proof=Proof.SETTING,
    tried_by=TrialKind.PACE,
)
def _scheduler_choice(case: Case) -> Effect:
    effect = _SCHEDULER.judge(case)
    counted = counted_as(case)
    if effect.fact not in (Fact.SAME, Fact.OPPOSITE) and counted is not None:
        return effect.evidence.opposes(f"What they differ in counts as {counted}.")
    slowest_write = case.slowest(case.measured(SYNC_WRITE))
    if slowest_write is None or effect.fact is not Fact.UNCLEAR:
        return effect
    # Small synchronous writes wait for schedulers most.
    ratio = case.times_as_long(slowest_write)
    if ratio < SLOWER_AT_RATIO:
        return effect.evidence.opposes(
            "The schedulers differ, but synchronous writes are as fast with both."
        )
    unclear = effect.evidence.unclear(
        "The schedulers differ, but other differences can make synchronous writes slower as well. "
        "Only equal schedulers would show it."
    )
    if not slowest_write.is_decided or case.subject.workload == SYNC_WRITE:
        return unclear
    return unclear.also(
        "Synchronous writes take {ratio} as long.", ratio=Quantity(ratio, Unit.RATIO)
    )
