# SPDX-License-Identifier: MPL-2.0
"""What the same work costs on each pool."""

import pytest
from seed_workers import report_of, workers

from io_benchmark.analysis.model.report import SampledReport
from io_benchmark.costs.worker_time import Price
from io_benchmark.report.blocks import plain
from io_benchmark.report.sections.measured import sides_of
from io_benchmark.report.sections.pools.pool_costs import pool_costs

PRICES = {"intel": Price(0.6, "USD"), "amd-16": Price(0.3, "USD"), "amd-30": Price(0.5, "USD")}


def costs(report: SampledReport) -> list[str]:
    return [plain(item.line) for item in pool_costs(report, sides_of(report))]


def test_the_cheapest_is_first() -> None:
    """A cost is the mean time at the pool's price; its ratio is that of the times and prices."""
    report = report_of(workers(), prices=PRICES)
    figures, (slow, _) = report.subjects[0].figures, report.subjects[0].comparisons
    mean_s = {side: figures[side].mean_ns / 1e9 for side in PRICES}
    intel, amd_16 = mean_s["intel"] / 3.6 * 0.6, mean_s["amd-16"] / 3.6 * 0.3
    assert costs(report) == [
        (
            "1,000 retrieves cost at the given prices: "
            "amd-30 0.0107 USD (0.84× that of intel, 0.63 to 1.14), "
            f"amd-16 {amd_16:.3g} USD ({slow.ratio / 2:.2f}× that of intel, 0.68 to 1.35), "
            f"intel {intel:.3g} USD."
        )
    ]


@pytest.mark.parametrize(
    ("prices", "ending"),
    [
        ({}, None),
        ({"intel": PRICES["intel"]}, None),
        ({**PRICES, "amd-16": Price(1, "EUR")}, "amd-16 0.0405 EUR, amd-30"),
    ],
    ids=["no price", "a single price", "two currencies"],
)
def test_what_cannot_be_compared(prices: dict[str, Price], ending: str | None) -> None:
    """One price compares nothing, and amounts of two currencies have no ratio."""
    written = costs(report_of(workers(), prices=prices))
    assert len(written) == (ending is not None)
    assert ending is None or ending in written[0]
