# SPDX-License-Identifier: MPL-2.0
"""Show a pool's results over time and where their level changes.

Without ADDRESS, results come from the index of pushes and weekly runs. ADDRESS
is a folder that fetch filled, group:ID, or another address that compare takes.
A point is one task group. A change shows by how much the level moved and what
changed in host and storage.

Exit code: 0 a history was shown, 1 no result or a file could not be written,
2 wrong usage.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.commands.context import EXIT_FAILED, Context
from io_benchmark.commands.options import (
    add_output_options,
    output_report,
    parse_date,
    whole_number,
)
from io_benchmark.errors import UsageError
from io_benchmark.report.formats import HISTORY_FORMATS
from io_benchmark.text import clean

if TYPE_CHECKING:
    from io_benchmark.analysis.history.history_model import HistoryReading, LeftOut
    from io_benchmark.sources.budget import Budget
    from io_benchmark.sources.run_results import RunResult

USAGE = "POOL [ADDRESS ...] [OPTION ...]"
EXAMPLES = (
    "io-benchmark history amd-16 --since 2026-05-01",
    "io-benchmark history amd-16 results --write html=amd-16.html",
)
MANUAL = "history.md"
PROJECT = "io-benchmark"
# A year of weeks, twice. More than the most take minutes to read.
LAST, MOST = 100, 300
# As the kind's transforms accept them.
_POOL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,44}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("what to show").add_argument
    add("pool", metavar="POOL", help="the pool, such as amd-16")
    add("addresses", nargs="*", metavar="ADDRESS", help="where its results are")
    add("--project", metavar="NAME", help=f"project in the index (default: {PROJECT})")
    add(
        "--last",
        type=whole_number(MOST),
        default=LAST,
        metavar="N",
        help=f"show the newest N points (default: {LAST}, at most {MOST})",
    )
    add("--since", type=parse_date, metavar="DATE", help="show points from this day (UTC) on")
    add_output_options(parser.add_argument_group("output"), HISTORY_FORMATS)


def run(arguments: argparse.Namespace, context: Context) -> int:
    from io_benchmark.analysis.history.series import history

    _check_pool(arguments.pool)
    if arguments.addresses and arguments.project is not None:
        raise UsageError(
            "--project cannot be combined with ADDRESS: only the index has projects; omit one"
        )
    intake = _Intake(arguments.pool)
    if arguments.addresses:
        _read_addresses(arguments.addresses, intake, context)
    else:
        _read_index(arguments, intake, context)
    pool_history = history(
        arguments.pool,
        intake.readings,
        newest=arguments.last,
        since=arguments.since,
        older=intake.older,
        left_out=intake.left_out,
        unreadable=intake.unreadable,
        remarks=intake.all_remarks(),
    )
    problems = output_report(pool_history, arguments, context)
    context.tell_unreadable(intake.unreadable, "note", arguments.format)
    if not pool_history.series:
        problems.append(intake.nothing())
    for problem in problems:
        context.tell(f"error: {problem}")
    return EXIT_FAILED if problems else 0


def _check_pool(pool: str) -> None:
    if not _POOL.fullmatch(pool):
        raise UsageError(
            f"{clean(pool, 100)!r} is not a pool's name; name a task of kind.yml, such as amd-16"
        )


class _Intake(Struct):
    """Collects readings one result at a time, without keeping the samples."""

    pool: str
    readings: list[HistoryReading] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    other_pools: dict[str, int] = field(default_factory=dict)
    older: int = 0  # points that were not read

    def take(self, measured: RunResult) -> None:
        from io_benchmark.analysis.history.readings import readings_of

        if measured.pool != self.pool:
            self.other_pools[measured.pool] = self.other_pools.get(measured.pool, 0) + 1
            return
        readings, left_out = readings_of(measured)
        self.readings += readings
        self.left_out += left_out

    def all_remarks(self) -> list[str]:
        if not self.other_pools:
            return self.remarks
        pools = sorted(self.other_pools.items())
        counts = (f"{count} of {clean(pool, 50)}" for pool, count in pools)
        return [*self.remarks, f"results of other pools are ignored: {', '.join(counts)}"]

    def nothing(self) -> str:
        if self.other_pools:
            pools = ", ".join(clean(pool, 50) for pool in sorted(self.other_pools))
            return f"no result of {self.pool} was found; there are results of {pools}"
        return (
            f"no result of {self.pool} was found that can be shown; see the report for the reasons"
        )


def _read_addresses(addresses: Sequence[str], intake: _Intake, context: Context) -> None:
    from io_benchmark.commands.progress_display import show_progress
    from io_benchmark.sources.gather import gather

    with show_progress(context.stderr) as progress:
        read = gather(addresses, context.environment, progress, intake.take, budget=_budget())
    intake.unreadable += read.unreadable
    intake.remarks += read.remarks


def _read_index(arguments: argparse.Namespace, intake: _Intake, context: Context) -> None:
    from io_benchmark.commands.progress_display import show_progress
    from io_benchmark.sources.gather import read_history
    from io_benchmark.sources.protocol import HistoryQuery, ReadRequest

    query = HistoryQuery(
        arguments.pool, arguments.project or PROJECT, arguments.last, arguments.since
    )
    with show_progress(context.stderr) as progress:
        request = ReadRequest(
            context.environment,
            lambda _position, run_result, _data: intake.take(run_result),
            progress,
            budget=_budget(),
        )
        history = read_history(query, request)
    intake.readings = [_dated(reading, history.times) for reading in intake.readings]
    intake.unreadable += history.log.problem_lines()
    intake.remarks += history.log.remark_lines()
    intake.older = history.older


def _budget() -> Budget:
    """Return a budget without memory limits: only a few figures per result are kept."""
    from io_benchmark.sources.budget import Budget

    return Budget(kept_bytes=math.inf, most_subjects=math.inf)


def _dated(reading: HistoryReading, times: dict[str, datetime]) -> HistoryReading:
    """Give a reading the time of its push in the index, however late the task ran."""
    origin = reading.origin
    return replace(reading, origin=replace(origin, time=times.get(origin.group, origin.time)))
