# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""bfq told to keep its guarantees strictly, and never to idle: a synchronous writer starves.

Measured on kernel 6.18: 19 to 20 ms a write on ext4, where the same disk without a scheduler takes
0.15 ms. It is no idling, and hangs on the order in which the two were set: only times prove it.
"""

from io_benchmark.analysis import words
from io_benchmark.analysis.diagnosis.case import Case, Finding, Rule, View, mean_of
from io_benchmark.analysis.diagnosis.evidence import plain, tally
from io_benchmark.analysis.diagnosis.io_schedulers import (
    SYNC_WRITE,
    disks_of,
    held_against_sync_writes,
    idle_settings,
    sync_writes,
    worst_sync_write,
)
from io_benchmark.analysis.diagnosis.judging import NOTHING_TO_EXPLAIN
from io_benchmark.analysis.diagnosis.other_measurements import decided
from io_benchmark.analysis.model import State
from io_benchmark.results.format import Device

NAME = "scheduler-starvation"
# A write that waits for less is not held until the others' time is over.
STARVES_NS = 10_000_000
SETTINGS = "strict_guarantees=1 and slice_idle=0"
EXPLAINS = frozenset(("cache-retrieve", SYNC_WRITE))


def _set(disk: Device) -> bool:
    idle = idle_settings(disk)
    return (
        disk.scheduler == "bfq"
        and disk.scheduler_settings.get("strict_guarantees", 0) > 0
        and bool(idle)
        and not any(idle.values())
    )


def _set_so(view: View) -> float | None:
    disks = disks_of(view)
    return None if disks is None else float(any(map(_set, disks)))


def _text(view: View) -> str | None:
    disks = disks_of(view)
    if disks is None:
        return None
    shown = []
    for disk in disks:
        told = {"strict_guarantees": disk.scheduler_settings.get("strict_guarantees")}
        told |= idle_settings(disk)
        settings = [f"{name}={value}" for name, value in told.items() if value is not None]
        shown.append(" ".join([disk.scheduler or "", *settings]))
    return plain(", ".join(sorted(set(shown))) or "no disk", 100)


def scheduler_starvation(case: Case) -> Finding:
    evidence = (
        tally(case.baseline, _text),
        tally(case.candidate, _text),
    )
    if None in (mean_of(case.baseline, _set_so), mean_of(case.candidate, _set_so)):
        return Finding(State.NOT_OBSERVABLE, *evidence, "the disks' scheduler could not be seen")
    if not case.differs:
        return Finding(State.RULED_OUT, *evidence, NOTHING_TO_EXPLAIN)
    if not mean_of(case.slower, _set_so):
        return Finding(
            State.RULED_OUT,
            *evidence,
            f"no disk of the slower side is scheduled by bfq with {SETTINGS}",
        )
    worst = worst_sync_write(case)
    if worst is None:
        return Finding(
            State.NOT_OBSERVABLE,
            *evidence,
            f"bfq with {SETTINGS} may hold a synchronous write for 20 ms, by the order in which they "
            "were set: only times tell",
            workload=SYNC_WRITE,
        )
    slower, _ = case.in_order(worst)
    if decided(worst) and slower.mean_ns < STARVES_NS:
        return Finding(
            State.RULED_OUT,
            *evidence,
            f"set so, but a synchronous write takes {words.time(slower.mean_ns)}: none starves",
        )
    finding = Finding(
        State.SUPPORTED,
        *evidence,
        f"bfq with {SETTINGS} holds each synchronous write until other time slices are over, which "
        f"is no idling: {sync_writes(case, worst)}",
    )
    return held_against_sync_writes(case, finding)


RULES = (
    Rule(
        NAME,
        "The slower side's I/O scheduler starves synchronous writers (bfq, strict guarantees).",
        scheduler_starvation,
        EXPLAINS,
    ),
)
