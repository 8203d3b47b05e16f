# SPDX-License-Identifier: MPL-2.0
"""The workers: how many each pool had and still needs, what is unusual, and a line for each run."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from io_benchmark.analysis.inference.independent_workers import AT_ONCE
from io_benchmark.analysis.model import UNKNOWN, WorkerLine
from io_benchmark.analysis.report_model import Replication, Report, Standing, SubjectReport
from io_benchmark.costs.worker_time import Cost
from io_benchmark.report.blocks import (
    STRONG,
    WARNING,
    Block,
    Heading,
    Item,
    Items,
    Line,
    Row,
    Table,
    Words,
)
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.resolutions import in_words

_ENDED_BADLY = ("failed", "exception")
_NAMES_SHOWN, _RUNS_SHOWN = 6, 30


def workers_needed(report: Report) -> Iterator[Block]:
    """Write how many workers each side had and needs; the comparison that needs most of them counts."""
    if not report.replication:
        return
    yield Heading("Workers per pool")
    rows = tuple(Row(side.side, _counts(side)) for side in report.replication)
    yield Table("Pool", ("Runs", "Workers", "Workers needed"), rows)
    lines = cautions(report)
    if lines:
        yield Items(tuple(Item(Words(line, WARNING), mark="!") for line in lines))


def _counts(side: Replication) -> tuple[str, ...]:
    """Write how many runs, workers, and workers needed."""
    workers = f"{side.workers:,}"
    if 0 < side.workers_compared < side.workers:
        workers = f"{side.workers_compared:,} of {workers}"
    return f"{side.runs:,}", workers, _needed(side)


def _needed(side: Replication) -> str:
    match side.standing:
        case Standing.DECIDED:
            return "enough"
        case Standing.NOT_BY_REPETITION:
            return "more would not settle it"
        case Standing.NO_VERDICT:
            return "no verdict"
    if side.workers_to_add == 0:
        return "enough here, too few in another pool"
    return f"{side.workers_to_add:,} more, {side.workers_needed:,} in total"


def runs(report: Report) -> Iterator[Block]:
    """Write where each result is from."""
    if report.workers:
        machines = _runs_by_machine(report.workers)
        rows = tuple(
            _run(worker, is_repeated=machines[worker.machine] > 1) for worker in report.workers
        )
        heads = ("Worker", "Machine", "Task", "State", "Read from")
        yield Heading("Workers")
        yield Table("Pool", heads, rows, is_prose=True, shown=_RUNS_SHOWN, noun=" workers")


def cost_text(report: Report) -> str:
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


def _run(worker: WorkerLine, *, is_repeated: bool) -> Row:
    run = "" if worker.run_id is None else f".{worker.run_id}"
    state = in_words(worker.state, worker.reason) if worker.state in _ENDED_BADLY else worker.state
    if not worker.completed:
        state += f", incomplete: {worker.incomplete_reason or 'no reason given'}"
    if not worker.is_counted:
        state += ", confirms a cause"
    side = worker.side if worker.pool in worker.side else f"{worker.side} (pool {worker.pool})"
    # Without a queue that names it, a machine is known by its boot id.
    machine = worker.machine if worker.worker_id == UNKNOWN else worker.worker_id
    task: Line = f"{worker.task_id}{run}" if worker.task_id else UNKNOWN
    if worker.url:
        host = re.split("[/?#]", worker.url, maxsplit=3)[2]
        task = (str(task), " (", Words(f"job on {host}", link=worker.url), ")")
    return Row(
        side,
        (
            (machine, Words(" (its machine ran several)", STRONG)) if is_repeated else machine,
            " in ".join(filter(None, (worker.instance_type, worker.zone))) or UNKNOWN,
            task,
            state,
            worker.source,
        ),
    )


def cautions(report: Report) -> list[str]:
    """Return a sentence about each worker that is not independent, not compared or ended early."""
    workers = [worker for worker in report.workers if worker.is_counted]
    return [*_cautions(workers, report.replication)]


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
    machine_text = f"Worker {machine}" if len(ids) == 1 else f"The machine {machine}"
    if len(ids) > 1:
        machine_text = f"One machine, with the workers {_listed(ids)},"
    text = f"{machine_text} ran {count:,} of these tasks, so they are not independent"
    if any(line.at_once for line in lines):
        text += f"; {text_of(AT_ONCE)}"
    return f"{text}; {merged} count as one worker." if merged else f"{text}."
