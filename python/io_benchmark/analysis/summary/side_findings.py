# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Findings about one side alone: figures of its workloads beyond a limit."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from io_benchmark.analysis.diagnosis.causes.limits import cpu_quota
from io_benchmark.analysis.model import Figures, Subject, Worker
from io_benchmark.analysis.report_model import SubjectReport
from io_benchmark.analysis.summary import workload_figures
from io_benchmark.analysis.words import percent
from io_benchmark.results import workloads
from io_benchmark.results.workload import Finding

_Key = tuple[str, str, Subject]  # the figure's name, the side, and the subject without its threads


def of(reports: Sequence[SubjectReport], workers: Sequence[Worker]) -> tuple[str, ...]:
    """Return one line per finding; of several numbers of threads, that of the largest."""
    cpus = _cpus(workers)
    by_subject = {report.subject: report for report in reports}
    sentences: dict[_Key, str] = {}
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
                    key = (figure.name, side, replace(subject, threads=0))
                    sentences[key] = _sentence(finding, value, subject)
    return _merge_places(sentences)


def _is_shown(finding: Finding, value: float, error: float) -> bool:
    if finding.at_most is not None and value * (1 + error) > finding.at_most:
        return False
    return finding.at_least is None or value >= finding.at_least * (1 + error)


def _sentence(finding: Finding, value: float, subject: Subject) -> str:
    return finding.template.format(
        percent=percent(value),
        ratio=f"{value:.2f}×",
        count=f"{value:,.0f}",
        threads=subject.threads,
        variant=subject.variant,
    )


def _merge_places(sentences: Mapping[_Key, str]) -> tuple[str, ...]:
    """Return one line for a sentence that is true of several places."""
    places: dict[tuple[str, str, bool], list[str]] = {}
    for (_, side, subject), text in sentences.items():
        key = (side, text, workloads.of(subject.workload).per_place)
        places.setdefault(key, []).append(subject.place)
    return tuple(
        f"{side}, place{'s' if len(names) > 1 else ''} {', '.join(names)}: {text}"
        if per_place
        else f"{side}: {text}"
        for (side, text, per_place), names in places.items()
    )


def _cpus(workers: Sequence[Worker]) -> dict[str, float]:
    """Return the fewest CPUs that any of a side's workers has, by its machine or its cgroup."""
    cpus: dict[str, float] = {}
    for worker in workers:
        limits, host = worker.result.limits, worker.result.host
        known = [
            cpu_quota(limits) if limits is not None else None,
            (host.cpu_online_count or host.cpu_count) if host is not None else None,
        ]
        fewest = min((float(count) for count in known if count is not None), default=0.0)
        cpus[worker.side] = min(fewest, cpus.get(worker.side, math.inf))
    return cpus


def _error(figures: Figures, base: Figures) -> float:
    """Return twice the standard error of the ratio of two means of one worker, as a part of it."""
    return 2 * math.hypot(figures.within_worker_ratio, base.within_worker_ratio)
