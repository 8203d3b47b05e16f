# SPDX-License-Identifier: MPL-2.0
"""Which differences are explained: for each candidate the leading workload's, and others'.

Cache-retrieve leads where it was compared, else the first workload that was. A further workload is
explained where it differs, by the measurement that differs most: what makes copies slow need not be
what makes synchronous writes slow. Files that appear late are always explained, also where the same
pool is the faster one at other operations on names.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from statistics import fmean

from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case, OtherMeasurement
from io_benchmark.analysis.diagnosis.causes import RULES
from io_benchmark.analysis.diagnosis.deciding import judge
from io_benchmark.analysis.diagnosis.measured_gains import Gain, Push
from io_benchmark.analysis.diagnosis_model import (
    Cause,
    Diagnosis,
    Leftover,
    LeftoverPart,
    Remedy,
    State,
    TrialOutcome,
    TrialState,
)
from io_benchmark.analysis.model import DIFFERENT, Comparison, Subject, Worker
from io_benchmark.analysis.observed.machines import grouped
from io_benchmark.analysis.observed.sides import Side
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import SubjectReport
from io_benchmark.analysis.side_times import Division
from io_benchmark.analysis.statements import Statement, count, statement
from io_benchmark.analysis.time_parts import Kind, Part
from io_benchmark.analysis.trials.trial_outcomes import outcomes
from io_benchmark.results import workloads

# Predictions are not better than this; less is not worth a sentence.
_LEAST_SHARE = 0.1
# A part with less than this of the leftover is not named.
_NAMED_SHARE = 0.2
_RULES = {rule.name: rule for rule in RULES}


def diagnoses(
    plan: Plan,
    reports: Sequence[SubjectReport],
    workers: Sequence[Worker],
    trial_workers: Sequence[Worker],
) -> tuple[Diagnosis, ...]:
    """Return the diagnoses of every pair, those of the leading workload first.

    `trial_workers` are the workers whose trials count: also those that only confirm a cause.
    """
    measured: defaultdict[str, dict[Subject, float]] = defaultdict(dict)
    for report in reports:
        for side, figures in report.figures.items():
            measured[side][report.subject] = figures.mean_ns
    machines = {worker.side: worker.result.task.instance_type for worker in workers}
    place_kinds = {
        (worker.side, place.name): place.kind
        for worker in workers
        for place in worker.result.storage.places
    }

    @cache
    def views(side: str, subject: Subject) -> Side:
        return Side.of_workers((worker for worker in workers if worker.side == side), subject)

    diagnosed = []
    for candidate, baseline in plan.pairs:
        measurements = _compared(reports, candidate, baseline)
        for comparison in _explained(measurements):
            subject = comparison.subject
            trials = _tried(comparison, trial_workers)
            push = Push(subject, candidate, baseline, measured, machines, place_kinds, trials)
            case = Case(
                subject,
                # Without a decision nothing needs an explanation: all of it may be chance.
                comparison.ratio if comparison.verdict in DIFFERENT else None,
                *views(baseline, subject).divided_like(views(candidate, subject)),
                measurements,
            )
            causes = judge(case, trials)
            remedies, leftover = suggest_remedies(causes, push), _left_over(causes, case)
            diagnosed.append(Diagnosis(candidate, causes, remedies, subject, trials, leftover))
    return tuple(diagnosed)


def _tried(comparison: Comparison, workers: Sequence[Worker]) -> tuple[TrialOutcome, ...]:
    """Return what trials show about a difference; nothing where there is none."""
    if comparison.verdict not in DIFFERENT:
        return ()
    sides = (comparison.candidate, comparison.baseline)
    slower, faster = (
        [worker for worker in workers if worker.side == side]
        for side in (sides if comparison.ratio > 1 else reversed(sides))
    )
    return outcomes(comparison.subject, slower, faster, comparison.assumed_variation_ratio)


def _compared(
    reports: Sequence[SubjectReport], candidate: str, baseline: str
) -> tuple[OtherMeasurement, ...]:
    return tuple(
        OtherMeasurement(comparison, report.figures[baseline], report.figures[candidate])
        for report in reports
        for comparison in report.comparisons
        if (comparison.candidate, comparison.baseline) == (candidate, baseline)
    )


def _explained(measurements: Sequence[OtherMeasurement]) -> list[Comparison]:
    """Return the comparisons to explain, the leading one first."""
    explained = [measurement.comparison for measurement in measurements[:1]]
    differing = [measurement.comparison for measurement in measurements if measurement.is_decided]
    by_workload = grouped(differing, lambda comparison: comparison.subject.workload)
    for workload, different in by_workload.items():
        if explained[0].subject.workload != workload:
            explained.append(_most_different(different))
        elif workload != "cache-retrieve":
            explained[0] = _most_different(different)
    return explained + [
        measurement.comparison for measurement in measurements if _is_late(measurement, explained)
    ]


def _is_late(measurement: OtherMeasurement, explained: Sequence[Comparison]) -> bool:
    """Return whether files were visible late, and their side is not explained as the slower one anyway."""
    if measurement.subject.variant != workloads.VISIBILITY or not measurement.is_decided:
        return False

    def key(comparison: Comparison) -> tuple[str, str, str]:
        return comparison.verdict, comparison.subject.workload, comparison.subject.place

    sides = (measurement.baseline, measurement.candidate)
    is_late = any(side.detail(workloads.NOT_VISIBLE) for side in sides)
    return is_late and key(measurement.comparison) not in map(key, explained)


def _most_different(different: Sequence[Comparison]) -> Comparison:
    """Return what differs most; a check of visibility counts only where nothing else differs."""
    timed = [
        comparison for comparison in different if comparison.subject.variant != workloads.VISIBILITY
    ]
    return max(timed or different, key=lambda comparison: abs(math.log(comparison.ratio)))


def _left_over(causes: Sequence[Cause], case: Case) -> Leftover | None:
    """Return what the supported causes do not explain; None where that may be nothing."""
    division = case.division
    supported = [cause for cause in causes if cause.state.holds]
    if not supported or division is None or division.difference_ns <= 0:
        return None
    whole_ns = division.difference_ns
    left_ns = {part.part: max(0.0, part.difference_ns) for part in division.parts}
    for cause in supported:
        _take(left_ns, _explained_ns(cause, case), _RULES[cause.name].acts_through, case)
    rest_ns = min(whole_ns, math.fsum(left_ns.values()))
    if rest_ns < max(_LEAST_SHARE * whole_ns, _margin_ns(division, left_ns)):
        return None
    parts = tuple(
        LeftoverPart(*part, left_ns[part])
        for part in sorted(left_ns, key=lambda part: -left_ns[part])
        if left_ns[part] >= _NAMED_SHARE * rest_ns
    )
    return Leftover(rest_ns, rest_ns / whole_ns, parts)


def _explained_ns(cause: Cause, case: Case) -> float:
    """Return the time that a cause explains; without a size all of its parts."""
    times = [run.mean_ns for run in case.slower if run.mean_ns is not None]
    if cause.share is None or not times:
        return math.inf
    return fmean(times) * -math.expm1(-cause.share * math.log(case.times))


def _take(
    left_ns: dict[Part, float], explained_ns: float, acts_through: frozenset[Part], case: Case
) -> None:
    """Subtract what a cause explains from its parts, and from what was not recorded of their phases."""
    parts = case.parts_of_workload(acts_through)
    parts |= {Part(part.phase, Kind.UNEXPLAINED) for part in parts}
    mine = [part for part in left_ns if not acts_through or part in parts]
    for part in sorted(mine, key=lambda name: -left_ns[name]):
        taken_ns = min(left_ns[part], explained_ns)
        left_ns[part] -= taken_ns
        explained_ns -= taken_ns


def _margin_ns(division: Division, left_ns: dict[Part, float]) -> float:
    """Return the uncertainty of the parts that have a rest."""
    parts = [part for part in division.parts if left_ns[part.part] > 0]
    known = [(part.low_ns, part.high_ns) for part in parts]
    return math.hypot(
        *((high - low) / 2 for low, high in known if low is not None and high is not None)
    )


def suggest_remedies(causes: Sequence[Cause], push: Push) -> tuple[Remedy, ...]:
    """Return remedies for the slower side of a pair, in the causes' order, confirmed ones first.

    A remedy always has evidence: the supported cause, and where the same push measured the remedy
    (another destination, another place, another pool), that decides whether it is suggested at all.
    """
    supported = [cause for cause in causes if cause.state.holds]
    supported.sort(key=lambda cause: cause.state is not State.CONFIRMED)
    push = replace(push, supported=frozenset(cause.name for cause in supported))
    refuted = {trial.kind for trial in push.trials if trial.state is TrialState.REFUTED}
    return tuple(
        Remedy(owner.name, _action(action, gain), gain.ratio, gain.measured, gain.evidence)
        for owner, cause in _with_shared(supported, causes)
        if cause.state.holds or cause.tried_by not in refuted
        for action, find_gain in _RULES[cause.name].remedies.items()
        if (gain := find_gain(push, cause)) is not None
    )


def _with_shared(
    supported: Sequence[Cause], causes: Sequence[Cause]
) -> Iterator[tuple[Cause, Cause]]:
    """Yield the causes whose remedies help, each with the cause that they are for.

    What both sides share can be avoided, too, where the difference is in its part of the time. It is for
    the supported cause of that part, or where several are not separable, for none of them: it helps
    whichever of them it is.
    """
    yield from ((cause, cause) for cause in supported)
    not_separable = [cause for cause in causes if cause.state is State.NOT_SEPARABLE]
    for shared in (cause for cause in causes if cause.is_shared):
        acts_through = _RULES[shared.name].acts_through
        for cause in (*supported, *not_separable):
            if _RULES[cause.name].acts_through & acts_through:
                yield cause if cause in supported else shared, shared
                break


def _action(action: str, gain: Gain) -> Statement:
    if gain.such_as is None:
        return statement(action)
    machine, disks = gain.such_as.name, count(gain.such_as.disks or 0)
    return statement(f"{action}, such as {{machine}} with {{disks}}", machine=machine, disks=disks)
