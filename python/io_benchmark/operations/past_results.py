# SPDX-License-Identifier: MPL-2.0
"""Read earlier results of the pools that a comparison is about, without keeping their samples."""

from collections.abc import Callable, Hashable, Sequence

from io_benchmark.analysis.history.history_model import HistoryReading
from io_benchmark.analysis.history.past_workers import NEWEST_PUSHES, PastWorkers
from io_benchmark.analysis.history.readings import readings_of
from io_benchmark.analysis.model import UNKNOWN, Worker
from io_benchmark.errors import MissingError, ResultError
from io_benchmark.operations.reading import PROJECT, Environment, Progress, unlimited_memory
from io_benchmark.results import Result
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.gather import gather, read_history
from io_benchmark.sources.protocol import HistoryQuery, ReadRequest
from io_benchmark.sources.run_results import RunResult

_INDEX = "index"


def read_past_results(
    address: str, compared: Sequence[Worker], environment: Environment, progress: Progress
) -> tuple[PastWorkers, list[str]]:
    """Read them, and return messages about what cannot be read."""
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
    if address == _INDEX:
        lines = _read_index(sorted(readings), accept, environment, progress, budget)
    else:
        gathered = gather([address], environment, progress, accept, budget=budget)
        empty = sorted(pool for pool in readings if not readings[pool])
        lines = [*gathered.unreadable, *(f"has no other results of {pool}" for pool in empty)]
    remarks = [f"--variation-from {address}: {line}" for line in lines]
    return PastWorkers(address, readings), remarks


def _read_index(
    pools: Sequence[str],
    accept: Callable[[RunResult], None],
    environment: Environment,
    progress: Progress,
    budget: Budget,
) -> list[str]:
    lines: list[str] = []
    request = ReadRequest(
        environment, lambda _position, measured, _data: accept(measured), progress, budget=budget
    )
    for pool in pools:
        try:
            log = read_history(HistoryQuery(pool, PROJECT, NEWEST_PUSHES), request).log
        except MissingError as error:
            lines.append(str(error))
        except ResultError as error:
            raise ResultError(f"--variation-from {_INDEX}: {error}") from error
        else:
            lines += log.problem_lines()
    return lines


def _identities(task_id: str | None, run_id: int | None, result: Result) -> set[Hashable]:
    """Return what identifies a run: by the queue, and by what its result records about itself."""
    recorded = result.identity
    return {recorded} if task_id in (None, UNKNOWN) else {recorded, (task_id, run_id)}
