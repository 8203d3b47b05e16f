# SPDX-License-Identifier: MPL-2.0
"""Read where the time of runs went, by their logs, and compare pools by that."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.model.statements import count, statement
from io_benchmark.analysis.phases.phase_model import RunPhases
from io_benchmark.analysis.phases.phase_report import ExplainedPhases, report_phases
from io_benchmark.analysis.tasks.difference_model import ComparedPhases
from io_benchmark.analysis.tasks.log_sample import choose_runs
from io_benchmark.analysis.tasks.phase_differences import compare_phases
from io_benchmark.analysis.tasks.ranking import RankedLabel
from io_benchmark.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.report.content import text_of
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.gather import Gathered, gather_phases
from io_benchmark.sources.kept_phases import read_kept_phases, write_kept_phases
from io_benchmark.sources.protocol import LogLimits, LogQuery, Position, RunKey
from io_benchmark.sources.run_results import TaskRun
from io_benchmark.sources.taskcluster.addresses import default_root_url

_RANKED = 3  # labels of a ranking whose logs are read: those that its answer names
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


class LogChoice(Struct, frozen=True):
    """Which logs a comparison of tasks reads."""

    most: int
    readings: Path | None = None  # a file that keeps them
    root_urls: frozenset[str] = frozenset()  # of the runs, where their addresses have one


def compare_logs(
    context: Context,
    pairs: Sequence[tuple[str, str]],
    sides: Mapping[str, Sequence[TaskRun]],
    choice: LogChoice,
) -> ComparedPhases:
    """Read the logs of runs of each side, at most so many, and compare their phases."""
    if len(choice.root_urls) > 1:
        raise UsageError("logs of one deployment are read at a time; give addresses of one")
    compared = {
        side: sides[side] for side in dict.fromkeys(name for pair in pairs for name in pair)
    }
    chosen = {
        (run.task_id, run.run_id): (side, run)
        for side, runs in choose_runs(compared, choice.most).items()
        for run in runs
    }
    reading = read_run_phases(
        context,
        [run for _, run in chosen.values()],
        root_url=min(choice.root_urls, default=None),
        readings=choice.readings,
    )
    by_side: dict[str, list[RunPhases]] = {}
    for phases in reading.results:
        side, run = chosen[phases.task_id, phases.run_id or 0]
        # As the tasks are compared; a table may not know its workers.
        by_side.setdefault(side, []).append(replace(phases, label=run.label))
    notes = [statement("{line}", line=line) for line in (*reading.remarks, *reading.unreadable)]
    completed = sum(run.state == "completed" for runs in compared.values() for run in runs)
    if not chosen:
        notes = [
            statement("no log was read: no completed run of a label on two sides has a task id")
        ]
    elif len(chosen) < completed:
        template = "logs were chosen, balanced by pool, label and worker: {chosen} of {completed}"
        chosen_runs, all_runs = count(len(chosen)), count(completed)
        notes.insert(0, statement(template, chosen=chosen_runs, completed=all_runs))
    return ComparedPhases(
        pairs=compare_phases(pairs, by_side), logs=len(reading.results), notes=tuple(notes)
    )


def rank_phases(
    context: Context,
    labels: Sequence[RankedLabel],
    samples: Mapping[tuple[str, str], Mapping[str, TaskRun]],
    choice: LogChoice,
) -> tuple[list[RankedLabel], list[str]]:
    """Add to the first labels which phase makes their difference; return messages as well."""
    first = labels[:_RANKED]
    # A label on a pool is a side of its own.
    sides = {
        f"{pool}\n{row.label}": list(samples.get((row.label, pool), {}).values())
        for row in first
        for pool in (row.pool, row.reference)
    }
    pairs = [(f"{row.pool}\n{row.label}", f"{row.reference}\n{row.label}") for row in first]
    compared = compare_logs(context, pairs, sides, choice)
    ranked = []
    for row, pair in zip(first, pairs, strict=True):
        phases = compared.pair_of(*pair)
        if phases is not None:
            named = replace(phases, candidate=row.pool, baseline=row.reference)
            row = replace(row, phases=named)  # noqa: PLW2901
        ranked.append(row)
    return [*ranked, *labels[_RANKED:]], [text_of(note) for note in compared.notes]


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
