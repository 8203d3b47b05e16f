# SPDX-License-Identifier: MPL-2.0
"""Which runs of real tasks count, and clocks that are wrong."""

import pytest
from msgspec.structs import replace
from sample_tasks import (
    START_MS,
    compared,
    completed,
    only_pair,
    runs_on_two_pools,
    warnings_of,
)

from io_benchmark.analysis.tasks.both_sides import BothSides
from io_benchmark.sources.run_results import TaskRun


def test_every_run_is_counted() -> None:
    """Completed runs are compared, and the others are counted.

    Runs whose times contradict each other are left out.
    """
    lost = [("exception", each) for each in ("worker-shutdown", "claim-expired", "internal-error")]
    stopped = [("exception", reason) for reason in ("canceled", "deadline-exceeded")]
    runs = [
        completed("a", 3, f"g/x{at}", state=state, reason=reason)
        for at, (state, reason) in enumerate([*lost, *stopped, ("failed", "failed")])
    ]
    runs += [
        completed("a", 3, "g/y", started_ms=-1, state="exception", reason="deadline-exceeded"),
        completed("a", -3, "g/z"),
        completed("a", 5, "g/w", scheduled_ms=START_MS + 1001),
        completed("a", 10, "g/v", scheduled_ms=START_MS + 1000),
        completed("a", 3, "g/u", "other", state="failed", reason="failed"),
    ]
    report = compared([*runs_on_two_pools(10, 10), *runs])
    known, side = only_pair(report), report.sides[1]
    assert known.failed == BothSides(0, 1)
    assert known.lost == BothSides(0, 3)
    assert known.stopped == BothSides(0, 2)
    assert known.completed == BothSides(4, 5)
    assert (side.completed, side.failed, side.lost, side.stopped) == (5, 2, 3, 2)
    assert (side.never_started, side.unusable) == (1, 2)
    assert "runs of a whose times contradict each other: 2; they are left out" in warnings_of(
        report
    )


def with_own_times(run: TaskRun, clock_s: float = 0.0) -> TaskRun:
    """Set-up of 30 seconds and tear-down of 10, by a clock that is so much ahead."""
    return replace(
        run,
        own_started_ms=run.started_ms + round((30 + clock_s) * 1000),
        own_ended_ms=run.resolved_ms - round((10 - clock_s) * 1000),
    )


@pytest.mark.parametrize(
    ("clock_s", "is_right"), [(0, True), (-31, True), (-31.1, False), (11, True), (11.1, False)]
)
def test_clocks(clock_s: float, is_right: bool) -> None:
    """Work that begins before its run, or ends after it, shows a wrong clock.

    Such a run has no set-up.
    """
    runs = [
        with_own_times(run, clock_s if run.pool == "a" else 0.0)
        for run in runs_on_two_pools(12, 10)
    ]
    times = only_pair(compared(runs)).times["a"]
    assert (times.set_up_s is not None, times.tear_down_s is not None) == (is_right, is_right)
    assert times.work_s is not None
    assert times.work_s + 40 == pytest.approx(times.task_s, abs=0.5)
    assert times.pending_s == 60
