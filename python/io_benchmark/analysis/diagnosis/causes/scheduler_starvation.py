# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""bfq with strict guarantees and without idling: a synchronous writer starves.

Measured on kernel 6.18: 19 to 20 ms per write on ext4, where the same disk without a scheduler takes
0.15 ms. This is not idling. It depends on the order in which the two were set: only times prove it.
"""

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.cause_rule import CauseJudgement, CauseRule, Suggestion
from io_benchmark.analysis.diagnosis.evidence import of_sides, tally
from io_benchmark.analysis.diagnosis.measured_gains import as_other_pool
from io_benchmark.analysis.diagnosis.other_measurements import is_decided
from io_benchmark.analysis.diagnosis.sync_writes import (
    SYNC_WRITE,
    proved_by_sync_writes,
    slowest_sync_write,
)
from io_benchmark.analysis.observed.disk_schedulers import (
    described,
    idle_settings,
    scheduled_disks,
)
from io_benchmark.analysis.observed.worker_view import View, mean_of
from io_benchmark.analysis.statements import Quantity, Statement, Unit, statement
from io_benchmark.results.format import Device

ORDER = 61
# A write that waits for less does not wait for the time slices of others.
_STARVES_NS = 10_000_000
_SETTINGS = "strict_guarantees=1 and slice_idle=0"


def _starves(disk: Device) -> bool:
    idle = idle_settings(disk)
    return (
        disk.scheduler == "bfq"
        and disk.scheduler_settings.get("strict_guarantees", 0) > 0
        and bool(idle)
        and not any(idle.values())
    )


def _may_starve(view: View) -> float | None:
    disks = scheduled_disks(view)
    return None if disks is None else float(any(map(_starves, disks)))


def _schedulers(view: View) -> Statement | None:
    disks = scheduled_disks(view)
    if disks is None:
        return None
    shown = set()
    for disk in disks:
        strict = ("strict_guarantees", disk.scheduler_settings.get("strict_guarantees"))
        shown.add(described(disk, [strict, *idle_settings(disk).items()]))
    return statement("{schedulers}", schedulers=", ".join(sorted(shown)) or "no disk")


def _scheduler_starvation(case: Case) -> CauseJudgement:
    evidence = of_sides(case, tally("schedulers", _schedulers))
    if None in (mean_of(case.baseline, _may_starve), mean_of(case.candidate, _may_starve)):
        return evidence.not_observable("The disks' scheduler could not be seen.")
    if not case.differs:
        return evidence.nothing_to_explain()
    if not mean_of(case.slower, _may_starve):
        return evidence.ruled_out(
            f"No disk of the slower side is scheduled by bfq with {_SETTINGS}."
        )
    slowest_write = slowest_sync_write(case)
    if slowest_write is None:
        return evidence.not_observable(
            f"bfq with {_SETTINGS} can delay a synchronous write by 20 ms. That depends on the order "
            "in which the two were set, so only times would show it.",
            workload=SYNC_WRITE,
        )
    slower, _ = case.slower_first(slowest_write)
    if is_decided(slowest_write) and slower.mean_ns < _STARVES_NS:
        return evidence.ruled_out(
            "bfq has these settings, but a synchronous write takes {time}: it does not starve.",
            time=Quantity(slower.mean_ns, Unit.NANOSECONDS),
        )
    judgement = evidence.supported(
        f"bfq with {_SETTINGS} delays each synchronous write until other time slices are over.",
    )
    return proved_by_sync_writes(case, judgement, slowest_write)


RULES = (
    CauseRule(
        "scheduler-starvation",
        "The slower side's I/O scheduler starves synchronous writers (bfq, strict guarantees).",
        _scheduler_starvation,
        frozenset(("cache-retrieve", SYNC_WRITE)),
        (
            Suggestion(
                "set the scheduler none or mq-deadline, or its strict_guarantees to 0",
                as_other_pool,
            ),
        ),
    ),
)
