# SPDX-License-Identifier: MPL-2.0
"""Conclude from what the steps found, as early as that is possible.

A wrong change is the worst outcome. So there is one only where three things agree: the task's real runs
are slower on its pool, the benchmark supports a cause there, and the task's profile predicts that most
of the difference is waiting for what this cause limits.
"""

import math

from msgspec.structs import replace

from io_benchmark.analysis.investigation.investigation_model import (
    Conclusion,
    Explanation,
    Findings,
    Forecast,
    Outcome,
    Reason,
    Remedy,
    Resource,
    Slowness,
    Target,
)
from io_benchmark.analysis.investigation.slowness import OWN_WORK, PENDING
from io_benchmark.analysis.levels import DEFAULT_MARGIN
from io_benchmark.analysis.model import Verdict
from io_benchmark.analysis.observed.disks import MachineType
from io_benchmark.analysis.statements import (
    Quantity,
    Range,
    Statement,
    Unit,
    Value,
    count,
    joined,
    share,
    statement,
)

# What explains this part of a difference is what to look at.
_MOST = 0.5
# Waiting for a worker that is worth naming, as a part of the task's time.
_PENDING_SHARE = 0.1
MIXED = "mixed-pool"
# What a cause limits, and what its remedy changes. Other causes are named, and change nothing.
_TARGETS = {
    "device-count": (Resource.DISKS, Target.POOL),
    MIXED: (Resource.DISKS, Target.POOL),
    **dict.fromkeys(
        (
            *("linear-volume", "mirrored-volume", "boot-disk-fallback", "cgroup-io-limit"),
            *("mount-options", "scheduler", "scheduler-idling", "slow-journal"),
        ),
        (Resource.DISKS, Target.IMAGE),
    ),
    "ext4-flush": (Resource.DISKS, Target.TASK),
    **dict.fromkeys(("cgroup-cpu-limit", "kernel"), (Resource.CPU, Target.IMAGE)),
    "cpu": (Resource.CPU, Target.POOL),
}


def conclude(findings: Findings) -> Conclusion | None:
    """Return the conclusion; None where the next step is needed for one."""
    slowness, explanation, forecast = findings.slowness, findings.explanation, findings.forecast
    conclusion = _by_times(slowness) if slowness else None
    if slowness is None or explanation is None or conclusion is not None:
        return conclusion
    conclusion = _by_machines(slowness, explanation)
    if forecast is None or conclusion is not None:
        return conclusion
    return _by_demand(slowness, explanation, forecast)


def _say(slowness: Slowness, template: str, **values: Value | Statement) -> Statement:
    """Return a statement in which the pools, the ratio of the real times and others have their names."""
    usual: dict[str, Value] = {
        "label": slowness.label,
        "pool": slowness.pool,
        "reference": slowness.reference or "",
        "ratio": Quantity(slowness.ratio, Unit.RATIO),
        "interval": Range(slowness.low_ratio, slowness.high_ratio, Unit.RATIO),
        "runs": count(slowness.completed),
        "own": count(slowness.workers[0]),
        "theirs": count(slowness.workers[1]),
    }
    if slowness.change is not None:
        usual["growth"] = Quantity(slowness.change.ratio, Unit.RATIO)
        usual["date"] = slowness.change.date
    return statement(template, **{**usual, **values})


# --- the task's real times ---


