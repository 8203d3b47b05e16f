# SPDX-License-Identifier: MPL-2.0
"""What a decision costs: the workers that the advice asks for, by what runs took here."""

from typing import Any

import pytest
from msgspec.structs import replace
from seed_workers import report_of, workers

from io_benchmark.costs.worker_time import Cost, CostShare, Price
from io_benchmark.report.sections.workers import cost_text

HOUR_NS = 3600 * 10**9
INTEL, AMD_30 = Price(0.6, "USD"), Price(0.5, "USD")
PRICES = {"intel": INTEL, "amd-16": Price(0.3, "USD"), "c3d-standard-30-lssd": AMD_30}


def timed(**hours):
    """One worker per pool, whose tasks took so long."""
    return [
        replace(worker, task_ns=round(hours[worker.pool.replace("-", "_")] * HOUR_NS))
        for worker in workers()
    ]


def test_by_whole_runs():
    """amd-16 is decided: only amd-30 and the baseline get more, at their own time and price."""
    report: Any = report_of(timed(intel=0.5, amd_16=1, amd_30=0.25), prices=PRICES)
    count = report.subjects[0].comparisons[1].advice.workers_to_add
    shares = (
        CostShare("amd-30", count, 15.0, price=AMD_30),
        CostShare("intel", count, 30.0, price=INTEL),
    )
    assert report.decision_cost == Cost(shares, with_prices=True, runs=2, with_setup=True)
    assert cost_text(report) == (
        f"To settle amd-30: {count} more workers per pool, {2 * count} in total, about "
        f"{0.75 * count:.0f} worker hours (estimated from 2 runs, set-up included), "
        f"{count * 0.425:.2f} USD "
        "at "
        "the given prices. Or accept ±20 %: 6 more."
    )


def test_without_the_queues_times():
    """Bare files tell what the worker's program took, and the report says so."""
    measured = [replace(worker, task_ns=None) for worker in workers()]
    report: Any = report_of(measured)
    (duration_ns,) = (run.result.duration_ns for run in measured if run.pool == "amd-30")
    share = report.decision_cost.shares[0]
    assert (share.name, share.minutes) == ("amd-30", pytest.approx(duration_ns / HOUR_NS * 60))
    assert cost_text(report).endswith(
        "(estimated from 2 runs, without the set-up of tasks). Or accept ±20 %: 6 more."
    )
