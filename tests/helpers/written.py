# SPDX-License-Identifier: MPL-2.0
"""What a report says, as lines of plain text, whatever format shows it."""

from collections.abc import Iterable, Iterator

from io_benchmark.analysis.gate.gate_model import GateReport
from io_benchmark.analysis.history.history_model import History
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.prediction.prediction_model import Predictions
from io_benchmark.analysis.tasks.machines.machine_model import MachineReport
from io_benchmark.analysis.tasks.ranking import LabelRanking
from io_benchmark.analysis.tasks.task_model import TaskReport
from io_benchmark.report.blocks import (
    Block,
    Fold,
    Heading,
    Item,
    Items,
    Paragraph,
    Picture,
    Row,
    Table,
    plain,
)
from io_benchmark.report.formats import document_of

AnyReport = Report | GateReport | History | TaskReport | LabelRanking | MachineReport | Predictions


def screen(report: AnyReport) -> list[str]:
    """The lists of a first screen: `- answer`, `Cause: …` below it, `! warning`."""
    lists = [block for block in document_of(report).screen if isinstance(block, Items)]
    return [line for block in lists for line in _items(block.items)]


def section(report: AnyReport, title: str) -> list[Block]:
    """The blocks below the heading that starts so; none where there is no such heading."""
    found: list[Block] = []
    level = 0  # of that heading
    for block in _opened(document_of(report).whole):
        if isinstance(block, Heading) and (level == 0 or block.level <= level):
            level = block.level if plain(block.line).startswith(title) else 0
        elif level:
            found.append(block)
    return found


def headings(report: AnyReport) -> list[str]:
    blocks = _opened(document_of(report).whole)
    return [plain(block.line) for block in blocks if isinstance(block, Heading)]


def folds(report: AnyReport) -> list[str]:
    blocks = document_of(report).whole
    return [block.summary for block in blocks if isinstance(block, Fold)]


def lines(blocks: Iterable[Block]) -> list[str]:
    """Every line: titles, items and rows, whose cells are apart by a bar."""
    return [line for block in blocks for line in _lines(block)]


def tables(blocks: Iterable[Block]) -> list[Table]:
    return [block for block in blocks if isinstance(block, Table)]


def rows(table: Table) -> dict[str, tuple[str, ...]]:
    """The cells of each row, by its label."""
    return {plain(row.label): tuple(map(plain, row.cells)) for row in table.rows}


def _opened(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        if isinstance(block, Fold):
            yield from _opened(block.blocks)


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Heading() | Paragraph():
            yield plain(block.line)
        case Items() if block.items:
            yield from [plain(block.title)] if block.title else []
            yield from _items(block.items)
        case Table():
            yield from [plain(block.title)] if block.title else []
            yield " | ".join((block.corner, *map(plain, block.heads)))
            yield from map(_row, block.rows)
        case Picture():
            yield plain(block.caption)
        case Fold():
            yield block.summary


def _items(items: Iterable[Item]) -> Iterator[str]:
    for item in items:
        yield f"{item.mark} {plain(item.line)}"
        yield from (plain(below.line) for below in item.below)


def _row(row: Row) -> str:
    return " | ".join((plain(row.label), *map(plain, row.cells)))
