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
from io_benchmark.analysis.tasks.task_model import LabelRow, TaskComparison
from io_benchmark.analysis.tasks.task_pair import MOST_LABELS, Cells, TaskPair

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
    if not any(row.differs for row in comparison.labels):
        return
    rows = sorted(
        (row for row in comparison.labels if row.interval is not None),
        key=lambda row: (row.ratio, row.label),
    )
    yield statement(
        "labels differ, from {lowest} to {highest}: the ratio is that of this mix of them",
        lowest=_label(rows[0]),
        highest=_label(rows[-1]),
    )


def _label(row: LabelRow) -> Statement:
    return statement("{ratio} ({label})", ratio=Quantity(row.ratio, Unit.RATIO), label=row.label)


def _times_apart(pair: TaskPair) -> Iterator[Statement]:
    if pair.baseline.pool == pair.candidate.pool:
        return
    starts = [
        sorted(run.started_ms for runs in cells.values() for run in runs)
        for cells in (pair.candidate_cells, pair.baseline_cells)
    ]
    low, high = max(each[0] for each in starts), min(each[-1] for each in starts)
    inside = [sum(low <= at <= high for at in each) / len(each) for each in starts]
    if min(inside) < _LEAST_OVERLAP and min(map(len, starts)) > 1:
        yield statement(
            "the pools ran at different times ({part} of the runs of one are in the time of both): "
            "the tasks themselves may have changed",
            part=share(min(inside)),
        )


def _failures(comparison: TaskComparison) -> Iterator[Statement]:
    """Return what the runs that do not count say about the completed ones."""
    failed, lost = map(comparison.shares, (comparison.failed, comparison.lost))
    sides = {"baseline": comparison.baseline, "candidate": comparison.candidate}
    if abs(failed[0] - failed[1]) > _ENDED_DIFFER:
        yield statement(
            "{first} of the runs failed on {baseline}, {second} on {candidate}: those that completed "
            "may not be alike",
            first=share(failed[0]),
            second=share(failed[1]),
            **sides,
        )
    if abs(lost[0] - lost[1]) > _ENDED_DIFFER:
        yield statement(
            "{first} of the runs were lost on {baseline}, {second} on {candidate}: a longer run is lost "
            "more often, so the more are lost, the shorter completed runs look",
            first=share(lost[0]),
            second=share(lost[1]),
            **sides,
        )


def _tails(pair: TaskPair, comparison: TaskComparison) -> Iterator[Statement]:
    """Warn of a few very long runs: they raise the mean, and so the costs, but hardly the ratio."""
    by_means = pair.mean_s(pair.candidate_cells) / pair.mean_s(pair.baseline_cells)
    if comparison.interval.excludes(by_means):
        yield statement(
            "by mean times, which the bill follows, the ratio is {ratio}: few runs are very long",
            ratio=Quantity(by_means, Unit.RATIO),
        )


def _mix(pair: TaskPair, comparison: TaskComparison) -> Iterator[Statement]:
    means = [_all_runs_s(cells) for cells in (pair.candidate_cells, pair.baseline_cells)]
    if len(comparison.labels) > 1 and comparison.interval.excludes(means[0] / means[1]):
        yield statement(
            "without regard to labels it would be {ratio}: the pools ran different mixes",
            ratio=Quantity(means[0] / means[1], Unit.RATIO),
        )


def _all_runs_s(cells: Cells) -> float:
    times = [run.task_s for runs in cells.values() for run in runs]
    return math.fsum(times) / len(times)


def _workers(pair: TaskPair) -> Iterator[Statement]:
    unknown = [side.name for side in (pair.baseline, pair.candidate) if side.unknown_workers]
    if unknown:
        yield statement(
            "workers of {sides} are not known: each run counts as a worker, which may be too many",
            sides=joined(unknown),
        )
    both = _names(pair.candidate_cells) & _names(pair.baseline_cells)
    if both:
        yield statement("{workers} ran tasks of both sides", workers=_workers_text(len(both)))


def _names(cells: Cells) -> set[str]:
    return {worker for _, worker in cells if not worker.startswith("unknown ")}


def _workers_text(number: int) -> Statement:
    return statement("{count} worker" + ("" if number == 1 else "s"), count=count(number))


def _clocks(pair: TaskPair) -> Iterator[Statement]:
    for side in (pair.baseline, pair.candidate):
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
