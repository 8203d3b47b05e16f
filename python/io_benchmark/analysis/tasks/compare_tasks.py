# SPDX-License-Identifier: MPL-2.0
"""From runs of tasks to a report: which runs count, ratios within labels, verdicts, parts and cost.

The tasks' ratio is compared with a benchmark's ratio, and with what follows from it for a task. A task that
does the benchmark's operations spends a share of its time on them, and only that share has the benchmark's
ratio. For example, 9,784 retrieves of 76 ms are 32 % of 39 minutes, so a benchmark's ratio of 1.92× is 1.29×
for the task. The rest is assumed to take the same time on both sides.
"""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.inference import levels
from io_benchmark.analysis.inference.comparisons import Judgement, advise, judge
from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.analysis.inference.pairs import Pair
from io_benchmark.analysis.inference.worker_variation import WorkerVariation
from io_benchmark.analysis.model import Advice, Interval, Verdict
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report
from io_benchmark.analysis.statements import Quantity, Statement, Unit, count, statement
from io_benchmark.analysis.tasks.runs import Side
from io_benchmark.analysis.tasks.task_costs import compare_costs
from io_benchmark.analysis.tasks.task_model import (
    CostComparison,
    Reference,
    Standing,
    TaskComparison,
    TaskReport,
)
from io_benchmark.analysis.tasks.task_pair import TaskPair
from io_benchmark.analysis.tasks.task_warnings import warnings_of
from io_benchmark.costs.worker_time import Price
from io_benchmark.results.workload import NS_PER_S
from io_benchmark.sources.task_runs import TaskRun

_NAMED = 3


class TaskOptions(Struct, frozen=True):
    margin: float = levels.DEFAULT_MARGIN
    worker_variation: float = levels.DEFAULT_WORKER_VARIATION
    prices: Mapping[str, Price] = field(default_factory=dict)
    benchmark: Report | None = None  # of the same sides
    operations: int | None = None  # of the benchmark, in one task


