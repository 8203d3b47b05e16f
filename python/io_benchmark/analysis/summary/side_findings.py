# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a workload shows of one side by itself, whatever the other side does."""

import math
from collections.abc import Callable, Mapping, Sequence

from io_benchmark.analysis.model import Figures, Subject, Worker
from io_benchmark.analysis.observed.cgroup_limits import cpu_quota
from io_benchmark.analysis.report_model import SubjectReport
from io_benchmark.analysis.summary import workload_figures
from io_benchmark.analysis.words import percent

# Several that together do no more than this of what one alone does hold each other up.
NO_GAIN = 1.0
COPIES_COST = 1.2


def of(reports: Sequence[SubjectReport], workers: Sequence[Worker]) -> tuple[str, ...]:
    """One line each; where several numbers at once show it, that of the largest."""
    cpus = _cpus(workers)
    by_subject = {report.subject: report for report in reports}
    found: dict[tuple[str, str, str, str], str] = {}  # by finding, side, place and variant
    for report in sorted(reports, key=lambda report: report.subject.threads):
        subject = report.subject
        for side, figures in report.figures.items():
            for name, show in _FINDINGS.items():
                value = workload_figures.value(figures, name)
                if value is None:
                    continue
                if name == workload_figures.SCALING and cpus.get(side, 0.0) <= subject.threads:
                    continue  # without one to spare for all else it need be no lock
                against = by_subject.get(workload_figures.held_against(subject) or subject)
                other = against.figures.get(side) if against is not None else None
                text = show(subject, value, _error(figures, other))
                if text:
                    found[name, side, subject.place, subject.variant] = text
    return _in_places(found)


def _in_places(found: Mapping[tuple[str, str, str, str], str]) -> tuple[str, ...]:
    """What is found alike in several places is said once."""
    places: dict[tuple[str, str, str], list[str]] = {}
    for (name, side, place, _), text in found.items():
        places.setdefault((name, side, text), []).append(place)
    return tuple(
        f"{side}: {text}"
        if name == workload_figures.STALLS
        else f"{side}, place{'s' if len(where) > 1 else ''} {', '.join(where)}: {text}"
        for (name, side, text), where in places.items()
    )


def _cpus(workers: Sequence[Worker]) -> dict[str, float]:
    """The fewest CPUs that any of a side's workers has, by its machine or its cgroup."""
    found: dict[str, float] = {}
    for worker in workers:
        limits, host = worker.result.limits, worker.result.host
        known = [
            cpu_quota(limits) if limits is not None else None,
            (host.cpu_online_count or host.cpu_count) if host is not None else None,
        ]
        fewest = min((float(one) for one in known if one is not None), default=0.0)
        found[worker.side] = min(fewest, found.get(worker.side, math.inf))
    return found


def _error(figures: Figures, against: Figures | None) -> float:
    """Twice the standard error of the ratio of two means of one worker, as a part of it."""
    other = against.within_worker_ratio if against is not None else 0.0
    return 2 * math.hypot(figures.within_worker_ratio, other)


def _scaling(subject: Subject, value: float, error: float) -> str:
    if value * (1 + error) > NO_GAIN:
        return ""
    return (
        f"{subject.threads} at once do {percent(value)} of what one alone does (metadata, "
        f"{subject.variant}): something locks"
    )


def _not_visible(_subject: Subject, value: float, _error: float) -> str:
    if not value:
        return ""
    return (
        f"{value:,.0f} files that one thread had created were not visible to another at once, as "
        "POSIX promises (metadata, visibility)"
    )


def _copies(subject: Subject, value: float, error: float) -> str:
    if value < COPIES_COST * (1 + error):
        return ""
    return (
        f"a copy of the binary for each of {subject.threads} processes makes executing it take "
        f"{value:.2f}× the time that hardlinks to one take (exec): builders that share the file "
        "share the caches"
    )


def _stalls(_subject: Subject, value: float, _error: float) -> str:
    if not value:
        return ""
    return (
        f"{value:,.0f} uploads waited for an answer to Expect: 100-continue that did not come "
        "(upload): send no such header"
    )


_FINDINGS: dict[str, Callable[[Subject, float, float], str]] = {
    workload_figures.SCALING: _scaling,
    workload_figures.NOT_VISIBLE: _not_visible,
    workload_figures.COPIES: _copies,
    workload_figures.STALLS: _stalls,
}
