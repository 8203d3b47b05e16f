# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The workers: how many each pool had, how many a verdict still needs, and what is unusual."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Self

from msgspec import Struct

from io_benchmark.analysis.inference.independent_workers import AT_ONCE
from io_benchmark.analysis.model import UNKNOWN
from io_benchmark.analysis.report_model import (
    Replication,
    Report,
    Standing,
    SubjectReport,
)
from io_benchmark.analysis.run_record import WorkerLine
from io_benchmark.costs.worker_time import Cost
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.resolutions import in_words

REPLICATION_HEADS = ("Runs", "Workers", "Workers needed")
_ENDED_BADLY = ("failed", "exception")
_NAMES_SHOWN = 6


class _ReplicationRow(Struct, frozen=True):
    side: str
    cells: tuple[str, ...]  # in the order of REPLICATION_HEADS

    @classmethod
    def of(cls, counts: Replication) -> Self:
        workers = f"{counts.workers:,}"
        if 0 < counts.workers_compared < counts.workers:
            workers = f"{counts.workers_compared:,} of {workers}"
        return cls(counts.side, (f"{counts.runs:,}", workers, _needed_text(counts)))

    @property
    def sentence(self) -> str:
        runs, workers, needed = self.cells
        return f"{self.side}: runs {runs}, workers {workers}, workers needed: {needed}"


def _needed_text(counts: Replication) -> str:
    match counts.standing:
        case Standing.DECIDED:
            return "enough"
        case Standing.NOT_BY_REPETITION:
            return "more would not settle it"
        case Standing.NO_VERDICT:
            return "no verdict"
    if counts.workers_to_add == 0:
        return "enough here, too few in another pool"
    return f"{counts.workers_to_add:,} more, {counts.workers_needed:,} in total"


class _WorkerRow(Struct, frozen=True):
    side: str
    worker: str
    repeated: bool
    task: str
    state: str
    machine: str
    source: str
    url: str  # of its job on another CI system, or nothing

    @property
    def host(self) -> str:
        """Return where its URL leads."""
        return re.split("[/?#]", self.url, maxsplit=3)[2] if self.url else ""


class WorkersPart(Struct, frozen=True):
    """How many workers each side had and needs, what is unusual, and a row for each run."""

    replication: tuple[_ReplicationRow, ...]
    cautions: tuple[str, ...]  # workers that are not independent, not compared or ended early
    rows: tuple[_WorkerRow, ...]
    cost: str = ""  # what a decision would cost, if something is inconclusive

    @classmethod
    def of(cls, report: Report) -> Self:
        counts, workers = report.replication, report.workers
        runs = _runs_by_machine(workers)
        counted = [worker for worker in workers if worker.is_counted]
        return cls(
            tuple(map(_ReplicationRow.of, counts)),
            tuple(_cautions(counted, counts)),
            tuple(_worker_row(worker, repeated=runs[worker.machine] > 1) for worker in workers),
            _cost_text(report),
        )


def _cost_text(report: Report) -> str:
    """Write what a decision would cost, in one line; nothing where all is decided."""
    never = SubjectReport.not_by_repetition(report.subjects)
    texts = []
    what = "all measurements of " if len(report.subjects) > 1 else ""
    cost = report.decision_cost
    if cost is not None:
        undecided = dict.fromkeys(
            comparison.candidate
            for part in report.subjects
            for comparison in part.comparisons
            if comparison.advice is not None and comparison.candidate not in never
        )
        basis = "set-up included" if cost.with_setup else "without the set-up of tasks"
        runs = "run" if cost.runs == 1 else "runs"
        money = f", {cost.at_prices}" if cost.at_prices else ""
        texts.append(
            f"To settle {what}{_listed(list(undecided))}: {_added(cost)}, {cost.estimate} "
            f"(estimated from {cost.runs:,} {runs}, {basis}){money}."
        )
    by_reason: dict[str, list[str]] = {}
    for candidate, obstacle in never.items():
        reason = "" if obstacle is None else f": {text_of(obstacle)}"
        by_reason.setdefault(reason, []).append(candidate)
    texts += (
        f"More workers are not expected to settle {what}{_listed(names)}{reason}."
        for reason, names in by_reason.items()
    )
    return " ".join(texts)


