# SPDX-License-Identifier: MPL-2.0
"""Rules about the workers of two sides: which machines they are, when they ran and where.

All of them warn. Data centres differ as pools do. So where both sides have workers in one zone, they are
compared within such zones as well: the ratio by least squares on the logarithms of the workers' means,
its interval by the same method as that of all workers.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import compress, pairwise
from operator import mul

from msgspec.structs import replace

from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.levels import DEFAULT_MARGIN, LEVEL
from io_benchmark.analysis.inference.pairs import Pair
from io_benchmark.analysis.model import (
    UNKNOWN,
    Comparison,
    Problem,
    Run,
    Severity,
    Subject,
    Worker,
)
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.analysis.statements import (
    Quantity,
    Statement,
    Unit,
    count,
    joined,
    share,
    statement,
)
from io_benchmark.results import Result
from io_benchmark.results.workload import NS_PER_S

_WORKERS_NAMED = 3
_CLOCK_S = 1  # a result's start is in whole seconds
# Machines and their neighbours are as busy an hour later as they were.
_APART_S = 3600
AT_ONCE = statement("some at the same time, which slows each of them")
ZONES = "zones"
_PLACE = ("cloud", "region", "zone")
_Zone = tuple[str, ...]


def _warning(
    rule: str,
    runs: Sequence[Run],
    sides: tuple[str, ...],
    message: Statement,
    explanation: Statement | None = None,
) -> Problem:
    subject = runs[0].entry.subject
    return Problem(rule, Severity.WARNING, subject, sides, message, explanation)


def _names(candidate: Sequence[Run], baseline: Sequence[Run]) -> tuple[str, str]:
    return baseline[0].worker.side, candidate[0].worker.side


def repeated_workers(runs: Sequence[Run]) -> list[Problem]:
    """Return a problem for each machine that ran several of a side's tasks."""
    problems = []
    for repeated in (machine_runs for machine_runs in by_machine(runs) if len(machine_runs) > 1):
        first = repeated[0].worker
        ids = sorted({run.worker.worker_id for run in repeated} - {UNKNOWN, first.machine})
        tasks = [run.worker.task_id for run in repeated if run.worker.task_id != UNKNOWN]
        at_once = machines_used_at_once(run.worker for run in repeated)
        message = statement(
            "{side}: {runs} runs were on the same machine {worker} and count as one"
            + ("; {at_once}" if at_once else ""),
            side=first.side,
            runs=count(len(repeated)),
            worker=first.machine,
            at_once=AT_ONCE,
        )
        sentences = []
        if tasks:
            sentences.append(statement("Their tasks are {names}.", names=joined(tasks)))
        if ids:
            sentences.append(statement("By its boot id it is also {names}.", names=joined(ids)))
        explanation = joined(sentences, " ") if sentences else None
        problems.append(_warning("same-worker", runs, (first.side,), message, explanation))
    return problems


def check_pair(
    pair: Pair, candidate: Sequence[Run], baseline: Sequence[Run], unequal: Sequence[Problem]
) -> list[Problem]:
    """Return what may mislead in the comparison of a pair, with `unequal` lengths of its runs."""
    return [
        *_shared_workers(candidate, baseline),
        *_measured_apart(candidate, baseline),
        *unequal,
        *_uneven_zones(pair, candidate, baseline),
    ]


