# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The workers: how many each pool had, how many a verdict still needs, and what is unusual."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from enum import StrEnum
from typing import Self

from msgspec import Struct

from io_benchmark.analysis.inference.independent_workers import AT_ONCE
from io_benchmark.analysis.model import UNKNOWN, Comparison, Verdict
from io_benchmark.analysis.report_model import Report, SubjectReport, WorkerLine
from io_benchmark.costs.worker_time import Cost
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.resolutions import in_words

REPLICATION_HEADS = ("Runs", "Workers", "Workers needed")
_ENDED_BADLY = ("failed", "exception")
_NAMES_SHOWN = 6


class _Decision(StrEnum):
    """Whether a side's verdicts have enough workers."""

    DECIDED = "decided"
    OPEN = "open"
    NOT_BY_REPETITION = "not by repetition"
    NO_VERDICT = "no verdict"


class Replication(Struct, frozen=True):
    """One side's workers; the comparison that needs most of them counts."""

    side: str
    runs: int  # whose results were read
    workers: int  # machines; a run whose machine is unknown counts as a separate one
    workers_compared: int  # those that every verdict is based on
    standing: _Decision
    workers_needed: int | None  # in total, where it is open
    workers_to_add: int | None

    @property
    def cells(self) -> tuple[str, ...]:
        """Return what the table has of the side, in the order of REPLICATION_HEADS."""
        workers = f"{self.workers:,}"
        if 0 < self.workers_compared < self.workers:
            workers = f"{self.workers_compared:,} of {workers}"
        return f"{self.runs:,}", workers, self._needed

    @property
    def sentence(self) -> str:
        runs, workers, needed = self.cells
        return f"{self.side}: runs {runs}, workers {workers}, workers needed: {needed}"

    @property
    def _needed(self) -> str:
        match self.standing:
            case _Decision.DECIDED:
                return "enough"
            case _Decision.NOT_BY_REPETITION:
                return "more would not settle it"
            case _Decision.NO_VERDICT:
                return "no verdict"
        if self.workers_to_add == 0:
            return "enough here, too few in another pool"
        return f"{self.workers_to_add:,} more, {self.workers_needed:,} in total"

    @staticmethod
    def of_sides(
        subjects: Sequence[SubjectReport], workers: Sequence[WorkerLine]
    ) -> tuple["Replication", ...]:
        """Count each side: a measurement's baseline before its candidates, then what was not compared."""
        compared = (side for part in subjects for side in part.figures)
        lines_by_side: dict[str, list[WorkerLine]] = {}
        for line in workers:
            if line.is_counted:
                lines_by_side.setdefault(line.side, []).append(line)
        order = dict.fromkeys([*compared, *lines_by_side])
        return tuple(
            _count_side(side, lines_by_side[side], subjects)
            for side in order
            if side in lines_by_side
        )


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

    replication: tuple[Replication, ...]
    cautions: tuple[str, ...]  # workers that are not independent, not compared or ended early
    rows: tuple[_WorkerRow, ...]
    cost: str = ""  # what a decision would cost, if something is inconclusive

    @classmethod
    def of(cls, report: Report) -> Self:
        subjects, workers = report.subjects, report.workers
        counts = Replication.of_sides(subjects, workers)
        runs = _runs_by_machine(workers)
        counted = [worker for worker in workers if worker.is_counted]
        return cls(
            counts,
            tuple(_cautions(counted, counts)),
            tuple(_worker_row(worker, repeated=runs[worker.machine] > 1) for worker in workers),
            _cost_text(report),
        )


def _count_side(
    side: str, lines: Sequence[WorkerLine], subjects: Sequence[SubjectReport]
) -> Replication:
    compared = [
        (part, comparison)
        for part in subjects
        for comparison in part.comparisons
        if side in (comparison.candidate, comparison.baseline)
    ]
    never = SubjectReport.not_by_repetition(subjects)
    standing, needed, to_add = _workers_needed(side, compared, never)
    return Replication(
        side=side,
        runs=len(lines),
        workers=_count_machines(lines),
        workers_compared=min((part.workers(side) for part, _ in compared), default=0),
        standing=standing,
        workers_needed=needed,
        workers_to_add=to_add,
    )


def _count_machines(lines: Sequence[WorkerLine]) -> int:
    known = Counter(line.machine for line in lines)
    unknown = known.pop(UNKNOWN, 0)
    return len(known) + unknown


def _workers_needed(
    side: str, compared: Sequence[tuple[SubjectReport, Comparison]], never: Collection[str]
) -> tuple[_Decision, int | None, int | None]:
    if not compared:
        return _Decision.NO_VERDICT, None, None
    undecided = [each for each in compared if each[1].verdict is Verdict.INCONCLUSIVE]
    if not undecided:
        return _Decision.DECIDED, None, None
    known = [
        (part, count)
        for part, comparison in undecided
        if (count := part.workers_wanted(comparison)) is not None
        and comparison.candidate not in never
    ]
    if not known:
        return _Decision.NOT_BY_REPETITION, None, None
    needed = max(count for _, count in known)
    return _Decision.OPEN, needed, max(0, *(count - part.workers(side) for part, count in known))


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
