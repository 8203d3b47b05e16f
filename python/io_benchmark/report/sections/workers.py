# SPDX-License-Identifier: MPL-2.0
"""The workers: how many each pool had and needs, what is unusual about some, and a line for each run."""

import re
from collections.abc import Iterator, Sequence

from io_benchmark.analysis.model import DIFFERENT, UNKNOWN, Verdict, WorkerLine
from io_benchmark.analysis.observed.machines import grouped
from io_benchmark.analysis.report_model import (
    MixedPool,
    Replication,
    Report,
    SingleWorker,
    Standing,
    SubjectReport,
)
from io_benchmark.costs.worker_time import Cost
from io_benchmark.number_text import listed, number_of, percent, ratio
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
from io_benchmark.report.content import bounds_text, ends_text, on_measurement, text_of
from io_benchmark.report.sections.causes import explanation
from io_benchmark.resolutions import ending_in_words

_ENDED_BADLY = ("failed", "exception")
_NAMES_SHOWN, _RUNS_SHOWN = 6, 30
_NEEDED = {
    Standing.DECIDED: "enough",
    Standing.NOT_BY_REPETITION: "more would not settle it",
    Standing.NO_VERDICT: "no verdict",
}
# More measurements and tasks of a single worker are counted, and on a screen more such workers.
_SINGLE_NAMED, _SINGLE_ON_SCREEN = 3, 2


def workers_needed(report: Report) -> Iterator[Block]:
    """Write how many workers each side had and needs; the comparison that needs most of them counts."""
    if report.replication:
        yield Heading("Workers per pool")
        rows = [Row(side.side, _counts(side)) for side in report.replication]
        yield Table("Pool", ("Runs", "Workers", "Workers needed"), rows)
        yield Items([Item(Words(line, WARNING), mark="!") for line in cautions(report)])


def _counts(side: Replication) -> tuple[str, ...]:
    """Write how many runs, workers, and workers needed."""
    workers = f"{side.workers:,}"
    if 0 < side.workers_compared < side.workers:
        workers = f"{side.workers_compared:,} of {workers}"
    needed = _NEEDED.get(side.standing, "enough here, too few in another pool")
    if side.standing not in _NEEDED and side.workers_to_add:
        needed = f"{side.workers_to_add:,} more, {side.workers_needed:,} in total"
    return f"{side.runs:,}", workers, needed


def runs(report: Report) -> Iterator[Block]:
    """Write where each result is from."""
    if report.workers:
        rows, heads = (
            [*map(_run, report.workers)],
            ("Worker", "Machine", "Task", "State", "Read from"),
        )
        yield Heading("Workers")
        yield Table("Pool", heads, rows, is_prose=True, shown=_RUNS_SHOWN, noun=" workers")


def cost_text(report: Report) -> str:
    """Write what a decision would cost, in one line; nothing where all is decided."""
    never = SubjectReport.not_by_repetition(report.subjects)
    sentences = []
    what = "all measurements of " if len(report.subjects) > 1 else ""
    cost = report.decision_cost
    if cost is not None:
        pairs = [pair for part in report.subjects for pair in part.comparisons if pair.advice]
        undecided = dict.fromkeys(pair.candidate for pair in pairs if pair.candidate not in never)
        basis = "set-up included" if cost.with_setup else "without the set-up of tasks"
        money = f", {cost.at_prices}" if cost.at_prices else ""
        sentences.append(
            f"To settle {what}{_listed([*undecided])}: {_added(cost)}, {cost.estimate} "
            f"(estimated from {number_of(cost.runs, 'run')}, {basis}){money}."
        )
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


def _run(worker: WorkerLine) -> Row:
    run = "" if worker.run_id is None else f".{worker.run_id}"
    state = (
        ending_in_words(worker.state, worker.reason)
        if worker.state in _ENDED_BADLY
        else worker.state
    )
    if not worker.completed:
        state += f", incomplete: {worker.incomplete_reason or 'no reason given'}"
    if not worker.is_counted:
        state += ", confirms a cause"
    side = worker.side if worker.pool in worker.side else f"{worker.side} (pool {worker.pool})"
    task: Line = f"{worker.task_id}{run}" if worker.task_id else UNKNOWN
    if worker.url:
        host = re.split("[/?#]", worker.url, maxsplit=3)[2]
        task = (str(task), " (", Words(f"job on {host}", link=worker.url), ")")
    cells = (
        # Without a queue that names it, a machine is known by its boot id.
        worker.machine if worker.worker_id == UNKNOWN else worker.worker_id,
        " in ".join(filter(None, (worker.instance_type, worker.zone))) or UNKNOWN,
        task,
        state,
        worker.source,
    )
    return Row(side, cells)


def cautions(report: Report) -> list[str]:
    """Return a sentence about each worker that ended early."""
    sentences = []
    for worker in report.workers:
        if worker.is_counted and worker.state in _ENDED_BADLY:
            run = "" if worker.run_id is None else f" run {worker.run_id}"
            sentences.append(
                f"{worker.side}: task {worker.task_id}{run} {ending_in_words(worker.state, worker.reason)}; "
                "what it measured until then is used."
            )
    return sentences