def _shared_workers(candidate: Sequence[Run], baseline: Sequence[Run]) -> list[Problem]:
    """Return a problem where both sides ran on the same machine, which shows only their settings."""
    machines = [{run.worker.machine for run in side} for side in (candidate, baseline)]
    both = sorted(set.intersection(*machines) - {UNKNOWN})
    if not both:
        return []
    sides = _names(candidate, baseline)
    more = len(both) - _WORKERS_NAMED
    named = joined(both[:_WORKERS_NAMED])
    if more > 0:
        named = statement("{workers} and {more} more", workers=named, more=count(more))
    message = statement(
        "{baseline} and {candidate} were measured on the same machine {workers}",
        baseline=sides[0],
        candidate=sides[1],
        workers=named,
    )
    explanation = None
    if machines[0] == machines[1] == set(both):
        message = statement("{message}, so their machines do not differ", message=message)
        explanation = statement(
            "A difference comes from their settings or from chance. It does not apply to other workers."
        )
    if machines_used_at_once(run.worker for run in (*baseline, *candidate)).intersection(both):
        message = statement("{message}; {at_once}", message=message, at_once=AT_ONCE)
    return [_warning("shared-worker", candidate, sides, message, explanation)]


def _measured_apart(candidate: Sequence[Run], baseline: Sequence[Run]) -> list[Problem]:
    """Return a problem where all runs of a side of one push were later than all of the other.

    A day has slow hours, and workers that were measured together share them. Two pushes, or a pool
    before and after, are compared because of what changed between them.
    """
    runs = (*baseline, *candidate)
    groups = {run.worker.result.task.task_group_id for run in runs}
    pools = {run.worker.pool for run in runs}
    spans = [
        [span for run in side if (span := _span_s(run.worker.result)) is not None]
        for side in (baseline, candidate)
    ]
    if len(groups) > 1 or len(pools) == 1 or sum(map(len, spans)) < len(runs):
        return []
    sides = _names(candidate, baseline)
    (earlier, first), (later, second) = sorted(
        zip(spans, sides, strict=True), key=lambda side: min(side[0])
    )
    apart_s = min(later)[0] - max(end_s for _, end_s in earlier)
    if apart_s < _APART_S:
        return []
    message = statement(
        "{second} was measured {hours} hours after {first}: a difference may be that of the time of day",
        second=second,
        first=first,
        hours=Quantity(apart_s / 3600, Unit.NUMBER),
    )
    return [_warning("measured-apart", candidate, sides, message)]


def machines_used_at_once(workers: Iterable[Worker]) -> set[str]:
    """Return the machines that ran several of the tasks at the same time, by their own clock."""
    spans: dict[str, list[tuple[float, float]]] = {}
    for worker in workers:
        span_s = _span_s(worker.result)
        if span_s is not None and worker.machine != UNKNOWN:
            spans.setdefault(worker.machine, []).append(span_s)
    # Where any two spans overlap, two neighbours in the order of their starts do.
    return {
        machine
        for machine, spans_s in spans.items()
        if any(start + _CLOCK_S <= end for (_, end), (start, _) in pairwise(sorted(spans_s)))
    }


def _span_s(result: Result) -> tuple[float, float] | None:
    """Return when a run began, rounded down, and the earliest time at which it ended."""
    try:
        start_s = datetime.fromisoformat(result.started).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
    return start_s, start_s + result.duration_ns / NS_PER_S


def single_workers(
    subject: Subject, comparisons: Sequence[Comparison], workers: Mapping[str, int]
) -> list[Problem]:
    """Return a problem for each variation that is assumed of compared sides with a single worker."""
    sides: dict[tuple[Statement, Statement | None], set[str]] = {}
    for comparison in comparisons:
        pair = (comparison.baseline, comparison.candidate)
        single = {side for side in pair if workers[side] == 1}
        assumed = comparison.assumed_variation
        if assumed is not None and single:
            sides.setdefault((assumed.message, assumed.explanation), set()).update(single)
    template = "one worker does not show how far workers of its pool differ; {assumed}"
    return [
        Problem(
            "one-worker",
            Severity.WARNING,
            subject,
            tuple(sorted(names)),
            statement(template, assumed=message),
            explanation,
        )
        for (message, explanation), names in sides.items()
    ]


