# SPDX-License-Identifier: MPL-2.0
"""Read a pool's past results without keeping their samples: for its history, or to learn how workers vary."""

from collections import Counter
from collections.abc import Hashable, Sequence
from datetime import date, datetime

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.history import series
from io_benchmark.analysis.history.history_model import History, HistoryReading, LeftOut
from io_benchmark.analysis.history.past_workers import NEWEST_PUSHES, PastWorkers
from io_benchmark.analysis.history.readings import readings_of
from io_benchmark.analysis.model import UNKNOWN, Worker
from io_benchmark.context import Context
from io_benchmark.errors import MissingError, ResultError
from io_benchmark.operations.reading import PROJECT, read_index, read_results, unlimited_memory
from io_benchmark.results import Result
from io_benchmark.sources.protocol import HistoryQuery
from io_benchmark.sources.run_results import RunResult
from io_benchmark.text import clean

# Two years of weeks.
DEFAULT_POINTS = 100
_INDEX = "index"


class HistoryOptions(Struct, frozen=True, kw_only=True):
    """Which points of a history are shown, and in which project of the index they are."""

    project: str = PROJECT
    last: int = DEFAULT_POINTS
    since: date | None = None


def history(
    pool: str, addresses: Sequence[str], options: HistoryOptions, context: Context
) -> History:
    """Return the history of a pool: from its results at addresses, or from the index without any."""
    readings: list[HistoryReading] = []
    left_out: list[LeftOut] = []
    other_pools: Counter[str] = Counter()
    older = 0

    def accept(measured: RunResult) -> None:
        if measured.pool != pool:
            other_pools[measured.pool] += 1
            return
        points, unusable = readings_of(measured)
        readings.extend(points)
        left_out.extend(unusable)

    budget = unlimited_memory()
    if addresses:
        gathered = read_results(addresses, context, accept, budget)
        unreadable, remarks = gathered.unreadable, gathered.remarks
    else:
        query = HistoryQuery(pool, options.project, options.last, options.since)
        index = read_index(query, context, accept, budget)
        readings = [_dated(reading, index.times) for reading in readings]
        unreadable, remarks = index.log.problem_lines(), index.log.remark_lines()
        older = index.older
    if other_pools:
        counts = (f"{count} of {clean(name, 50)}" for name, count in sorted(other_pools.items()))
        remarks = (*remarks, f"results of other pools are ignored: {', '.join(counts)}")
    return series.history(
        pool,
        readings,
        newest=options.last,
        since=options.since,
        older=older,
        left_out=left_out,
        unreadable=unreadable,
        remarks=remarks,
    )


def _dated(reading: HistoryReading, times: dict[str, datetime]) -> HistoryReading:
    """Give a reading the time of its push in the index, however late the task ran."""
    origin = reading.origin
    return replace(reading, origin=replace(origin, time=times.get(origin.group, origin.time)))


def read_past_workers(
    address: str, compared: Sequence[Worker], context: Context
) -> tuple[PastWorkers, list[str]]:
    """Read earlier results of the compared pools, and return messages about what cannot be read."""
    readings: dict[str, list[HistoryReading]] = {worker.pool: [] for worker in compared}
    # A run that is compared shows nothing about other workers.
    runs: set[Hashable] = set()
    for worker in compared:
        runs |= _identities(worker.task_id, worker.run_id, worker.result)

    def accept(measured: RunResult) -> None:
        nonlocal runs
        task = measured.task
        task_id, run_id = (None, None) if task is None else (task.task_id, task.run_id)
        identities = _identities(task_id, run_id, measured.result)
        if measured.pool in readings and not identities & runs:
            runs |= identities
            readings[measured.pool] += readings_of(measured)[0]

    budget = unlimited_memory()
    lines: list[str] = []
    if address == _INDEX:
        for pool in sorted(readings):
            try:
                query = HistoryQuery(pool, PROJECT, NEWEST_PUSHES)
                lines += read_index(query, context, accept, budget).log.problem_lines()
            except MissingError as error:
                lines.append(str(error))
            except ResultError as error:
                raise ResultError(f"--variation-from {_INDEX}: {error}") from error
    else:
        lines += read_results([address], context, accept, budget).unreadable
        empty = sorted(pool for pool in readings if not readings[pool])
        lines += [f"has no other results of {pool}" for pool in empty]
    return PastWorkers(address, readings), [f"--variation-from {address}: {line}" for line in lines]


def _identities(task_id: str | None, run_id: int | None, result: Result) -> set[Hashable]:
    """Return what identifies a run: by the queue, and by what its result records about itself."""
    recorded = result.identity
    return {recorded} if task_id in (None, UNKNOWN) else {recorded, (task_id, run_id)}
