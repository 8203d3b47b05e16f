# SPDX-License-Identifier: MPL-2.0
"""Rules about the workers of two sides: which machines they are, when they ran and where.

All of them warn. Data centres differ as pools do, and so do hours of a day.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, pairwise
from operator import attrgetter, itemgetter

from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import Comparison, Problem, PushVariation, Severity
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.run import UNKNOWN, Worker
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import (
    Quantity,
    Statement,
    Unit,
    Value,
    count,
    joined,
    share,
    statement,
)
from io_benchmark.analysis.reading.machines import MachineMarks
from io_benchmark.number_text import plural
from io_benchmark.results import Result, workloads
from io_benchmark.results.parts import NS_PER_S

_WORKERS_NAMED = 3
_CLOCK_S = 1  # a result's start is in whole seconds
# Machines and their neighbours are as busy an hour later as they were.
_APART_S = 3600
_AT_ONCE = "; some at the same time, which slows each of them"
# Sides that have less of their workers in the same zones are warned of.
_COMMON_ZONES_SHARE = 0.5


def _warning(
    rule: str,
    sides: Sequence[Side],
    template: str,
    explanation: Statement | None = None,
    **values: Value | Statement,
) -> Problem:
    """Return a warning; its template may name the sides."""
    names = tuple(side.name for side in sides)
    usual = dict(zip(("baseline", "candidate"), names, strict=False))
    return Problem(
        rule=rule,
        severity=Severity.WARNING,
        subject=sides[0].subject,
        sides=names,
        message=statement(template, **usual, **values),
        explanation=explanation,
    )


def repeated_workers(side: Side) -> list[Problem]:
    """Return a problem for each machine that ran several of a side's tasks."""
    problems = []
    for repeated in (runs for runs in side.workers if len(runs) > 1):
        first = repeated[0].worker
        ids = sorted({run.worker.worker_id for run in repeated} - {UNKNOWN, first.machine})
        tasks = [run.worker.task_id for run in repeated if run.worker.task_id != UNKNOWN]
        sentences = [statement("Their tasks are {names}.", names=joined(tasks))] if tasks else []
        if ids:
            sentences.append(statement("By its boot id it is also {names}.", names=joined(ids)))
        template = "{baseline}: {runs} runs were on the same machine {worker} and count as one"
        if machines_used_at_once(run.worker for run in repeated):
            template += _AT_ONCE
        warning = _warning(
            "same-worker",
            (side,),
            template,
            joined(sentences, " ") if sentences else None,
            runs=count(len(repeated)),
            worker=first.machine,
        )
        problems.append(warning)
    return problems


def check_pair(
    candidate: Side, baseline: Side, length: int | None, pushes: PushVariation | None
) -> list[Problem]:
    """Return what may mislead in a pair's comparison; `length` is that of the compared samples."""
    sides = (baseline, candidate)
    problems = (
        _shared_workers(sides),
        _measured_apart(sides),
        None if length is None else _unequal_lengths(sides, length),
        _uneven_zones(sides),
        None if pushes is None else _different_pushes(sides, pushes),
    )
    return list(filter(None, problems))


def mark(workers: Sequence[Worker]) -> list[Worker]:
    """Mark the runs that are counted, and those whose machine ran others at the same time.

    Runs that confirm a cause are not counted, except on a side that has no others: they were asked
    for because of what the others showed, and only of one side.
    """
    sides = {worker.side for worker in workers if not worker.confirms}
    busy = machines_used_at_once(workers)
    return [
        replace(
            worker,
            is_counted=not worker.confirms or worker.side not in sides,
            at_once=worker.machine in busy,
        )
        for worker in workers
    ]


def _shared_workers(sides: Sequence[Side]) -> Problem | None:
    """Return a problem where both sides ran on one machine, which shows only their settings."""
    machines = [{run.worker.machine for run in side} for side in sides]
    both = sorted(set.intersection(*machines) - {UNKNOWN})
    if not both:
        return None
    more = len(both) - _WORKERS_NAMED
    template = "{baseline} and {candidate} were measured on the same machine {workers}"
    template += " and {more} more" if more > 0 else ""
    explanation = None
    if machines[0] == machines[1] == set(both):
        template += ", so their machines do not differ"
        explanation = statement(
            "A difference comes from their settings or from chance. It does not apply to other "
            "workers."
        )
    if machines_used_at_once(run.worker for run in chain(*sides)).intersection(both):
        template += _AT_ONCE
    workers = joined(both[:_WORKERS_NAMED])
    return _warning(
        "shared-worker", sides, template, explanation, workers=workers, more=count(more)
    )


