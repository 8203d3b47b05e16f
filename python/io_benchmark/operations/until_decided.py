# SPDX-License-Identifier: MPL-2.0
"""Add tasks to a group until its pools, or its gates, are decided."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from io_benchmark.analysis.gate.gate_model import Answer
from io_benchmark.command_lines import resume_group
from io_benchmark.costs.worker_time import MINUTES_PER_HOUR, Cost
from io_benchmark.errors import UsageError
from io_benchmark.number_text import number_of
from io_benchmark.operations.compare import compare_pools
from io_benchmark.operations.gate import answer_in_group
from io_benchmark.operations.group_work import GroupWork
from io_benchmark.operations.measured_group import MeasuredGroup, OpenPair
from io_benchmark.submit.definitions import LOOKS, NewTask, SubmissionOptions


class _Standing(NamedTuple):
    """What a look at a group leaves undecided."""

    undecided: list[str]  # pools, or gates
    open_pairs: list[OpenPair]  # that more workers may decide


def limit_of_looks(tasks: Sequence[NewTask], cost: Cost, budget_hours: float | None) -> str:
    """Return what all looks take at most; refuse what cannot decide anything."""
    pools = {task.pool for task in tasks}
    if len(pools) < 2:
        raise UsageError(
            f"--until-decided compares pools, and {', '.join(pools)} is the only one that is "
            "selected; select another one, or omit it"
        )
    most = cost.repeated(LOOKS[-1] // LOOKS[0])
    parts = [most.time, most.at_prices, f"{LOOKS[-1]} tasks per pool"]
    limit = ", ".join(part for part in parts if part)
    if budget_hours is not None and budget_hours * MINUTES_PER_HOUR < most.minutes:
        limit = f"{Cost.worker_time(budget_hours * MINUTES_PER_HOUR, is_limit=True)} (--budget)"
    return f"Then more tasks of pools that are undecided; all looks together: at most {limit}"


def _after_rerun(work: GroupWork, group: MeasuredGroup) -> str:
    """Return how to go on once the tasks that failed were run again; nothing where none did."""
    failed = [task for task in group.tasks if task.status.state in ("failed", "exception")]
    if not failed:
        return ""
    count = number_of(len(failed), "task")
    those = "it" if len(failed) == 1 else "them"
    return f"; {count} did not complete: after a rerun of {those}, go on with: {work.how_to_resume}"


def measure_until_decided(work: GroupWork, *, is_agreed: bool) -> str | None:
    """Add tasks until all pools are decided; return the group to compare, None if not agreed."""
    while True:
        group = work.measure()
        look = None if group is None else _next_look(work, group)
        if look is None:
            return work.group_id
        tasks, cost = look
        if not is_agreed and not work.confirm_creation(tasks, cost):
            return None
        is_agreed = True
        work.create_and_wait(tasks)


def _next_look(work: GroupWork, group: MeasuredGroup) -> tuple[list[NewTask], Cost] | None:
    """Compare; return the tasks of the next look and their cost, or None after the last look."""
    options, tell = work.options, work.context.tell
    standing = _gates_standing(options, group) if options.gates else _standing(options, group)
    if standing is None:
        # The comparison says why.
        tell(f"Nothing can be compared yet{_after_rerun(work, group)}")
        return None
    look = group.next_look(standing.open_pairs)
    spent = f"{Cost.worker_time(group.spent_minutes)} spent"
    if not standing.undecided:
        tell(f"Decided; {spent}")
        return None
    state = f"Undecided: {', '.join(standing.undecided)}; {spent}"
    if not look.repetitions:
        reason = f"{LOOKS[-1]} workers per pool are the last look"
        if look.exhausted:
            reason = (
                "half of the tasks or more brought no further worker of "
                f"{', '.join(look.exhausted)}; look at the tasks"
            )
        elif not standing.open_pairs:
            reason = "more workers do not decide it; see the report for the reason"
        tell(f"{state}; {reason}{_after_rerun(work, group)}")
        return None
    tasks, cost = work.repeated(group, look.repetitions)
    tell(f"{state}; the next look has {cost.summary}")
    minutes = group.spent_minutes + cost.minutes
    if work.exceeds_budget(minutes):
        hours = math.ceil(minutes / MINUTES_PER_HOUR)
        go_on = resume_group(work.group_id, options.baseline_or_gates, hours)
        tell(f"Stopped by --budget {options.budget_hours:g}; to go on with a higher one: {go_on}")
        return None
    for share in cost.shares:
        tell(f"  {share.summary}")
    return tasks, cost


def _standing(options: SubmissionOptions, group: MeasuredGroup) -> _Standing | None:
    """Return what a comparison leaves undecided; None where nothing can be compared."""
    pools = {worker.pool for worker in group.workers}
    if options.baseline is not None and options.baseline not in pools:
        return None
    report = compare_pools(group.workers, options.baseline)
    if not any(part.comparisons for part in report.subjects):
        return None
    pairs = OpenPair.of_report(report)
    return _Standing(list(dict.fromkeys(pair.candidate for pair in pairs)), pairs)


def _gates_standing(options: SubmissionOptions, group: MeasuredGroup) -> _Standing | None:
    """Return the gates that are not decided; None without a result."""
    if group.reading is None or not group.workers:
        return None
    gates = answer_in_group(group.reading, options.gates)
    undecided = [gate for gate in gates if gate.answer is Answer.NOT_DECIDED]
    names = [f"{gate.candidate}/{gate.baseline}" for gate in undecided]
    return _Standing(names, OpenPair.of_gates(gates))
