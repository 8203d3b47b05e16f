# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Figures that one workload alone has: what threads gain, what copies cost, what was not visible."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from io_benchmark.analysis.model import Detail, Entry, Figures, Subject, Worker
from io_benchmark.analysis.observed import machine_identity
from io_benchmark.analysis.report_model import SubjectReport
from io_benchmark.analysis.validity.comparability import Run
from io_benchmark.results.workloads import Exec, Metadata, RandomIo, Upload

SCALING, COPIES, CONNECTIONS = "scaling", "over-hardlinked", "over-keep-alive"
NOT_VISIBLE, STALLS, LATENCY = "not-visible", "expect-stalls", "latency-p99"
CPU_TIME = "cpu-time"

# variant of a workload -> what it is held against, and as what
_HELD_AGAINST = {
    ("exec", "copies"): ("hardlinked", COPIES, "over hardlinks"),
    ("upload", "connection-each"): ("keep-alive", CONNECTIONS, "over keep-alive"),
}


def added(reports: Sequence[SubjectReport], workers: Sequence[Worker]) -> list[SubjectReport]:
    """The reports, each side's figures with those that only this workload has."""
    by_subject = {report.subject: report for report in reports}
    return [
        replace(
            report,
            figures={
                side: replace(
                    figures, details=_of(report.subject, side, figures, by_subject, workers)
                )
                for side, figures in report.figures.items()
            },
        )
        for report in reports
    ]


def held_against(subject: Subject) -> Subject | None:
    """The measurement that this one's own figure is a ratio to."""
    if subject.workload == "metadata" and subject.threads > 1:
        return replace(subject, threads=1)
    against = _HELD_AGAINST.get((subject.workload, subject.variant))
    return None if against is None else replace(subject, variant=against[0])


def value(figures: Figures | None, name: str) -> float | None:
    """One of them by its name."""
    found = (detail.value for detail in figures.details if detail.name == name) if figures else ()
    return next(iter(found), None)


def _of(
    subject: Subject,
    side: str,
    figures: Figures,
    reports: Mapping[Subject, SubjectReport],
    workers: Sequence[Worker],
) -> tuple[Detail, ...]:
    found = []
    against = held_against(subject)
    report = reports.get(against) if against is not None else None
    base = report.figures.get(side) if report is not None else None
    if base is not None and subject.workload == "metadata":
        gain = base.mean_ns / figures.mean_ns
        found.append(Detail(SCALING, "over one alone", gain, "×", higher_is_better=True))
    elif base is not None:
        _, name, label = _HELD_AGAINST[subject.workload, subject.variant]
        dearer = figures.mean_ns / base.mean_ns
        found.append(Detail(name, label, dearer, "×", higher_is_better=False))
    runs = [
        (worker, entry)
        for worker in workers
        if worker.side == side
        for entry in worker.entries
        if entry.subject == subject and len(entry.total_ns)
    ]
    return (*found, *_observed(runs))


def _observed(runs: Sequence[Run]) -> list[Detail]:
    measured = [entry.measured for _, entry in runs]

    def total(label: str, name: str, counts: Sequence[int | None]) -> list[Detail]:
        known = [count for count in counts if count is not None]
        if not known:
            return []
        return [Detail(name, label, float(sum(known)), "", higher_is_better=False)]

    hidden = [one.observed.not_visible for one in measured if isinstance(one, Metadata)]
    stalls = [one.observed.expect_100_stalls for one in measured if isinstance(one, Upload)]
    found = total("not visible", NOT_VISIBLE, hidden) + total("stalled", STALLS, stalls)
    workers = machine_identity.grouped(runs, lambda run: run[0].machine).values()
    for name, label, unit, figure in (
        (LATENCY, "latency P99", "µs", _latency_us),
        (CPU_TIME, "CPU time of one", "ms", _cpu_ms),
    ):
        values = [
            [one for _, entry in shared if (one := figure(entry)) is not None] for shared in workers
        ]
        if any(values):
            mean = machine_identity.mean(filter(None, values))
            found.append(Detail(name, label, mean, unit, higher_is_better=False))
    return found


def _latency_us(entry: Entry) -> float | None:
    if not isinstance(entry.measured, RandomIo) or entry.measured.observed.latency_ns is None:
        return None
    return entry.measured.observed.latency_ns.p99 / 1e3


def _cpu_ms(entry: Entry) -> float | None:
    """Of one operation."""
    if not isinstance(entry.measured, Exec) or entry.measured.observed.cpu_ns is None:
        return None
    operations = float(entry.operations.sum(dtype=np.float64))
    return entry.measured.observed.cpu_ns / 1e6 / operations
