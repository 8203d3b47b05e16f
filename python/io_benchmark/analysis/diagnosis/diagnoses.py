# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Which differences are explained: for each candidate that of the leading workload, and others' too.

Cache-retrieve leads where it was compared, else the first workload that was. A further workload is
explained by itself where it differs, by the measurement that differs most: what makes copies slow
need not be what makes synchronous writes slow. Files that appear late are explained in any case, also
where the same pool is the faster one at the other operations on names.
"""

import math
from collections.abc import Sequence

from io_benchmark.analysis.diagnosis import remedies
from io_benchmark.analysis.diagnosis.case import Beside
from io_benchmark.analysis.diagnosis.causes import judge
from io_benchmark.analysis.model import Comparison, Diagnosis, Subject, Verdict, Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import SubjectReport
from io_benchmark.analysis.summary import workload_figures

DIFFERENT = (Verdict.SLOWER, Verdict.FASTER)
VISIBILITY = "visibility"


def diagnoses(
    plan: Plan, reports: Sequence[SubjectReport], workers: Sequence[Worker]
) -> tuple[Diagnosis, ...]:
    measured: dict[str, dict[Subject, float]] = {}
    for report in reports:
        for side, figures in report.figures.items():
            measured.setdefault(side, {})[report.subject] = figures.mean_ns
    machines = {worker.side: worker.result.task.instance_type for worker in workers}
    found = []
    for candidate, baseline in plan.pairs:
        beside = _compared(reports, candidate, baseline)
        for comparison in _explained(beside):
            causes = judge(
                comparison.subject,
                # What is not decided needs no explanation: chance may be all of it.
                comparison.ratio if comparison.verdict in DIFFERENT else None,
                [worker for worker in workers if worker.side == baseline],
                [worker for worker in workers if worker.side == candidate],
                beside,
            )
            tried = remedies.suggest(
                causes, comparison.subject, measured, candidate, baseline, machines=machines
            )
            found.append(Diagnosis(candidate, causes, tried, comparison.subject))
    return tuple(found)


def _compared(
    reports: Sequence[SubjectReport], candidate: str, baseline: str
) -> tuple[Beside, ...]:
    return tuple(
        Beside(one, report.figures[baseline], report.figures[candidate])
        for report in reports
        for one in report.comparisons
        if (one.candidate, one.baseline) == (candidate, baseline)
    )


def _explained(beside: Sequence[Beside]) -> list[Comparison]:
    """The leading one first."""
    comparisons = [one.comparison for one in beside]
    found = comparisons[:1]
    by_workload: dict[str, list[Comparison]] = {}
    for one in comparisons:
        if one.verdict in DIFFERENT:
            by_workload.setdefault(one.subject.workload, []).append(one)
    for workload, different in by_workload.items():
        if found[0].subject.workload != workload:
            found.append(_most(different))
        elif workload != "cache-retrieve":
            found[0] = _most(different)
    return found + [one for one in _late(beside) if not _points_as(one, found)]


def _late(beside: Sequence[Beside]) -> list[Comparison]:
    """Checks of visibility that differ, where a side had files that were not yet visible."""
    return [
        one.comparison
        for one in beside
        if one.subject.variant == VISIBILITY
        and one.comparison.verdict in DIFFERENT
        and any(
            workload_figures.value(side, workload_figures.NOT_VISIBLE)
            for side in (one.baseline, one.candidate)
        )
    ]


def _points_as(one: Comparison, explained: Sequence[Comparison]) -> bool:
    """Is the same side the slower one where this workload is explained already, in this place?"""
    where = one.subject.workload, one.subject.place
    return any(
        other.verdict is one.verdict
        for other in explained
        if (other.subject.workload, other.subject.place) == where
    )


def _most(different: Sequence[Comparison]) -> Comparison:
    """The one that differs most; a check of visibility is about something else than speed."""
    timed = [one for one in different if one.subject.variant != VISIBILITY]
    return max(timed or different, key=lambda one: abs(math.log(one.ratio)))