def compare_tasks(
    plan: Plan,
    sides: Mapping[str, Sequence[TaskRun]],
    options: TaskOptions,
    *,
    unreadable: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> TaskReport:
    """Compare the sides' runs."""
    used = {name: Side.of(name, plan.pool(name), runs) for name, runs in sides.items() if runs}
    messages = [statement("{remark}", remark=remark) for remark in remarks]
    by_sides = {
        (candidate, baseline): TaskPair.of(
            used[candidate], used[baseline], options.worker_variation
        )
        for candidate, baseline in plan.pairs
        if candidate in used and baseline in used
    }
    pairs = [pair for pair in by_sides.values() if pair is not None]
    messages += _nothing_in_common([sides for sides, pair in by_sides.items() if pair is None])
    judgements = judge(
        [pair.ratio.estimate for pair in pairs], [pair.look for pair in pairs], options.margin
    )
    comparisons = []
    for pair, judgement in zip(pairs, judgements, strict=True):
        advice = _advise(pair, judgement, len(pairs), options)
        comparison = _comparison(pair, judgement, advice, options)
        if options.benchmark is not None:
            measured, reasons = _references(options.benchmark, comparison, options.operations)
            comparison = replace(comparison, references=measured)
            messages += reasons
        comparisons.append(comparison)
    return TaskReport(
        plan.title,
        plan.baseline,
        plan.baseline_reason,
        options.margin,
        tuple(used[name].counts for name in plan.order(list(used))),
        tuple(comparisons),
        tuple(unreadable),
        tuple(messages),
    )


def _nothing_in_common(pairs: Sequence[tuple[str, str]]) -> list[Statement]:
    messages = [
        statement(
            "{candidate} and {baseline} have no label in common with a completed run",
            candidate=candidate,
            baseline=baseline,
        )
        for candidate, baseline in pairs[:_NAMED]
    ]
    if len(pairs) > _NAMED:
        text = "{count} more pools have no label in common with {baseline}"
        more = statement(text, count=count(len(pairs) - _NAMED), baseline=pairs[0][1])
        messages.append(more)
    return messages


def _comparison(
    pair: TaskPair, judgement: Judgement, advice: Advice | None, options: TaskOptions
) -> TaskComparison:
    ratio, interval = judgement.estimate.ratio, judgement.interval
    baseline_s = pair.baseline.mean_s
    failed, lost, stopped = zip(
        pair.baseline.side.not_completed(pair.mix),
        pair.candidate.side.not_completed(pair.mix),
        strict=True,
    )
    cost = compare_costs(pair, options.prices, judgement.level)
    comparison = TaskComparison(
        baseline=pair.baseline.side.name,
        candidate=pair.candidate.side.name,
        ratio=ratio,
        interval=interval,
        interval_90=judgement.interval_90,
        p_value=judgement.p_value,
        verdict=judgement.verdict,
        workers=(pair.ratio.workers[1].count, pair.ratio.workers[0].count),
        completed=(len(pair.baseline.runs), len(pair.candidate.runs)),
        failed=failed,
        lost=lost,
        stopped=stopped,
        difference_s=baseline_s * (ratio - 1),
        difference_interval_s=(
            baseline_s * (interval.low_ratio - 1),
            baseline_s * (interval.high_ratio - 1),
        ),
        times=pair.times,
        labels=pair.label_rows(options.worker_variation),
        only_one_side=len(pair.candidate.side.labels ^ pair.baseline.side.labels),
        advice=advice,
        look=pair.look.label,
        cost=cost if isinstance(cost, CostComparison) else None,
    )
    warnings = [*warnings_of(pair, comparison), *([cost] if isinstance(cost, Statement) else [])]
    return replace(comparison, warnings=tuple(warnings))


def _advise(
    pair: TaskPair, judgement: Judgement, comparisons: int, options: TaskOptions
) -> Advice | None:
    """Return how many workers to add; None where there is a verdict, or one worker per side."""
    if judgement.verdict is not Verdict.INCONCLUSIVE or math.isinf(judgement.estimate.variance):
        return None
    workers = Pair(
        pair.candidate.side.name,
        pair.baseline.side.name,
        *pair.ratio.workers,
        WorkerVariation.given(options.worker_variation),
        schedule=Schedule(),
    )
    return advise(judgement.estimate, workers, margin=options.margin, comparisons=comparisons)


def _references(
    report: Report, tasks: TaskComparison, operations: int | None
) -> tuple[tuple[Reference, ...], tuple[Statement, ...]]:
    """Return what a benchmark says about two sides, and messages where it says nothing."""
    sides = (tasks.candidate, tasks.baseline)
    compared = (
        (part, comparison)
        for part in report.subjects
        for comparison in part.comparisons
        if (comparison.candidate, comparison.baseline) == sides
    )
    part, measured = next(compared, (None, None))
    if part is None or measured is None:
        message = statement(
            "--benchmark compares nothing between {candidate} and {baseline}: give results of the "
            "worker pools of both",
            candidate=tasks.candidate,
            baseline=tasks.baseline,
        )
        return (), (message,)
    about = str(part.subject)
    standing = _standing(measured.ratio, measured.interval, tasks)
    benchmark = Reference("benchmark", about, measured.ratio, measured.interval, standing)
    if operations is None:
        return (benchmark,), ()
    operation_ns = part.figures[tasks.baseline].mean_ns
    share = operations * operation_ns / (tasks.times[tasks.baseline].task_s * NS_PER_S)
    if share > 1:
        message = statement(
            "--operations {operations}: these take {factor} the time of a task on {baseline}; check "
            "the number",
            operations=count(operations),
            factor=Quantity(share, Unit.RATIO),
            baseline=tasks.baseline,
        )
        return (benchmark,), (message,)
    bounds = measured.interval
    ratio, low, high = (
        1 + share * (end - 1) for end in (measured.ratio, bounds.low_ratio, bounds.high_ratio)
    )
    interval = Interval(low, high, bounds.level_ratio)
    standing = _standing(ratio, interval, tasks)
    figures = (operations, share, operation_ns)
    return (benchmark, Reference("operations", about, ratio, interval, standing, *figures)), ()


def _standing(ratio: float, interval: Interval, tasks: TaskComparison) -> Standing:
    """Compare two ratios: they differ where their difference is larger than both intervals allow.

    The squares of the widths add up, as those of independent estimates do.
    """
    distance = math.log(ratio / tasks.ratio)
    width = math.hypot(
        _width(ratio, interval, distance < 0), _width(tasks.ratio, tasks.interval, distance > 0)
    )
    if abs(distance) <= width:
        return "fits"
    both_differ = interval.excludes(1.0) and tasks.interval.excludes(1.0)
    if both_differ and (ratio > 1) != (tasks.ratio > 1):
        return "contradicts"
    is_larger = abs(math.log(ratio)) > abs(math.log(tasks.ratio))
    return "overstates" if is_larger else "understates"


def _width(ratio: float, interval: Interval, upwards: bool) -> float:
    end = interval.high_ratio if upwards else interval.low_ratio
    return abs(math.log(end / ratio)) if 0 < end < math.inf else math.inf
