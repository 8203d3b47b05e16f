# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Findings about one side alone: figures of its workloads beyond a limit."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from io_benchmark.analysis.model import Figures, Subject, Worker
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
from io_benchmark.results import workloads
from io_benchmark.results.workload import SideFinding


class _FindingKey(NamedTuple):
    """Where a finding is from: of several numbers of threads, the largest replaces the others."""

    figure: str
    side: str
    subject: Subject  # without its threads


def side_findings(
    reports: Sequence[SubjectReport], workers: Sequence[Worker]
) -> tuple[Statement, ...]:
    """Return one statement per finding; of several numbers of threads, that of the largest."""
    cpus = _cpus(workers)
    by_subject = {report.subject: report for report in reports}
    findings: dict[_FindingKey, Statement] = {}
    for report in sorted(reports, key=lambda report: report.subject.threads):
        subject = report.subject
        for side, figures in report.figures.items():
            for figure in workloads.of(subject.workload).figures:
                value, finding = workload_figures.value(figures, figure.name), figure.finding
                if value is None or finding is None:
                    continue
                if finding.needs_spare_cpu and cpus.get(side, 0.0) <= subject.threads:
                    continue  # the operations need not have waited for a lock
                base_subject = workload_figures.reference(subject, figure)
                base = by_subject[base_subject].figures.get(side) if base_subject else None
                if _is_shown(finding, value, _error(figures, base) if base else 0.0):
                    key = _FindingKey(figure.name, side, replace(subject, threads=0))
                    findings[key] = _statement(finding, value, subject)
    return _merge_places(findings)


def _is_shown(finding: SideFinding, value: float, error: float) -> bool:
    if finding.at_most is not None and value * (1 + error) > finding.at_most:
        return False
    return finding.at_least is None or value >= finding.at_least * (1 + error)


def _statement(finding: SideFinding, value: float, subject: Subject) -> Statement:
    return statement(
        finding.template,
        percent=share(value),
        ratio=Quantity(value, Unit.RATIO),
        count=count(value),
        threads=count(subject.threads),
        variant=subject.variant,
    )


def _merge_places(findings: Mapping[_FindingKey, Statement]) -> tuple[Statement, ...]:
    """Merge findings that are the same in several places."""
    places: dict[tuple[str, Statement, bool], list[str]] = {}
    for (_, side, subject), finding in findings.items():
        key = side, finding, workloads.of(subject.workload).per_place
        places.setdefault(key, []).append(subject.place)
    return tuple(
        statement(
            f"{{side}}, place{'s' if len(names) > 1 else ''} {{places}}: {{finding}}",
            side=side,
            places=joined(names),
            finding=finding,
        )
        if per_place
        else statement("{side}: {finding}", side=side, finding=finding)
        for (side, finding, per_place), names in places.items()
    )


def _cpus(workers: Sequence[Worker]) -> dict[str, float]:
    """Return the fewest CPUs that any of a side's workers has, by its machine or its cgroup."""
    cpus: dict[str, float] = {}
    for worker in workers:
        host = worker.result.host
        known = [
            worker.cpu_quota,
            (host.cpu_online_count or host.cpu_count) if host is not None else None,
        ]
        fewest = min((float(count) for count in known if count is not None), default=0.0)
        cpus[worker.side] = min(fewest, cpus.get(worker.side, math.inf))
    return cpus


def _error(figures: Figures, base: Figures) -> float:
    """Return twice the standard error of the ratio of two means of one worker, as a part of it."""
    return 2 * math.hypot(figures.within_worker_ratio, base.within_worker_ratio)
