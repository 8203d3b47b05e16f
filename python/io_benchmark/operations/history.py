# SPDX-License-Identifier: MPL-2.0
"""Read a pool's past results, without their samples: its history, or how far its pushes vary."""

import math
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import TypeVar

from msgspec.structs import replace

from io_benchmark.analysis.history import History, HistoryReading, LeftOut, series
from io_benchmark.analysis.history.readings import EarlierPushes, readings_of
from io_benchmark.analysis.model.run import Worker
from io_benchmark.command_lines import history_in_folder
from io_benchmark.context import Context
from io_benchmark.errors import GaveUpError, MissingError, ResultError
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.gather import Gathered, gather
from io_benchmark.sources.protocol import HistoryQuery, Reading
from io_benchmark.sources.run_results import RunResult
from io_benchmark.sources.taskcluster.addresses import IndexAddress, default_hint
from io_benchmark.suggestions import did_you_mean
from io_benchmark.text import clean

# What is read to learn how far pushes vary, beside what a user asks to compare: results of all pools
# together, pushes of each pool at least, and seconds. Chosen: a comparison should not wait for long.
_MOST_RESULTS = 60
_FEWEST_PUSHES = 3
_LONGEST_S = 20.0
T = TypeVar("T")


def history(
    context: Context,
    pool: str,
    addresses: Sequence[str],
    *,
    project: str,
    last: int,
    since: date | None,
) -> History:
    """Return the newest points of a pool's history: of its results at addresses, without any of the index."""

    def convert(run: RunResult) -> tuple[str, list[HistoryReading], list[LeftOut]]:
        return (run.pool, *(readings_of(run) if run.pool == pool else ([], [])))

    times: Mapping[str, datetime] = {}
    older, budget = 0, _unlimited_memory()
    if addresses:
        with context.progress() as progress:
            gathered = gather(addresses, context.environment, progress, convert, budget)
    else:
        place = IndexAddress.by_date(project, pool, context.environment)
        query = HistoryQuery(pool, place, last, since)
        try:
            gathered, times, older = _read_index(query, context, convert, budget)
        except (GaveUpError, MissingError) as error:
            is_path = os.path.lexists(pool)
            raise _explained(error, query, context.environment, is_path=is_path) from None
    runs, remarks = gathered.results, [*gathered.remarks]
    ignored = Counter(clean(name, 50) for name, *_ in runs if name != pool)
    if ignored:
        counts = (f"{count} of {name}" for name, count in sorted(ignored.items()))
        hint = did_you_mean(pool, ignored) if len(runs) == ignored.total() else ""
        remarks.append(f"results of other pools are ignored: {', '.join(counts)}{hint}")
    return series.history(
        pool,
        [_dated(reading, times) for _, readings, _ in runs for reading in readings],
        newest=last,
        since=since,
        older=older,
        left_out=[entry for *_, left_out in runs for entry in left_out],
        unreadable=gathered.unreadable,
        remarks=remarks,
    )


def _explained(
    error: GaveUpError | MissingError,
    query: HistoryQuery,
    environment: Mapping[str, str],
    *,
    is_path: bool,
) -> GaveUpError | MissingError:
    """Say what was looked up where: a folder's name may have been given in the place of a pool's."""
    pool = query.pool
    if is_path:
        advice = f"; to read {pool} on this machine: {history_in_folder('POOL', pool)}"
    elif isinstance(error, GaveUpError):
        advice = f"; to read a folder on this machine: {history_in_folder(pool, 'FOLDER')}"
    else:
        advice = ""
    hint = default_hint(environment)
    where = f"{pool} was looked up as a pool in the index of {query.place.root_url}"
    return type(error)((f"{where}: {error}" if advice else str(error)) + hint + advice)


def _read_index(
    query: HistoryQuery, context: Context, convert: Callable[[RunResult], T], budget: Budget
) -> tuple[Gathered[T], Mapping[str, datetime], int]:
    """Read a pool's results in the index; return them, the times of pushes, and how many are older."""
    # The client takes 0.2 s to load, which folders need not wait for.
    from io_benchmark.sources.taskcluster.index_history import read_index_history  # noqa: PLC0415

    results: list[T] = []
    with context.progress() as progress:
        request = Reading(
            context.environment,
            progress,
            budget,
            accept=lambda _position, run, _data: results.append(convert(run)),
        )
        times, older = read_index_history(query, request)
    return Gathered.of(results, request), times, older


def _unlimited_memory() -> Budget:
    """Return a budget for readings that keep only a few figures per result."""
    return Budget(kept_bytes=math.inf, most_subjects=math.inf)


def _dated(reading: HistoryReading, times: Mapping[str, datetime]) -> HistoryReading:
    """Give a reading the time of its push in the index, however late the task ran."""
    origin = reading.origin
    return replace(reading, origin=replace(origin, time=times.get(origin.group, origin.time)))


def read_earlier_pushes(
    places: Mapping[str, IndexAddress], compared: Sequence[Worker], context: Context, budget: Budget
) -> tuple[EarlierPushes, str]:
    """Read earlier results of the compared pools in the index, and say in one line what there is.

    Nobody asked for these, so that they take little time, and nothing fails without them.
    """
    readings: dict[str, list[HistoryReading]] = {worker.pool: [] for worker in compared}
    runs = {(worker.task_id, worker.run_id) for worker in compared}

    def convert(run: RunResult) -> tuple[str, list[HistoryReading]]:
        # One that is compared shows nothing about others.
        is_earlier = run.task is not None and (run.task.task_id, run.task.run_id) not in runs
        return run.pool, readings_of(run)[0] if is_earlier and run.pool in readings else []

    limited, ends_s = _unlimited_memory(), time.monotonic() + _LONGEST_S
    limited.ends_s = min(ends_s, budget.ends_s or ends_s)
    newest = max(_FEWEST_PUSHES, _MOST_RESULTS // len(places))
    problems: list[str] = []
    for pool, place in sorted(places.items()):
        try:
            query = HistoryQuery(pool, place, newest, whole_pushes=False)
            gathered, *_ = _read_index(query, context, convert, limited)
        except MissingError as error:
            problems.append(str(error))
        except ResultError as error:
            problems.append(f"{place.route}: {error}")
            break
        else:
            for name, some in gathered.results:
                readings.get(name, []).extend(some)
    counts = (
        f"{len({reading.origin.group for reading in some}):,} of {pool}"
        for pool, some in sorted(readings.items())
    )
    line = "; ".join([", ".join(counts), *problems])
    return EarlierPushes(readings), f"earlier pushes that show variation: {line}"
