# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Figures that only one workload has, such as the gain by threads or the cost of copies."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from io_benchmark.analysis.model import Detail, Entry, Figures, Run, Subject, Worker
from io_benchmark.analysis.observed import machine_identity
from io_benchmark.analysis.report_model import SubjectReport
from io_benchmark.results.workloads import Exec, Metadata, RandomIo, Upload

SCALING, COPIES, CONNECTIONS = "scaling", "over-hardlinked", "over-keep-alive"
NOT_VISIBLE, STALLS, LATENCY = "not-visible", "expect-stalls", "latency-p99"
CPU_TIME = "cpu-time"

# variant of a workload -> the variant that it is compared with, the figure's name and its label
_REFERENCES = {
    ("exec", "copies"): ("hardlinked", COPIES, "over hardlinks"),
    ("upload", "connection-each"): ("keep-alive", CONNECTIONS, "over keep-alive"),
}


def with_workload_figures(
    reports: Sequence[SubjectReport], workers: Sequence[Worker]
) -> list[SubjectReport]:
    """Return the reports, each side's figures with those that only this workload has."""
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


def reference_of(subject: Subject) -> Subject | None:
    """Return the measurement to which the figure of this one is a ratio."""
    if subject.workload == "metadata" and subject.threads > 1:
        return replace(subject, threads=1)
    against = _REFERENCES.get((subject.workload, subject.variant))
    return None if against is None else replace(subject, variant=against[0])


def value(figures: Figures | None, name: str) -> float | None:
    """Return the figure of this name."""
    details = figures.details if figures is not None else ()
    return next((detail.value for detail in details if detail.name == name), None)


def _details(
    subject: Subject,
    side: str,
    figures: Figures,
    reports: Mapping[Subject, SubjectReport],
    workers: Sequence[Worker],
) -> tuple[Detail, ...]:
    details = []
    reference = reference_of(subject)
    report = reports.get(reference) if reference is not None else None
    base = report.figures.get(side) if report is not None else None
    if base is not None and subject.workload == "metadata":
        gain = base.mean_ns / figures.mean_ns
        details.append(Detail(SCALING, "over one alone", gain, "×", higher_is_better=True))
    elif base is not None:
        _, name, label = _REFERENCES[subject.workload, subject.variant]
        cost = figures.mean_ns / base.mean_ns
        details.append(Detail(name, label, cost, "×", higher_is_better=False))
    runs = [
        Run(worker, entry)
        for worker in workers
        if worker.side == side
        for entry in worker.entries
        if entry.subject == subject and len(entry.total_ns)
    ]
    return (*details, *_totals(runs), *_means(runs))


def _totals(runs: Sequence[Run]) -> list[Detail]:
    """Return the counts that workers observed, added up over a side's runs."""
    measured = [run.entry.measured for run in runs]
    hidden = [each.observed.not_visible for each in measured if isinstance(each, Metadata)]
    stalls = [each.observed.expect_100_stalls for each in measured if isinstance(each, Upload)]
    return [
        Detail(name, label, float(sum(known)), "", higher_is_better=False)
        for name, label, counts in (
            (NOT_VISIBLE, "not visible", hidden),
            (STALLS, "stalled", stalls),
        )
        if (known := [count for count in counts if count is not None])
    ]


def _means(runs: Sequence[Run]) -> list[Detail]:
    """Return the figures that are means over a side's workers."""
    workers = machine_identity.grouped(runs, lambda run: run.worker.machine).values()
    details = []
    for name, label, unit, figure in (
        (LATENCY, "latency P99", "µs", _latency_us),
        (CPU_TIME, "CPU time of one", "ms", _cpu_ms),
    ):
        values = [
            [value for run in of_worker if (value := figure(run.entry)) is not None]
            for of_worker in workers
        ]
        if any(values):
            mean = machine_identity.mean(filter(None, values))
            details.append(Detail(name, label, mean, unit, higher_is_better=False))
    return details


def _latency_us(entry: Entry) -> float | None:
    if not isinstance(entry.measured, RandomIo) or entry.measured.observed.latency_ns is None:
        return None
    return entry.measured.observed.latency_ns.p99 / 1e3


def _cpu_ms(entry: Entry) -> float | None:
    """Return the CPU time of one operation."""
    if not isinstance(entry.measured, Exec) or entry.measured.observed.cpu_ns is None:
        return None
    operations = float(entry.operations.sum(dtype=np.float64))
    return entry.measured.observed.cpu_ns / 1e6 / operations
