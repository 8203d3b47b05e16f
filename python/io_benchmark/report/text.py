# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Tables for the terminal: coloured and as wide as it is, plain when piped."""

from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from io_benchmark.analysis.figures import Figures, Table

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000

ROWS: tuple[tuple[str, Callable[[Figures], str]], ...] = (
    ("Avg", lambda figures: milliseconds(figures.mean_ns)),
    ("P50", lambda figures: milliseconds(figures.p50_ns)),
    ("P95", lambda figures: milliseconds(figures.p95_ns)),
    ("P99", lambda figures: milliseconds(figures.p99_ns)),
    ("Total", lambda figures: f"{figures.total_ns / NS_PER_S:.1f} s"),
    ("Lookup avg", lambda figures: milliseconds(figures.lookup_mean_ns)),
    ("Copy avg", lambda figures: milliseconds(figures.copy_mean_ns)),
    ("Workers", lambda figures: str(figures.workers)),
    ("Retrieves", lambda figures: f"{figures.retrieves:,}"),
)


def milliseconds(value_ns: float) -> str:
    """Three digits are as much as these machines repeat."""
    value = value_ns / NS_PER_MS
    return f"{value:.0f} ms" if value >= 100 else f"{value:.3g} ms"


def show_table(console: Console, table: Table) -> None:
    """Seed 000's table: a column a pool, a row a figure, the ratio last."""
    subject = table.subject
    title = (
        f"{subject.workload}, place {subject.place}, destination {subject.destination}, "
        f"fidelity {subject.fidelity}"
    )
    console.print(Text(title, style="bold"))
    shown = RichTable(box=box.SIMPLE_HEAD)
    shown.add_column("Metric")
    for pool in table.pools:
        shown.add_column(Text(pool), justify="right")
    for name, figure in ROWS:
        shown.add_row(name, *(figure(figures) for figures in table.pools.values()))
    if table.baseline in table.pools:
        ratios = (f"{table.ratio(pool):.2f}×" for pool in table.pools)
        shown.add_row(f"Ratio vs {table.baseline}", *ratios, style="bold")
    console.print(shown)
