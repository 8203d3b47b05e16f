# SPDX-License-Identifier: MPL-2.0
"""One side's figures for one subject, those of its workload alone, and findings beyond a limit."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter, truediv
from statistics import fmean
from typing import Any

from msgspec.structs import replace

from io_benchmark.analysis.model.figures import Detail, Figures, SideStorage
from io_benchmark.analysis.model.measurement import Measurement, SubjectReport
from io_benchmark.analysis.model.run import Run, Worker
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import (
    Statement,
    count,
    joined,
    ratio_of,
    share,
    statement,
)
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.reading.capacity import write_cap
from io_benchmark.analysis.reading.counters import busiest_share, io_wait_share
from io_benchmark.analysis.reading.disk_rates import written_bytes, written_bytes_per_s
from io_benchmark.analysis.statistics.noise import relative_times
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.number_text import plural
from io_benchmark.results import workloads
from io_benchmark.results.parts import WorkloadFigure

_Reports = Mapping[Subject, SubjectReport]


def summarize(side: Side) -> Figures:
    """Return a side's figures: the means of those of its workers, each of the same subject."""
    runs = list(side)
    runs_ns = side.readings(_percentiles_ns)

    def mean(read: Callable[[Run], float]) -> float:
        return fmean(map(fmean, side.readings(read)))

    mean_ns = mean(attrgetter("mean_ns"))
    return Figures(
        workers=side.count,
        samples=sum(len(run.total_ns) for run in runs),
        operations=sum(run.operations_done for run in runs),
        mean_ns=mean_ns,
        value=workloads.of(side.subject.workload).shown(mean_ns),
        percentiles_ns={
            percent: fmean(fmean(run[percent] for run in worker) for worker in runs_ns)
            for percent in workloads.PERCENTILES
        },
        total_ns=mean(lambda run: sum(run.total_ns)),
        lookup_mean_ns=side.mean(attrgetter("lookup_mean_ns")),
        copy_mean_ns=side.mean(_copy_mean_ns),
        within_worker_ratio=max(relative_times(run).error_of_mean for run in runs),
        between_workers_ratio=(
            math.sqrt(MeanVariance.of_values(side.log_means).variance) if side.count > 1 else None
        ),
    )


def _copy_mean_ns(run: Run) -> float | None:
    lookup_ns = run.lookup_mean_ns
    return None if lookup_ns is None else run.mean_ns - lookup_ns


