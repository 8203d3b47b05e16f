# SPDX-License-Identifier: MPL-2.0
"""What the ratio of two sides' tasks means for their cost.

A task costs the price of an hour × its hours × (1 + the time of lost runs ÷ that of completed
ones). The ratio of two sides' costs follows from the ratio of their times, so that the figures fit
together. Its interval has the uncertainty of the times and of the lost runs; prices are taken as
exact. What a machine costs between tasks is not included.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model.statements import Statement, joined, statement
from io_benchmark.analysis.statistics.ratios import Estimate
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.analysis.tasks.task_model import CostComparison, Ending, SideCost, TaskSide
from io_benchmark.analysis.tasks.task_pair import CommonRuns, TaskPair
from io_benchmark.costs.worker_time import Price

_S_PER_HOUR, _MS_PER_HOUR = 3600.0, 3.6e6
_STARTED: tuple[Ending, ...] = ("completed", "failed", "lost", "stopped")
_TASKS = 1000  # amounts are of this many tasks: one task costs too little to write


class _LostTime(NamedTuple):
    """The time of lost runs divided by that of completed ones."""

    share: float
    error: MeanVariance  # of ln(1 + share)


class _WorkerTime(Struct):
    """The time that one worker spent on completed and on lost runs."""

    completed_s: float = 0.0
    lost_s: float = 0.0


def compare_costs(
    pair: TaskPair, prices: Mapping[str, Price], level: float
) -> tuple[CostComparison | None, list[Statement]]:
    """Compare the costs; return why they cannot be compared, or what may mislead in it."""
    baseline, candidate = pair.baseline.side, pair.candidate.side
    baseline_price = _hourly_price(baseline, prices)
    candidate_price = _hourly_price(candidate, prices)
    if baseline_price is None or candidate_price is None:
        found = ((baseline, baseline_price), (candidate, candidate_price))
        missing = [side.name for side, price in found if price is None]
        # Without any price nobody expects costs.
        if not prices and len(missing) == 2:
            return None, []
        return None, [statement("no price for {sides}", sides=joined(missing))]
    first, second = baseline_price.currency, candidate_price.currency
    if first != second:
        template = "costs are not compared: {first} and {second} are different currencies"
        return None, [statement(template, first=first, second=second)]
    warnings = []
    first_kind, second_kind = baseline_price.kind, candidate_price.kind
    if first_kind and second_kind and first_kind != second_kind:
        message = statement(
            "prices are of different kinds: {baseline} {first}, {candidate} {second}",
            baseline=baseline.name,
            candidate=candidate.name,
            first=first_kind,
            second=second_kind,
        )
        warnings.append(message)
    source: Literal["prices", "run costs"] = "prices" if prices else "run costs"
    return _comparison(pair, baseline_price, candidate_price, level, source), warnings


def _comparison(
    pair: TaskPair,
    baseline_price: Price,
    candidate_price: Price,
    level: float,
    source: Literal["prices", "run costs"],
) -> CostComparison:
    """Return the ratio of the costs, and the amounts that follow from it."""
    estimate = pair.estimate
    baseline_lost, candidate_lost = _lost_time(pair.baseline), _lost_time(pair.candidate)
    log_lost = math.log1p(candidate_lost.share) - math.log1p(baseline_lost.share)
    error = MeanVariance.of_sum([estimate.error, baseline_lost.error, candidate_lost.error])
    price_ratio = candidate_price.per_hour / baseline_price.per_hour
    cost = Estimate(math.log(price_ratio) + estimate.log_ratio + log_lost, error)
    even = replace(cost, log_ratio=-estimate.log_ratio - log_lost)
    hours = pair.baseline.mean_s / _S_PER_HOUR
    amount = _TASKS * baseline_price.per_hour * hours * (1 + baseline_lost.share)

    def side_cost(price: Price, lost: _LostTime, per_1000: float) -> SideCost:
        return SideCost(price.per_hour, source, price.kind, price.date, lost.share, per_1000)

    return CostComparison(
        currency=candidate_price.currency,
        baseline=side_cost(baseline_price, baseline_lost, amount),
        candidate=side_cost(candidate_price, candidate_lost, amount * cost.ratio),
        price_ratio=price_ratio,
        ratio=cost.ratio,
        interval=cost.interval(level),
        break_even_ratio=even.ratio,
        break_even_interval=even.interval(level),
    )


def _hourly_price(side: TaskSide, prices: Mapping[str, Price]) -> Price | None:
    """Return the price of an hour by the given prices, else by the costs of the side's runs."""
    if prices:
        return Price.find(prices, side.pool, side.queue)
    started = [run for ending in _STARTED for run in side.runs[ending] if run.cost >= 0]
    hours = math.fsum((run.resolved_ms - run.started_ms) / _MS_PER_HOUR for run in started)
    currencies = {run.currency for run in started}
    if not hours or len(currencies) != 1:
        return None
    return Price(math.fsum(run.cost for run in started) / hours, currencies.pop())


def _lost_time(common: CommonRuns) -> _LostTime:
    """Return the share of lost time; its error is that of a ratio of sums over the workers."""
    lost = common.side.of_labels("lost", common.means_s)
    lost.sort(key=lambda run: (run.worker, run.started_ms, run.resolved_ms))
    times: dict[str, _WorkerTime] = defaultdict(_WorkerTime)
    for run in common.runs:
        times[run.worker].completed_s += (run.resolved_ms - run.started_ms) / 1000
    for run in lost:
        times[run.worker].lost_s += (run.resolved_ms - run.started_ms) / 1000
    workers = times.values()
    completed_s = math.fsum(worker.completed_s for worker in workers)
    share = math.fsum(worker.lost_s for worker in workers) / completed_s
    squares = math.fsum(
        ((worker.lost_s - share * worker.completed_s) / completed_s) ** 2 for worker in workers
    )
    count = len(workers)
    variance = squares * count / max(1, count - 1) / (1 + share) ** 2
    return _LostTime(share, MeanVariance(variance, max(1.0, count - 1.0)))
