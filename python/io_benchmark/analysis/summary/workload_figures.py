# SPDX-License-Identifier: MPL-2.0
"""Figures that only one workload has, as its description declares them, and those beyond a limit."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from io_benchmark.analysis.model import Detail, Entry, Figures, Run, Subject, Worker
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.analysis.observed.worker_view import mean_of_known
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
from io_benchmark.results import workloads
from io_benchmark.results.workload import SideFinding, WorkloadFigure


class _FindingKey(NamedTuple):
    """Where a finding is from: of several numbers of threads, the largest replaces the others."""

    figure: str
    side: str
    subject: Subject  # without its threads


def with_workload_figures(
    reports: Sequence[SubjectReport], workers: Sequence[Worker]
) -> list[SubjectReport]:
    """Return the reports, each side's figures with those that only its workload has."""
    by_subject = {report.subject: report for report in reports}
    return [
        replace(
            report,
            figures={
                side: replace(
                    figures, details=_details(report.subject, side, figures, by_subject, workers)
                )
                for side, figures in report.figures.items()
            },
        )
        for report in reports
    ]


def _reference(subject: Subject, figure: WorkloadFigure) -> Subject | None:
    """Return the measurement that the figure is a ratio to; None for any other figure."""
    if figure.over_one_thread and subject.threads > 1:
        return replace(subject, threads=1)
    if figure.over_variant is not None and subject.variant == figure.over_variant[0]:
        return replace(subject, variant=figure.over_variant[1])
    return None


def _details(
    subject: Subject,
    side: str,
    figures: Figures,
    reports: Mapping[Subject, SubjectReport],
    workers: Sequence[Worker],
) -> tuple[Detail, ...]:
    runs = [
        Run(worker, entry)
        for worker in workers
        if worker.side == side
        for entry in worker.entries
        if entry.subject == subject and len(entry.total_ns)
    ]
    details = []
    for figure in workloads.of(subject.workload).figures:
        if figure.total_of is not None:
            number, unit = _total(runs, figure.total_of), ""
        elif figure.mean_of is not None:
            number, unit = _mean(runs, figure), figure.unit
        else:
            number, unit = _ratio(subject, side, figures, reports, figure), "×"
        if number is not None:
            details.append(
                Detail(
                    figure.name,
                    figure.label,
                    number,
                    unit,
                    higher_is_better=figure.higher_is_better,
                )
            )
    return tuple(details)


def _ratio(
    subject: Subject,
    side: str,
    figures: Figures,
    reports: Mapping[Subject, SubjectReport],
    figure: WorkloadFigure,
) -> float | None:
    base_subject = _reference(subject, figure)
    report = reports.get(base_subject) if base_subject is not None else None
    base = report.figures.get(side) if report is not None else None
    if base is None:
        return None
    if figure.over_one_thread:
        return base.mean_ns / figures.mean_ns
    return figures.mean_ns / base.mean_ns


def _total(runs: Sequence[Run], count_of: Callable[[object], int | None]) -> float | None:
    counts = [count_of(entry.measured) for _, entry in runs if entry.measured is not None]
    known = [count for count in counts if count is not None]
    return float(sum(known)) if known else None


def _mean(runs: Sequence[Run], figure: WorkloadFigure) -> float | None:
    """Return the mean over the workers that have it."""
    return mean_of_known(
        mean_of_known(_of_entry(entry, figure) for _, entry in of_machine)
        for of_machine in by_machine(runs)
    )


def _of_entry(entry: Entry, figure: WorkloadFigure) -> float | None:
    if entry.measured is None or figure.mean_of is None:
        return None
    number = figure.mean_of(entry.measured)
    if number is None or not figure.per_operation:
        return number
    return number / entry.operations_done


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
                value, finding = figures.detail(figure.name), figure.finding
                if value is None or finding is None:
                    continue
                if finding.needs_spare_cpu and cpus.get(side, 0.0) <= subject.threads:
                    continue  # the operations need not have waited for a lock
                base_subject = _reference(subject, figure)
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
    """Return the fewest CPUs that any of a side's workers has."""
    cpus: dict[str, float] = {}
    for worker in workers:
        host = worker.result.host
        count = host.usable_cpus(worker.result.limits) if host is not None else 0.0
        cpus[worker.side] = min(count, cpus.get(worker.side, math.inf))
    return cpus


def _error(figures: Figures, base: Figures) -> float:
    """Return twice the standard error of the ratio of two means of one worker, as a part of it."""
    return 2 * math.hypot(figures.within_worker_ratio, base.within_worker_ratio)
