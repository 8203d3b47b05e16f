# SPDX-License-Identifier: MPL-2.0
"""Which runs and sides are compared: every validity rule applied, and what it says as a problem."""

from collections.abc import Callable, Iterable, Sequence

from io_benchmark.analysis.model import Problem, Run, Severity, Subject, Worker
from io_benchmark.analysis.statements import Statement, Value, count, joined, statement
from io_benchmark.analysis.validity.comparability import (
    RETRIEVES_RULE,
    SIDE_RULES,
    Traits,
    distinct_traits,
)
from io_benchmark.analysis.validity.rules import RUN_RULES, SKIPPED_RULE, WORKER_RULES


def check_runs(runs: Iterable[Run], allowed: frozenset[str]) -> tuple[list[Run], list[Problem]]:
    """Return the runs that may be compared, and every rule that a run breaks."""
    kept, problems = [], []
    for run in runs:
        # A run without samples cannot be compared, whatever is allowed.
        allowed_here = allowed if len(run.entry.total_ns) > 1 else frozenset[str]()
        for name, (severity, rule) in RUN_RULES.items():
            message = rule(run)
            if message is None:
                continue
            severity_here = _after_allowing(name, severity, allowed_here)
            problems.append(
                Problem(
                    name,
                    severity_here,
                    run.entry.subject,
                    (run.worker.side,),
                    _about_task(run.worker, message),
                )
            )
            if severity_here is Severity.REFUSED or name == SKIPPED_RULE:
                break  # no other rule matters for a run that is not compared
        else:
            kept.append(run)
    return kept, problems


def _about_task(worker: Worker, message: Statement) -> Statement:
    return statement("{task_name}: {message}", task_name=worker.task_name, message=message)


def select_length(runs: Sequence[Run], allowed: frozenset[str]) -> tuple[list[Run], list[Problem]]:
    """Return the longest runs of retrieves that every side has, and a problem for each other run.

    A push of both kinds has runs of 2,000 and of 200 retrieves. Where sides have no length in common,
    the rule about sides refuses.
    """
    by_side: dict[str, set[int]] = {}
    for worker, entry in runs:
        if entry.retrieves is not None:
            by_side.setdefault(worker.side, set()).add(entry.planned)
    common = set.intersection(*by_side.values()) if by_side else set()
    one_length = len(set().union(*by_side.values())) == 1
    if one_length or not common or RETRIEVES_RULE in allowed:
        return list(runs), []
    length = max(common)
    problems = [
        Problem(
            RETRIEVES_RULE,
            Severity.WARNING,
            entry.subject,
            (worker.side,),
            _about_task(
                worker,
                statement(
                    "left out: {planned} retrieves were planned, and every side has runs of {length}",
                    planned=count(entry.planned),
                    length=count(length),
                ),
            ),
        )
        for worker, entry in runs
        if entry.planned != length
    ]
    return [run for run in runs if run.entry.planned == length], problems


def check_workers(workers: Iterable[Worker]) -> list[Problem]:
    """Return the problems of everything that a worker measured."""
    return [
        _worker_problem(name, severity, worker, messages)
        for worker in workers
        for name, (severity, rule) in WORKER_RULES.items()
        if (messages := rule(worker))
    ]


def _worker_problem(
    name: str, severity: Severity, worker: Worker, messages: Sequence[Statement]
) -> Problem:
    """Return one problem for all messages of a worker, which may be thousands."""
    message, explanation = messages[0], None
    if len(messages) > 1:
        more = len(messages) - 1
        messages_text = "message" if more == 1 else "messages"
        message = statement(
            f"{{message}}, and {{more}} more {messages_text}", message=message, more=count(more)
        )
        explanation = statement("Further: {messages}.", messages=joined(messages[1:], "; "))
    about = _about_task(worker, message)
    return Problem(name, severity, None, (worker.side,), about, explanation)


def check_sides(
    subject: Subject,
    candidate: Sequence[Run],
    baseline: Sequence[Run],
    allowed: frozenset[str],
) -> list[Problem]:
    """Return the rules that two sides break together, or that one breaks by itself."""
    problems = []
    names = baseline[0].worker.side, candidate[0].worker.side
    for rule_name, (severity, traits_of) in SIDE_RULES.items():
        baseline_traits, candidate_traits = (
            sorted({traits_of(run) for run in runs}, key=repr) for runs in (baseline, candidate)
        )
        if baseline_traits == candidate_traits and len(baseline_traits) == 1:
            continue
        distinct = distinct_traits([*baseline_traits, *candidate_traits])
        template = "{baseline}: {baseline_traits}; {candidate}: {candidate_traits}"
        values: dict[str, Value | Statement] = {
            "baseline": names[0],
            "baseline_traits": joined(distinct[: len(baseline_traits)], " and "),
            "candidate": names[1],
            "candidate_traits": joined(distinct[len(baseline_traits) :], " and "),
        }
        alone = [run.worker for runs in (baseline, candidate) for run in _alone(runs, traits_of)]
        if alone:
            template += ". Different from the rest of its side: {tasks}"
            values["tasks"] = joined(worker.task_name for worker in alone)
        message = statement(template, **values)
        severity_here = _after_allowing(rule_name, severity, allowed)
        problems.append(Problem(rule_name, severity_here, subject, names, message))
    return problems


def _alone(runs: Sequence[Run], traits_of: Callable[[Run], Traits]) -> list[Run]:
    """Return the run of a side that is not like all its others, if there is one."""
    with_traits: dict[Traits, list[Run]] = {}
    for run in runs:
        with_traits.setdefault(traits_of(run), []).append(run)
    fewest = min(with_traits.values(), key=len)
    return fewest if len(fewest) == 1 and len(with_traits) == 2 and len(runs) > 2 else []


def _after_allowing(name: str, severity: Severity, allowed: frozenset[str]) -> Severity:
    if severity is Severity.REFUSED and name in allowed:
        return Severity.ALLOWED
    return severity