def _added(cost: Cost) -> str:
    """Write how many workers of which pools: '12 more workers per pool, 24 in total'."""
    counts = {share.tasks for share in cost.shares}
    if len(counts) == 1 and len(cost.shares) > 1:
        (per_pool,) = counts
        return f"{_more(per_pool)} per pool, {cost.tasks:,} in total"
    pools = [f"{share.tasks:,} of {share.name}" for share in cost.shares]
    return f"{_more(cost.tasks)} ({_listed(pools)})"


def _more(workers: int) -> str:
    return f"{workers:,} more worker" + ("" if workers == 1 else "s")


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - _NAMES_SHOWN
    return ", ".join(names[:_NAMES_SHOWN]) + (f" and {rest:,} others" if rest > 0 else "")


def _runs_by_machine(workers: Sequence[WorkerLine]) -> Counter[str]:
    return Counter(worker.machine for worker in workers if worker.machine != UNKNOWN)


def _worker_row(worker: WorkerLine, *, repeated: bool) -> _WorkerRow:
    run = "" if worker.run_id is None else f".{worker.run_id}"
    state = in_words(worker.state, worker.reason) if worker.state in _ENDED_BADLY else worker.state
    if not worker.completed:
        state += f", incomplete: {worker.incomplete_reason or 'no reason given'}"
    if not worker.is_counted:
        state += ", confirms a cause"
    machine = " in ".join(part for part in (worker.instance_type, worker.zone) if part)
    side = worker.side
    if worker.pool not in side:
        side += f" (pool {worker.pool})"
    return _WorkerRow(
        side=side,
        # Without a queue that names it, a machine is known by its boot id.
        worker=worker.machine if worker.worker_id == UNKNOWN else worker.worker_id,
        repeated=repeated,
        task=f"{worker.task_id}{run}" if worker.task_id else UNKNOWN,
        state=state,
        machine=machine or UNKNOWN,
        source=worker.source,
        url=worker.url or "",
    )


def _cautions(workers: Sequence[WorkerLine], rows: Sequence[Replication]) -> Iterator[str]:
    """Yield a sentence about each worker that is not independent, not compared or ended early."""
    for machine, count in _runs_by_machine(workers).items():
        if count > 1:
            yield _repeated_text(machine, count, workers)
    for row in rows:
        left_out = row.workers - row.workers_compared
        if left_out > 0 and row.workers_compared > 0:
            verb = "is" if left_out == 1 else "are"
            yield (
                f"{row.side}: {left_out:,} of its {row.workers:,} workers {verb} not compared, "
                "because a validity rule refuses their measurements."
            )
    for worker in workers:
        if worker.state in _ENDED_BADLY:
            run = "" if worker.run_id is None else f" run {worker.run_id}"
            yield (
                f"{worker.side}: task {worker.task_id}{run} {in_words(worker.state, worker.reason)}; what it measured "
                "until then is used."
            )


def _repeated_text(machine: str, count: int, workers: Sequence[WorkerLine]) -> str:
    lines = [line for line in workers if line.machine == machine]
    runs_by_side = Counter(line.side for line in lines)
    merged = " and ".join(f"{side}'s" for side, runs in runs_by_side.items() if runs > 1)
    # By its boot id one machine may have several workers, or one that no queue names.
    ids = sorted({line.worker_id for line in lines} - {UNKNOWN})
    who = f"Worker {machine}" if len(ids) == 1 else f"The machine {machine}"
    if len(ids) > 1:
        who = f"One machine, with the workers {_listed(ids)},"
    text = f"{who} ran {count:,} of these tasks, so they are not independent"
    if any(line.at_once for line in lines):
        text += f"; {text_of(AT_ONCE)}"
    return f"{text}; {merged} count as one worker." if merged else f"{text}."
