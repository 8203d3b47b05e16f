# SPDX-License-Identifier: MPL-2.0
"""The figures that a ratio is of, where the averages next to it give another ratio."""

from collections.abc import Sequence

import pytest
import seed_workers
from msgspec.structs import replace
from written import rows, section, tables

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report


def report(factors: Sequence[float]) -> Report:
    """Return intel against workers of amd-30 that are so many times as slow as the seed's."""
    intel, amd = (seed_workers.workers(len(factors), pools=(pool,)) for pool in ("intel", "amd-30"))
    slow = [
        replace(each, entries=tuple(seed_workers.slowed(entry, factor) for entry in each.entries))
        for each, factor in zip(amd, factors, strict=True)
    ]
    return compare(Plan.of_pools(("intel", "amd-30"), "intel"), [*intel, *slow], Options())


def test_a_slow_worker_moves_the_average_more() -> None:
    """The row below the averages has what the ratio is of; it is there only where that differs."""
    made = report([1, 1, 4])
    cells = rows(tables(section(made, "cache-retrieve"))[0])
    assert list(cells)[:2] == ["Avg", "Compared avg"]
    intel, amd = (float(cell.removesuffix(" ms")) for cell in cells["Compared avg"])
    (comparison,) = made.subjects[0].comparisons
    assert amd / intel == pytest.approx(comparison.ratio, rel=0.01)
    assert cells["Avg"][0] == cells["Compared avg"][0]
    assert float(cells["Avg"][1].removesuffix(" ms")) > 1.2 * amd
    # Rounding explains the rest.
    assert "Compared avg" not in rows(tables(section(report([1, 1, 1.05]), "cache-retrieve"))[0])