def _by_times(slowness: Slowness) -> Conclusion | None:
    """Conclude where the task is not slower, or slower for a reason that its times show."""
    if slowness.reference is None:
        return _without_reference(slowness)
    basis = _say(
        slowness,
        "{ratio} the time of {reference} (95 % interval {interval}), by {own} workers of {pool} and "
        "{theirs} of {reference}",
    )
    if slowness.verdict is Verdict.SLOWER:
        reason = _slower_before_work(slowness)
        return Conclusion(Outcome.NOT_IO, reason, basis) if reason else None
    if slowness.change and slowness.change.is_everywhere and slowness.change.ratio > 1:
        answer = _say(
            slowness,
            "It takes {growth} as long since {date}, on all pools alike: the task itself does more, so "
            "no pool is the reason. Look at what landed on that day",
        )
        return Conclusion(Outcome.NOT_IO, answer, basis)
    pending_s = slowness.parts_s.get(PENDING, 0.0)
    if pending_s > _PENDING_SHARE * slowness.mean_s:
        answer = _say(
            slowness,
            "It takes no longer on {pool}, but waits {pending} longer for a worker than on {reference}. "
            "That is the pool's capacity, not its machines",
            pending=Quantity(pending_s, Unit.SECONDS),
        )
        return Conclusion(Outcome.NOT_IO, answer, basis)
    if slowness.verdict is Verdict.INCONCLUSIVE:
        more = slowness.workers_to_add
        todo = "run the task on {more} more workers per pool" if more else "run the task more often"
        todo += ", or give a table of more runs by --runs"
        answer = _say(slowness, "Whether it is slower on {pool} is not decided")
        steps = (_say(slowness, todo, more=count(more or 0)),)
        return Conclusion(Outcome.OPEN, answer, basis, next_steps=steps)
    return Conclusion(Outcome.NOTHING, _say(slowness, "It is not slower on {pool}"), basis)


def _without_reference(slowness: Slowness) -> Conclusion:
    template = "It ran on {pool} alone, so nothing shows a difference"
    if slowness.change is not None:
        template = (
            "It takes {growth} as long since {date}, and ran on {pool} alone: nothing shows whether the "
            "task or the pool changed"
        )
    todo = _say(
        slowness,
        "run {label} on another pool (mach try fuzzy --worker-override ALIAS=POOL), and give a table of "
        "the runs, or the push, by --runs",
    )
    basis = _say(slowness, "{runs} completed runs on {pool}")
    return Conclusion(Outcome.OPEN, _say(slowness, template), basis, next_steps=(todo,))


def _slower_before_work(slowness: Slowness) -> Statement | None:
    """Return that most of the difference is outside of the task's own work, if it is."""
    difference_s = slowness.mean_s - slowness.reference_mean_s
    parts_s = {name: time_s for name, time_s in slowness.parts_s.items() if name != PENDING}
    if parts_s.pop(OWN_WORK, math.inf) >= _MOST * difference_s:
        return None
    part = max(parts_s, key=lambda name: parts_s[name], default="set-up")
    return _say(
        slowness,
        "It is slower on {pool} by its {part}: {time} of {difference}. The task's own work is not the "
        "reason, and nothing here blames a disk. Look at what the worker does then in the task's log",
        part=part,
        time=Quantity(parts_s.get(part, 0.0), Unit.SECONDS),
        difference=Quantity(difference_s, Unit.SECONDS),
    )


# --- what the machines do ---


def _by_machines(slowness: Slowness, explanation: Explanation) -> Conclusion | None:
    """Conclude where the benchmark does not compare the pools; a mixed pool needs no comparison."""
    steps = tuple(statement("{line}", line=line) for line in explanation.open_questions)
    if explanation.verdict is None:
        answer = _say(slowness, "The benchmark's results of {pool} and {reference} do not compare")
        return Conclusion(Outcome.OPEN, answer, statement("nothing was compared"), next_steps=steps)
    is_mixed = any(reason.cause == MIXED for reason in explanation.reasons)
    # Machines that differ by too little do not explain the task's difference.
    is_small = math.log(explanation.high_ratio) < _MOST * math.log(slowness.ratio)
    if explanation.verdict is not Verdict.INCONCLUSIVE or is_mixed or is_small:
        return None
    basis = _say(
        slowness,
        "the benchmark takes {ratio} as long ({interval}), by {own} and {theirs} workers",
        ratio=Quantity(explanation.ratio, Unit.RATIO),
        interval=Range(explanation.low_ratio, explanation.high_ratio, Unit.RATIO),
        own=count(explanation.workers[0]),
        theirs=count(explanation.workers[1]),
    )
    if explanation.workers_to_add:
        more = count(explanation.workers_to_add)
        steps = (_say(slowness, "measure {more} more workers per pool", more=more), *steps)
    answer = _say(slowness, "Whether the machines of {pool} are slower is not decided")
    return Conclusion(Outcome.OPEN, answer, basis, next_steps=steps)


# --- what the task asks of them ---


