# SPDX-License-Identifier: MPL-2.0
"""The figures that a ratio is of, where the averages next to it give another ratio."""

from collections.abc import Sequence

import pytest
import seed_workers
import several_places
from msgspec.structs import replace
from written import lines, section, tables

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report
from io_benchmark.report.blocks import plain
from io_benchmark.report.formats.output import rendered


def report(factors: Sequence[float]) -> Report:
    """Return intel against workers of amd-30 that are so many times as slow as the seed's."""
    workers = seed_workers.workers(len(factors), pools=("intel", "amd-30"))
    slow = [
        replace(
            worker,
            entries=tuple(seed_workers.slowed(entry, factor) for entry in worker.entries),
        )
        for worker, factor in zip(workers[len(factors) :], factors, strict=True)
    ]
    plan = Plan.of_pools(("intel", "amd-30"), "intel")
    return compare(plan, [*workers[: len(factors)], *slow], Options())


def test_a_slow_worker_moves_the_average_more() -> None:
    """The row below the averages has what the ratio is of."""
    made = report([1, 1, 4])
    (table,) = tables(section(made, "cache-retrieve"))
    cells = {plain(row.label): tuple(map(plain, row.cells)) for row in table.rows}
    assert list(cells)[:2] == ["Avg", "Compared avg"]
    intel, amd = (float(cell.removesuffix(" ms")) for cell in cells["Compared avg"])
    (comparison,) = made.subjects[0].comparisons
    assert amd / intel == pytest.approx(comparison.ratio, rel=0.01)
    assert cells["Avg"][0] == cells["Compared avg"][0]
    assert float(cells["Avg"][1].removesuffix(" ms")) > 1.2 * amd


@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_every_format_has_it_only_where_it_differs(form: str, details: bool) -> None:
    """Nothing more is shown where rounding explains the difference."""
    assert "Compared avg" in rendered(report([1, 1, 4]), form, details=details)
    assert "Compared avg" not in rendered(report([1, 1, 1.05]), form, details=details)


def test_rows_of_places() -> None:
    """The averages at two places give another ratio than the one within workers."""
    made = several_places.five()
    (places, *_) = made.places
    row = places.rows[2]
    side = replace(row.sides[0], mean_ns=2 * (row.sides[0].mean_ns or 0.0))
    rows = (*places.rows[:2], replace(row, sides=(side, *row.sides[1:])))
    shown = lines(section(replace(made, places=(replace(places, rows=rows),)), "Places"))
    assert [line for line in shown if "compared avg" in line] == [
        "- compared avg of the ratio 2.31×: 175 (boot-disk, intel) and 75.8 (workspace, intel)",
        "- compared avg of the ratio 1.03×: 180 (boot-disk, amd-16) and 175 (boot-disk, intel)",
    ]
