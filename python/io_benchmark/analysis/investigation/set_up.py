# SPDX-License-Identifier: MPL-2.0
"""Conclude from logs where a task's set-up is slower: disks, the network, caches, or more bytes.

A phase usually waits for disks or the network, which is no proof. So no change follows from it: the
benchmark's results of both pools say whether their disks differ at all.
"""

import math
from collections.abc import Sequence

from msgspec import UNSET

from io_benchmark.analysis.investigation.investigation_model import (
    Conclusion,
    Explanation,
    Outcome,
    Slowness,
)
from io_benchmark.analysis.model.statements import (
    Quantity,
    Statement,
    Unit,
    count,
    joined,
    statement,
)
from io_benchmark.analysis.phases.phase_model import Waits
from io_benchmark.analysis.tasks.difference_model import PhaseDifference, Reason
from io_benchmark.analysis.tasks.phase_differences import SET_UP
from io_benchmark.analysis.tasks.task_model import OWN_WORK, TaskComparison
from io_benchmark.number_text import plural

_MOST = 0.5  # of the difference, as of other explanations
_NAMED = 3


def needs_logs(compared: TaskComparison) -> bool:
    """Return whether most of a task's difference may be outside of its own work."""
    own_work_s = compared.differences_s.get(OWN_WORK)
    return own_work_s is None or own_work_s < _MOST * compared.difference_s


def slower_phases(slowness: Slowness, compared: TaskComparison) -> Sequence[PhaseDifference]:
    """Return the phases of set-up that are proven longer, where they are most of the difference."""
    if slowness.phases is UNSET:
        return ()
    rows = [
        row
        for row in slowness.phases.differences
        if row.is_decided and row.difference_s > 0 and row.phase in SET_UP
    ]
    explained_s = math.fsum(row.difference_s for row in rows)
    return rows if explained_s >= _MOST * compared.difference_s else ()


def conclude_from_logs(
    slowness: Slowness, compared: TaskComparison, explanation: Explanation | None
) -> Conclusion | None:
    """Return the conclusion; None where set-up is not the reason, or where results are needed."""
    rows, pair = slower_phases(slowness, compared), slowness.phases
    if not rows or pair is UNSET:
        return None
    waits_for_disks = any(row.waits in (Waits.DISKS, Waits.BOTH) for row in rows)
    if waits_for_disks and explanation is None:
        return None
    answer = slowness.say(
        "It is slower on {pool} by its set-up: {phases}, of {difference}",
        phases=joined((_phase(row) for row in rows[:_NAMED]), "; "),
        difference=_seconds(compared.difference_s),
    )
    logs = pair.runs.baseline + pair.runs.candidate
    certainty = statement(
        f"by {{logs}} {plural(logs, 'log')}; what a phase waits for is what it usually does",
        logs=count(logs),
    )
    if not waits_for_disks:
        return Conclusion(Outcome.NOT_IO, answer, certainty, next_steps=(_look_at(rows[0]),))
    return Conclusion(
        Outcome.OPEN, answer, certainty, next_steps=_with_results(slowness, explanation)
    )


def _seconds(value_s: float) -> Quantity:
    return Quantity(value_s, Unit.SECONDS)


def _phase(row: PhaseDifference) -> Statement:
    """Return 'image load 15 s longer, which usually waits for disks'."""
    template = "{phase} {time} longer"
    match row.reason:
        case Reason.PACE if row.waits is not Waits.UNKNOWN:
            template += ", which usually waits for {waits}"
        case Reason.SIZE:
            template += ", because it moves more bytes"
        case Reason.SHARE:
            template += ", because it is done more often"
    return statement(
        template,
        phase=str(row.phase),
        time=_seconds(row.difference_s),
        waits=str(row.waits).replace("network", "the network"),
    )


def _look_at(row: PhaseDifference) -> Statement:
    if row.reason is Reason.SHARE:
        return statement("compare how long the workers of both pools keep their caches")
    if row.reason is Reason.SIZE:
        return statement("compare what the tasks fetch on both pools")
    if row.waits is Waits.NETWORK:
        return statement("measure the downloads of both pools by the workload download")
    return statement("look at {phase} in the task's log", phase=str(row.phase))


def _with_results(slowness: Slowness, explanation: Explanation | None) -> tuple[Statement, ...]:
    """Return what the benchmark's results add, and what would prove it."""
    todo = slowness.say("try a pool with other disks, and compare the phases again")
    if explanation is None:
        return (todo,)
    causes = [f"{reason.cause.name} ({reason.cause.state})" for reason in explanation.reasons]
    if causes:
        template = "the benchmark supports {causes} on {pool}: change that, and "
        todo = slowness.say(template + "compare the phases again", causes=joined(causes))
    return (todo, *explanation.open_questions)
