# SPDX-License-Identifier: MPL-2.0
"""The labels that two sides have in common."""

import math

import pytest
from sample_tasks import (
    compared,
    completed,
    only_pair,
    runs_on_two_pools,
    warnings_of,
)

from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.tasks import compare_tasks, task_pair
from io_benchmark.report.content import text_of


def test_the_mix_does_not_change_the_ratio() -> None:
    """One pool ran mostly the long task, the other mostly the short one: they are equal."""
    runs = []
    for pool, longs in (("a", 6), ("b", 1)):
        for worker in range(8):
            label, minutes = ("long", 60) if worker < longs else ("short", 5)
            factor = math.exp(0.02 * (worker % 3 - 1))
            runs.append(completed(pool, minutes * factor, f"g/{pool}{worker}", label))
    report = compared(runs)
    assert only_pair(report).ratio == pytest.approx(1, abs=0.03)
    assert only_pair(report).verdict is not Verdict.SLOWER
    assert any("without regard to labels it would be 3." in line for line in warnings_of(report))


def test_the_labels_with_most_runs_are_compared(monkeypatch):
    """However long the others take."""
    for module in (task_pair, compare_tasks):
        monkeypatch.setattr(module, "MOST_LABELS", 1)
    report = compared(
        [*runs_on_two_pools(1, 1, 4, label="many"), *runs_on_two_pools(90, 60, 2, label="long")]
    )
    assert [row.label for row in only_pair(report).labels] == ["many"]
    assert "only the 1 labels with most runs are compared" in warnings_of(report)


@pytest.mark.parametrize(
    ("workers", "ratio", "spread", "is_named"),
    [
        # Two workers per side do not show that one label differs from the others.
        (2, 2.0, 0.001, False),
        (3, 2.0, 0.001, True),
        # With two labels, the chance of a false alarm is half as large for each: at 1 %, 1.057
        # would be one.
        (4, 1.057, 0.02, False),
        (4, 1.065, 0.02, True),
    ],
)
def test_a_label_that_differs(workers, ratio, spread, is_named):
    """It differs by more than chance, from three workers per side on."""
    runs = [*runs_on_two_pools(60, 60, max(workers, 4), spread=spread, label="x")]
    runs += runs_on_two_pools(2 * ratio, 2, workers, spread=spread, label="y")
    found = only_pair(compared(runs))
    assert {row.label: row.differs for row in found.labels}["y"] is is_named
    assert not is_named or any("from 1.00× (x) to " in text_of(line) for line in found.warnings)
