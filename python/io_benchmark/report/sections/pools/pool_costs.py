# SPDX-License-Identifier: MPL-2.0
"""What the same work costs on each pool, where prices of worker hours are given."""

from collections.abc import Iterator, Sequence

from io_benchmark.analysis.model.measurement import SubjectReport
from io_benchmark.analysis.model.report import SampledReport
from io_benchmark.costs.worker_time import Price
from io_benchmark.number_text import listed, money, number_of, ratio
from io_benchmark.report import blocks
from io_benchmark.report.content import ends_text, on_measurement
from io_benchmark.report.sections.measured import SideResult, by_pool, compared_ns, leader
from io_benchmark.results import workloads

_NS_PER_HOUR = 3600e9
_POOLS_NAMED = 8
_COUNT = 1000  # operations
_RANK = 4  # a screen leaves it out before other answers


def pool_costs(report: SampledReport, sides: Sequence[SideResult]) -> Iterator[blocks.Item]:
    """Write the cost of the work that the leading measurement is of, the cheapest pool first."""
    leaders = [*map(leader, by_pool(sides))]
    if report.is_only_noise or not leaders:
        return
    part = next((side for side in leaders if side.differs), leaders[0]).part
    prices = {side: report.prices[side] for side in part.figures if side in report.prices}
    # A single price compares nothing.
    if len(prices) < 2:
        return
    amounts = {
        side: _COUNT * _mean_ns(part, side) / _NS_PER_HOUR * price.per_hour
        for side, price in prices.items()
    }
    cheapest = sorted(amounts, key=lambda side: (prices[side].currency, amounts[side]))
    costs = [
        f"{side} {money(amounts[side])} {prices[side].currency}{_compared(part, side, prices)}"
        for side in cheapest
    ]
    is_retrieve = part.subject.workload not in workloads.IN_BATCHES
    count = number_of(_COUNT, "retrieve" if is_retrieve else "operation")
    lead = blocks.Words(f"{count} cost", blocks.STRONG)
    where, named = on_measurement(part.subject, report), listed(costs, _POOLS_NAMED)
    yield blocks.Item((lead, f"{where} at the given prices: {named}."), rank=_RANK)


def _mean_ns(part: SubjectReport, side: str) -> float:
    """Return the mean that ratios are of, so that costs have the same ratios."""
    means_ns = compared_ns(part).get(side, ())
    return means_ns[0] if means_ns else part.figures[side].mean_ns


def _compared(part: SubjectReport, side: str, prices: dict[str, Price]) -> str:
    """Return ' (1.71× that of intel, 1.63 to 1.80)' for a side that is compared in one currency."""
    for pair in part.comparisons:
        base = prices.get(pair.baseline)
        if pair.candidate == side and base and base.currency == prices[side].currency:
            factor = prices[side].per_hour / base.per_hour
            bounds = pair.interval.times(factor)
            return f" ({ratio(factor * pair.ratio)} that of {pair.baseline}, {ends_text(bounds)})"
    return ""
