# SPDX-License-Identifier: MPL-2.0
"""Which differences are explained: for each candidate the leading workload's, and others'.

Cache-retrieve leads where it was compared, else the first workload that was. A further workload is
explained where it differs, by the measurement that differs most: what makes copies slow need not be
what makes synchronous writes slow. Files that appear late are always explained, also where the same
pool is the faster one at other operations on names.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from operator import attrgetter
from statistics import fmean

from msgspec.structs import replace

from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.causes import RULES_BY_NAME
from io_benchmark.analysis.explaining.deciding import judge
from io_benchmark.analysis.explaining.larger_disks import larger_network_disk
from io_benchmark.analysis.explaining.measured_gains import Gain, Push
from io_benchmark.analysis.explaining.trial_outcomes import outcomes
from io_benchmark.analysis.model.cause import (
    Cause,
    Diagnosis,
    Leftover,
    LeftoverPart,
    Remedy,
    State,
    TrialOutcome,
    TrialState,
)
from io_benchmark.analysis.model.comparison import DIFFERENT, Comparison
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.measurement import OtherMeasurement, SubjectReport
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import Statement, statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.model.time_parts import Kind, Part
from io_benchmark.results import workloads
from io_benchmark.results.workloads.cache_retrieve import REAL

_LEAST_SHARE = 0.1  # predictions are not better than this; less is not worth a sentence
_NAMED_SHARE = 0.2  # a part with less than this of the leftover is not named


def diagnoses(
    plan: Plan,
    reports: Sequence[SubjectReport],
    workers: Sequence[Worker],
    trial_workers: Sequence[Worker],
) -> tuple[Diagnosis, ...]:
    """Return the diagnoses of every pair, those of the leading workload first.

    `trial_workers` are the workers whose trials count: also those that only confirm a cause.
    """
    push_of = _push_of(reports, workers)

    @cache
    def side(name: str, subject: Subject) -> Side:
        return Side.of_workers((worker for worker in workers if worker.side == name), subject)

    diagnosed = []
    for candidate, baseline in plan.pairs:
        if len(_systems_of((candidate, baseline), workers)) > 1:
            continue  # the work is not the same, so no fact explains the difference
        measurements = _measurements(candidate, baseline, reports)
        for comparison in _explained(measurements):
            subject = comparison.subject
            # Without a decision nothing needs an explanation: all of it may be chance.
            ratio = comparison.ratio if comparison.verdict in DIFFERENT else None
            of_baseline, of_candidate = side(baseline, subject).divided_like(
                side(candidate, subject)
            )
            case = Case.of(subject, ratio, of_baseline, of_candidate, measurements)
            trials = _trials(case, comparison, trial_workers)
            causes = judge(case, trials)
            push = push_of(
                subject,
                case.slower.name,
                case.faster.name,
                trials=trials,
                larger_network_disk=larger_network_disk(case),
                system=case.system,
            )
            remedies = suggest_remedies(causes, push)
            leftover = _left_over(causes, case)
            diagnosed.append(Diagnosis(candidate, causes, remedies, subject, trials, leftover))
    return tuple(diagnosed)


def _systems_of(sides: Sequence[str], workers: Sequence[Worker]) -> set[str]:
    runs = (run for worker in workers if worker.side in sides for run in worker.runs)
    return {run.system for run in runs}


def _push_of(reports: Sequence[SubjectReport], workers: Sequence[Worker]) -> Callable[..., Push]:
    """Return the push of two sides that are still to be named."""
    means_ns = {
        (side, report.subject): figures.mean_ns
        for report in reports
        for side, figures in report.figures.items()
    }
    machine_types = {worker.side: worker.result.task.instance_type for worker in workers}
    place_kinds = {
        (worker.side, place.name): place.kind
        for worker in workers
        for place in worker.result.storage.places
    }
    return partial(Push, measured=means_ns, machines=machine_types, place_kinds=place_kinds)


def _measurements(
    candidate: str, baseline: str, reports: Sequence[SubjectReport]
) -> list[OtherMeasurement]:
    """Return what the two sides were compared on."""
    return [
        OtherMeasurement(comparison, report.figures[baseline], report.figures[candidate])
        for report in reports
        if report.subject.fidelity != REAL
        for comparison in report.comparisons
        if (comparison.candidate, comparison.baseline) == (candidate, baseline)
    ]


def _trials(
    case: Case, comparison: Comparison, workers: Sequence[Worker]
) -> tuple[TrialOutcome, ...]:
    """Return what the trials show about a difference; nothing where none was shown."""
    if case.ratio is None:
        return ()
    slower = [worker for worker in workers if worker.side == case.slower.name]
    faster = [worker for worker in workers if worker.side == case.faster.name]
    assumed, variation = None, comparison.assumed_variation
    if variation is not None:
        assumed = variation.usual_ratio or variation.ratio
    return outcomes(case.subject, slower, faster, assumed)


def _explained(measurements: Sequence[OtherMeasurement]) -> list[Comparison]:
    """Return the comparisons to explain, the leading one first."""
    explained = [measurement.comparison for measurement in measurements[:1]]
    differing = [measurement.comparison for measurement in measurements if measurement.is_decided]
    for workload, different in grouped(differing, attrgetter("subject.workload")).items():
        if explained[0].subject.workload != workload:
            explained.append(_most_different(different))
        elif workload != "cache-retrieve":
            explained[0] = _most_different(different)
    return explained + [
        measurement.comparison for measurement in measurements if _is_late(measurement, explained)
    ]


def _is_late(measurement: OtherMeasurement, explained: Sequence[Comparison]) -> bool:
    """Return whether files were visible late on a side that is not explained anyway."""
    if measurement.subject.variant != workloads.VISIBILITY or not measurement.is_decided:
        return False
    key = attrgetter("verdict", "subject.workload", "subject.place")
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
        _take(left_ns, cause, case)
    # Parts that are faster make up for others: causes that explain all of the difference leave
    # nothing.
    explained = math.fsum(cause.share for cause in supported if cause.share is not None)
    rest_ns = min((1 - explained) * whole_ns, math.fsum(left_ns.values()))
    # The uncertainty of the parts that have a rest.
    margin_ns = math.hypot(
        *(
            (part.high_ns - part.low_ns) / 2
            for part in division.parts
            if left_ns[part.part] > 0 and part.low_ns is not None and part.high_ns is not None
        )
    )
    if rest_ns < max(_LEAST_SHARE * whole_ns, margin_ns):
        return None
    ordered = sorted(left_ns.items(), key=lambda item: -item[1])
    parts = [LeftoverPart(*part, ns) for part, ns in ordered if ns >= _NAMED_SHARE * rest_ns]
    return Leftover(rest_ns, rest_ns / whole_ns, tuple(parts))


def _take(left_ns: dict[Part, float], cause: Cause, case: Case) -> None:
    """Subtract what a cause explains from its parts, and from what is unknown of their phases.

    Without a size it explains all of its parts.
    """
    acts_through, explained_ns = RULES_BY_NAME[cause.name].acts_through, math.inf
    if cause.share is not None:
        mean_ns = fmean(run.mean_ns for run in case.slower if run.is_measured)
        explained_ns = mean_ns * -math.expm1(-cause.share * math.log(case.times))
    parts = case.parts_of_workload(acts_through)
    parts |= {Part(part.phase, Kind.UNEXPLAINED) for part in parts}
    for part in sorted(left_ns, key=lambda name: -left_ns[name]):
        if not acts_through or part in parts:
            taken_ns = min(left_ns[part], explained_ns)
            left_ns[part] -= taken_ns
            explained_ns -= taken_ns


def suggest_remedies(causes: Sequence[Cause], push: Push) -> tuple[Remedy, ...]:
    """Return remedies for the slower side of a pair, in the causes' order, confirmed ones first.

    A remedy always has evidence: the supported cause, and where the same push measured the remedy
    (another destination, another place, another pool), that decides whether it is suggested at all.
    """
    supported = [cause for cause in causes if cause.state.holds]
    supported.sort(key=lambda cause: cause.state is not State.CONFIRMED)
    names = {cause.name for cause in supported}
    competing = [name for name in names if not RULES_BY_NAME[name].is_mechanism]
    push = replace(push, competing_causes=len(competing))
    refuted = {trial.kind for trial in push.trials if trial.state is TrialState.REFUTED}
    remedies = []
    for owner, cause in _with_shared(supported, causes):
        if not cause.state.holds and cause.tried_by in refuted:
            continue
        for rule in RULES_BY_NAME[cause.name].remedies:
            if rule.only_on not in ("", push.system):
                continue
            gain = rule.find_gain(push, cause) if names.isdisjoint(rule.useless_next_to) else None
            if gain is not None:
                action = _action(rule.action, gain)
                remedies.append(
                    Remedy(
                        owner.name,
                        action,
                        gain.ratio,
                        gain.measured,
                        gain.evidence,
                        gain.disk_change,
                    )
                )
    return tuple(remedies)


def _with_shared(
    supported: Sequence[Cause], causes: Sequence[Cause]
) -> Iterator[tuple[Cause, Cause]]:
    """Yield the causes whose remedies help, each with the cause that they are for.

    What both sides share can be avoided, too, where the difference is in its part of the time. It
    is for the supported cause of that part, or where several are not separable, for none of them:
    it helps whichever of them it is.
    """
    yield from ((cause, cause) for cause in supported)
    not_separable = [cause for cause in causes if cause.state is State.NOT_SEPARABLE]
    for shared in (cause for cause in causes if cause.is_shared):
        acts_through = RULES_BY_NAME[shared.name].acts_through
        for cause in (*supported, *not_separable):
            if RULES_BY_NAME[cause.name].acts_through & acts_through:
                yield cause if cause in supported else shared, shared
                break


def _action(action: str, gain: Gain) -> Statement:
    if gain.such_as is None:
        return statement(action)
    return statement(f"{action}, such as {{example}}", example=gain.such_as)