def _percentiles_ns(run: Run) -> dict[int, float]:
    """Return percentiles as older reports define them; a batch counts as its average."""
    times_ns: Iterable[float] = run.total_ns.tolist()  # sorted faster than an array
    if run.retrieves is None:
        times_ns = map(truediv, run.total_ns, run.operations)
    ordered = sorted(times_ns)
    count = len(ordered)
    return {
        percent: ordered[min(count * percent // 100, count - 1)]
        for percent in workloads.PERCENTILES
    }


def storage_of(side: Side) -> SideStorage:
    """Return where a side's bytes went, and what its storage did meanwhile."""
    return SideStorage(
        copied_bytes=side.mean(attrgetter("copied_bytes")),
        written_bytes=side.mean(written_bytes),
        io_wait_ratio=side.mean(io_wait_share),
        busiest_disk_ratio=side.mean(busiest_share),
        written_bytes_per_s=side.mean(written_bytes_per_s),
        write_cap_bytes_per_s=side.mean(write_cap),
    )


def with_workload_figures(
    reports: Sequence[Measurement], workers: Sequence[Worker]
) -> list[Measurement]:
    """Return the reports, each side's figures with those that only its workload has."""
    by_subject = {report.subject: report for report in reports}
    return [
        replace(
            report,
            figures={
                side: replace(
                    figures, details=tuple(_details(report.subject, side, by_subject, workers))
                )
                for side, figures in report.figures.items()
            },
        )
        for report in reports
    ]


def _details(
    subject: Subject, side: str, reports: _Reports, workers: Sequence[Worker]
) -> Iterator[Detail]:
    of_side = (worker for worker in workers if worker.side == side)
    runs = Side.of_workers(of_side, subject).measured
    for figure in workloads.of(subject.workload).figures:
        unit = figure.unit
        if figure.total_of is not None:
            totals = (figure.total_of(run.measured) for run in runs)
            counts = [total for total in totals if total is not None]
            value = float(sum(counts)) if counts else None
        elif figure.mean_of is not None:
            value = runs.mean(partial(_value_of_run, figure.mean_of, figure.per_operation))
        else:
            value, unit = _ratio(subject, side, reports, figure), "×"
        if value is not None:
            yield Detail(figure.name, figure.label, value, unit, figure.higher_is_better)


def _value_of_run(
    read: Callable[[Any], float | None], per_operation: bool, run: Run
) -> float | None:
    value = read(run.measured)
    return value / run.operations_done if per_operation and value is not None else value


def _reference(
    subject: Subject, side: str, reports: _Reports, figure: WorkloadFigure
) -> Figures | None:
    """Return the measurement that the figure is a ratio to; None for any other figure."""
    if figure.over_one_thread and subject.threads > 1:
        base = reports.get(replace(subject, threads=1))
    elif figure.over_variant is not None and subject.variant == figure.over_variant[0]:
        base = reports.get(replace(subject, variant=figure.over_variant[1]))
    else:
        return None
    return base.figures.get(side) if base is not None else None


def _ratio(subject: Subject, side: str, reports: _Reports, figure: WorkloadFigure) -> float | None:
    base = _reference(subject, side, reports, figure)
    if base is None:
        return None
    mean_ns = reports[subject].figures[side].mean_ns
    return base.mean_ns / mean_ns if figure.over_one_thread else mean_ns / base.mean_ns


def side_findings(
    reports: Sequence[SubjectReport], workers: Sequence[Worker]
) -> Iterator[Statement]:
    """Return one statement per finding; of several numbers of threads, that of the largest."""
    cpus = _cpus(workers)
    by_subject = {report.subject: report for report in reports}
    # By figure, side and subject without its threads.
    findings: dict[tuple[str, str, Subject], Statement] = {}
    for report in sorted(reports, key=lambda report: report.subject.threads):
        subject = report.subject
        for side, figures in report.figures.items():
            for figure in workloads.of(subject.workload).figures:
                value = figures.detail(figure.name)
                if value is None or not figure.finding:
                    continue
                if figure.needs_spare_cpu and cpus.get(side, 0.0) <= subject.threads:
                    continue  # the operations need not have waited for a lock
                base = _reference(subject, side, by_subject, figure)
                # Twice the standard error of the ratio of two means of one worker.
                errors = [part.within_worker_ratio for part in (figures, base) if part]
                if _is_shown(figure, value, 2 * math.hypot(*errors) if base else 0.0):
                    findings[figure.name, side, replace(subject, threads=0)] = statement(
                        figure.finding,
                        percent=share(value),
                        ratio=ratio_of(value),
                        count=count(value),
                        threads=count(subject.threads),
                        variant=subject.variant,
                    )
    return _merge_places(findings)


def _is_shown(figure: WorkloadFigure, value: float, error: float) -> bool:
    if figure.at_most is not None and value * (1 + error) > figure.at_most:
        return False
    return figure.at_least is None or value >= figure.at_least * (1 + error)


def _merge_places(findings: Mapping[tuple[str, str, Subject], Statement]) -> Iterator[Statement]:
    places: dict[tuple[str, Statement, bool], list[str]] = defaultdict(list)
    for (_, side, subject), finding in findings.items():
        places[side, finding, workloads.of(subject.workload).per_place].append(subject.place)
    for (side, finding, per_place), names in places.items():
        where = f", {plural(len(names), 'place')} {{places}}" if per_place else ""
        template = f"{{side}}{where}: {{finding}}"
        yield statement(template, side=side, places=joined(names), finding=finding)


def _cpus(workers: Sequence[Worker]) -> dict[str, float]:
    cpus: dict[str, float] = {}
    for worker in workers:
        host = worker.result.host
        usable = host.usable_cpus(worker.result.limits) if host is not None else 0.0
        cpus[worker.side] = min(usable, cpus.get(worker.side, math.inf))
    return cpus
