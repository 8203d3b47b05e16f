# SPDX-License-Identifier: MPL-2.0
"""Read a pool's past results, without their samples: its history, or how far its pushes vary."""

import math
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import NamedTuple

from msgspec.structs import replace

from io_benchmark.analysis.history import series
from io_benchmark.analysis.history.history_model import History, HistoryReading, LeftOut
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

# The limits of what is read to learn how far pushes vary, beside what a user asks to compare.
# Chosen: a comparison should not wait for long.
_MOST_RESULTS = 60  # of all pools together
_FEWEST_PUSHES = 3  # of each pool, even if these are more results
_LONGEST_S = 20.0
_NAME_LENGTH = 50


class _PastRun(NamedTuple):
    """What is kept of a run; nothing of a run of another pool."""

    pool: str
    readings: Sequence[HistoryReading]
    left_out: Sequence[LeftOut]


class _Indexed(NamedTuple):
    """What the index has of a pool."""

    runs: Gathered[_PastRun]
    times: Mapping[str, datetime]  # of pushes, by group
    older: int  # how many pushes were not read, because they are older than the newest ones


def history(
    context: Context,
    pool: str,
    addresses: Sequence[str],
    *,
    project: str,
    last: int,
    since: date | None,
) -> History:
    """Return the newest points of a pool's history: of results at addresses, else in the index."""

    def convert(run: RunResult) -> _PastRun:
        if run.pool != pool:
            return _PastRun(run.pool, (), ())
        readings, left_out = readings_of(run)
        return _PastRun(pool, readings, left_out)

    budget = _unlimited_memory()
    if addresses:
        with context.progress() as progress:
            gathered = gather(addresses, context.environment, progress, convert, budget)
        indexed = _Indexed(gathered, {}, 0)
    else:
        place = IndexAddress.by_date(project, pool, context.environment)
        query = HistoryQuery(pool, place, last, since)
        try:
            indexed = _read_index(query, context, convert, budget)
        except (GaveUpError, MissingError) as error:
            raise _explained(error, query, context.environment) from None
    runs = indexed.runs.results
    return series.history(
        pool,
        [_dated(reading, indexed.times) for run in runs for reading in run.readings],
        newest=last,
        since=since,
        older=indexed.older,
        left_out=[entry for run in runs for entry in run.left_out],
        unreadable=indexed.runs.unreadable,
        remarks=[*indexed.runs.remarks, *_remarks_about_others(runs, pool)],
    )


def _remarks_about_others(runs: Sequence[_PastRun], pool: str) -> list[str]:
    """Return a line about the results of other pools, if there are any."""
    ignored = Counter(clean(run.pool, _NAME_LENGTH) for run in runs if run.pool != pool)
    if not ignored:
        return []
    counts = ", ".join(f"{count} of {name}" for name, count in sorted(ignored.items()))
    hint = did_you_mean(pool, ignored) if ignored.total() == len(runs) else ""
    return [f"results of other pools are ignored: {counts}{hint}"]


def _explained(
    error: GaveUpError | MissingError, query: HistoryQuery, environment: Mapping[str, str]
) -> GaveUpError | MissingError:
    """Say what was looked up where: a user may have given a folder in the place of a pool."""
    pool = query.pool
    hint = default_hint(environment)
    if os.path.lexists(pool):
        advice = f"to read {pool} on this machine: {history_in_folder('POOL', pool)}"
    elif isinstance(error, GaveUpError):
        advice = f"to read a folder on this machine: {history_in_folder(pool, 'FOLDER')}"
    else:
        return type(error)(f"{error}{hint}")
    where = f"{pool} was looked up as a pool in the index of {query.place.root_url}"
    return type(error)(f"{where}: {error}{hint}; {advice}")


def _read_index(
    query: HistoryQuery, context: Context, convert: Callable[[RunResult], _PastRun], budget: Budget
) -> _Indexed:
    # The client takes 0.2 s to load, which folders need not wait for.
    from io_benchmark.sources.taskcluster.index_history import read_index_history  # noqa: PLC0415

    results: list[_PastRun] = []
    with context.progress() as progress:
        request = Reading(
            context.environment,
            progress,
            budget,
            accept=lambda _position, run, _data: results.append(convert(run)),
        )
        times, older = read_index_history(query, request)
    return _Indexed(Gathered.of(results, request), times, older)


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

    def convert(run: RunResult) -> _PastRun:
        # One that is compared shows nothing about others.
        is_earlier = run.task is not None and (run.task.task_id, run.task.run_id) not in runs
        if not is_earlier or run.pool not in readings:
            return _PastRun(run.pool, (), ())
        return _PastRun(run.pool, readings_of(run)[0], ())

    limited = _unlimited_memory()
    limited.ends_s = time.monotonic() + _LONGEST_S
    if budget.ends_s:
        limited.ends_s = min(limited.ends_s, budget.ends_s)
    newest = max(_FEWEST_PUSHES, _MOST_RESULTS // len(places))
    problems: list[str] = []
    for pool, place in sorted(places.items()):
        query = HistoryQuery(pool, place, newest, whole_pushes=False)
        try:
            indexed = _read_index(query, context, convert, limited)
        except MissingError as error:
            problems.append(str(error))
            continue
        except ResultError as error:
            # Asking for the other pools would take long and fail as well.
            problems.append(f"{place.route}: {error}")
            break
        for run in indexed.runs.results:
            if run.pool in readings:
                readings[run.pool] += run.readings
    counts = []
    for pool, of_pool in sorted(readings.items()):
        pushes = {reading.origin.group for reading in of_pool}
        counts.append(f"{len(pushes):,} of {pool}")
    line = "; ".join([", ".join(counts), *problems])
    return EarlierPushes(readings), f"earlier pushes that show variation: {line}"
