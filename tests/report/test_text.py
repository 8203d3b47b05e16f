# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Tables on a terminal."""

import io

import pytest
from rich.console import Console

from io_benchmark.analysis.figures import Figures, Subject, Table
from io_benchmark.report import text

MS = 1_000_000


def pool(mean_ms: float) -> Figures:
    return Figures(
        workers=1,
        retrieves=2000,
        mean_ns=mean_ms * MS,
        p50_ns=80 * MS,
        p95_ns=109 * MS,
        p99_ns=118 * MS,
        total_ns=mean_ms * 2000 * MS,
        lookup_mean_ns=1.234 * MS,
        copy_mean_ns=(mean_ms - 1.234) * MS,
    )


SUBJECT = Subject("cache-retrieve", "workspace", "overwrite", "seed")


def shown(table: Table, width: int) -> str:
    stream = io.StringIO()
    text.show_table(Console(file=stream, width=width), table)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def test_the_seeds_table() -> None:
    """Seed 000's final table, a column a pool, the ratio to the baseline last."""
    table = Table(SUBJECT, "intel", {"amd-16": pool(146), "amd-30": pool(77), "intel": pool(76)})
    assert (
        shown(table, 80)
        == """\
cache-retrieve, place workspace, destination overwrite, fidelity seed

  Metric            amd-16    amd-30     intel
 ──────────────────────────────────────────────
  Avg               146 ms     77 ms     76 ms
  P50                80 ms     80 ms     80 ms
  P95               109 ms    109 ms    109 ms
  P99               118 ms    118 ms    118 ms
  Total            292.0 s   154.0 s   152.0 s
  Lookup avg       1.23 ms   1.23 ms   1.23 ms
  Copy avg          145 ms   75.8 ms   74.8 ms
  Workers                1         1         1
  Retrieves          2,000     2,000     2,000
  Ratio vs intel     1.92×     1.01×     1.00×
"""
    )


def test_without_the_baseline_there_is_no_ratio() -> None:
    """A subject that the baseline pool did not measure shows its figures alone."""
    assert "Ratio" not in shown(Table(SUBJECT, "intel", {"amd-16": pool(146)}), 80)


def test_a_name_is_never_read_as_markup() -> None:
    """What a file calls its pool is printed as it stands."""
    table = Table(SUBJECT, "x", {"[red]x[/red]": pool(1)})
    assert "[red]x[/red]" in shown(table, 80)


@pytest.mark.parametrize(
    ("value_ms", "expected"),
    [
        pytest.param(146.4, "146 ms", id="hundreds"),
        pytest.param(76.04, "76 ms", id="tens"),
        pytest.param(1.234, "1.23 ms", id="ones"),
        pytest.param(0.0307, "0.0307 ms", id="below-one"),
    ],
)
def test_figures_have_three_digits(value_ms: float, expected: str) -> None:
    """As many digits as such a measurement can stand by."""
    assert text.milliseconds(value_ms * MS) == expected
