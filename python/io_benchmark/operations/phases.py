# SPDX-License-Identifier: MPL-2.0
"""Read where the time of runs went, by their logs."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct, field

from io_benchmark.analysis.phases.phase_model import RunPhases
from io_benchmark.analysis.phases.phase_report import ExplainedPhases, report_phases
from io_benchmark.context import Context
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.gather import Gathered, gather_phases
from io_benchmark.sources.kept_phases import read_kept_phases, write_kept_phases
from io_benchmark.sources.protocol import LogQuery, Position, RunKey
from io_benchmark.sources.run_logs import LogLimits
from io_benchmark.sources.run_results import TaskRun
from io_benchmark.sources.taskcluster.addresses import default_root_url

_KEPT_EVERY_S = 10.0  # what is lost where a reading is killed


def show_phases(
    context: Context, addresses: Sequence[str], *, readings: Path | None = None
) -> ExplainedPhases:
    """Return the phases of all runs at the addresses: files of logs, tasks and groups."""
    gathered = _read(context, LogLimits(), readings, lambda query: gather_phases(addresses, query))
    return report_phases(gathered.results, gathered.unreadable, gathered.remarks, tuple(addresses))


def read_run_phases(
    context: Context,
    runs: Sequence[TaskRun],
    *,
    root_url: str | None = None,
    limits: LogLimits | None = None,
    readings: Path | None = None,
) -> Gathered[RunPhases]:
    """Return the phases of these runs, in their order; what cannot be read is `unreadable`.

    `root_url` is the deployment of the runs; None: that of the environment. The file `readings`
    keeps what was read, and what it has is not read again. The most that is read is shown first.
    """
    keys: list[RunKey] = [(run.task_id, run.run_id) for run in runs if run.task_id]

    def read(query: LogQuery) -> None:
        # The client takes 0.2 s to load.
        from io_benchmark.sources.taskcluster.task_logs import read_named_logs  # noqa: PLC0415

        if keys:
            read_named_logs(root_url or default_root_url(context.environment), keys, query)

    return _read(context, limits or LogLimits(), readings, read)


class _Keeper(Struct):
    """Collects the phases of runs, and writes them now and then."""

    path: Path | None
    kept: dict[RunKey, RunPhases]
    phases: list[tuple[Position, RunPhases]] = field(default_factory=list)
    _written_s: float = field(default_factory=time.monotonic)
    _is_new: bool = False

    def accept(self, position: Position, run: RunPhases) -> None:
        self.phases.append((position, run))
        if run.run_id is not None and run.is_complete:
            self._is_new |= (run.task_id, run.run_id) not in self.kept
            self.kept[run.task_id, run.run_id] = run
        if time.monotonic() - self._written_s > _KEPT_EVERY_S:
            self.write()

    def write(self) -> None:
        if self.path is not None and self._is_new:
            write_kept_phases(self.path, self.kept.values())
        self._written_s, self._is_new = time.monotonic(), False


def _read(
    context: Context, limits: LogLimits, readings: Path | None, read: Callable[[LogQuery], None]
) -> Gathered[RunPhases]:
    keeper = _Keeper(readings, {} if readings is None else read_kept_phases(readings))
    with context.progress() as progress:
        query = LogQuery(
            context.environment,
            progress,
            Budget(ends_s=time.monotonic() + limits.seconds),
            limits=limits,
            kept=dict(keeper.kept),
            tell=context.tell,
            accept_phases=keeper.accept,
        )
        try:
            read(query)
        finally:
            keeper.write()
    phases = sorted(keeper.phases, key=lambda entry: entry[0])
    return Gathered.of((run for _, run in phases), query)
