# SPDX-License-Identifier: MPL-2.0
"""From runs of tasks to a report: which runs count, ratios within labels, verdicts, parts and cost."""

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from types import MappingProxyType

from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import Advice, Verdict
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.statements import (
    Statement,
    count,
    joined,
    ratio_of,
    share,
    statement,
)
from io_benchmark.analysis.statistics import levels
from io_benchmark.analysis.statistics.advice import advise
from io_benchmark.analysis.statistics.looks import Schedule
from io_benchmark.analysis.statistics.pairs import Pair
from io_benchmark.analysis.statistics.variances import LogMeans
from io_benchmark.analysis.statistics.verdicts import Judgement
from io_benchmark.analysis.tasks.task_costs import compare_costs
from io_benchmark.analysis.tasks.task_model import Ending, Side, TaskComparison, TaskReport
from io_benchmark.analysis.tasks.task_pair import MOST_LABELS, TaskPair
from io_benchmark.costs.worker_time import Price
from io_benchmark.number_text import plural
from io_benchmark.sources.run_results import TaskRun

_NOT_COMPLETED: tuple[Ending, ...] = ("failed", "lost", "stopped")
_ENDED_DIFFER = 0.1
_LEAST_OVERLAP = 0.5


def compare_tasks(
    plan: Plan,
    sides: Mapping[str, Sequence[TaskRun]],
    *,
    margin: float = levels.DEFAULT_MARGIN,
    prices: Mapping[str, Price] = MappingProxyType({}),
    unreadable: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> TaskReport:
    used = {name: Side.of(name, plan.pool(name), runs) for name, runs in sides.items() if runs}
    by_names = {
        names: TaskPair.of(used[names[0]], used[names[1]])
        for names in plan.pairs
        if all(name in used for name in names)
    }
    pairs = _with_other_pools([pair for pair in by_names.values() if pair is not None])
    messages = [statement("{remark}", remark=remark) for remark in remarks]
    unlike = [names for names, pair in by_names.items() if pair is None]
    if unlike:
        sentence = "{candidates} and {baseline} have no label in common with a completed run"
        candidates = joined(candidate for candidate, _ in unlike)
        messages.append(statement(sentence, candidates=candidates, baseline=unlike[0][1]))
    estimates, looks = [pair.estimate for pair in pairs], [pair.look for pair in pairs]
    judgements = Judgement.of(estimates, looks, margin)
    return TaskReport(
        plan.title,
        plan.baseline,
        plan.baseline_reason,
        margin,
        tuple(used[name].counts for name in plan.order(list(used))),
        tuple(
            _comparison(pair, judgement, _advise(pair, judgement, len(pairs)), prices)
            for pair, judgement in zip(pairs, judgements, strict=True)
        ),
        tuple(unreadable),
        tuple(messages),
    )


def _with_other_pools(pairs: Sequence[TaskPair]) -> list[TaskPair]:
    """Return the pairs, each with what is assumed of few workers by those of all pools."""
    sides: dict[str, LogMeans] = {}
    for pair in pairs:
        sides |= pair.log_means
    return [pair.with_others(sides) for pair in pairs]


def _comparison(
    pair: TaskPair, judgement: Judgement, advice: Advice | None, prices: Mapping[str, Price]
) -> TaskComparison:
    baseline, candidate = pair.baseline.side, pair.candidate.side
    ratio, interval = judgement.estimate.ratio, judgement.interval
    difference_s, low_s, high_s = (
        pair.baseline.mean_s * (end - 1) for end in (ratio, interval.low_ratio, interval.high_ratio)
    )
    failed, lost, stopped = (
        (len(baseline.of_labels(ending, pair.mix)), len(candidate.of_labels(ending, pair.mix)))
        for ending in _NOT_COMPLETED
    )
    cost, cost_warnings = compare_costs(pair, prices, judgement.level)
    comparison = TaskComparison(
        baseline=baseline.name,
        candidate=candidate.name,
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
        difference_s=difference_s,
        difference_interval_s=(low_s, high_s),
        times=pair.times,
        labels=pair.label_rows,
        advice=advice,
        look=pair.look.label,
        cost=cost,
        assumed_variation=pair.variation if pair.estimate.assumed_variation else None,
    )
    return replace(comparison, warnings=(*_warnings(pair, comparison), *cost_warnings))


def _advise(pair: TaskPair, judgement: Judgement, comparisons: int) -> Advice | None:
    """Return how many workers to add; None where there is a verdict, or one worker per side."""
    if judgement.verdict is not Verdict.INCONCLUSIVE or math.isinf(
        judgement.estimate.error.variance
    ):
        return None
    names = pair.candidate.side.name, pair.baseline.side.name
    workers = Pair(*names, *pair.ratio.workers, pair.variation, schedule=Schedule())
    # A person runs the tasks, and should not have to do it again for one more worker.
    return advise(
        judgement.estimate,
        workers,
        margin=judgement.margin,
        comparisons=comparisons,
        is_one_step=True,
    )


def _warnings(pair: TaskPair, comparison: TaskComparison) -> Iterator[Statement]:
    """Return what changes how the comparison is read, the gravest first."""
    yield from _few_workers(comparison)
    yield from _different_labels(comparison)
    yield from _times_apart(pair)
    yield from _failures(comparison)
    yield from _unlike_ratios(pair, comparison)
    yield from _workers(pair)
    yield from _unusable(pair)
    if len(comparison.labels) == MOST_LABELS:
        yield statement(
            "only the {labels} labels with most runs are compared", labels=count(MOST_LABELS)
        )


def _few_workers(comparison: TaskComparison) -> Iterator[Statement]:
    """Return what is assumed where too few workers show how far those of a pool differ."""
    assumed = comparison.assumed_variation
    if max(comparison.workers) == 1:
        yield statement("one worker per pool shows nothing about other workers of these pools")
    if assumed is not None:
        yield statement(
            "too few workers to show how far those of a pool differ: {assumed}"
            + (" ({shown_by} vary by {measured})" if assumed.shown_by else ""),
            assumed=assumed.message,
            shown_by=assumed.shown_by or "",
            measured=share(assumed.measured_ratio or 0.0),
        )


def _different_labels(comparison: TaskComparison) -> Iterator[Statement]:
    if any(row.differs for row in comparison.labels):
        rows = [(row.ratio, row.label) for row in comparison.labels if row.interval is not None]
        lowest, highest = (
            statement("{ratio} ({label})", ratio=ratio_of(ratio), label=label)
            for ratio, label in (min(rows), max(rows))
        )
        yield statement(
            "labels differ, from {lowest} to {highest}: the ratio is that of this mix of them",
            lowest=lowest,
            highest=highest,
        )


def _times_apart(pair: TaskPair) -> Iterator[Statement]:
    if pair.baseline.side.pool == pair.candidate.side.pool:
        return
    starts = [[run.started_ms for run in side.runs] for side in (pair.candidate, pair.baseline)]
    low, high = max(map(min, starts)), min(map(max, starts))
    inside = [sum(low <= start <= high for start in side) / len(side) for side in starts]
    if min(inside) < _LEAST_OVERLAP and min(map(len, starts)) > 1:
        yield statement(
            "the pools ran at different times ({part} of the runs of one are in the time of both): "
            "the tasks themselves may have changed",
            part=share(min(inside)),
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
        first, second = comparison.shares(ended)
        if abs(first - second) > _ENDED_DIFFER:
            yield statement(
                f"{{first}} of the runs {verb} on {{baseline}}, {{second}} on {{candidate}}: {consequence}",
                first=share(first),
                second=share(second),
                baseline=comparison.baseline,
                candidate=comparison.candidate,
            )


def _unlike_ratios(pair: TaskPair, comparison: TaskComparison) -> Iterator[Statement]:
    """Warn of a few very long runs, which raise the mean and so the costs, and of different mixes."""
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


def _workers(pair: TaskPair) -> Iterator[Statement]:
    workers = {
        side.side.name: {run.worker for run in side.runs}
        for side in (pair.baseline, pair.candidate)
    }
    unknown = [name for name, names in workers.items() if not all(map(Side.is_known, names))]
    if unknown:
        yield statement(
            "workers of {sides} are not known: each run counts as a worker, which may be too many",
            sides=joined(unknown),
        )
    both = [*filter(Side.is_known, set.intersection(*workers.values()))]
    if both:
        noun = plural(len(both), "worker")
        yield statement(f"{{count}} {noun} ran tasks of both sides", count=count(len(both)))


def _unusable(pair: TaskPair) -> Iterator[Statement]:
    for side in (pair.baseline.side, pair.candidate.side):
        if unusable := len(side.runs["unusable"]):
            yield statement(
                "runs of {side} whose times contradict each other: {count}; they are left out",
                count=count(unusable),
                side=side.name,
            )
