# SPDX-License-Identifier: MPL-2.0
"""The labels whose slower pools cost most per month, and a summary of each pool."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from io_benchmark.analysis.tasks.ranking import (
    ExplainedRanking,
    LabelRanking,
    RankedLabel,
    RankedPool,
)
from io_benchmark.number_text import (
    NOTHING,
    count,
    money,
    number_of,
    percent,
    ratio,
    signed,
)
from io_benchmark.report.blocks import (
    QUIET,
    WARNING,
    Block,
    Document,
    Fold,
    Heading,
    Item,
    Items,
    Line,
    Paragraph,
    Row,
    Table,
    Words,
)
from io_benchmark.report.content import ends_text
from io_benchmark.report.facts import VERSION, addresses_of
from io_benchmark.report.sections.real_tasks import ranking_answers
from io_benchmark.text import name

_ROWS_OPEN = 12  # a longer table is folded
_LABELS_SHOWN = 40  # further labels are on the page alone
# Characters of the names of a pool and of a label.
_POOL_CELLS = 24
_LABEL_CELLS = 44
# On the first screen: rows of the table, notes, and characters of a note.
_SCREEN_ROWS = 8
_ROWS_KEPT = 3
_SCREEN_NOTES = 2
_NOTE_LENGTH = 220


def document(ranking: LabelRanking) -> Document:
    """Return the report's blocks: the answer, then the labels and the pools."""
    labels = list(_labels(ranking)) if ranking.labels else []
    sentences = ranking_answers.answers(ranking)
    content: list[Block] = []
    if labels:
        first, *further = labels
        if len(ranking.labels) > _ROWS_OPEN:
            count_shown = min(len(ranking.labels), _LABELS_SHOWN)
            first = Fold(number_of(count_shown, "label"), [first])
        content += [Heading("Labels"), first, *further]
    if ranking.pools:
        heads = ("runs", "labels", "workers", "hours", "failed", "price per hour")
        rows = [Row(name(pool.pool, _POOL_CELLS), _pool(pool)) for pool in ranking.pools]
        pools: Block = Table("pool", heads, rows, drop=heads[1:])
        if len(rows) > _ROWS_OPEN:
            pools = Fold(number_of(len(rows), "pool"), [pools])
        content += [Heading("Pools"), pools]
    content += Items.lists(
        ("Not read", ranking.unreadable), ("Messages about the runs", ranking.remarks)
    )
    content += [Heading("How to read this"), Paragraph(_basis(ranking), QUIET)]
    screen: list[Block] = [sentences, *_screen_warnings(ranking), *_first_rows(labels)]
    return Document(
        "Which tasks cost most on a slower pool",
        content,
        screen,
        facts=[*_facts(ranking)],
        answer=[*ranking_answers.picture(ranking), sentences],
    )


def _facts(ranking: LabelRanking) -> Iterator[Line]:
    """Yield what was read and compared, and when it ran."""
    runs = number_of(sum(pool.runs for pool in ranking.pools), "run")
    yield f"{runs} on {number_of(len(ranking.pools), 'pool')}"
    if isinstance(ranking, ExplainedRanking):
        if ranking.pools:
            yield f"from {ranking.first_day} to {ranking.last_day}"
        yield from addresses_of(ranking.addresses)
    yield VERSION


def _basis(ranking: LabelRanking) -> str:
    pairs = number_of(ranking.compared, "pair")
    were = "was" if ranking.compared == 1 else "were"
    return (
        f"{pairs} of a label and a pool {were} compared with the pool on which the label takes "
        f"least. Slower by more than chance: {count(len(ranking.labels))}. Months have 30 days; "
        "hours are those of workers. Intervals are corrected for all pairs, so all of them hold "
        "together at 95 %. Money is that of the hours at both pools' prices."
    )


def _screen_warnings(ranking: LabelRanking) -> Iterator[Items]:
    """Write the first lines of what a screen has no room for."""
    lines = [name(f"Not read: {line}", _NOTE_LENGTH) for line in ranking.unreadable]
    lines += [name(line, _NOTE_LENGTH) for line in ranking.remarks]
    if lines:
        items = [Item(Words(line, WARNING), mark="!") for line in lines]
        yield Items(items, noun="; --details shows them", shown=_SCREEN_NOTES)


def _first_rows(labels: Sequence[Block]) -> Iterator[Table]:
    """Write the first rows of the table of labels, of which a screen leaves out the last first."""
    for table in labels:
        if isinstance(table, Table):
            rows = [
                replace(row, rank=ranking_answers.FIRST_RANK if position < _ROWS_KEPT else 0)
                for position, row in enumerate(table.rows[:_SCREEN_ROWS])
            ]
            left_out = len(table.rows) + table.left_out - len(rows)
            # Sentences have the causes.
            yield replace(table, rows=rows, left_out=left_out, drop=("cause", *table.drop))


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
    cost = NOTHING
    if row.money is not None:
        cost = f"{signed(money(abs(row.money)), row.money)} {row.currency}"
    runs, reference_runs = row.runs
    return [
        name(row.pool, _POOL_CELLS),
        name(row.reference, _POOL_CELLS),
        ratio(row.ratio),
        ends_text(row.interval),
        f"+{ranking_answers.hours_text(row)}",
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
