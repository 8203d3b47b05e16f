# SPDX-License-Identifier: MPL-2.0
"""Earlier results of the pools that a comparison is about."""

import math
from collections.abc import Hashable, Sequence

from io_benchmark.analysis.history.history_model import HistoryReading
from io_benchmark.analysis.history.past_workers import NEWEST_PUSHES, PastWorkers
from io_benchmark.analysis.history.readings import readings_of
from io_benchmark.analysis.model import UNKNOWN, Worker
from io_benchmark.commands.context import Context
from io_benchmark.commands.history import PROJECT
from io_benchmark.commands.progress_display import show_progress
from io_benchmark.errors import MissingError, ResultError
from io_benchmark.results import Result
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.gather import gather, read_history
from io_benchmark.sources.protocol import HistoryQuery, ReadRequest
from io_benchmark.sources.run_results import RunResult

_INDEX = "index"


class PastResults:
    """Collects what earlier results of some pools show, without keeping their samples."""

    def __init__(self, address: str, compared: Sequence[Worker]) -> None:
        self.remarks: list[str] = []
        self._address = address
        self._readings: dict[str, list[HistoryReading]] = {worker.pool: [] for worker in compared}
        # A run that is compared shows nothing about other workers.
        self._known: set[Hashable] = set()
        for worker in compared:
            self._known |= _keys(worker.task_id, worker.run_id, worker.result)
        # Only a few figures per result are kept.
        self._budget = Budget(kept_bytes=math.inf, most_subjects=math.inf)

    def read(self, context: Context) -> PastWorkers:
        """Read the earlier results; what cannot be read becomes a remark."""
        read = self._read_index if self._address == _INDEX else self._read_address
        for line in read(context):
            self.remarks.append(f"--variation-from {self._address}: {line}")
        return PastWorkers(self._address, self._readings)

    def _read_address(self, context: Context) -> Sequence[str]:
        with show_progress(context.stderr) as progress:
            read = gather(
                [self._address], context.environment, progress, self._take, budget=self._budget
            )
        empty = sorted(pool for pool, readings in self._readings.items() if not readings)
        return [*read.unreadable, *(f"has no other results of {pool}" for pool in empty)]

    def _read_index(self, context: Context) -> Sequence[str]:
        lines: list[str] = []
        for pool in sorted(self._readings):
            with show_progress(context.stderr) as progress:
                request = ReadRequest(
                    context.environment,
                    lambda _position, run_result, _data: self._take(run_result),
                    progress,
                    budget=self._budget,
                )
                try:
                    log = read_history(HistoryQuery(pool, PROJECT, NEWEST_PUSHES), request).log
                except MissingError as error:
                    lines.append(str(error))
                except ResultError as error:
                    raise ResultError(f"--variation-from {self._address}: {error}") from error
                else:
                    lines += log.problem_lines()
        return lines

    def _take(self, measured: RunResult) -> None:
        task = measured.task
        task_id, run_id = (None, None) if task is None else (task.task_id, task.run_id)
        keys = _keys(task_id, run_id, measured.result)
        if measured.pool in self._readings and not keys & self._known:
            self._known |= keys
            self._readings[measured.pool] += readings_of(measured)[0]


def _keys(task_id: str | None, run_id: int | None, result: Result) -> set[Hashable]:
    """Return what identifies a run: by the queue, and by what its result records about itself."""
    recorded = result.identity
    return {recorded} if task_id in (None, UNKNOWN) else {recorded, (task_id, run_id)}
