# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Findings about one side by itself, whatever the other sides have."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from io_benchmark.analysis.model import Figures, Subject, Worker
from io_benchmark.analysis.observed.cgroup_limits import cpu_quota
from io_benchmark.analysis.report_model import SubjectReport
from io_benchmark.analysis.statements import (
    Quantity,
    Statement,
    Unit,
    count,
    joined,
    share,
    statement,
)
from io_benchmark.analysis.summary import workload_figures

# Several threads that together do no more than this times the work of one hold each other up.
_NO_GAIN_RATIO = 1.0
_COPIES_COST_RATIO = 1.2


class _Position(NamedTuple):
    """Where a finding is from; of several numbers of threads, the largest replaces the others."""

    name: str
    side: str
    place: str
    variant: str


def side_findings(
    reports: Sequence[SubjectReport], workers: Sequence[Worker]
) -> tuple[Statement, ...]:
    """Return one statement per finding; of several numbers of threads, for the largest."""
    cpus = _cpus(workers)
    by_subject = {report.subject: report for report in reports}
    findings: dict[_Position, Statement] = {}
    for report in sorted(reports, key=lambda report: report.subject.threads):
        subject = report.subject
        for side, figures in report.figures.items():
            for name, judge in _FINDINGS.items():
                value = workload_figures.value(figures, name)
                if value is None:
                    continue
                if name == workload_figures.SCALING and cpus.get(side, 0.0) <= subject.threads:
                    continue  # without a CPU to spare for all else it need not be a lock
                reference = by_subject.get(workload_figures.reference_of(subject) or subject)
                against = reference.figures.get(side) if reference is not None else None
                finding = judge(subject, value, _error(figures, against))
                if finding is not None:
                    findings[_Position(name, side, subject.place, subject.variant)] = finding
    return _merge_places(findings)


def _merge_places(findings: Mapping[_Position, Statement]) -> tuple[Statement, ...]:
    """Merge findings that are the same in several places."""
    places: dict[tuple[str, str, Statement], list[str]] = {}
    for position, finding in findings.items():
        key = position.name, position.side, finding
        places.setdefault(key, []).append(position.place)
    return tuple(
        statement("{side}: {finding}", side=side, finding=finding)
        if name == workload_figures.STALLS
        else statement(
            f"{{side}}, place{'s' if len(where) > 1 else ''} {{places}}: {{finding}}",
            side=side,
            places=joined(where),
            finding=finding,
        )
        for (name, side, finding), where in places.items()
    )


def _cpus(workers: Sequence[Worker]) -> dict[str, float]:
    """Return by side the fewest CPUs that one of its workers has, by its machine or its cgroup."""
    cpus: dict[str, float] = {}
    for worker in workers:
        limits, host = worker.result.limits, worker.result.host
        known = [
            cpu_quota(limits) if limits is not None else None,
            (host.cpu_online_count or host.cpu_count) if host is not None else None,
        ]
        fewest = min((float(number) for number in known if number is not None), default=0.0)
        cpus[worker.side] = min(fewest, cpus.get(worker.side, math.inf))
    return cpus


def _error(figures: Figures, against: Figures | None) -> float:
    """Return twice the standard error of the ratio of two means of one worker, as a part of it."""
    of_reference = against.within_worker_ratio if against is not None else 0.0
    return 2 * math.hypot(figures.within_worker_ratio, of_reference)


def _scaling(subject: Subject, value: float, error: float) -> Statement | None:
    if value * (1 + error) > _NO_GAIN_RATIO:
        return None
    return statement(
        "{threads} at once do {rate} of what one alone does (metadata, {variant}): something locks",
        threads=count(subject.threads),
        rate=share(value),
        variant=subject.variant,
    )


def _not_visible(_subject: Subject, value: float, _error: float) -> Statement | None:
    if not value:
        return None
    return statement(
        "{files} files that one thread had created were not visible to another at once, as POSIX "
        "promises (metadata, visibility)",
        files=count(value),
    )


def _copies(subject: Subject, value: float, error: float) -> Statement | None:
    if value < _COPIES_COST_RATIO * (1 + error):
        return None
    return statement(
        "a copy of the binary for each of {processes} processes makes executing it take {ratio} the "
        "time that hardlinks to one take (exec): builders that share the file share the caches",
        processes=count(subject.threads),
        ratio=Quantity(value, Unit.RATIO),
    )


def _stalls(_subject: Subject, value: float, _error: float) -> Statement | None:
    if not value:
        return None
    return statement(
        "{uploads} uploads waited for an answer to Expect: 100-continue that did not come (upload): "
        "do not send this header",
        uploads=count(value),
    )


_FINDINGS: dict[str, Callable[[Subject, float, float], Statement | None]] = {
    workload_figures.SCALING: _scaling,
    workload_figures.NOT_VISIBLE: _not_visible,
    workload_figures.COPIES: _copies,
    workload_figures.STALLS: _stalls,
}
