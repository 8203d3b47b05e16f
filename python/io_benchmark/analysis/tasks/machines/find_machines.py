# SPDX-License-Identifier: MPL-2.0
"""From the runs of pools to a report: which machines are slow, since when, and what that costs."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from io_benchmark.analysis.model.statements import Statement, count, statement
from io_benchmark.analysis.statistics import levels
from io_benchmark.analysis.tasks.machines.failing_machines import Failures, count_failures
from io_benchmark.analysis.tasks.machines.machine_effects import machine_blocks
from io_benchmark.analysis.tasks.machines.machine_levels import (
    MachineLevel,
    last_changes,
    machine_levels,
)
from io_benchmark.analysis.tasks.machines.machine_model import (
    MachineFigures,
    MachinePool,
    MachineReport,
    MachineState,
    PoolState,
)
from io_benchmark.analysis.tasks.machines.machine_names import (
    count_overlaps,
    names_in_several_pools,
    overlapping,
    remarks_on_ids,
    remarks_on_overlaps,
    several_machines,
)
from io_benchmark.analysis.tasks.machines.machine_runs import (
    COMPLETED,
    Codes,
    Flags,
    MachineRuns,
    Numbers,
    PoolRuns,
    sums_of,
)
from io_benchmark.analysis.tasks.machines.slow_machines import Judgement, judge_machines
from io_benchmark.costs.worker_time import Price

_HOUR_MS, _DAY_MS, _WEEK_MS = 3_600_000, 86_400_000, 604_800_000
_MOST_BLOCKS, _FEWEST_DAYS = 60, 6
_PARTS_OF_SHORT = 8  # blocks of runs that span fewer days
_FEWEST_MACHINES = 4  # of a label: fewer do not show which of them is usual
# Half of the runs are on workers that were seen for less: instances of a cloud. Chosen.
_SHORT_LIFE_MS, _SHORT_SHARE = _DAY_MS, 1 / 4


class _Newest(NamedTuple):
    """What a machine is like since its last change."""

    level: MachineLevel | None
    change: int | None = None  # the block that it begins with
    before: MachineLevel | None = None


def find_machines(
    runs: MachineRuns,
    *,
    margin: float = levels.DEFAULT_MARGIN,
    prices: Mapping[str, Price] | None = None,
) -> MachineReport:
    """Judge the machines of each pool."""
    pools, remarks = [], list(_left_out(runs))
    first_ms, last_ms = [], []
    names: defaultdict[str, list[str]] = defaultdict(list)
    for pool_runs in runs.pool_runs():
        first_ms.append(int(pool_runs.started_ms.min()))
        last_ms.append(int((pool_runs.started_ms + pool_runs.time_ms).max()))
        pool = judge_pool(pool_runs, margin)
        price = _price(runs, pool_runs.pool, prices or {})
        pools.append(pool if price is None else _with_price(pool, price))
        if pool.state is not PoolState.SHORT_LIVED:
            overlap = overlapping(count_overlaps(pool_runs), pool_runs)
            remarks += remarks_on_overlaps(pool_runs.pool, pool_runs.machines, overlap)
            remarks += remarks_on_ids(pool_runs.pool, pool_runs.machines)
            for machine in pool_runs.machines:
                names[machine].append(pool_runs.pool)
    remarks += names_in_several_pools(names)
    pools.sort(key=lambda pool: (-_lost_hours(pool), pool.state is not PoolState.JUDGED, pool.pool))
    return MachineReport(
        margin_ratio=margin,
        first_day=_day(min(first_ms)) if first_ms else "",
        last_day=_day(max(last_ms)) if last_ms else "",
        pools=tuple(pools),
        remarks=tuple(remarks),
    )


def _lost_hours(pool: MachinePool) -> float:
    return math.fsum(machine.lost_hours_per_week for machine in pool.machines)


def _left_out(runs: MachineRuns) -> Iterator[Statement]:
    if runs.unusable:
        template = "runs whose times contradict each other: {count}; they are left out"
        yield statement(template, count=count(runs.unusable))
    if runs.without_worker:
        template = "runs without the name of a worker: {count}; they are left out"
        yield statement(template, count=count(runs.without_worker))


def judge_pool(runs: PoolRuns, margin: float) -> MachinePool:
    """Judge the machines of one pool."""
    pool = MachinePool(
        pool=runs.pool,
        state=PoolState.JUDGED,
        workers=len(runs.machines),
        runs=len(runs.label),
        labels=len(runs.labels),
    )
    end_ms = runs.started_ms + runs.time_ms
    first_ms = np.full(len(runs.machines), np.iinfo(np.int64).max)
    last_ms = np.zeros(len(runs.machines), dtype=np.int64)
    np.minimum.at(first_ms, runs.machine, runs.started_ms)
    np.maximum.at(last_ms, runs.machine, end_ms)
    lifetime_ms = float(np.median((last_ms - first_ms)[runs.machine]))
    start_ms, span_ms = int(runs.started_ms.min()), int(end_ms.max() - runs.started_ms.min())
    if lifetime_ms < min(_SHORT_LIFE_MS, span_ms * _SHORT_SHARE):
        hours = lifetime_ms / _HOUR_MS
        return replace(pool, state=PoolState.SHORT_LIVED, lifetime_hours=hours)
    length_ms = _block_length_ms(span_ms)
    # A block that is a day begins at midnight.
    start_ms -= start_ms % min(length_ms, _DAY_MS)
    block = (runs.started_ms - start_ms) // length_ms
    blocks = int(block.max()) + 1
    times = [datetime.fromtimestamp((start_ms + length_ms * n) / 1000, UTC) for n in range(blocks)]
    completed = runs.ending == COMPLETED
    newest = _newest_levels(runs.select(completed), block[completed], blocks)
    judged = judge_machines([machine.level for machine in newest])
    failures = count_failures(runs, block)
    at_once = count_overlaps(runs)
    several = several_machines(overlapping(at_once, runs))
    machines = [
        _figures(name, machine, judgement, times, margin)
        for name, machine, judgement in zip(runs.machines, newest, judged.machines, strict=True)
    ]
    machines = _with_load(machines, runs, failures, at_once, several, last_ms, times)
    machines.sort(key=lambda figures: (-figures.lost_hours_per_week, -(figures.ratio or 0)))
    if judged.usual is None:
        return replace(pool, state=PoolState.FEW, machines=tuple(machines))
    variation = math.sqrt(judged.usual.variance)
    return replace(pool, variation_ratio=variation, machines=tuple(machines))


def _block_length_ms(span_ms: int) -> int:
    """Return the length of blocks: days, several where there are many, or parts of few days."""
    if span_ms < _FEWEST_DAYS * _DAY_MS:
        hours = max(1, math.ceil(span_ms / _PARTS_OF_SHORT / _HOUR_MS))
        return _HOUR_MS * min(hours, 24)
    return _DAY_MS * math.ceil(span_ms / _DAY_MS / _MOST_BLOCKS)


def _newest_levels(runs: PoolRuns, block: Codes, blocks: int) -> list[_Newest]:
    """Return each machine's newest level, by runs of labels that several machines ran.

    What a machine was before its last change is another machine, so that it does not count.
    """
    machines = len(runs.machines)
    pairs = np.unique(runs.label * machines + runs.machine)
    machines_of_label = np.bincount(pairs // machines, minlength=len(runs.labels))
    is_common = machines_of_label[runs.label] >= _FEWEST_MACHINES
    if not is_common.any():
        return [_Newest(None)] * machines
    runs, block = runs.select(is_common), block[is_common]
    effects = machine_blocks(runs, block, blocks)
    changes = last_changes(effects)
    changed = [number for number, change in enumerate(changes) if change is not None]
    if changed:
        since = np.array([-1 if change is None else change for change in changes])
        former = np.zeros(machines, dtype=np.int64)
        former[changed] = machines + np.arange(len(changed))
        is_former = block < since[runs.machine]
        machine = np.where(is_former, former[runs.machine], runs.machine)
        names = (*runs.machines, *(runs.machines[number] for number in changed))
        effects = machine_blocks(runs._replace(machine=machine, machines=names), block, blocks)
    levels_of_all = machine_levels(effects)
    before = dict(zip(changed, levels_of_all[machines:], strict=True))
    return [
        _Newest(level, change, before.get(number))
        for number, (level, change) in enumerate(zip(levels_of_all, changes, strict=False))
    ]


def _figures(
    name: str,
    machine: _Newest,
    judgement: Judgement | None,
    times: Sequence[datetime],
    margin: float,
) -> MachineFigures:
    """Return what is known of a machine's speed."""
    figures = MachineFigures(machine=name, state=MachineState.UNKNOWN, runs=0, hours_per_week=0.0)
    level = machine.level
    if level is None or judgement is None:
        return figures
    state = MachineState.USUAL
    if judgement.is_unusual and judgement.ratio >= 1 + margin:
        state = MachineState.SLOW
    elif judgement.is_unusual and judgement.ratio <= 1 / (1 + margin):
        state = MachineState.FAST
    since, before = None, None
    if machine.change is not None:
        since = _moment(times, machine.change)
    if machine.before is not None:
        before = judgement.ratio * math.exp(machine.before.log - level.log)
    return replace(
        figures,
        state=state,
        ratio=judgement.ratio,
        interval=judgement.interval,
        since=since,
        before_ratio=before,
    )


