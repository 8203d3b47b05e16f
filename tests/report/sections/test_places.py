# SPDX-License-Identifier: MPL-2.0
"""Places side by side."""

import pytest
import several_places
from msgspec.structs import replace
from written import folds, lines, section, tables

from io_benchmark.analysis.model import Interval
from io_benchmark.report.blocks import plain
from io_benchmark.report.sections.places import _is_notable


def test_several_workers() -> None:
    """Each is compared with itself; how much their ratios differ gives the interval."""
    report = several_places.five()
    (places,) = report.places
    rows = tuple(
        replace(row, sides=(replace(row.sides[0], method="workers", workers=3), *row.sides[1:]))
        for row in places.rows
    )
    found = lines(section(replace(report, places=(replace(places, rows=rows),)), "Places"))
    rule = "each compared with itself; the interval follows from how much their ratios differ"
    assert f"- intel: 3 workers, {rule}" in found


def test_what_is_folded() -> None:
    """Each destination of cache-retrieve has tables, of other workloads what differs."""
    report = several_places.everything()
    (summary,) = [fold for fold in folds(report) if "places" in fold]
    titles = [plain(table.title) for table in tables(section(report, "Places"))]
    means = [title for title in titles if not title.startswith("Ratio")]
    assert len(means) == len(report.places) == 28
    assert means[:3] == [
        f"cache-retrieve, destination {name}, fidelity seed (ms, lower is better)"
        for name in ("overwrite", "unlink", "fresh")
    ]
    folded = int(summary.split(" in ")[1].split()[0])
    assert all("random-io" in title for title in means[3 : 28 - folded])
    assert summary == f"No proven difference between places in {folded} measurements"


@pytest.mark.parametrize(
    ("bounds", "is_notable"), [((1.01, 1.04), False), ((1.01, 1.06), True), ((0.9, 1.1), False)]
)
def test_a_difference_within_the_margin(bounds: tuple[float, float], is_notable: bool) -> None:
    """It is proven and does not matter, so it is folded."""
    measured = several_places.everything().places[-1]
    alike = {"interval": Interval(*bounds, 0.95), "missing": None, "not_compared": None}
    rows = tuple(
        replace(row, comparisons=(), sides=tuple(replace(side, **alike) for side in row.sides))
        for row in measured.rows
    )
    assert _is_notable(replace(measured, rows=rows), 0.05) is is_notable
