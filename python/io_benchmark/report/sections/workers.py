# SPDX-License-Identifier: MPL-2.0
"""The workers: how many each pool had and needs, what is unusual about some, and each run."""

import re
from collections.abc import Iterator, Sequence

from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.measurement import SubjectReport
from io_benchmark.analysis.model.report import Replication, Report, SingleWorker, Standing
from io_benchmark.analysis.model.run import UNKNOWN, WorkerLine
from io_benchmark.costs.worker_time import Cost
from io_benchmark.number_text import listed, number_of, percent, ratio
from io_benchmark.report import blocks
from io_benchmark.report.caveats import ENDED_BADLY
from io_benchmark.report.content import interval_text, on_measurement, text_of
from io_benchmark.report.links import task_link
from io_benchmark.report.sections.causes import explanation
from io_benchmark.text import ending_in_words

_NAMES_SHOWN, _RUNS_SHOWN = 6, 30
_NEEDED = {
    Standing.DECIDED: "enough",
    Standing.OPEN: "enough here, too few in another pool",
    Standing.NOT_BY_REPETITION: "more would not settle it",
    Standing.NO_VERDICT: "no verdict",
}
# How many tasks and comparisons of a single worker are named, and such workers on a screen.
_SINGLE_NAMED, _SINGLE_ON_SCREEN = 3, 2


def workers_needed(report: Report) -> Iterator[blocks.Block]:
    """Write how many workers each side had and needs, by the comparison that needs most."""
    if report.replication:
        heads = ("Runs", "Workers", "Workers needed")
        rows = [blocks.Row(side.side, _counts(side)) for side in report.replication]
        yield blocks.Table("Pool", heads, rows, "Workers per pool")


def _counts(side: Replication) -> tuple[str, ...]:
    workers = f"{side.workers:,}"
    if 0 < side.workers_compared < side.workers:
        workers = f"{side.workers_compared:,} of {workers}"
    needed = _NEEDED[side.standing]
    if side.workers_to_add:
        needed = f"{side.workers_to_add:,} more, {side.workers_needed:,} in total"
    return f"{side.runs:,}", workers, needed


def runs(report: Report) -> Iterator[blocks.Block]:
    if report.workers:
        heads = ("Worker", "Machine", "Task", "State", "Read from")
        rows = [*map(_run, report.workers)]
        yield blocks.Table(
            "Pool", heads, rows, "Runs", is_prose=True, shown=_RUNS_SHOWN, noun=" runs"
        )


def cost_text(report: Report) -> str:
    """Write what a decision would cost, in one line; nothing where all is decided."""
    never = SubjectReport.not_by_repetition(report.subjects)
    sentences, cost = [], report.decision_cost
    what = "all measurements of " if len(report.subjects) > 1 else ""
    if cost is not None:
        pairs = (pair for part in report.subjects for pair in part.comparisons if pair.advice)
        undecided = dict.fromkeys(pair.candidate for pair in pairs if pair.candidate not in never)
        basis = "set-up included" if cost.with_setup else "without the set-up of tasks"
        estimate = f"{cost.estimate} (estimated from {number_of(cost.runs, 'run')}, {basis})"
        parts = filter(None, (_added(cost), estimate, cost.at_prices))
        sentences.append(f"To settle {what}{_listed([*undecided])}: {', '.join(parts)}.")
    for obstacle, same in grouped(never.items(), lambda pair: pair[1]).items():
        names = _listed([candidate for candidate, _ in same])
        reason = "" if obstacle is None else f": {text_of(obstacle)}"
        sentences.append(f"More workers are not expected to settle {what}{names}{reason}.")
    wider = [
        (pair.advice.wider_margin_ratio, pair.advice.workers_at_wider_margin)
        for part in report.subjects
        for pair in part.comparisons
        if pair.advice is not None and pair.advice.wider_margin_ratio is not None
    ]
    if wider:
        margin, workers = max(wider)
        sentences.append(f"Or accept ±{percent(margin)}: {workers} more.")
    return " ".join(sentences)


def _added(cost: Cost) -> str:
    """Write how many workers of which pools: '12 more workers per pool, 24 in total'."""
    counts = {share.tasks for share in cost.shares}
    if len(counts) == 1 and len(cost.shares) > 1:
        return f"{number_of(counts.pop(), 'more worker')} per pool, {cost.tasks:,} in total"
    pools = [f"{share.tasks:,} of {share.name}" for share in cost.shares]
    return f"{number_of(cost.tasks, 'more worker')} ({_listed(pools)})"


def _listed(names: Sequence[str]) -> str:
    return listed(names, _NAMES_SHOWN, " and {:,} others")


