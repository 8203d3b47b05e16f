# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How the run went: did it slow down, and was it alone on its machine?"""

from collections.abc import Callable, Sequence
from statistics import median

from io_benchmark.analysis.diagnosis.case import (
    EVERY_WORKLOAD,
    Case,
    Finding,
    Rule,
    View,
    of_workers,
)
from io_benchmark.analysis.diagnosis.evidence import span
from io_benchmark.analysis.diagnosis.judging import NOTHING_TO_EXPLAIN, percent
from io_benchmark.analysis.inference.moving_blocks import last_third_over_first
from io_benchmark.analysis.model import State
from io_benchmark.results import workloads

RETRIEVES_TO_JUDGE = 60  # a third is then a block of 20
DRIFTS_RATIO = 1.10
PRESSED_SHARE = 0.10
FOREIGN_SHARE = 0.25


def _drift(view: View) -> float | None:
    """The last third's times over the first third's, file sizes taken out."""
    if view.entry is None or len(view.entry.total_ns) < RETRIEVES_TO_JUDGE:
        return None
    return last_third_over_first(view.entry)


def drift_over_time(case: Case) -> Finding:
    baseline, candidate = (
        f"last third over the first {span(views, _drift, '×', 2)}"
        for views in (case.baseline, case.candidate)
    )
    slower, faster = of_workers(case.slower, _drift), of_workers(case.faster, _drift)
    if not slower or not faster:
        return Finding(
            State.NOT_OBSERVABLE,
            baseline,
            candidate,
            f"needs {RETRIEVES_TO_JUDGE} {workloads.of(case.subject.workload).samples} on both sides",
        )
    if not case.differs:
        return Finding(State.RULED_OUT, baseline, candidate, NOTHING_TO_EXPLAIN)
    if median(slower) < DRIFTS_RATIO:
        return Finding(
            State.RULED_OUT, baseline, candidate, "the slower side was no slower at its end"
        )
    if median(faster) >= DRIFTS_RATIO and median(faster) >= median(slower) / DRIFTS_RATIO:
        return Finding(State.RULED_OUT, baseline, candidate, "both sides slowed down alike")
    return Finding(
        State.SUPPORTED,
        baseline,
        candidate,
        "only the slower side slowed down in the course of the run, as where a burst allowance or a "
        "cache is used up",
    )


def _pressed(view: View) -> float | None:
    """The part of the time in which something waited for a CPU or for memory."""
    growths = [view.growth("psi_cpu_some_us"), view.growth("psi_memory_some_us")]
    known = [growth / 1e6 for growth in growths if growth is not None]
    return max(known) if known else None


def _middle(views: Sequence[View], value: Callable[[View], float | None]) -> float | None:
    known = of_workers(views, value)
    return median(known) if known else None


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def other_load(case: Case) -> Finding:
    def text(views: tuple[View, ...]) -> str:
        pressed = span(views, lambda view: _percent(_pressed(view)), "% of the time", 1)
        written = span(views, lambda view: _percent(view.written_share), "%")
        return (
            f"CPU or memory under pressure {pressed}; "
            f"written to the disks, of the bytes copied: {written}"
        )

    evidence = text(case.baseline), text(case.candidate)
    pressed = [_middle(views, _pressed) for views in (case.slower, case.faster)]
    written = [
        _middle(views, lambda view: view.written_share) for views in (case.slower, case.faster)
    ]
    if None in pressed and None in written:
        return Finding(
            State.NOT_OBSERVABLE, *evidence, "no pressure and no disk counters were recorded"
        )
    if not case.differs:
        return Finding(State.RULED_OUT, *evidence, NOTHING_TO_EXPLAIN)
    slower, faster = pressed
    if slower is not None and faster is not None and slower >= faster + PRESSED_SHARE:
        return Finding(
            State.SUPPORTED,
            *evidence,
            f"something waited for CPU or memory {percent(slower)} of the slower side's time",
        )
    slower, faster = written
    if slower is not None and faster is not None:
        foreign = slower - max(1.0, faster)
        if foreign >= FOREIGN_SHARE:
            return Finding(
                State.SUPPORTED,
                *evidence,
                f"the slower side's disks wrote {percent(foreign)} more than the copies: something "
                "else used them",
            )
    return Finding(State.RULED_OUT, *evidence, "the slower side shows no load but the benchmark's")


RULES = (
    Rule(
        "drift-over-time",
        "The slower side slowed down in the course of the run.",
        drift_over_time,
        EVERY_WORKLOAD,
    ),
    Rule(
        "other-load",
        "Something else loaded the slower side's machine.",
        other_load,
        # Where several work at once they press the CPU themselves.
        EVERY_WORKLOAD - {"metadata", "exec"},
    ),
)
