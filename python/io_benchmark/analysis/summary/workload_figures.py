# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Figures that only one workload has, as its description declares them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from io_benchmark.analysis.model import Detail, Entry, Figures, Run, Subject, Worker
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.analysis.observed.worker_view import mean_of_known
from io_benchmark.analysis.report_model import SubjectReport
from io_benchmark.results import workloads
from io_benchmark.results.workload import WorkloadFigure
from io_benchmark.results.workloads import exec as exec_workload
from io_benchmark.results.workloads import metadata

SCALING, NOT_VISIBLE = metadata.SCALING, metadata.NOT_VISIBLE
COPIES = exec_workload.OVER_HARDLINKED


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


def reference(subject: Subject, figure: WorkloadFigure) -> Subject | None:
    """Return the measurement that the figure is a ratio to; None for any other figure."""
    if figure.over_one_thread and subject.threads > 1:
        return replace(subject, threads=1)
    if figure.over_variant is not None and subject.variant == figure.over_variant[0]:
        return replace(subject, variant=figure.over_variant[1])
    return None


def value(figures: Figures | None, name: str) -> float | None:
    """Return one of the workload's own figures by its name."""
    values = (detail.value for detail in figures.details if detail.name == name) if figures else ()
    return next(iter(values), None)


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
                    figure.name, figure.label, number, unit, higher_is_better=figure.over_one_thread
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
    base_subject = reference(subject, figure)
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
    return number / float(entry.operations.sum(dtype=np.float64))
