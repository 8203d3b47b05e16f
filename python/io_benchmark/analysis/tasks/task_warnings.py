# SPDX-License-Identifier: MPL-2.0
"""What may mislead in a comparison of tasks, as sentences."""

import math
from collections.abc import Iterator

from io_benchmark.analysis.statements import (
    Quantity,
    Statement,
    Unit,
    count,
    joined,
    share,
    statement,
)
from io_benchmark.analysis.tasks.task_model import TaskComparison
from io_benchmark.analysis.tasks.task_pair import MOST_LABELS, TaskPair

_ENDED_DIFFER = 0.1
_LEAST_OVERLAP = 0.5


def warnings_of(pair: TaskPair, comparison: TaskComparison) -> Iterator[Statement]:
    """Return what changes how the comparison is read, the gravest first."""
    if max(comparison.workers) == 1:
        yield statement("one worker per pool shows nothing about other workers of these pools")
    yield from _different_labels(comparison)
    yield from _times_apart(pair)
    yield from _failures(comparison)
    yield from _tails(pair, comparison)
    yield from _mix(pair, comparison)
    yield from _workers(pair)
    yield from _clocks(pair)
    if len(comparison.labels) == MOST_LABELS:
        yield statement(
            "only the {labels} labels with most runs are compared", labels=count(MOST_LABELS)
        )
    if comparison.cost is not None:
        kinds = [side.kind for side in (comparison.cost.baseline, comparison.cost.candidate)]
        if None not in kinds and kinds[0] != kinds[1]:
            yield statement(
                "prices are of different kinds: {baseline} {first}, {candidate} {second}",
                baseline=comparison.baseline,
                first=kinds[0] or "",
                candidate=comparison.candidate,
                second=kinds[1] or "",
            )


def _different_labels(comparison: TaskComparison) -> Iterator[Statement]:
    rows = [(row.ratio, row.label) for row in comparison.labels if row.interval is not None]
    if any(row.differs for row in comparison.labels):
        yield statement(
            "labels differ, from {lowest} to {highest}: the ratio is that of this mix of them",
            lowest=_label(*min(rows)),
            highest=_label(*max(rows)),
        )


def _label(ratio: float, label: str) -> Statement:
    return statement("{ratio} ({label})", ratio=Quantity(ratio, Unit.RATIO), label=label)


def _times_apart(pair: TaskPair) -> Iterator[Statement]:
    if pair.baseline.side.pool == pair.candidate.side.pool:
        return
    starts = [[run.started_ms for run in side.runs] for side in (pair.candidate, pair.baseline)]
    low, high = max(map(min, starts)), min(map(max, starts))
    inside = [sum(low <= start <= high for start in side) / len(side) for side in starts]
    if min(inside) < _LEAST_OVERLAP and min(map(len, starts)) > 1:
        yield statement(
            "the pools ran at different times ({part} of the runs of one are in the time of both): "
            "the tasks themselves may have changed",
            part=share(min(inside)),
        )


def _failures(comparison: TaskComparison) -> Iterator[Statement]:
    """Return what the runs that do not count say about the completed ones."""
    for ended, verb, consequence in (
        (comparison.failed, "failed", "those that completed may not be alike"),
        (
            comparison.lost,
            "were lost",
            "a longer run is lost more often, so the more are lost, the shorter completed runs look",
        ),
    ):
        first, second = comparison.shares(ended)
        if abs(first - second) > _ENDED_DIFFER:
            yield statement(
                "{first} of the runs "
                + verb
                + " on {baseline}, {second} on {candidate}: "
                + consequence,
                first=share(first),
                second=share(second),
                baseline=comparison.baseline,
                candidate=comparison.candidate,
            )


def _tails(pair: TaskPair, comparison: TaskComparison) -> Iterator[Statement]:
    """Warn of a few very long runs: they raise the mean, and so the costs, but hardly the ratio."""
    by_means = pair.candidate.mean_s / pair.baseline.mean_s
    if comparison.interval.excludes(by_means):
        yield statement(
            "by mean times, which the bill follows, the ratio is {ratio}: few runs are very long",
            ratio=Quantity(by_means, Unit.RATIO),
        )


def _mix(pair: TaskPair, comparison: TaskComparison) -> Iterator[Statement]:
    candidate_s, baseline_s = (
        math.fsum(run.task_s for run in side.runs) / len(side.runs)
        for side in (pair.candidate, pair.baseline)
    )
    if len(comparison.labels) > 1 and comparison.interval.excludes(candidate_s / baseline_s):
        yield statement(
            "without regard to labels it would be {ratio}: the pools ran different mixes",
            ratio=Quantity(candidate_s / baseline_s, Unit.RATIO),
        )


def _workers(pair: TaskPair) -> Iterator[Statement]:
    sides = (pair.baseline.side, pair.candidate.side)
    unknown = [side.name for side in sides if side.unknown_workers]
    if unknown:
        yield statement(
            "workers of {sides} are not known: each run counts as a worker, which may be too many",
            sides=joined(unknown),
        )
    candidate, baseline = (
        {worker for _, worker in side.cells if not worker.startswith("unknown ")}
        for side in (pair.candidate, pair.baseline)
    )
    if both := candidate & baseline:
        yield statement("{workers} ran tasks of both sides", workers=_workers_text(len(both)))


def _workers_text(number: int) -> Statement:
    return statement("{count} worker" + ("" if number == 1 else "s"), count=count(number))


def _clocks(pair: TaskPair) -> Iterator[Statement]:
    for side in (pair.baseline.side, pair.candidate.side):
        if side.skewed:
            yield statement(
                "the clock of {workers} of {side} contradicts the queue's: set-up and tear-down are "
                "known as a sum only",
                workers=_workers_text(len(side.skewed)),
                side=side.name,
            )
        if side.unusable:
            yield statement(
                "runs of {side} that end before they start: {count}; they are left out",
                count=count(side.unusable),
                side=side.name,
            )
