# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a reader needs for a decision, short enough for a terminal of 80 × 24.

One sentence per pool, where the difference lies, its cause, what to try, what a decision costs, what
changes how a verdict is read, and the figures of the measurement that leads.
"""

from collections.abc import Callable, Sequence
from typing import Self

from msgspec import Struct

from io_benchmark.analysis.report_model import Report
from io_benchmark.report.content.answers import AnsweredSubject
from io_benchmark.report.content.footnotes import ProblemNotes
from io_benchmark.report.content.pool_lines import PoolsPart
from io_benchmark.report.content.report_index import NO_VERDICT
from io_benchmark.report.content.screen_lines import (
    ALWAYS,
    AVERAGE,
    COMPARED,
    MEASURES,
    ROWS,
    ScreenLine,
)
from io_benchmark.report.content.tables import FiguresTable, MeasureTable
from io_benchmark.report.content.warning_lines import warning_lines
from io_benchmark.report.content.worker_rows import WorkersPart
from io_benchmark.results import workloads

_ROW_RANKS = {row: rank for rank, row in enumerate(ROWS, 1)} | {"Avg": AVERAGE, COMPARED: AVERAGE}


class FirstScreen(Struct, frozen=True):
    title: str
    lines: tuple[ScreenLine, ...]
    table_title: str = ""  # the measurement, where there are several
    figures: FiguresTable | None = None  # of that measurement
    measures: MeasureTable | None = None  # instead of them, for workloads in batches
    spaced: bool = True  # there is room for empty lines
    hides_warnings: bool = False  # there was no room for them

    def that_fits(self, write: Callable[[Self], str], lines: int) -> str:
        """Write the screen; where it would have more lines, leave out what matters least."""
        texts = (write(self._cut(rank)) for rank in range(ALWAYS + 1))
        text = ""
        for text in texts:
            if text.count("\n") <= lines:
                break
        return text

    def _cut(self, rank: int) -> Self:
        """Leave out the lines and the rows of figures that are below this rank."""
        figures = self.figures
        if figures is not None:
            kept = tuple(row for row in figures.rows if _ROW_RANKS[row.label] >= rank)
            figures = FiguresTable(figures.heads, kept) if kept else None
        measures = self.measures if rank <= MEASURES else None
        lines = tuple(line for line in self.lines if line.rank >= rank)
        has_table = figures is not None or measures is not None
        table_title = self.table_title if has_table else ""
        hides_warnings = any(line.mark == "!" for line in self.lines if line.rank < rank)
        return type(self)(
            self.title, lines, table_title, figures, measures, rank == 0, hides_warnings
        )

    @classmethod
    def of(
        cls,
        report: Report,
        answered: Sequence[AnsweredSubject],
        pools: PoolsPart,
        notes: ProblemNotes,
        workers: WorkersPart,
        nothing: str,
    ) -> Self:
        """Write the screen; `nothing` is why there is no answer at all, or nothing."""
        # An option needs no explanation, nor does a pool that is compared with nothing.
        reason = "" if report.baseline_reason.startswith("--") else report.baseline_reason
        title = report.title + (
            f" ({reason})" if report.title != report.baseline and reason else ""
        )
        lines = (
            *([ScreenLine(nothing, "", NO_VERDICT)] if nothing else []),
            *pools.lines,
            *([ScreenLine("", workers.cost)] if workers.cost else []),
            *pools.looks,
            *warning_lines(report, notes, workers),
        )
        part = pools.leading
        if nothing or part is None:
            return cls(title, lines)
        table_title = f"{part.subject}" if len(answered) > 1 else ""
        if part.subject.workload in workloads.IN_BATCHES:
            return cls(title, lines, table_title, measures=MeasureTable.of([part]))
        table = FiguresTable.of(part)
        rows = tuple(row for row in table.rows if row.label in _ROW_RANKS)
        heads = tuple(type(head)(head.text, head.verdict) for head in table.heads)
        return cls(title, lines, table_title, FiguresTable(heads, rows))