def _by_demand(slowness: Slowness, explanation: Explanation, forecast: Forecast) -> Conclusion:
    """Conclude from the prediction: whether the task waits for what differs, and why that differs."""
    if forecast.ratio is None:
        template = "Whether this task waits for what differs between the machines is not known"
        basis, todo = _say(slowness, "nothing was predicted"), statement("{x}", x=forecast.reason)
        return Conclusion(Outcome.OPEN, _say(slowness, template), basis, next_steps=(todo,))
    explained = math.log(forecast.ratio) / math.log(slowness.ratio)
    predicted = Quantity(forecast.ratio, Unit.RATIO)
    basis = _say(
        slowness,
        "the task's profile predicts {predicted}, which is {part} of the real difference",
        predicted=predicted,
        part=share(max(0.0, explained)),
    )
    if forecast.ratio < 1 + DEFAULT_MARGIN or explained < _MOST:
        machines = "are not the reason"
        if explanation.verdict is Verdict.SLOWER:
            machines = "are slower, but this task hardly waits for that"
        answer = _say(
            slowness,
            f"The machines of {{pool}} {machines}: by its profile the task takes {{predicted}} as long "
            "there, and really {ratio}. Most of the difference has a reason other than disks and CPUs, "
            "such as a network",
            predicted=predicted,
        )
        return Conclusion(Outcome.NOT_IO, answer, basis)
    if explained > 1 / _MOST:
        answer = _say(slowness, "The prediction and the real times on {pool} contradict each other")
        todo = _say(slowness, "profile the task on {pool} as well, by measure")
        return Conclusion(Outcome.OPEN, answer, basis, next_steps=(todo,))
    resource = max(forecast.added_s, key=lambda each: forecast.added_s[each])
    for reason in explanation.reasons:
        limited, target = _TARGETS.get(reason.cause, (None, Target.TASK))
        remedy = _remedy(reason, target, explanation) if limited is resource else None
        if remedy is not None:
            return _change(slowness, remedy, resource, basis)
    return _unexplained(slowness, explanation, resource, basis)


def _change(slowness: Slowness, remedy: Remedy, resource: Resource, basis: Statement) -> Conclusion:
    reason = remedy.reason
    answer = _say(
        slowness,
        "Change {target}: {action}. The task waits for the {resource} of {pool}. {hypothesis}",
        target=remedy.target.value,
        action=reason.action,
        resource=resource.value,
        hypothesis=reason.hypothesis.removesuffix("."),
    )
    trial = "by a trial" if reason.state == "confirmed" else "by facts and times, without a trial"
    certainty = _say(
        slowness,
        f"the cause {{cause}} is {{state}} {trial}; {{basis}}",
        cause=reason.cause,
        state=reason.state,
        basis=basis,
    )
    return Conclusion(Outcome.CHANGE, answer, certainty, remedy)


def _remedy(reason: Reason, target: Target, explanation: Explanation) -> Remedy | None:
    """Return what changes a cause; None where nothing is known to."""
    own, reference = explanation.machine_types
    if reason.cause == "cpu":
        if not own or not reference or own == reference:
            return None
        action = f"use the machine type {reference}"
        return Remedy(target, replace(reason, action=action), own, reference)
    if not reason.action:
        return None
    if reason.cause == "device-count":
        larger = MachineType(own).with_more_disks
        return Remedy(target, reason, own, larger.name if larger else "", 0 if larger else 1)
    return Remedy(target, reason, explanation.slower_machine_type)


def _unexplained(
    slowness: Slowness, explanation: Explanation, resource: Resource, basis: Statement
) -> Conclusion:
    """Name the causes that hold for what the task waits for, of which none has a remedy here."""
    named = (f"{reason.cause} ({reason.state})" for reason in explanation.reasons)
    answer = _say(
        slowness,
        "The task waits for the {resource} of {pool}, and no change is known to help: the benchmark "
        "supports {causes}",
        resource=resource.value,
        causes=joined(named) if explanation.reasons else "no cause",
    )
    steps = [statement("{line}", line=line) for line in explanation.open_questions]
    meanwhile = _say(slowness, "run the task on {reference} meanwhile")
    return Conclusion(Outcome.OPEN, answer, basis, next_steps=(*steps, meanwhile))
