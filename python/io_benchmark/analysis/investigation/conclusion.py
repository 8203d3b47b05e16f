# SPDX-License-Identifier: MPL-2.0
"""Conclude from what the steps found, as early as that is possible.

A wrong change is the worst outcome. So there is one only where three things agree: the task's real
runs are slower on its pool, the benchmark supports a cause there, and the task's profile predicts
that most of the difference is waiting for what this cause limits.
"""

import math

from io_benchmark.analysis.explaining.causes import RULES_BY_NAME
from io_benchmark.analysis.explaining.mixed_pools import CHANGE_OF_A_MIXED_POOL, MIXED_POOL
from io_benchmark.analysis.investigation.investigation_model import (
    Conclusion,
    Explanation,
    Findings,
    Fix,
    Forecast,
    Outcome,
    Reason,
    Slowness,
)
from io_benchmark.analysis.investigation.set_up import conclude_from_logs, slower_phases
from io_benchmark.analysis.model.cause import (
    Change,
    NewMachineType,
    NoChange,
    Remedy,
    Resource,
    State,
)
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.statements import (
    Quantity,
    Range,
    Statement,
    Unit,
    count,
    joined,
    ratio_of,
    share,
    statement,
)
from io_benchmark.analysis.reading.disks import MachineType
from io_benchmark.analysis.statistics.levels import DEFAULT_MARGIN
from io_benchmark.analysis.tasks.task_model import OWN_WORK, PENDING, SET_UP, TaskComparison
from io_benchmark.number_text import plural

# What explains this share of a difference is what to look at. Chosen: more than all the rest.
_MOST = 0.5
# Waiting for a worker that is worth naming, as a share of the task's time. Chosen.
_PENDING_SHARE = 0.1


def conclude(findings: Findings) -> Conclusion | None:
    """Return the conclusion; None where the next step is needed for one."""
    slowness, explanation, forecast = findings.slowness, findings.explanation, findings.forecast
    if slowness is None:
        return None
    if slowness.comparison is None:
        return _without_reference(slowness)
    conclusion = _by_times(slowness, slowness.comparison, explanation)
    if conclusion is None and explanation is not None:
        conclusion = _by_machines(slowness, slowness.comparison, explanation)
    if conclusion is None and explanation is not None and forecast is not None:
        conclusion = _by_demand(slowness, slowness.comparison, explanation, forecast)
    return conclusion


# --- the task's real times ---


def _without_reference(slowness: Slowness) -> Conclusion:
    """Ask for runs on another pool."""
    todo = "run {label} on another pool"
    if slowness.is_of_firefox:
        todo += " (mach try fuzzy --worker-override ALIAS=POOL)"
    todo += ", and give its group, or a table of the runs, by --runs"
    return Conclusion(
        Outcome.OPEN,
        slowness.say("It ran on {pool} alone, so nothing shows a difference"),
        slowness.say("completed runs on {pool}: {runs}"),
        next_steps=(slowness.say(todo),),
    )


def _by_times(
    slowness: Slowness, compared: TaskComparison, explanation: Explanation | None
) -> Conclusion | None:
    """Conclude where the task is not slower, or slower for a reason that its times show."""
    workers = plural(compared.workers.candidate, "worker")
    basis = slowness.say(
        "{ratio} the time of {reference} (95 % interval {interval}), by {own} "
        f"{workers} of {{pool}} and {{theirs}} of {{reference}}"
    )
    if compared.verdict is Verdict.SLOWER:
        if slower_phases(slowness, compared):
            return conclude_from_logs(slowness, compared, explanation)
        reason = _slower_outside_work(slowness, compared)
        return Conclusion(Outcome.NOT_IO, reason, basis) if reason else None
    if slowness.grew_everywhere and slowness.growth > 1:
        answer = slowness.say(
            "It takes {growth} as long since {date}, on all pools alike: the task itself does "
            "more, so no pool is the reason. Look at what landed on that day"
        )
        return Conclusion(Outcome.NOT_IO, answer, basis)
    pending_s = compared.differences_s.get(PENDING, 0.0)
    if pending_s > _PENDING_SHARE * slowness.mean_s:
        answer = slowness.say(
            "It takes no longer on {pool}, but waits {pending} longer for a worker than on "
            "{reference}. That is the pool's capacity, not its machines",
            pending=Quantity(pending_s, Unit.SECONDS),
        )
        return Conclusion(Outcome.NOT_IO, answer, basis)
    if compared.verdict is Verdict.INCONCLUSIVE:
        answer = slowness.say("Whether it is slower on {pool} is not decided")
        return Conclusion(Outcome.OPEN, answer, basis, next_steps=(_more_runs(slowness, compared),))
    return Conclusion(Outcome.NOTHING, slowness.say("It is not slower on {pool}"), basis)