def _uneven_zones(pair: Pair, candidate: Sequence[Run], baseline: Sequence[Run]) -> list[Problem]:
    """Return a problem where the zones of two sides may be what differs, as far as they are known.

    Its explanation has the ratio within zones. The pair's workers are in the order of their runs.
    """
    candidate_zones, baseline_zones = zones = _zones(candidate), _zones(baseline)
    if min(map(len, zones)) < 2 or not all((*candidate_zones, *baseline_zones)):
        return []
    within = _within_zones(pair, candidate_zones, baseline_zones)
    if within is None:
        explanation = statement(
            "They have no zone in common, so zone and pool cannot be told apart."
        )
    else:
        workers, estimate = within
        shift = abs(
            estimate.log_ratio - math.log(pair.candidate_side.mean_ns / pair.baseline_side.mean_ns)
        )
        regions = [{zone[:-1] for zone in side_zones} for side_zones in zones]
        if regions[0] == regions[1] and shift <= math.log1p(DEFAULT_MARGIN):
            return []
        interval = estimate.interval(1 - pair.look.p_value(1 - LEVEL))
        explanation = statement(
            "Within the zones that both have, with {workers} of {all} workers, the ratio is {ratio} "
            "({level} interval {low} to {high}).",
            workers=count(workers),
            all=count(sum(map(len, zones))),
            ratio=Quantity(estimate.ratio, Unit.RATIO),
            level=share(LEVEL),
            low=Quantity(interval.low_ratio, Unit.RATIO),
            high=Quantity(interval.high_ratio, Unit.RATIO),
        )
    message = statement(
        "workers of {baseline}: {in_baseline}; of {candidate}: {in_candidate}",
        baseline=pair.baseline,
        in_baseline=_counted(baseline_zones),
        candidate=pair.candidate,
        in_candidate=_counted(candidate_zones),
    )
    return [_warning(ZONES, candidate, (pair.baseline, pair.candidate), message, explanation)]


def _zones(runs: Sequence[Run]) -> list[_Zone]:
    locations = [machine[0].worker.result.task.location for machine in by_machine(runs)]
    return [
        tuple(location.get(name, "") for name in _PLACE) if location.get("zone") else ()
        for location in locations
    ]


def _counted(zones: Sequence[_Zone]) -> Statement:
    """Return '5 in us-central1-a, 1 in us-central1-f'."""
    return joined(
        statement("{workers} in {zone}", workers=count(workers), zone=zone[-1])
        for zone, workers in sorted(Counter(zones).items())
    )


def _within_zones(
    pair: Pair, candidate_zones: Sequence[_Zone], baseline_zones: Sequence[_Zone]
) -> tuple[int, Estimate] | None:
    """Return the workers in zones that both have, and the ratio within these; None without such zones."""
    common = set(candidate_zones) & set(baseline_zones)
    if not common:
        return None
    candidate, baseline = (
        SideData(tuple(compress(side.log_means, kept)), tuple(compress(side.runs, kept)))
        for side, zones in (
            (pair.candidate_side, candidate_zones),
            (pair.baseline_side, baseline_zones),
        )
        for kept in [[zone in common for zone in zones]]
    )
    zones = [zone for zone in (*candidate_zones, *baseline_zones) if zone in common]
    # The part of the side that zones do not predict.
    candidates = Counter(zones[: candidate.count])
    shares = {zone: candidates[zone] / number for zone, number in Counter(zones).items()}
    is_candidate = [1.0] * candidate.count + [0.0] * baseline.count
    rest = [side - shares[zone] for side, zone in zip(is_candidate, zones, strict=True)]
    square = math.fsum(map(mul, rest, rest))
    log_ratio = math.fsum(map(mul, rest, (*candidate.log_means, *baseline.log_means))) / square
    estimate = Estimate.of_sides(candidate, baseline, pair.variation.ratio, pair.look)
    # Unequal shares of the zones make least squares less precise.
    loss = 1 / square / (1 / candidate.count + 1 / baseline.count)
    return len(zones), replace(estimate, log_ratio=log_ratio, variance=loss * estimate.variance)
