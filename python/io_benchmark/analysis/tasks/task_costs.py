# SPDX-License-Identifier: MPL-2.0
"""What the ratio of two sides' tasks means for their cost.

A task costs the price of an hour × its hours × (1 + the time of lost runs ÷ that of completed ones). The
ratio of two sides' costs follows from the ratio of their times, so that the figures fit together. Its
interval has the uncertainty of the times and of the lost runs; prices are taken as exact. What a machine
costs between tasks is not included.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Literal

from msgspec.structs import replace

from io_benchmark.analysis.model.statements import Statement, joined, statement
from io_benchmark.analysis.statistics.ratios import Estimate
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.analysis.tasks.task_model import CostComparison, Ending, Side, SideCost
from io_benchmark.analysis.tasks.task_pair import PairSide, TaskPair
from io_benchmark.costs.worker_time import Price

_S_PER_HOUR, _MS_PER_HOUR = 3600.0, 3.6e6
_STARTED: tuple[Ending, ...] = ("completed", "failed", "lost", "stopped")
_TASKS = 1000


def compare_costs(
    pair: TaskPair, prices: Mapping[str, Price], level: float
) -> tuple[CostComparison | None, list[Statement]]:
    """Compare the costs; return why they cannot be compared, or what may mislead in it."""
    both = (pair.baseline, pair.candidate)
    names = [side.side.name for side in both]
    first, second = (_hourly_price(side.side, prices) for side in both)
    if first is None or second is None:
        missing = [name for name, price in zip(names, (first, second), strict=True) if not price]
        has_prices = bool(prices) or len(missing) == 1
        return None, [statement("no price for {sides}", sides=joined(missing))] * has_prices
    if first.currency != second.currency:
        template = "costs are not compared: {first} and {second} are different currencies"
        return None, [statement(template, first=first.currency, second=second.currency)]
    warnings = []
    if first.kind and second.kind and first.kind != second.kind:
        kinds = {"first": first.kind, "second": second.kind}
        template = "prices are of different kinds: {baseline} {first}, {candidate} {second}"
        warnings = [statement(template, baseline=names[0], candidate=names[1], **kinds)]
    return _comparison(pair, first, second, level, "prices" if prices else "run costs"), warnings


def _comparison(
    pair: TaskPair,
    baseline_price: Price,
    candidate_price: Price,
    level: float,
    source: Literal["prices", "run costs"],
) -> CostComparison:
    estimate = pair.estimate
    (lost, lost_variance), (candidate_lost, candidate_variance) = (
        _lost(side) for side in (pair.baseline, pair.candidate)
    )
    log_lost = math.log1p(candidate_lost) - math.log1p(lost)
    error = MeanVariance.of_sum([estimate.error, lost_variance, candidate_variance])
    price_ratio = candidate_price.per_hour / baseline_price.per_hour
    log_cost = math.log(price_ratio) + estimate.log_ratio + log_lost
    cost = Estimate(log_cost, error)
    even = replace(cost, log_ratio=-estimate.log_ratio - log_lost)
    amount = _TASKS * baseline_price.per_hour * (pair.baseline.mean_s / _S_PER_HOUR) * (1 + lost)

    def side_cost(price: Price, lost_share: float, per_1000: float) -> SideCost:
        return SideCost(price.per_hour, source, price.kind, price.date, lost_share, per_1000)

    return CostComparison(
        candidate_price.currency,
        side_cost(baseline_price, lost, amount),
        side_cost(candidate_price, candidate_lost, amount * cost.ratio),
        price_ratio,
        cost.ratio,
        cost.interval(level),
        even.ratio,
        even.interval(level),
    )


def _hourly_price(side: Side, prices: Mapping[str, Price]) -> Price | None:
    """Return the price of an hour by the given prices, else by the costs of the side's runs."""
    if prices:
        return Price.find(prices, side.pool, side.queue)
    started = [run for ending in _STARTED for run in side.runs[ending] if run.cost >= 0]
    hours = math.fsum((run.resolved_ms - run.started_ms) / _MS_PER_HOUR for run in started)
    currencies = {run.currency for run in started}
    if not hours or len(currencies) != 1:
        return None
    return Price(math.fsum(run.cost for run in started) / hours, *currencies)


def _lost(side: PairSide) -> tuple[float, MeanVariance]:
    """Return the time of lost runs by that of completed ones, and the variance of ln(1 + that)."""
    lost = side.side.of_labels("lost", side.means_s)
    lost.sort(key=lambda run: (run.worker, run.started_ms, run.resolved_ms))
    by_worker: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for number, runs in enumerate((side.runs, lost)):
        for run in runs:
            by_worker[run.worker][number] += (run.resolved_ms - run.started_ms) / 1000
    done = math.fsum(times[0] for times in by_worker.values())
    share = math.fsum(times[1] for times in by_worker.values()) / done
    count = len(by_worker)
    squares = math.fsum(((times[1] - share * times[0]) / done) ** 2 for times in by_worker.values())
    spread = squares * count / max(1, count - 1) / (1 + share) ** 2
    return share, MeanVariance(spread, max(1.0, count - 1.0))