def _measured_apart(sides: Sequence[Side]) -> Problem | None:
    """Return a problem where all runs of a side of one push were later than all of the other.

    A day has slow hours, and workers that were measured together share them. Two pushes, or a pool
    before and after, are compared because of what changed between them.
    """
    groups = {run.worker.result.task.task_group_id for run in chain(*sides)}
    pools = {run.worker.pool for run in chain(*sides)}
    spans = [[_span_s(run.worker.result) for run in side] for side in sides]
    known = [[span for span in side if span is not None] for side in spans]
    if len(groups) > 1 or len(pools) == 1 or known != spans:
        return None
    (earlier, first), (later, second) = sorted(
        zip(known, (side.name for side in sides), strict=True), key=lambda side: min(side[0])
    )
    apart_s = min(later)[0] - max(end_s for _, end_s in earlier)
    if apart_s < _APART_S:
        return None
    return _warning(
        "measured-apart",
        sides,
        "{second} was measured {hours} hours after {first}: a difference may be that of the time "
        "of day",
        second=second,
        first=first,
        hours=Quantity(apart_s / 3600, Unit.NUMBER),
    )


def _unequal_lengths(sides: Sequence[Side], length: int) -> Problem:
    return _warning(
        "unequal-length",
        sides,
        "{baseline} and {candidate} are compared over the first {length} {samples} of each run",
        statement("The runs have different lengths. The figures are of whole runs."),
        length=count(length),
        samples=workloads.of(sides[0].subject.workload).samples,
    )


def _different_pushes(sides: Sequence[Side], variation: PushVariation) -> Problem:
    """Return the note that says what the interval rests on."""
    basis: Statement | str = "which is assumed"
    if variation.pushes:
        basis = statement(
            f"by {{pushes}} earlier {plural(variation.pushes, 'push')} of the pool",
            pushes=count(variation.pushes),
        )
    return _warning(
        "pushes",
        sides,
        "{candidate} and {baseline} were measured by different pushes; pushes vary by "
        "{variation}, {basis}",
        statement(
            "A day or a deployment may shift all workers of a push. More workers in the same "
            "pushes do not show that: measure both again on another day, or both sides in one "
            "push."
        ),
        variation=share(variation.ratio),
        basis=basis,
    )


def machines_used_at_once(workers: Iterable[Worker]) -> set[str]:
    """Return the machines that ran several of the tasks at the same time, by their own clock."""

    def overlap(runs: Iterable[Worker]) -> bool:
        spans_s = sorted(filter(None, (_span_s(run.result) for run in runs)))
        # Where any two spans overlap, two neighbours in the order of their starts do.
        return any(start + _CLOCK_S <= end for (_, end), (start, _) in pairwise(spans_s))

    machines = grouped(workers, attrgetter("machine")).items()
    return {machine for machine, runs in machines if machine != UNKNOWN and overlap(runs)}


def _span_s(result: Result) -> tuple[float, float] | None:
    """Return when a run began, rounded down, and the earliest time at which it ended."""
    try:
        start_s = datetime.fromisoformat(result.started).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
    return start_s, start_s + result.duration_ns / NS_PER_S


def single_workers(comparisons: Sequence[Comparison], by_name: Mapping[str, Side]) -> list[Problem]:
    """Return a problem for each variation that is assumed of sides with a single worker."""
    assumptions = (
        ((assumed.message, assumed.explanation), side)
        for comparison in comparisons
        if (assumed := comparison.assumed_variation) is not None
        for side in (comparison.baseline, comparison.candidate)
        if by_name[side].count == 1
    )
    return [
        _warning(
            "one-worker",
            [by_name[name] for name in sorted({side for _, side in same})],
            "one worker does not show how far workers of its pool differ; {assumed}",
            explanation,
            assumed=message,
        )
        for (message, explanation), same in grouped(assumptions, itemgetter(0)).items()
    ]


def _uneven_zones(sides: Sequence[Side]) -> Problem | None:
    """Return a problem where the zones of two sides may be what differs, if they are known."""
    zones = [
        [MachineMarks.place_of(runs[0].worker.result) for runs in side.workers] for side in sides
    ]
    if min(map(len, zones)) < 2 or not all(zone and zone[-1] for zone in chain(*zones)):
        return None
    common = math.fsum(
        min(side_zones.count(zone) / len(side_zones) for side_zones in zones)
        for zone in set(zones[1])
    )
    regions = [{zone[:-1] for zone in side_zones} for side_zones in zones]
    if common >= _COMMON_ZONES_SHARE and regions[0] == regions[1]:
        return None
    return _warning(
        "zones",
        sides,
        "workers of {baseline}: {in_baseline}; of {candidate}: {in_candidate}",
        statement(
            "Zones differ like pools: the difference may be that of the zones. Measure both in "
            "the same ones."
        ),
        in_baseline=_counted(zones[0]),
        in_candidate=_counted(zones[1]),
    )


def _counted(zones: Sequence[Sequence[str]]) -> Statement:
    """Return '5 in us-central1-a, 1 in us-central1-f'."""
    return joined(
        statement("{workers} in {zone}", workers=count(workers), zone=zone[-1])
        for zone, workers in sorted(Counter(zones).items())
    )
