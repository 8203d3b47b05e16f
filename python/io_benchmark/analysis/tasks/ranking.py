# SPDX-License-Identifier: MPL-2.0
"""Which labels cost most by running on a slower pool: of many runs, of which only sums are kept.

A label is compared by the statistics of real tasks: each worker is one mean of logarithms. The
level of the intervals is corrected for the number of pairs of a label and a pool.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import NamedTuple

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.statistics import levels, variations
from io_benchmark.analysis.statistics.ratios import Estimate
from io_benchmark.analysis.statistics.variances import LogMeans, MeanVariance
from io_benchmark.analysis.tasks.difference_model import PhasesOfPair
from io_benchmark.analysis.tasks.task_model import TaskSide
from io_benchmark.costs.worker_time import Price
from io_benchmark.sources.run_results import TaskRun

_DAY_MS, _MONTH_DAYS = 86_400_000, 30
_S_PER_HOUR = 3600.0
_WORKERS_WITH_LOGS = 20  # of a label on a pool; chosen, for the memory of a million runs
_FEWEST_WORKERS = 2  # one worker shows nothing about others
# Workers by label, with the system where there are several, and by pool.
_Sides = Mapping[tuple[str, str], Mapping[str, LogMeans]]


class RankedLabel(Struct, frozen=True):
    """A label on a pool that is slower for it than another pool."""

    label: str
    pool: str
    reference: str  # on which the label takes least
    ratio: float
    interval: Interval  # corrected for all pairs
    runs: tuple[int, int]  # completed ones, of the pool and of the reference
    workers: tuple[int, int]
    hours: float  # of workers, that the pool takes longer per month
    hours_interval: tuple[float, float]
    money: float | None  # that it costs more per month; below 0 where its hours are cheaper
    currency: str = ""
    cause: str = ""  # where benchmark results of both pools show one
    phases: PhasesOfPair | UnsetType = UNSET  # where logs of both pools were read


class RankedPool(Struct, frozen=True):
    """All runs of a pool."""

    pool: str
    labels: int
    workers: int
    runs: int
    hours: float
    lost_share: float  # of these hours, in runs that did not complete
    price: Price | None


class LabelRanking(Struct, frozen=True, tag_field="version", tag=1):
    """Labels by what their slower pools cost per month, the most expensive first."""

    days: float
    compared: int  # pairs of a label and a pool
    labels: tuple[RankedLabel, ...]
    pools: tuple[RankedPool, ...]
    unreadable: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


class ExplainedRanking(LabelRanking, frozen=True, kw_only=True):
    """A ranking with what only reports for people have; it is not published as JSON."""

    addresses: tuple[str, ...]
    first_day: str  # of the runs: 2026-11-01
    last_day: str
    # For each label the command that looks into it; empty where its names cannot be typed.
    next_commands: tuple[str, ...]


class _Cell(Struct):
    """The completed runs of one label on one worker."""

    runs: int = 0
    log_s: float = 0.0


class _CostSum(Struct):
    """What runs cost in one currency, and how long these runs took."""

    amount: float = 0.0
    hours: float = 0.0


class _PoolSums(Struct):
    """The sums of the runs of one pool."""

    runs: int = 0
    workers: set[str] = set()  # that completed a run
    completed_s: float = 0.0
    not_completed_s: float = 0.0
    costs: dict[str, _CostSum] = {}  # by currency


class _LabelPair(NamedTuple):
    """A label on a pool, and the pool on which it takes least."""

    label: str
    pool: str
    reference: str


class RunTotals(Struct):
    """The sums of runs, to which each run is added once."""

    cells: dict[tuple[str, str], dict[str, _Cell]] = {}  # of each worker, by label and pool
    pools: dict[str, _PoolSums] = {}
    # When the newest completed run of a label and a pool ended, and its task.
    newest: dict[tuple[str, str], tuple[int, str]] = {}
    first_ms: int = 0
    last_ms: int = 0
    seen: set[int] = set()  # a hash of each run; whole runs would need too much memory
    # The newest completed run of some workers, by label and pool, where logs are to be read.
    samples: dict[tuple[str, str], dict[str, TaskRun]] | None = None
    unusable: int = 0
    systems: dict[str, str] = {}  # of the pools

    def add(self, run: TaskRun) -> None:
        """Add a run that started and was not added before."""
        identity = hash((run.task_id, run.run_id)) if run.task_id else hash(run)
        ending = TaskSide.ending(run)
        if identity in self.seen or ending == "never_started":
            return
        self.seen.add(identity)
        if ending == "unusable":
            self.unusable += 1
            return
        time_s = (run.resolved_ms - run.started_ms) / 1000
        self.first_ms = min(self.first_ms or run.started_ms, run.started_ms)
        self.last_ms = max(self.last_ms, run.resolved_ms)
        sums = self.pools.setdefault(run.pool, _PoolSums())
        sums.runs += 1
        self.systems[run.pool] = run.system
        if run.cost >= 0:
            cost = sums.costs.setdefault(run.currency, _CostSum())
            cost.amount += run.cost
            cost.hours += time_s / _S_PER_HOUR
        if ending != "completed":
            sums.not_completed_s += time_s
            return
        worker = run.worker or str(identity)
        sums.workers.add(worker)
        sums.completed_s += time_s
        key = (run.label, run.pool)
        self.newest[key] = max(self.newest.get(key, (0, "")), (run.resolved_ms, run.task_id))
        cell = self.cells.setdefault(key, {}).setdefault(worker, _Cell())
        cell.runs += 1
        cell.log_s += math.log(time_s)
        if self.samples is not None and run.task_id:
            sample = self.samples.setdefault(key, {})
            is_newer = worker not in sample or run.started_ms > sample[worker].started_ms
            if is_newer and (worker in sample or len(sample) < _WORKERS_WITH_LOGS):
                sample[worker] = run

    def ranking(self, prices: Mapping[str, Price]) -> LabelRanking:
        """Return the labels that are proven slower on a pool, and a summary of each pool."""
        pool_prices = {pool: self._price(pool, prices) for pool in self.pools}
        sides = self._sides()
        pairs = list(_pairs(sides))
        # Which pool takes least is not known before: any two pools of a label may differ by chance.
        comparisons = sum(math.comb(len(by_pool), 2) for by_pool in sides.values())
        level = 1 - (1 - levels.LEVEL) / max(1, comparisons)
        days = max(1.0, (self.last_ms - self.first_ms) / _DAY_MS)
        rows = []
        for pair in pairs:
            estimate = _estimate(sides[pair.label, self._system(pair.pool)], pair, level)
            interval = estimate.interval(level)
            if interval.low_ratio > 1:  # else it may be chance
                rows.append(self._row(pair, estimate, interval, days / _MONTH_DAYS, pool_prices))
        rows.sort(key=lambda row: (-(row.money or 0), -row.hours, row.label, row.pool))
        return LabelRanking(days, len(pairs), tuple(rows), tuple(self._summaries(pool_prices)))

    def _sides(self) -> _Sides:
        """Return the pools of each label that have enough workers."""
        sides: dict[tuple[str, str], dict[str, LogMeans]] = defaultdict(dict)
        for (label, pool), workers in sorted(self.cells.items()):
            if len(workers) >= _FEWEST_WORKERS:
                sides[label, self._system(pool)][pool] = [
                    cell.log_s / cell.runs for cell in workers.values()
                ]
        return sides

    def _system(self, pool: str) -> str:
        """Return the system of a pool where several are known: there its work is another."""
        known = set(self.systems.values()) - {""}
        return self.systems[pool] if len(known) > 1 else ""

    def _row(
        self,
        pair: _LabelPair,
        estimate: Estimate,
        interval: Interval,
        months: float,
        prices: Mapping[str, Price | None],
    ) -> RankedLabel:
        """Return what a label costs more per month than on the reference."""
        pool_cells = self.cells[pair.label, pair.pool].values()
        reference_cells = self.cells[pair.label, pair.reference].values()
        # By the mean of logarithms, as the ratio is.
        spent_s = math.fsum(cell.runs * math.exp(cell.log_s / cell.runs) for cell in pool_cells)
        spent_h = spent_s / (_S_PER_HOUR * months)
        price, reference_price = prices[pair.pool], prices[pair.reference]
        money, currency = None, ""
        if price and reference_price and price.currency == reference_price.currency:
            money = spent_h * (price.per_hour - reference_price.per_hour / estimate.ratio)
            currency = price.currency
        return RankedLabel(
            label=pair.label,
            pool=pair.pool,
            reference=pair.reference,
            ratio=estimate.ratio,
            interval=interval,
            runs=(
                sum(cell.runs for cell in pool_cells),
                sum(cell.runs for cell in reference_cells),
            ),
            workers=(len(pool_cells), len(reference_cells)),
            hours=spent_h * (1 - 1 / estimate.ratio),
            hours_interval=(
                spent_h * (1 - 1 / interval.low_ratio),
                spent_h * (1 - 1 / interval.high_ratio),
            ),
            money=money,
            currency=currency,
        )

    def _price(self, pool: str, prices: Mapping[str, Price]) -> Price | None:
        """Return the given price of a pool, else that of its runs."""
        costs = self.pools[pool].costs
        if prices or len(costs) != 1:
            return Price.find(prices, pool.rpartition("/")[2], pool)
        ((currency, cost),) = costs.items()
        return Price(cost.amount / cost.hours, currency)

    def _summaries(self, prices: Mapping[str, Price | None]) -> Iterator[RankedPool]:
        """Yield a summary of each pool, first the one that spent most time on completed runs."""
        labels = Counter(pool for _, pool in self.cells)
        for pool in sorted(self.pools, key=lambda pool: (-self.pools[pool].completed_s, pool)):
            sums = self.pools[pool]
            whole_s = sums.completed_s + sums.not_completed_s
            yield RankedPool(
                pool=pool,
                labels=labels[pool],
                workers=len(sums.workers),
                runs=sums.runs,
                hours=whole_s / _S_PER_HOUR,
                lost_share=sums.not_completed_s / whole_s,
                price=prices[pool],
            )


def _pairs(sides: _Sides) -> Iterator[_LabelPair]:
    """Yield each pool of each label, except the one on which the label takes least."""
    for (label, _), by_pool in sides.items():
        means = {pool: fmean(logs) for pool, logs in by_pool.items()}
        reference = min(means, key=lambda pool: (means[pool], pool))
        for pool in means:
            if pool != reference:
                yield _LabelPair(label, pool, reference)


def _estimate(by_pool: Mapping[str, LogMeans], pair: _LabelPair, level: float) -> Estimate:
    """Compare a label's workers on two pools; those of all its pools show how far workers vary.

    Many pairs need a strict level. There Welch's degrees of freedom are too many where few workers
    are compared with many: the few agree by chance. So the many make the variation of the few
    better known only as far as their numbers are alike (rates: tests/simulation/test_ranking.py).
    """
    variation = variations.of_pair((pair.pool, pair.reference), by_pool)
    workers, reference_workers = (tuple(by_pool[name]) for name in (pair.pool, pair.reference))
    estimate = Estimate.of_means(workers, reference_workers, variation.ratio)
    few, many = sorted((len(workers), len(reference_workers)))
    means = [MeanVariance.of_mean(side) for side in (workers, reference_workers)]
    separate = MeanVariance.of_sum(means)
    separate = replace(separate, degrees=min(separate.degrees, (few - 1) * (1 + few / many)))
    wider = max(estimate.error, separate, key=lambda error: error.half_width(level))
    return replace(estimate, error=wider)
