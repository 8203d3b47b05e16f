# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Workers in, a report out: validity, figures, verdicts, causes and remedies, in that order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from io_benchmark.analysis.diagnosis import diagnoses
from io_benchmark.analysis.inference import estimates, independent_workers
from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.workers_needed import advise
from io_benchmark.analysis.model import Comparison, Problem, Severity, Subject, Verdict, Worker
from io_benchmark.analysis.observed import machine_identity
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report, SubjectReport, WorkerLine
from io_benchmark.analysis.summary import (
    bottlenecks,
    figures,
    place_rows,
    plot_data,
    side_findings,
    workload_figures,
)
from io_benchmark.analysis.validity import merging, rules
from io_benchmark.analysis.validity.comparability import Run
from io_benchmark.results import workloads
from io_benchmark.results.parts import RunState

Progress = Callable[[str], None]
# From so many measurements on one in twenty is worth a word.
MANY_SUBJECTS = 5


@dataclass(frozen=True)
class Options:
    margin: float = 0.05
    worker_variation: float = 0.05
    allow: frozenset[str] = field(default_factory=frozenset)


def compare(
    plan: Plan,
    workers: Sequence[Worker],
    options: Options,
    *,
    unreadable: Sequence[str] = (),
    remarks: Sequence[str] = (),
    progress: Progress = lambda _step: None,
) -> Report:
    workers = machine_identity.identified(workers)
    problems = rules.check_workers(workers)
    runs = _runs_by_subject(workers)
    compared: dict[Subject, list[Run]] = {}
    reports = []
    for subject, subject_runs in runs.items():
        progress(f"comparing {subject}")
        kept, broken = rules.check_runs(subject_runs, options.allow)
        problems += broken
        kept, shorter = rules.of_one_length(kept, options.allow)
        problems += shorter
        compared[subject] = kept
        report, more = _subject(subject, kept, plan, options)
        problems += more
        if report is not None:
            reports.append(report)
    reports = workload_figures.with_workload_figures(reports, workers)
    problems = merging.shared([*problems, *merging.nothing_in_common(plan, reports)], reports)
    progress("judging causes")
    return Report(
        title=plan.title,
        baseline=plan.baseline,
        baseline_reason=plan.baseline_reason,
        margin_ratio=options.margin,
        subjects=tuple(reports),
        diagnoses=diagnoses.diagnoses(plan, reports, workers),
        problems=tuple(problems),
        workers=tuple(_line(worker) for worker in workers),
        unreadable=tuple(sorted(unreadable)),
        remarks=(*remarks, *side_findings.of(reports, workers), *_many(reports)),
        series=plot_data.series(workers),
        timelines=plot_data.timelines(workers),
        places=place_rows.of(plan, workers, compared, reports),
    )


def _runs_by_subject(workers: Sequence[Worker]) -> dict[Subject, list[Run]]:
    """Workload by workload, each in the order in which the first worker measured it."""
    runs: dict[Subject, list[Run]] = {}
    for worker in workers:
        for entry in worker.entries:
            runs.setdefault(entry.subject, []).append((worker, entry))
    return {subject: runs[subject] for subject in sorted(runs, key=_workload_rank)}


def _workload_rank(subject: Subject) -> int:
    return workloads.of(subject.workload).position


def _subject(
    subject: Subject, kept: Sequence[Run], plan: Plan, options: Options
) -> tuple[SubjectReport | None, list[Problem]]:
    sides: dict[str, list[Run]] = {}
    for run in kept:
        sides.setdefault(run[0].side, []).append(run)
    if not sides:
        return None, []
    problems: list[Problem] = []
    data = {}
    for side, runs in sides.items():
        data[side], more = independent_workers.independent(subject, side, runs)
        problems += more
    found = []
    for candidate, baseline in plan.pairs:
        if candidate not in sides or baseline not in sides:
            continue
        broken = rules.check_sides(subject, sides[candidate], sides[baseline], options.allow)
        problems += broken
        if not any(problem.severity is Severity.REFUSED for problem in broken):
            problems += independent_workers.shared_workers(
                subject, sides[candidate], sides[baseline]
            )
            estimate = estimates.estimate(data[candidate], data[baseline], options.worker_variation)
            found.append((candidate, baseline, estimate))
    problems += independent_workers.single_workers(
        subject, data, [pair[:2] for pair in found], options.worker_variation
    )
    steps = estimates.holm([estimates.p_value(estimate) for _, _, estimate in found])
    comparisons = tuple(
        _comparison(subject, pair, step, (data[pair[0]], data[pair[1]]), options, len(found))
        for pair, step in zip(found, steps, strict=True)
    )
    order = plan.order(sides)
    return (
        SubjectReport(
            subject,
            {side: figures.figures_of(sides[side], data[side]) for side in order},
            comparisons,
            figures.noise_of(sides, data),
            bottlenecks.of_sides(
                subject, {side: [run[0] for run in sides[side]] for side in order}
            ),
        ),
        problems,
    )


def _comparison(
    subject: Subject,
    pair: tuple[str, str, estimates.Estimate],
    step: tuple[float, float],
    sides: tuple[SideData, SideData],
    options: Options,
    comparisons: int,
) -> Comparison:
    candidate, baseline, estimate = pair
    p_adjusted, level = step
    adjusted = estimates.interval(estimate, level)
    at_90 = estimates.interval(estimate, estimates.EQUIVALENCE_LEVEL)
    verdict = estimates.verdict(adjusted, at_90, options.margin)
    advice = None
    if verdict is Verdict.INCONCLUSIVE:
        advice = advise(
            estimate,
            sides,
            assumed=options.worker_variation,
            margin=options.margin,
            comparisons=comparisons,
        )
    return Comparison(
        subject=subject,
        baseline=baseline,
        candidate=candidate,
        ratio=estimate.ratio,
        interval=adjusted,
        interval_90=at_90,
        p_value=p_adjusted,
        verdict=verdict,
        method=estimate.method,
        assumed_variation_ratio=estimate.assumed_variation,
        variation_to_explain_ratio=estimates.variation_to_explain(estimate, level),
        advice=advice,
    )


def _many(reports: Sequence[SubjectReport]) -> list[str]:
    """Intervals are adjusted for the number of candidates, not for that of questions."""
    count = sum(bool(report.comparisons) for report in reports)
    if count < MANY_SUBJECTS:
        return []
    by_chance = round(1 / (1 - estimates.LEVEL))
    text = (
        f"{count} measurements are compared, each a question of its own: where sides do not differ, "
        f"about 1 in {by_chance} is called slower or faster by chance"
    )
    return [text]


def _line(worker: Worker) -> WorkerLine:
    result = worker.result
    return WorkerLine(
        side=worker.side,
        pool=worker.pool,
        task_id=worker.task_id,
        run_id=worker.run_id,
        worker_id=worker.worker_id,
        state=worker.state,
        completed=result.outcome.state is RunState.COMPLETED,
        incomplete_reason=result.outcome.explanation,
        instance_type=result.task.instance_type,
        zone=result.task.location.get("zone"),
        source=worker.source,
        reason=worker.reason,
        machine=worker.machine,
    )