def _run(worker: WorkerLine) -> blocks.Row:
    run, state = "" if worker.run_id is None else f".{worker.run_id}", worker.state
    if state in ENDED_BADLY:
        state = ending_in_words(state, worker.reason)
    if not worker.completed:
        state += f", incomplete: {worker.incomplete_reason or 'no reason given'}"
    if not worker.is_counted:
        state += ", confirms a cause"
    elif worker.measurements_used < worker.measurements:
        left_out = worker.measurements - worker.measurements_used
        state += ", left out"
        if worker.measurements_used:
            state += f": {left_out:,} of {number_of(worker.measurements, 'measurement')}"
    side = worker.side if worker.pool in worker.side else f"{worker.side} (pool {worker.pool})"
    task: blocks.Line = f"{worker.task_id}{run}" if worker.task_id else UNKNOWN
    link, source = task_link(worker), worker.source
    host = re.split("[/?#]", link, maxsplit=3)[2] if link else ""
    if link == source and link:
        task, source = blocks.Words(str(task), link=link), host
    elif link:
        task = (str(task), " (", blocks.Words(f"job on {host}", link=link), ")")
    cells = (
        # Without a queue that names it, a machine is known by its boot id.
        worker.machine if worker.worker_id == UNKNOWN else worker.worker_id,
        " in ".join(filter(None, (worker.instance_type, worker.zone))) or UNKNOWN,
        task,
        state,
        source,
    )
    return blocks.Row(side, cells)


def unlike_workers(report: Report, *, is_full: bool) -> list[blocks.Item]:
    """Write about pools of unlike machines, and about single workers that are unlike their pool."""
    by_worker = grouped(
        report.single_workers, lambda worker: (worker.side, worker.machine, *worker.tasks)
    )
    items = [_single_worker(same, report, is_full=is_full) for same in by_worker.values()]
    if not is_full and len(items) > _SINGLE_ON_SCREEN:
        counted = number_of(len(items) - _SINGLE_ON_SCREEN, "more worker")
        items[_SINGLE_ON_SCREEN:] = [blocks.Item(f"and {counted} unlike the rest of a pool")]
    return [*_mixed_pools(report), *items]


def _mixed_pools(report: Report) -> Iterator[blocks.Item]:
    """Write about each pool of unlike machines: which are slower, and what that means."""
    suggested = [remedy for diagnosis in report.diagnoses for remedy in diagnosis.remedies]
    for pool in report.mixed_pools:
        slower, faster = len(pool.slower), len(pool.faster)
        lead = (
            f"{slower:,} of {slower + faster:,} workers of {pool.side} have "
            f"{' and '.join(pool.facts_of_slower)} and take {ratio(pool.ratio)} the time of its "
            "others"
        )
        facts = " and ".join(pool.facts_of_faster)
        sentences = [f"{on_measurement(pool.subject, report)} (these have {facts})."]
        sentences += (
            f"With the other {faster:,} alone, {pair.candidate} compared with {pair.baseline} is "
            f"{pair.verdict} at {ratio(pair.ratio)} ({interval_text(pair.interval)})."
            for pair in pool.of_the_faster
        )
        remedy = blocks.Item.to_try(f"{text_of(pool.remedy.action)}.")
        below = [] if pool.remedy in suggested else [remedy]
        yield blocks.Item.answer(Verdict.SLOWER, lead, " ".join(sentences), below)


def _single_worker(same: Sequence[SingleWorker], report: Report, *, is_full: bool) -> blocks.Item:
    """Write about one worker, by the measurement that explains it."""
    worker = next((finding for finding in same if finding.diagnosis is not None), same[0])
    rest = number_of(worker.others, "other worker")
    sentences = [f"{on_measurement(worker.subject, report)} ({rest})."]
    if is_full:
        sentences += _consequences(worker, report)
    lead = f"{_worker_name(worker)} alone takes {ratio(worker.ratio)} the time of its pool"
    reasons = [*explanation(worker.diagnosis)] if worker.diagnosis else []
    return blocks.Item.answer(worker.verdict, lead, " ".join(sentences), reasons)


def _worker_name(worker: SingleWorker) -> str:
    """Return 'worker ID of amd-16 (task TASKID.0, machine c3d-standard-16)'."""
    tasks = ", ".join(filter(None, worker.tasks[:_SINGLE_NAMED]))
    where = []
    if tasks:
        where.append(f"task {tasks}")
    if worker.instance_type:
        where.append(f"machine {worker.instance_type}")
    name = "a worker" if worker.machine == UNKNOWN else f"worker {worker.machine}"
    return f"{name} of {worker.side}" + (f" ({', '.join(where)})" if where else "")


def _consequences(worker: SingleWorker, report: Report) -> Iterator[str]:
    """Write what the worker means for its pool's verdicts, and what they would be without it."""
    comparisons = [
        pair
        for part in report.subjects
        if part.subject == worker.subject
        for pair in part.comparisons
        if worker.side in (pair.candidate, pair.baseline)
    ]
    if comparisons:
        verdicts = " or ".join(dict.fromkeys(pair.verdict for pair in comparisons))
        yield f"The verdict stays {verdicts}: it counts all workers."
        yield "A cause that only this worker has does not count for its pool."
    pairs = [
        f"{pair.candidate} compared with {pair.baseline} is at {ratio(pair.ratio)} "
        f"({interval_text(pair.interval)})"
        for pair in worker.without[:_SINGLE_NAMED]
    ]
    if pairs:
        yield (
            f"Without it, {', '.join(pairs)}. That is information and not a verdict, because the "
            "worker is chosen by its time."
        )
