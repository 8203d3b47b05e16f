# SPDX-License-Identifier: MPL-2.0
"""From runs of tasks to a report: which runs count, ratios within labels, verdicts, parts and cost."""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.inference import levels
from io_benchmark.analysis.inference.decisions import Judgement, judge
from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.analysis.inference.pairs import Pair
from io_benchmark.analysis.inference.worker_variation import WorkerVariation
from io_benchmark.analysis.inference.workers_needed import advise
from io_benchmark.analysis.model import Advice, Verdict
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report
from io_benchmark.analysis.statements import Statement, count, statement
from io_benchmark.analysis.tasks.references import references
from io_benchmark.analysis.tasks.runs import Side
from io_benchmark.analysis.tasks.task_costs import compare_costs
from io_benchmark.analysis.tasks.task_model import CostComparison, TaskComparison, TaskReport
from io_benchmark.analysis.tasks.task_pair import TaskPair
from io_benchmark.analysis.tasks.task_warnings import warnings_of
from io_benchmark.costs.worker_time import Price
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
            measured, reasons = references(options.benchmark, comparison, options.operations)
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
        look=pair.look.text,
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