def _more_runs(slowness: Slowness, compared: TaskComparison) -> Statement:
    """Ask for more workers, and say how many where that is known."""
    workers = "more workers of both pools"
    more = compared.advice.workers_to_add if compared.advice is not None else None
    if more:
        workers = f"{{more}} more {plural(more, 'worker')} per pool"
    todo = f"run the task on {workers}, or give a table of more runs by --runs"
    return slowness.say(todo, more=count(more or 0))


def _slower_outside_work(slowness: Slowness, compared: TaskComparison) -> Statement | None:
    """Return which other part of the task is slower; None if most is in the task's own work.

    Where the own work is not known, it may be the reason.
    """
    difference_s = slowness.mean_s - compared.times[compared.baseline].task_s
    parts_s = compared.differences_s
    own_work_s = parts_s.get(OWN_WORK)
    if own_work_s is None or own_work_s >= _MOST * difference_s:
        return None
    others = [name for name in parts_s if name not in (PENDING, OWN_WORK)]
    part = max(others, key=lambda name: parts_s[name], default=SET_UP)
    return slowness.say(
        "It is slower on {pool} by its {part}: {time} of {difference}. The task's own work is not "
        "the reason, and nothing here blames a disk. Look at what the worker does then in the "
        "task's log",
        part=part,
        time=Quantity(parts_s.get(part, 0.0), Unit.SECONDS),
        difference=Quantity(difference_s, Unit.SECONDS),
    )


# --- what the machines do ---


def _by_machines(
    slowness: Slowness, real: TaskComparison, explanation: Explanation
) -> Conclusion | None:
    """Conclude where the benchmark does not compare the pools; a mixed pool needs no comparison."""
    steps, compared = explanation.open_questions, explanation.comparison
    if compared is None:
        answer = slowness.say("The benchmark's results of {pool} and {reference} do not compare")
        return Conclusion(Outcome.OPEN, answer, statement("nothing was compared"), next_steps=steps)
    is_mixed = any(reason.cause.name == MIXED_POOL for reason in explanation.reasons)
    # Machines that differ by too little do not explain the task's difference.
    is_small = math.log(compared.interval.high_ratio) < _MOST * math.log(real.ratio)
    if compared.verdict is not Verdict.INCONCLUSIVE or is_mixed or is_small:
        return None
    if compared.advice is not None and compared.advice.workers_to_add:
        more = compared.advice.workers_to_add
        template = f"measure {{more}} more {plural(more, 'worker')} per pool"
        steps = (statement(template, more=count(more)), *steps)
    return Conclusion(
        Outcome.OPEN,
        slowness.say("Whether the machines of {pool} are slower is not decided"),
        statement(
            "the benchmark takes {ratio} as long ({interval}), by {own} and {theirs} workers",
            ratio=ratio_of(compared.ratio),
            interval=Range(compared.interval.low_ratio, compared.interval.high_ratio, Unit.RATIO),
            own=count(explanation.workers.pool),
            theirs=count(explanation.workers.reference),
        ),
        next_steps=steps,
    )


# --- what the task asks of them ---


