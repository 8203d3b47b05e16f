# SPDX-License-Identifier: MPL-2.0
"""From runs of tasks to a report: which runs count, ratios within labels, verdicts and costs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from types import MappingProxyType

from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import Advice, Verdict
from io_benchmark.analysis.model.looks import Schedule
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.statements import (
    Quantity,
    Statement,
    Unit,
    count,
    joined,
    ratio_of,
    share,
    statement,
)
from io_benchmark.analysis.statistics import levels, verdicts
from io_benchmark.analysis.statistics.advice import advise
from io_benchmark.analysis.statistics.variances import LogMeans
from io_benchmark.analysis.tasks.both_sides import BothSides
from io_benchmark.analysis.tasks.task_costs import compare_costs
from io_benchmark.analysis.tasks.task_model import TaskComparison, TaskReport, TaskSide
from io_benchmark.analysis.tasks.task_pair import MOST_LABELS, CommonRuns, TaskPair
from io_benchmark.analysis.validity.systems import name_of
from io_benchmark.costs.worker_time import Price
from io_benchmark.number_text import plural
from io_benchmark.results.parts import NS_PER_S
from io_benchmark.sources.run_results import TaskRun

# Shares of failed or lost runs that differ by this between the sides are worth a warning. Chosen:
# so many shorter or longer runs may hide a difference of a few percent.
_ENDED_DIFFER = 0.1
# Less than this share of a side's runs in the time of both sides is worth a warning. Chosen.
_LEAST_OVERLAP = 0.5
HOW_TO_ALLOW = "--allow os compares them"


def compare_tasks(
    plan: Plan,
    sides: Mapping[str, Sequence[TaskRun]],
    *,
    margin: float = levels.DEFAULT_MARGIN,
    prices: Mapping[str, Price] = MappingProxyType({}),
    unreadable: Sequence[str] = (),
    remarks: Sequence[str] = (),
    across_systems: bool = False,
) -> TaskReport:
    """Compare the runs of the pairs of sides that the plan names.

    Pairs of different systems only with `across_systems`: their work is not the same.
    """
    used = {name: TaskSide.of(name, plan.pool(name), runs) for name, runs in sides.items() if runs}
    pairs = []
    unlike = []  # candidates that have no label in common with their baseline
    unlike_baseline = ""
    of_other_systems = []
    for candidate, baseline in plan.pairs:
        if candidate not in used or baseline not in used:
            continue
        pair = TaskPair.of(used[candidate], used[baseline])
        if pair is None:
            unlike.append(candidate)
            unlike_baseline = unlike_baseline or baseline
        elif across_systems or not _differ_in_system(pair):
            pairs.append(pair)
        else:
            of_other_systems.append(_not_compared(pair))
    # What is assumed of few workers is by those of all pools.
    log_means: dict[str, LogMeans] = {}
    for pair in pairs:
        log_means |= pair.log_means
    pairs = [pair.with_others(log_means) for pair in pairs]
    messages = [statement("{remark}", remark=remark) for remark in remarks]
    if unlike:
        sentence = "{candidates} and {baseline} have no label in common with a completed run"
        messages.append(statement(sentence, candidates=joined(unlike), baseline=unlike_baseline))
    messages += of_other_systems
    tests = verdicts.adjust([pair.estimate for pair in pairs], [pair.look for pair in pairs])
    return TaskReport(
        title=plan.title,
        baseline=plan.baseline,
        baseline_reason=plan.baseline_reason,
        margin_ratio=margin,
        sides=tuple(used[name].counts for name in plan.order(list(used))),
        comparisons=tuple(
            _comparison(pair, adjusted, margin, prices, comparisons=len(pairs))
            for pair, adjusted in zip(pairs, tests, strict=True)
        ),
        unreadable=tuple(unreadable),
        remarks=tuple(messages),
    )


def _differ_in_system(pair: TaskPair) -> bool:
    systems = [pair.candidate.side.systems, pair.baseline.side.systems]
    return all(systems) and len(set.union(*systems)) > 1


def _not_compared(pair: TaskPair) -> Statement:
    """Return what pools of different systems took, without a verdict."""
    return statement(
        "{candidate} and {baseline} are not compared: the same label is other work on another "
        f"system; {HOW_TO_ALLOW}",
        candidate=_with_system(pair.candidate),
        baseline=_with_system(pair.baseline),
    )


def _with_system(runs: CommonRuns) -> Statement:
    return statement(
        "{side} ({systems}, {mean} per task)",
        side=runs.side.name,
        systems=joined(map(name_of, sorted(runs.side.systems))),
        mean=Quantity(runs.mean_s * NS_PER_S, Unit.NANOSECONDS),
    )


def _comparison(
    pair: TaskPair,
    adjusted: verdicts.Adjusted,
    margin: float,
    prices: Mapping[str, Price],
    *,
    comparisons: int,
) -> TaskComparison:
    """Return the comparison of one pair; `comparisons` is the number of all pairs."""
    interval = pair.estimate.interval(adjusted.level)
    verdict = verdicts.verdict_of(pair.estimate, pair.look, adjusted.level, margin)
    baseline_s = pair.baseline.mean_s
    candidate_workers, baseline_workers = pair.ratio.workers
    cost, cost_warnings = compare_costs(pair, prices, adjusted.level)
    comparison = TaskComparison(
        baseline=pair.baseline.side.name,
        candidate=pair.candidate.side.name,
        ratio=pair.estimate.ratio,
        interval=interval,
        interval_90=verdicts.interval_of_equivalence(pair.estimate, pair.look),
        p_value=adjusted.p_value,
        verdict=verdict,
        workers=BothSides(len(baseline_workers), len(candidate_workers)),
        completed=BothSides(len(pair.baseline.runs), len(pair.candidate.runs)),
        failed=pair.ended("failed"),
        lost=pair.ended("lost"),
        stopped=pair.ended("stopped"),
        difference_s=baseline_s * (pair.estimate.ratio - 1),
        difference_interval_s=(
            baseline_s * (interval.low_ratio - 1),
            baseline_s * (interval.high_ratio - 1),
        ),
        times=pair.times,
        labels=pair.label_rows,
        advice=_advise(pair, verdict, margin, comparisons),
        look=pair.look.label,
        cost=cost,
        assumed_variation=pair.variation if pair.estimate.assumed_variation else None,
    )
    return replace(comparison, warnings=(*_warnings(pair, comparison), *cost_warnings))


def _advise(pair: TaskPair, verdict: Verdict, margin: float, comparisons: int) -> Advice | None:
    """Return how many workers to add; None where there is a verdict, or one worker per side."""
    if verdict is not Verdict.INCONCLUSIVE or math.isinf(pair.estimate.error.variance):
        return None
    # A person runs the tasks, and should not have to do it again for one more worker.
    return advise(
        pair.estimate,
        pair.ratio.workers,
        pair.variation,
        schedule=Schedule(),
        margin=margin,
        comparisons=comparisons,
        is_one_step=True,
    )


def _warnings(pair: TaskPair, comparison: TaskComparison) -> Iterator[Statement]:
    """Return what changes how the comparison is read, the gravest first."""
    if _differ_in_system(pair):
        yield statement("the pools are of different systems: the same label is other work")
    yield from _few_workers(comparison)
    yield from _different_labels(comparison)
    yield from _times_apart(pair)
    yield from _failures(comparison)
    yield from _unlike_ratios(pair, comparison)
    yield from _unclear_workers(pair)
    for side in (pair.baseline.side, pair.candidate.side):
        unusable = len(side.runs["unusable"])
        if unusable:
            template = (
                "runs of {side} whose times contradict each other: {count}; they are left out"
            )
            yield statement(template, count=count(unusable), side=side.name)
    if len(comparison.labels) == MOST_LABELS:
        yield statement(
            "only the {labels} labels with most runs are compared", labels=count(MOST_LABELS)
        )


def _few_workers(comparison: TaskComparison) -> Iterator[Statement]:
    """Return what is assumed where too few workers show how far those of a pool differ."""
    assumed = comparison.assumed_variation
    if comparison.workers == BothSides(1, 1):
        yield statement("one worker per pool shows nothing about other workers of these pools")
    if assumed is not None:
        template = "too few workers to show how far those of a pool differ: {assumed}"
        if assumed.shown_by:
            template += " ({shown_by} vary by {measured})"
        yield statement(
            template,
            assumed=assumed.message,
            shown_by=assumed.shown_by or "",
            measured=share(assumed.measured_ratio or 0.0),
        )


def _different_labels(comparison: TaskComparison) -> Iterator[Statement]:
    """Warn that the labels have different ratios."""
    if any(row.differs for row in comparison.labels):
        rows = [(row.ratio, row.label) for row in comparison.labels if row.interval is not None]
        lowest, highest = (
            statement("{ratio} ({label})", ratio=ratio_of(ratio), label=label)
            for ratio, label in (min(rows), max(rows))
        )
        template = (
            "labels differ, from {lowest} to {highest}: the ratio is that of this mix of them"
        )
        yield statement(template, lowest=lowest, highest=highest)


def _times_apart(pair: TaskPair) -> Iterator[Statement]:
    """Warn of different pools of which one ran its tasks mostly before or after the other."""
    if pair.baseline.side.pool == pair.candidate.side.pool:
        return
    starts = [[run.started_ms for run in side.runs] for side in (pair.candidate, pair.baseline)]
    first_common, last_common = max(map(min, starts)), min(map(max, starts))
    common_shares = [
        sum(first_common <= start <= last_common for start in side) / len(side) for side in starts
    ]
    if min(common_shares) < _LEAST_OVERLAP and min(map(len, starts)) > 1:
        yield statement(
            "the pools ran at different times ({part} of the runs of one are in the time of both): "
            "the tasks themselves may have changed",
            part=share(min(common_shares)),
        )


def _failures(comparison: TaskComparison) -> Iterator[Statement]:
    """Return what the runs that do not count say about the completed ones."""
    shorter = (
        "a longer run is lost more often, so the more are lost, the shorter completed runs look"
    )
    for ended, verb, consequence in (
        (comparison.failed, "failed", "those that completed may not be alike"),
        (comparison.lost, "were lost", shorter),
    ):
        shares = comparison.shares(ended)
        if abs(shares.baseline - shares.candidate) > _ENDED_DIFFER:
            yield statement(
                f"{{first}} of the runs {verb} on {{baseline}}, {{second}} on {{candidate}}: "
                f"{consequence}",
                first=share(shares.baseline),
                second=share(shares.candidate),
                baseline=comparison.baseline,
                candidate=comparison.candidate,
            )


def _unlike_ratios(pair: TaskPair, comparison: TaskComparison) -> Iterator[Statement]:
    """Warn of a few very long runs, which raise the mean and the costs, and of different mixes."""
    by_means = pair.candidate.mean_s / pair.baseline.mean_s
    if comparison.interval.excludes(by_means):
        yield statement(
            "by mean times, which the bill follows, the ratio is {ratio}: few runs are very long",
            ratio=ratio_of(by_means),
        )
    candidate_s, baseline_s = (
        fmean((run.resolved_ms - run.started_ms) / 1000 for run in side.runs)
        for side in (pair.candidate, pair.baseline)
    )
    if len(comparison.labels) > 1 and comparison.interval.excludes(candidate_s / baseline_s):
        yield statement(
            "without regard to labels it would be {ratio}: the pools ran different mixes",
            ratio=ratio_of(candidate_s / baseline_s),
        )


def _unclear_workers(pair: TaskPair) -> Iterator[Statement]:
    """Warn of workers that are not known, and of workers that ran tasks of both sides."""
    workers = {
        common.side.name: {run.worker for run in common.runs}
        for common in (pair.baseline, pair.candidate)
    }
    unknown = [name for name, names in workers.items() if not all(map(TaskSide.is_known, names))]
    if unknown:
        yield statement(
            "workers of {sides} are not known: each run counts as a worker, which may be too many",
            sides=joined(unknown),
        )
    shared = set.intersection(*workers.values())
    number = sum(TaskSide.is_known(worker) for worker in shared)
    if number:
        noun = plural(number, "worker")
        yield statement(f"{{count}} {noun} ran tasks of both sides", count=count(number))
