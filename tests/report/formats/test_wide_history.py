# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Characters that take two cells, or none, do not move a table's columns."""

import pytest
import sample_history
from msgspec.structs import replace
from rich.cells import cell_len

from io_benchmark.report.formats.terminal_history import ROWS_SHOWN

REVISIONS = ("0123456789ab", "ジョブの変更履歴です", "🚀🚀🚀", "e\u0301e\u0301e\u0301", "")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_columns_of_a_history(width: int) -> None:
    """All rows have the same width, whatever is in their revisions."""
    made = sample_history.steady()
    (series,) = made.series
    points = tuple(
        replace(point, revision=REVISIONS[at % len(REVISIONS)])
        for at, point in enumerate(series.points)
    )
    made = replace(made, series=(replace(series, points=points),))
    lines = sample_history.on_terminal(made, width).splitlines()
    rows = [line for line in lines if line.startswith("  20") and " ms " in line]
    assert len(rows) == min(len(points), ROWS_SHOWN)
    ends = {cell_len(line[: line.index(" ms ")]) for line in rows}
    assert len(ends) == 1
    assert max(map(cell_len, lines)) <= width