def _by_demand(
    slowness: Slowness, real: TaskComparison, explanation: Explanation, forecast: Forecast
) -> Conclusion:
    """Conclude from the prediction whether the task waits for what differs, and why it differs."""
    if forecast.ratio is None:
        return Conclusion(
            Outcome.OPEN,
            statement("Whether this task waits for what differs between the machines is not known"),
            statement("nothing was predicted"),
            next_steps=(forecast.reason or statement("not predicted"),),
        )
    explained = math.log(forecast.ratio) / math.log(real.ratio)
    predicted = ratio_of(forecast.ratio)
    basis = slowness.say(
        "the task's profile predicts {predicted}, which is {part} of the real difference",
        predicted=predicted,
        part=share(max(0.0, explained)),
    )
    if forecast.ratio < 1 + DEFAULT_MARGIN or explained < _MOST:
        machines = "are not the reason"
        if explanation.comparison and explanation.comparison.verdict is Verdict.SLOWER:
            machines = "are slower, but this task hardly waits for that"
        answer = slowness.say(
            f"The machines of {{pool}} {machines}: by its profile the task takes {{predicted}} as "
            "long there, and really {ratio}. Most of the difference has a reason other than disks "
            "and CPUs, such as a network",
            predicted=predicted,
        )
        return Conclusion(Outcome.NOT_IO, answer, basis)
    if explained > 1 / _MOST:
        answer = slowness.say("The prediction and the real times on {pool} contradict each other")
        todo = slowness.say("profile the task on {pool} as well, by measure")
        return Conclusion(Outcome.OPEN, answer, basis, next_steps=(todo,))
    resource = max(forecast.added_s, key=lambda resource: forecast.added_s[resource])
    for reason in explanation.reasons:
        # Machines of two kinds are no rule's cause.
        if reason.cause.name == MIXED_POOL:
            change: Change | NoChange = CHANGE_OF_A_MIXED_POOL
        else:
            change = RULES_BY_NAME[reason.cause.name].change
        if isinstance(change, NoChange) or change.limits is not resource:
            continue
        fix = _fix(reason, change, explanation)
        if fix is not None:
            return _concluded_change(slowness, reason, fix, resource, basis)
    # Causes hold for what the task waits for, of which none has a remedy here.
    causes = [f"{reason.cause.name} ({reason.cause.state})" for reason in explanation.reasons]
    answer = slowness.say(
        "The task waits for the {resource} of {pool}, and no change is known to help: the "
        "benchmark supports {causes}",
        resource=resource.value,
        causes=joined(causes) if causes else "no cause",
    )
    todo = slowness.say("run the task on {reference} meanwhile")
    return Conclusion(Outcome.OPEN, answer, basis, next_steps=(*explanation.open_questions, todo))


def _fix(reason: Reason, change: Change, explanation: Explanation) -> Fix | None:
    """Return what changes a cause; None where nothing is known to."""
    remedy = reason.remedy
    own, reference = explanation.machine_types.pool, explanation.machine_types.reference
    if change.machine_type is NewMachineType.AS_REFERENCE:
        if not own or not reference or own == reference:
            return None
        action = statement("use the machine type {reference}", reference=reference)
        gain, is_measured = (remedy.gain_ratio, remedy.measured) if remedy else (None, False)
        new_type = Remedy(reason.cause.name, action, gain, is_measured, ())
        return Fix(change.target, new_type, own, reference)
    if remedy is None:
        return None
    if change.machine_type is NewMachineType.LARGER_DISK:
        disks = remedy.disk_change
        if disks is None:
            return None
        return Fix(
            change.target,
            remedy,
            own,
            network_disk=disks.disk,
            new_network_disk=disks.new_disk,
        )
    if change.machine_type is NewMachineType.MORE_DISKS:
        larger = MachineType(own).with_more_disks
        if larger is None:
            return Fix(change.target, remedy, own, local_ssds_to_add=1)
        return Fix(change.target, remedy, own, larger.name)
    return Fix(change.target, remedy, explanation.slower_machine_type)


def _concluded_change(
    slowness: Slowness, reason: Reason, fix: Fix, resource: Resource, basis: Statement
) -> Conclusion:
    """Conclude that this change helps, and say how sure the cause is."""
    cause = reason.cause
    answer = slowness.say(
        "Change {target}: {action}. The task waits for the {resource} of {pool}. {hypothesis}",
        target=fix.target.value,
        action=fix.remedy.action,
        resource=resource.value,
        hypothesis=cause.hypothesis.removesuffix("."),
    )
    trial = (
        "by a trial" if cause.state is State.CONFIRMED else "by facts and times, without a trial"
    )
    template = f"the cause {{cause}} is {{state}} {trial}; {{basis}}"
    certainty = statement(template, cause=cause.name, state=cause.state.value, basis=basis)
    return Conclusion(Outcome.CHANGE, answer, certainty, fix)
