# SPDX-License-Identifier: MPL-2.0
"""Which runs and sides are compared: every validity rule applied, and what it says as a problem."""

import math
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from statistics import fmean

from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import Problem, Severity
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.measurement import Measurement, SubjectReport
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.run import Run, Worker
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import Statement, count, joined, ratio_of, statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.statistics.levels import DEFAULT_WORKER_VARIATION
from io_benchmark.analysis.statistics.noise import FEWEST_RETRIEVES
from io_benchmark.analysis.validity.engines import is_of_engines
from io_benchmark.analysis.validity.rules import (
    PLACE_KIND_RULE,
    RETRIEVES_RULE,
    RUN_RULES,
    SIDE_RULES,
    SKIPPED_RULE,
    TraitRule,
    distinct_traits,
)
from io_benchmark.analysis.validity.systems import (
    NOT_THE_SAME_WORK,
    SYSTEM_RULE,
    follows_from_system,
)
from io_benchmark.number_text import plural
from io_benchmark.results import workloads

# Runs that are left out are named where they are slower by this, and by more than workers differ.
_SLOWER_RATIO, _CLEARLY = 1.1, 2.0
_, _SKIPPED = RUN_RULES[SKIPPED_RULE]


def valid_measurements(workers: Sequence[Worker], allow: frozenset[str]) -> list[Measurement]:
    """Return what was measured, with the sides that may be compared.

    The order is that of the workloads, then that of the first worker.
    """
    runs = grouped((run for worker in workers for run in worker.runs), attrgetter("subject"))
    order = [*workloads.WORKLOADS]
    subjects = sorted(runs, key=lambda subject: order.index(subject.workload))
    measurements = []
    for subject in subjects:
        comparable, problems = comparable_runs(runs[subject], allow)
        workload = workloads.of(subject.workload)
        measurements.append(
            Measurement(
                subject,
                figures={},
                comparisons=(),
                operation=workload.operation,
                unit=workload.unit,
                higher_is_better=workload.higher_is_better,
                sides=Side.by_name(comparable),
                problems=tuple(problems),
            )
        )
    return measurements


def comparable_runs(runs: Sequence[Run], allow: frozenset[str]) -> tuple[list[Run], list[Problem]]:
    """Return the runs of a measurement that may be compared, and why the others are left out."""
    kept, broken_rules = check_runs(runs, allow)
    comparable, shorter = _select_length(kept, allow)
    return comparable, [*_slower_left_out(runs, kept), *broken_rules, *shorter]


def check_runs(runs: Iterable[Run], allow: frozenset[str]) -> tuple[list[Run], list[Problem]]:
    """Return the runs that may be compared, and every rule that a run breaks."""
    kept: list[Run] = []
    problems: list[Problem] = []
    for run in runs:
        # A run without samples cannot be compared, whatever is allowed.
        has_samples = len(run.total_ns) > 1
        allow_here = allow if has_samples else frozenset[str]()
        for name, (severity, rule) in RUN_RULES.items():
            message = rule(run)
            if message is None:
                continue
            severity_here = _after_allowing(name, severity, allow_here)
            problem = _problem(name, severity_here, run.worker, run.subject, message)
            is_refused = severity_here is Severity.REFUSED
            problems.append(replace(problem, can_be_allowed=is_refused and has_samples))
            if severity_here is Severity.REFUSED or name == SKIPPED_RULE:
                break  # no other rule matters for a run that is not compared
        else:
            kept.append(run)
    return kept, problems


def _problem(
    name: str, severity: Severity, worker: Worker, subject: Subject | None, message: Statement
) -> Problem:
    about = statement("{task_name}: {message}", task_name=worker.task_name, message=message)
    return Problem(name, severity, subject, (worker.side,), about)


def _select_length(runs: Sequence[Run], allow: frozenset[str]) -> tuple[list[Run], list[Problem]]:
    """Return the longest runs of retrieves that every side has, and a problem for each other run.

    A push of both kinds has runs of 2,000 and of 200 retrieves. Where sides have no length in
    common, the rule about sides refuses.
    """
    sides = grouped((run for run in runs if run.retrieves is not None), attrgetter("side")).values()
    lengths = [{run.planned for run in side} for side in sides]
    common = set.intersection(*lengths) if lengths else set()
    if len(set().union(*lengths)) == 1 or not common or RETRIEVES_RULE in allow:
        return list(runs), []
    length = max(common)
    template = "left out: {planned} retrieves were planned, and every side has runs of {length}"

    def problem(run: Run) -> Problem:
        message = statement(template, planned=count(run.planned), length=count(length))
        return _problem(RETRIEVES_RULE, Severity.WARNING, run.worker, run.subject, message)

    problems = [problem(run) for run in runs if run.planned != length]
    return [run for run in runs if run.planned == length], problems