def _moment(times: Sequence[datetime], block: int) -> str:
    """Return the day of a block, with the hour where blocks are shorter."""
    is_day = all(time.hour == 0 for time in times)
    return times[block].strftime("%Y-%m-%d" if is_day else "%Y-%m-%d %H:00")


def _with_load(
    machines: Sequence[MachineFigures],
    runs: PoolRuns,
    failures: Failures,
    at_once: Codes,
    several: Flags,
    last_ms: Codes,
    times: Sequence[datetime],
) -> list[MachineFigures]:
    """Add how much time each machine spends and loses per week since its last change."""
    moments = {_moment(times, block): time.timestamp() * 1000 for block, time in enumerate(times)}
    first_ms = min(moments.values())
    since_ms = np.array([moments.get(machine.since or "", first_ms) for machine in machines])
    end_ms = int((runs.started_ms + runs.time_ms).max())
    is_now = runs.started_ms >= since_ms[runs.machine]
    weeks = np.maximum(end_ms - since_ms, _DAY_MS) / _WEEK_MS

    def hours_per_week(rows: Numbers) -> Numbers:
        spent_ms = sums_of(runs.machine, runs.time_ms * rows, len(machines))
        per_week: Numbers = spent_ms / _HOUR_MS / weeks
        return per_week

    completed = runs.ending == COMPLETED
    spent_h = hours_per_week(is_now.astype(np.float64))
    completed_h = hours_per_week((is_now & completed).astype(np.float64))
    completed_runs = np.bincount(runs.machine, completed, len(machines))
    loaded = []
    for number, machine in enumerate(machines):
        lost_h = 0.0
        if machine.state is MachineState.SLOW and machine.ratio is not None:
            lost_h = float(completed_h[number]) * (1 - 1 / machine.ratio)
        loaded.append(
            replace(
                machine,
                runs=int(completed_runs[number]),
                hours_per_week=float(spent_h[number]),
                lost_hours_per_week=lost_h,
                last_day=_day(int(last_ms[number])),
                not_completed=int(failures.counts[number]),
                expected_not_completed=float(failures.expected[number]),
                fails_more=bool(failures.are_more[number]),
                at_once=int(at_once[number]),
                may_be_several=bool(several[number]),
            )
        )
    return loaded


def _price(runs: MachineRuns, pool: str, prices: Mapping[str, Price]) -> Price | None:
    """Return the given price of a pool, else that of its runs if they have one currency."""
    costs = {currency: sums for (name, currency), sums in runs.costs.items() if name == pool}
    if prices or len(costs) != 1:
        return Price.find(prices, pool.rpartition("/")[2], pool)
    ((currency, (amount, spent_ms)),) = costs.items()
    return Price(amount / (spent_ms / _HOUR_MS), currency)


def _with_price(pool: MachinePool, price: Price) -> MachinePool:
    machines = [
        replace(machine, lost_money_per_week=price.per_hour * machine.lost_hours_per_week)
        for machine in pool.machines
    ]
    return replace(pool, machines=tuple(machines), currency=price.currency)


def _day(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).date().isoformat()
