# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Names with characters of two cells, or of none, in a comparison as text."""

import pytest
import sample_report
from msgspec.structs import replace
from rich.cells import cell_len

# Lines of a table that have no columns.
WITHOUT_COLUMNS = ("lookups", "copies", "blocked: I/O, writeback, memory")
WIDE = {"intel": "遅いプール" * 6, "amd-30": "🚀" * 20, "amd-16": "e\u0301" * 20}


@pytest.mark.parametrize("width", [40, 80, 140])
def test_tables_fit_and_stand_in_columns(width: int) -> None:
    """All rows of a table have the same width, at most that with names of 40 letters."""
    lines = drawn(WIDE, width)
    plain = drawn({side: side[-1] * 40 for side in WIDE}, width)
    assert max(map(cell_len, lines)) <= max(width, *map(cell_len, plain))
    tables = [at for at, line in enumerate(lines) if set(line.strip()) == {"─"}]
    assert tables
    for at in tables:
        rows = [lines[at - 1]]
        while at + len(rows) < len(lines) and lines[at + len(rows)].strip():
            rows.append(lines[at + len(rows)])
        rows = [row for row in rows if row.strip() not in WITHOUT_COLUMNS]
        assert len({cell_len(row) for row in rows}) == 1, rows


def drawn(names: dict[str, str], width: int) -> list[str]:
    """Return the lines of the seed's case with these names of pools."""
    made = sample_report.seed_case(sample_report.FEW_RETRIEVES)
    (part,) = made.subjects
    figures = {names[side]: one for side, one in part.figures.items()}
    comparisons = tuple(
        replace(one, baseline=names[one.baseline], candidate=names[one.candidate])
        for one in part.comparisons
    )
    made = replace(
        made,
        baseline=names[made.baseline],
        subjects=(
            sample_report.with_divisions(
                replace(part, figures=figures, comparisons=comparisons, bottlenecks={})
            ),
        ),
        diagnoses=(),
        problems=(),
    )
    return sample_report.on_terminal(made, width).splitlines()
