# SPDX-License-Identifier: MPL-2.0
"""CSV of all pools, as a spreadsheet reads it."""

import csv
import io

import pytest
import sample_fleet
from msgspec.structs import replace

from io_benchmark.analysis.fleet.fleet_model import Fleet
from io_benchmark.report.formats import rendered


def rows(fleet: Fleet) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(rendered(fleet, "csv"))))


def test_a_pool() -> None:
    """A row has all of a pool: each figure with its interval, ranks and cost, and prices."""
    row = rows(sample_fleet.ordinary())[0]
    pool = sample_fleet.ordinary().pools[0]
    cell = pool.cells["write"]
    names = ("write (MiB/s)", "write low", "write high", "write best rank", "write worst rank")
    values = (cell.value, cell.interval.low_ratio, cell.interval.high_ratio, 1, 2)
    assert [float(row[name]) for name in names] == list(values)
    assert float(row["write cost (TiB written)"]) == cell.cost
    assert "flush cost" not in "".join(row)
    assert (row["pool"], row["price per hour"], row["currency"]) == ("intel-30", "1.4", "USD")
    assert row["machine types"] == "n2-standard-32; n2-standard-16"
    assert row["last measured"] == "2026-11-22"
    assert row["results"] == pool.address


def test_what_is_not_known() -> None:
    """It is an empty cell; a change and flags are in theirs."""
    *_, slow, _, unlike = rows(sample_fleet.ordinary())
    assert (unlike["write best rank"], unlike["read (MiB/s)"], unlike["currency"]) == ("", "", "")
    assert unlike["flags"] == "not measured for 40 days; one machine only"
    change = [slow[f"last change{part}"] for part in ("", " figure", " ratio")]
    assert change == ["2026-11-02", "write", "1.25"]


def test_predictions() -> None:
    """A profiled task has its columns, which other tables do not have."""
    first, *_, last = rows(sample_fleet.predicted())
    assert (first["predicted minutes"], first["predicted minutes high"]) == ("15.0", "17.0")
    assert last["predicted minutes"] == ""
    assert "predicted minutes" not in rows(sample_fleet.ordinary())[0]


@pytest.mark.parametrize("start", ["=", "+", "-", "@"])
def test_formulas(start: str) -> None:
    """What a spreadsheet would take for a formula is text; numbers stay numbers."""
    fleet = sample_fleet.ordinary()
    pool = replace(fleet.pools[0], pool=f"{start}1+1", images=(f"{start}SUM(A1)",))
    (row,) = rows(replace(fleet, pools=(pool,)))
    assert (row["pool"], row["images"]) == (f"'{start}1+1", f"'{start}SUM(A1)")
    assert row["write (MiB/s)"] == "1200.0"


def test_hostile_names() -> None:
    """Each pool is one line, whatever its name has."""
    text = rendered(sample_fleet.hostile(), "csv")
    assert len(text.splitlines()) == 1 + len(sample_fleet.hostile().pools)
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []


def test_nothing() -> None:
    """Without pools there are the heads."""
    (line,) = rendered(sample_fleet.nothing(), "csv").splitlines()
    assert line.startswith("pool,queue,")