def _slower_left_out(runs: Sequence[Run], comparable: Sequence[Run]) -> list[Problem]:
    """Return a problem for each side whose runs are left out though they were slower.

    They ended early. A task that is killed because it is slow takes no part in its pool's mean,
    which then is too fast.
    """
    kept = {id(run) for run in comparable}
    problems = []
    for side, side_runs in grouped(runs, attrgetter("side")).items():
        rest = [run for run in side_runs if id(run) in kept]
        left_out = [run for run in side_runs if id(run) not in kept]
        ended_early = [run for run in left_out if len(run.total_ns) >= FEWEST_RETRIEVES]
        if not ended_early or not rest or any(run.retrieves is None for run in side_runs):
            continue
        length = min(len(run.total_ns) for run in (*ended_early, *rest))
        slower, faster = (
            fmean(math.log(run.first(length).mean_ns) for run in group)
            for group in (ended_early, rest)
        )
        variation = DEFAULT_WORKER_VARIATION * math.sqrt(1 / len(ended_early) + 1 / len(rest))
        if slower - faster <= max(math.log(_SLOWER_RATIO), _CLEARLY * variation):
            continue
        message = statement(
            f"{{side}}: {{left_out}} {plural(len(ended_early), 'run')} that ended early took "
            "{ratio} as long as the {rest} compared ones, over the same first {length} retrieves. "
            "The side is slower than its figures",
            side=side,
            left_out=count(len(ended_early)),
            ratio=ratio_of(math.exp(slower - faster)),
            rest=count(len(rest)),
            length=count(length),
        )
        problems.append(Problem("survivors", Severity.WARNING, runs[0].subject, (side,), message))
    return problems


def check_workers(workers: Iterable[Worker]) -> list[Problem]:
    """Return one problem for all messages of a worker, which may be thousands."""
    problems = []
    for worker in workers:
        is_skipped = any(map(_SKIPPED, worker.runs))
        messages = [
            statement("{name}: {message}", name=warning.name, message=warning.message)
            for warning in worker.result.warnings
            if not (is_skipped and warning.name == SKIPPED_RULE)
        ]
        if not messages:
            continue
        message, explanation, more = messages[0], None, len(messages) - 1
        if more:
            template = f"{{message}}, and {{more}} more {plural(more, 'message')}"
            message = statement(template, message=message, more=count(more))
            explanation = statement("Further: {messages}.", messages=joined(messages[1:], "; "))
        problem = _problem("worker-warning", Severity.WARNING, worker, None, message)
        problems.append(replace(problem, explanation=explanation))
    return problems


def check_sides(candidate: Side, baseline: Side, allow: frozenset[str]) -> list[Problem]:
    """Return the rules that two sides break together, or that one breaks by itself."""
    problems, names = [], (baseline.name, candidate.name)
    for rule_name, (severity, traits_of) in SIDE_RULES.items():
        baseline_traits, candidate_traits = (
            sorted({traits_of(run) for run in side}, key=repr) for side in (baseline, candidate)
        )
        is_same = baseline_traits == candidate_traits and len(baseline_traits) == 1
        if is_same or follows_from_system(rule_name, [*baseline, *candidate]):
            continue
        distinct = distinct_traits([*baseline_traits, *candidate_traits])
        alone = [run.worker for side in (baseline, candidate) for run in _alone(side, traits_of)]
        message = statement(
            "{baseline}: {baseline_traits}; {candidate}: {candidate_traits}"
            + (". Different from the rest of its side: {tasks}" if alone else ""),
            baseline=names[0],
            baseline_traits=joined(distinct[: len(baseline_traits)], " and "),
            candidate=names[1],
            candidate_traits=joined(distinct[len(baseline_traits) :], " and "),
            tasks=joined(worker.task_name for worker in alone),
        )
        severity_here = _after_allowing(rule_name, severity, allow)
        if rule_name == PLACE_KIND_RULE and is_of_engines([*baseline, *candidate]):
            severity_here = Severity.WARNING
        problem = Problem(rule_name, severity_here, baseline.subject, names, message)
        if rule_name == SYSTEM_RULE:
            problem = replace(problem, explanation=NOT_THE_SAME_WORK)
        is_refused = severity_here is Severity.REFUSED
        problems.append(replace(problem, can_be_allowed=is_refused))
    return problems


def _alone(side: Side, traits_of: TraitRule) -> list[Run]:
    """Return the run of a side that is not like all its others, if there is one."""
    fewest, *most = sorted(grouped(side, traits_of).values(), key=len)
    return fewest if len(most) == 1 and len(fewest) == 1 < len(most[0]) else []


def _after_allowing(name: str, severity: Severity, allow: frozenset[str]) -> Severity:
    is_allowed = severity is Severity.REFUSED and name in allow
    return Severity.ALLOWED if is_allowed else severity


def merge_repeated(
    problems: Sequence[Problem], plan: Plan, reports: Sequence[SubjectReport]
) -> tuple[Problem, ...]:
    """Merge problems that are the same for every subject that their sides were compared on.

    Add those of planned sides that were compared on none.
    """
    merged = []
    problems = [*problems, *_nothing_in_common(plan, reports)]
    for problem, alike in grouped(problems, lambda problem: replace(problem, subject=None)).items():
        subjects = dict.fromkeys(each.subject for each in alike)
        everywhere = {r.subject for r in reports if set(problem.sides) <= set(r.figures)}
        if len(everywhere) > 1 and everywhere <= set(subjects):
            merged.append(problem)
        else:
            merged += [replace(problem, subject=subject) for subject in subjects]
    return tuple(merged)


def _nothing_in_common(plan: Plan, reports: Sequence[SubjectReport]) -> Iterator[Problem]:
    template = "{baseline} and {candidate} have no comparable measurement in common"
    for candidate, baseline in plan.pairs:
        if not any(candidate in r.figures and baseline in r.figures for r in reports):
            message = statement(template, baseline=baseline, candidate=candidate)
            sides = (baseline, candidate)
            yield Problem("nothing-in-common", Severity.REFUSED, None, sides, message)