def mixed_pools(report: Report) -> list[Item]:
    """Write about each pool of unlike machines: which are slower, and what that means for the others."""
    return [_mixed_pool(pool, report) for pool in report.mixed_pools]


def _mixed_pool(pool: MixedPool, report: Report) -> Item:
    slower, faster = len(pool.slower), len(pool.faster)
    lead = (
        f"{slower:,} of {slower + faster:,} workers of {pool.side} have "
        f"{' and '.join(pool.facts_of_slower)} and take {ratio(pool.ratio)} the time of its others"
    )
    phrase = on_measurement(pool.subject, [part.subject for part in report.subjects])
    these = f"{phrase} (these have {' and '.join(pool.facts_of_faster)})."
    alone = [
        f"With the other {faster:,} alone, {pair.candidate} compared with {pair.baseline} is "
        f"{pair.verdict} at {ratio(pair.ratio)} {bounds_text(pair.interval)}."
        for pair in pool.of_the_faster
    ]
    is_said = any(pool.remedy in diagnosis.remedies for diagnosis in report.diagnoses)
    remedy = Item((Words("Try:", STRONG), f" {text_of(pool.remedy.action)}."))
    line = (Words(lead, Verdict.SLOWER), " ".join((these, *alone)))
    return Item(line, [] if is_said else [remedy], Verdict.SLOWER)


def single_workers(report: Report, *, is_full: bool) -> list[Item]:
    """Write about each worker that does not belong to its pool; on a screen in short about a few."""
    by_worker = grouped(
        report.single_workers, lambda worker: (worker.side, worker.machine, *worker.tasks)
    )
    items = [_single_worker(same, report, is_full=is_full) for same in by_worker.values()]
    left_out = 0 if is_full else len(items) - _SINGLE_ON_SCREEN
    if left_out > 0:
        noun = "worker that does" if left_out == 1 else "workers that do"
        counted = Item(f"and {left_out:,} more {noun} not belong to their pool")
        items[_SINGLE_ON_SCREEN:] = [counted]
    return items


def _single_worker(same: Sequence[SingleWorker], report: Report, *, is_full: bool) -> Item:
    """Write about one worker, by the measurement that explains it."""
    worker = next((finding for finding in same if finding.diagnosis is not None), same[0])
    subjects = [part.subject for part in report.subjects]
    usual = f"; equal ones stay within {ends_text(worker.usual)}" if is_full else ""
    phrase = on_measurement(worker.subject, subjects)
    sentences = [f"{phrase} ({worker.others:,} other workers{usual})."]
    if is_full:
        further = [
            f"{ratio(finding.ratio)}{on_measurement(finding.subject, subjects)}"
            for finding in same
            if finding is not worker
        ]
        if further:
            rest = "; and {:,} more measurements"
            sentences.append(f"Also {listed(further, _SINGLE_NAMED, rest, '; ')}.")
        sentences += _consequences(worker, report)
    lead = f"{_worker_name(worker)} alone takes {ratio(worker.ratio)} the time of its pool"
    reasons = [] if worker.diagnosis is None else [*explanation(worker.diagnosis)]
    verdict = worker.verdict.value
    return Item((Words(lead, verdict), " ".join(sentences)), reasons, verdict)


def _worker_name(worker: SingleWorker) -> str:
    """Return 'worker ID of amd-16 (task TASKID.0, machine c3d-standard-16)'."""
    tasks = ", ".join(filter(None, worker.tasks[:_SINGLE_NAMED]))
    machine = f"machine {worker.instance_type}" if worker.instance_type else ""
    where = ", ".join(filter(None, (f"task {tasks}" if tasks else "", machine)))
    name = "a worker" if worker.machine == UNKNOWN else f"worker {worker.machine}"
    return f"{name} of {worker.side}" + (f" ({where})" if where else "")


def _consequences(worker: SingleWorker, report: Report) -> Iterator[str]:
    """Write what the worker means for the verdicts about its pool, and what they would be without it."""
    verdicts = dict.fromkeys(
        pair.verdict
        for part in report.subjects
        if part.subject == worker.subject
        for pair in part.comparisons
        if worker.side in (pair.candidate, pair.baseline)
    )
    if verdicts:
        sentence = f"The verdict stays {' or '.join(verdicts)}: it counts all workers"
        if any(verdict in DIFFERENT for verdict in verdicts):
            yield f"{sentence}. A cause that only this worker has does not count for its pool."
        else:
            yield f"{sentence}, and does not blame the pool for this one."
    pairs = [
        f"{pair.candidate} compared with {pair.baseline} is at {ratio(pair.ratio)} "
        f"{bounds_text(pair.interval)}"
        for pair in worker.without[:_SINGLE_NAMED]
    ]
    if pairs:
        yield (
            f"Without it, {', '.join(pairs)}. That is information and not a verdict, because the "
            "worker is chosen by its time."
        )
