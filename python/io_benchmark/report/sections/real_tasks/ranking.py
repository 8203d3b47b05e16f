# SPDX-License-Identifier: MPL-2.0
"""The labels whose slower pools cost most per month, and a summary of each pool."""

from collections.abc import Iterator

from msgspec.structs import replace

from io_benchmark.analysis.tasks.ranking import LabelRanking, RankedLabel, RankedPool
from io_benchmark.number_text import (
    NOTHING,
    compact,
    count,
    money,
    number_of,
    percent,
    plural,
    ratio,
    signed,
)
from io_benchmark.report.blocks import Block, Document, Fold, Heading, Items, Paragraph, Row, Table
from io_benchmark.report.content import ends_text
from io_benchmark.text import name

_LABELS_SHOWN = 40  # further labels are on the page alone
# Characters of the names of a pool and of a label.
_POOL_CELLS = 24
_LABEL_CELLS = 44


def document(ranking: LabelRanking) -> Document:
    """Return the report's blocks: what was compared, the labels, and the pools."""
    runs = number_of(sum(pool.runs for pool in ranking.pools), "run")
    pairs = number_of(ranking.compared, "pair")
    were = "was" if ranking.compared == 1 else "were"
    days = compact(ranking.days)
    basis = (
        f"{runs} in {days} {plural(1 if days == '1' else ranking.days, 'day')}. "
        f"{pairs} of a label and a pool {were} compared with the pool on which the "
        f"label takes least. Slower by more than chance: {count(len(ranking.labels))}. "
        "Months have 30 days; hours are those of workers."
    )
    content: list[Block] = [Paragraph(basis)]
    if ranking.labels:
        content += [Heading("Labels"), *_labels(ranking)]
    if ranking.pools:
        heads = ("runs", "labels", "workers", "hours", "failed", "price per hour")
        rows = [Row(name(pool.pool, _POOL_CELLS), _pool(pool)) for pool in ranking.pools]
        content += [Heading("Pools"), Table("pool", heads, rows, drop=heads[1:])]
    content += Items.lists(
        ("Not read", ranking.unreadable), ("Messages about the runs", ranking.remarks)
    )
    return Document("Which tasks cost most on a slower pool", content)


def _labels(ranking: LabelRanking) -> Iterator[Block]:
    """Write the labels that cost most; the page has the further as well."""
    heads = ("pool", "against", "ratio", "interval", "hours per month", "money", "runs", "cause")
    rows = [Row(name(row.label, _LABEL_CELLS), _label(row)) for row in ranking.labels]
    drop = ("runs", "interval", "against")
    table = Table("label", heads, rows, drop=drop, noun=" labels").without_empty_columns()
    further = table.rows[_LABELS_SHOWN:]
    yield replace(table, rows=table.rows[:_LABELS_SHOWN], left_out=len(further))
    if further:
        summary = number_of(len(further), "more label")
        yield Fold(summary, [replace(table, rows=further)], on_page_only=True)


def _label(row: RankedLabel) -> list[str]:
    low, high = (compact(end) for end in row.hours_interval)
    cost = NOTHING
    if row.money is not None:
        cost = f"{signed(money(abs(row.money)), row.money)} {row.currency}"
    runs, reference_runs = row.runs
    return [
        name(row.pool, _POOL_CELLS),
        name(row.reference, _POOL_CELLS),
        ratio(row.ratio),
        ends_text(row.interval),
        f"+{compact(row.hours)} ({low} to {high})",
        cost,
        f"{runs:,}, {reference_runs:,}",
        row.cause,
    ]


def _pool(pool: RankedPool) -> list[str]:
    return [
        count(pool.runs),
        count(pool.labels),
        count(pool.workers),
        count(pool.hours),
        percent(pool.lost_share),
        f"{pool.price.per_hour:.3g} {pool.price.currency}" if pool.price else NOTHING,
    ]
