# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Workers in, a report out: validity, figures, verdicts, causes and remedies, in that order."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from io_benchmark.analysis import (
    details,
    diagnosing,
    figures,
    findings,
    pictures,
    regimes,
    statistics,
    validity,
    workloads,
)
from io_benchmark.analysis.advice import advise
from io_benchmark.analysis.likeness import Run
from io_benchmark.analysis.model import (
    Comparison,
    Problem,
    Report,
    Severity,
    Subject,
    SubjectReport,
    Verdict,
    Worker,
    WorkerLine,
)
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.statistics import SideData
from io_benchmark.analysis.words import percent

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
    problems = validity.check_workers(workers)
    runs = _runs_by_subject(workers)
    reports = []
    for subject, subject_runs in runs.items():
        progress(f"comparing {subject}")
        kept, broken = validity.check_runs(subject_runs, options.allow)
        problems += broken
        kept, shorter = validity.of_one_length(kept, options.allow)
        problems += shorter
        report, more = _subject(subject, kept, plan, options)
        problems += more
        if report is not None:
            reports.append(report)
    reports = details.added(reports, workers)
    problems = _shared([*problems, *_nothing_in_common(plan, reports)], reports)
    progress("judging causes")
    return Report(
        title=plan.title,
        baseline=plan.baseline,
        baseline_reason=plan.baseline_reason,
        margin_ratio=options.margin,
        subjects=tuple(reports),
        diagnoses=diagnosing.diagnoses(plan, reports, workers),
        problems=tuple(problems),
        workers=tuple(_line(worker) for worker in workers),
        unreadable=tuple(unreadable),
        remarks=(*remarks, *findings.of(reports, workers), *_many(reports)),
        series=pictures.series(workers),
        timelines=pictures.timelines(workers),
    )


def _runs_by_subject(workers: Sequence[Worker]) -> dict[Subject, list[Run]]:
    """Workload by workload, each in the order in which the first worker measured it."""
    runs: dict[Subject, list[Run]] = {}
    for worker in workers:
        for entry in worker.entries:
            runs.setdefault(entry.subject, []).append((worker, entry))
    return {subject: runs[subject] for subject in sorted(runs, key=_workload_rank)}


def _workload_rank(subject: Subject) -> int:
    return workloads.rank(subject.workload)


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
        data[side], more = independent(subject, side, runs)
        problems += more
    found = []
    for candidate, baseline in plan.pairs:
        if candidate not in sides or baseline not in sides:
            continue
        broken = validity.check_sides(subject, sides[candidate], sides[baseline], options.allow)
        problems += broken
        if not any(problem.severity is Severity.REFUSED for problem in broken):
            estimate = statistics.estimate(
                data[candidate], data[baseline], options.worker_variation
            )
            found.append((candidate, baseline, estimate))
    problems += _single_workers(subject, data, [pair[:2] for pair in found], options)
    steps = statistics.holm([statistics.p_value(estimate) for _, _, estimate in found])
    comparisons = tuple(
        _comparison(subject, pair, step, (data[pair[0]], data[pair[1]]), options, len(found))
        for pair, step in zip(found, steps, strict=True)
    )
    order = _order(plan, sides)
    return (
        SubjectReport(
            subject,
            {side: figures.figures_of(sides[side], data[side]) for side in order},
            comparisons,
            figures.noise_of(sides, data),
            regimes.of_sides(subject, {side: [run[0] for run in sides[side]] for side in order}),
        ),
        problems,
    )


def independent(subject: Subject, side: str, runs: Sequence[Run]) -> tuple[SideData, list[Problem]]:
    """Two tasks on one machine are one worker: their means are averaged."""
    by_machine: dict[str, list[Run]] = {}
    for at, run in enumerate(runs):
        machine = run[0].worker_id
        by_machine.setdefault(machine if machine != "unknown" else f"#{at}", []).append(run)
    log_means, problems = [], []
    for machine, shared in by_machine.items():
        log_means.append(math.fsum(math.log(entry.mean_ns) for _, entry in shared) / len(shared))
        if len(shared) > 1:
            tasks = ", ".join(worker.task_id for worker, _ in shared)
            problems.append(
                Problem(
                    "same-worker",
                    Severity.WARNING,
                    subject,
                    (side,),
                    f"{side}: {len(shared)} runs were on the same worker {machine} and count as "
                    f"one: {tasks}",
                )
            )
    return SideData(tuple(log_means), tuple(entry for _, entry in runs)), problems


