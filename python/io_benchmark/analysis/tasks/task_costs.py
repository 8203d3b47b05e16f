# SPDX-License-Identifier: MPL-2.0
"""What tasks cost on two sides: by prices of an hour, or by the costs that the runs have.

A task costs the price of an hour × its hours × (1 + the time of lost runs ÷ that of completed ones). The
ratio of two sides' costs follows from the ratio of their times, so that the figures fit together. Its
interval has the uncertainty of the times and of the lost runs; prices are taken as exact. What a machine
costs between tasks is not included.
"""

import math
from collections.abc import Mapping

from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.inference.variances import MeanVariance
from io_benchmark.analysis.model import Interval
from io_benchmark.analysis.statements import Statement, joined, statement
from io_benchmark.analysis.tasks.runs import Side
from io_benchmark.analysis.tasks.task_model import CostComparison, SideCost
from io_benchmark.analysis.tasks.task_pair import PairSide, TaskPair
from io_benchmark.costs.worker_time import Price

_S_PER_HOUR = 3600.0
_TASKS = 1000


def _hourly_price(side: Side, prices: Mapping[str, Price]) -> Price | None:
    """Return the price of an hour by the given prices, else by the costs of the side's runs."""
    given = Price.find(prices, side.pool, side.queue)
    if given is not None or prices:
        return given
    hours = math.fsum(hours for _, hours, _ in side.costs)
    currencies = {currency for *_, currency in side.costs}
    if not hours or len(currencies) != 1:
        return None
    return Price(math.fsum(amount for amount, *_ in side.costs) / hours, *currencies)


def compare_costs(
    pair: TaskPair, prices: Mapping[str, Price], level: float
) -> CostComparison | Statement | None:
    """Compare the costs; return why they cannot be compared, or None where no prices are known."""
    candidate, baseline = pair.candidate, pair.baseline
    candidate_price, baseline_price = (
        _hourly_price(side.side, prices) for side in (candidate, baseline)
    )
    if candidate_price is None or baseline_price is None:
        priced = ((baseline, baseline_price), (candidate, candidate_price))
        missing = [side.side.name for side, price in priced if price is None]
        is_known = bool(prices) or len(missing) == 1
        return statement("no price for {sides}", sides=joined(missing)) if is_known else None
    if candidate_price.currency != baseline_price.currency:
        text = "costs are not compared: {first} and {second} are different currencies"
        return statement(text, first=baseline_price.currency, second=candidate_price.currency)
    estimate = pair.ratio.estimate
    log_ratio, times = estimate.log_ratio, MeanVariance(estimate.variance, estimate.degrees)
    lost = [_lost(side) for side in (baseline, candidate)]
    log_lost = math.log1p(lost[1][0]) - math.log1p(lost[0][0])
    variance = MeanVariance.of_sum([times, lost[0][1], lost[1][1]])
    price_ratio = candidate_price.per_hour / baseline_price.per_hour
    log_cost = math.log(price_ratio) + log_ratio + log_lost
    hours = baseline.mean_s / _S_PER_HOUR
    baseline_cost = _TASKS * baseline_price.per_hour * hours * (1 + lost[0][0])
    amounts = (baseline_cost, baseline_cost * math.exp(log_cost))
    sides = [
        SideCost(
            price.per_hour,
            "prices" if prices else "run costs",
            price.kind,
            price.date,
            lost_share,
            amount,
            _ends(
                math.log(amount),
                MeanVariance.of_sum([_variance_of_mean(side, pair.ratio.shares), lost_variance]),
            ),
        )
        for side, price, amount, (lost_share, lost_variance) in zip(
            (baseline, candidate), (baseline_price, candidate_price), amounts, lost, strict=True
        )
    ]
    return CostComparison(
        candidate_price.currency,
        sides[0],
        sides[1],
        price_ratio,
        math.exp(log_cost),
        Interval(*_ends(log_cost, variance, level), level),
        math.exp(-log_ratio - log_lost),
        Interval(*_ends(-log_ratio - log_lost, variance, level), level),
    )


def _lost(side: PairSide) -> tuple[float, MeanVariance]:
    """Return the time of lost runs by that of completed ones, and the variance of ln(1 + that)."""
    by_worker: dict[str, list[float]] = {}
    for run in side.runs:
        by_worker.setdefault(run.worker, [0.0, 0.0])[0] += run.task_s
    for run in sorted(side.side.lost, key=lambda run: (run.worker, run.started_ms, run.task_s)):
        if run.label in side.means_s:
            by_worker.setdefault(run.worker, [0.0, 0.0])[1] += run.task_s
    done = math.fsum(times[0] for times in by_worker.values())
    share = math.fsum(times[1] for times in by_worker.values()) / done
    count = len(by_worker)
    squares = math.fsum(((times[1] - share * times[0]) / done) ** 2 for times in by_worker.values())
    spread = squares * count / max(1, count - 1) / (1 + share) ** 2
    return share, MeanVariance(spread, max(1.0, count - 1.0))


def _variance_of_mean(side: PairSide, shares: Mapping[str, float]) -> MeanVariance:
    """Return the variance of ln of a side's mean time: of independent workers."""
    workers: dict[str, float] = {}
    for (label, worker), runs in sorted(side.cells.items()):
        mean_s = math.fsum(run.task_s for run in runs) / len(runs)
        part = shares[label] / len(side.labels[label]) * (mean_s / side.means_s[label] - 1)
        workers[worker] = workers.get(worker, 0.0) + part
    if len(workers) == 1:
        return MeanVariance(math.inf, 1.0)
    few = len(workers) / (len(workers) - 1)
    return MeanVariance(few * math.fsum(part**2 for part in workers.values()), len(workers) - 1.0)


def _ends(log: float, variance: MeanVariance, level: float = LEVEL) -> tuple[float, float]:
    if math.isinf(variance.variance):
        return 0.0, math.inf
    width = variance.half_width(level)
    return math.exp(log - width), math.exp(min(log + width, 700.0))