def _comparison(
    subject: Subject,
    pair: tuple[str, str, statistics.Estimate],
    step: tuple[float, float],
    sides: tuple[SideData, SideData],
    options: Options,
    comparisons: int,
) -> Comparison:
    candidate, baseline, estimate = pair
    p_adjusted, level = step
    adjusted = statistics.interval(estimate, level)
    at_90 = statistics.interval(estimate, statistics.EQUIVALENCE_LEVEL)
    verdict = statistics.verdict(adjusted, at_90, options.margin)
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
        variation_to_explain_ratio=statistics.variation_to_explain(estimate, level),
        advice=advice,
    )


def _single_workers(
    subject: Subject,
    data: Mapping[str, SideData],
    pairs: Sequence[tuple[str, str]],
    options: Options,
) -> list[Problem]:
    alone = sorted({side for pair in pairs for side in pair if data[side].count == 1})
    if not alone:
        return []
    return [
        Problem(
            "one-worker",
            Severity.WARNING,
            subject,
            tuple(alone),
            f"{', '.join(alone)}: one worker each shows nothing of how far workers of a pool differ; "
            f"{percent(options.worker_variation)} is assumed",
        )
    ]


def _order(plan: Plan, sides: Mapping[str, object]) -> list[str]:
    """Each pair's baseline before its candidate, then what was not compared."""
    order = [side for pair in plan.pairs for side in reversed(pair)]
    return [side for side in dict.fromkeys([*order, *sorted(sides)]) if side in sides]


def _shared(problems: Sequence[Problem], reports: Sequence[SubjectReport]) -> list[Problem]:
    """What holds of all that the same sides were compared on is said once."""
    alike: dict[tuple[str, Severity, tuple[str, ...], str], list[Problem]] = {}
    for problem in problems:
        key = (problem.rule, problem.severity, problem.sides, problem.message)
        alike.setdefault(key, []).append(problem)
    found = []
    for same in alike.values():
        subjects = {problem.subject for problem in same}
        everywhere = {r.subject for r in reports if set(same[0].sides) <= set(r.figures)}
        if len(everywhere) > 1 and everywhere <= subjects:
            found.append(replace(same[0], subject=None))
        else:
            found += dict.fromkeys(same)
    return found


def _many(reports: Sequence[SubjectReport]) -> list[str]:
    """Intervals are adjusted for the number of candidates, not for that of questions."""
    count = sum(bool(report.comparisons) for report in reports)
    if count < MANY_SUBJECTS:
        return []
    by_chance = round(1 / (1 - statistics.LEVEL))
    text = (
        f"{count} measurements are compared, each a question of its own: where sides do not differ, "
        f"about 1 in {by_chance} is called slower or faster by chance"
    )
    return [text]


def _nothing_in_common(plan: Plan, reports: Sequence[SubjectReport]) -> list[Problem]:
    problems = []
    for candidate, baseline in plan.pairs:
        if not any(candidate in r.figures and baseline in r.figures for r in reports):
            problems.append(
                Problem(
                    "nothing-in-common",
                    Severity.REFUSED,
                    None,
                    (baseline, candidate),
                    f"{baseline} and {candidate} have no measurement in common that may be "
                    "compared",
                )
            )
    return problems


def _line(worker: Worker) -> WorkerLine:
    result = worker.result
    return WorkerLine(
        side=worker.side,
        pool=worker.pool,
        task_id=worker.task_id,
        run_id=worker.run_id,
        worker_id=worker.worker_id,
        state=worker.state,
        completed=result.completed,
        incomplete_reason=result.incomplete_reason,
        instance_type=result.task.instance_type,
        zone=result.task.location.get("zone"),
        source=worker.source,
        reason=worker.reason,
    )
