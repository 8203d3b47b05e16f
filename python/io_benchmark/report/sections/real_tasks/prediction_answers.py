# SPDX-License-Identifier: MPL-2.0
"""Predictions in sentences: one per pool, the fastest and the cheapest, and what has no time."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.prediction.prediction_model import PREDICTION_LEVEL, PoolPrediction
from io_benchmark.analysis.statistics.levels import DEFAULT_MARGIN
from io_benchmark.number_text import is_cut, listed, number_of, percent, ratio
from io_benchmark.report import blocks
from io_benchmark.report.content import sharing, text_of
from io_benchmark.report.drawn import Dot, StripRow
from io_benchmark.report.sections.real_tasks.profiled_task import (
    PAID,
    ProfiledTask,
    best_ns,
    money_text,
)
from io_benchmark.report.sections.real_tasks.task_answers import change_text
from io_benchmark.text import name

# Pools that have a sentence: of a single task, and of each of several.
_POOLS_OF_ONE, _POOLS_OF_SEVERAL = 5, 1
REASONS = 2  # that the answer has; the evidence has all of more
_TITLE_CELLS = 100
_NAMED = 4  # pools in a sentence
# From this ratio of its ends on, an interval is called wide. Chosen.
_WIDE_RATIO = 2.0
# What a screen leaves out first: notes, reasons, then pools from the last one on.
_NOTE_RANK, _REASON_RANK, _POOL_RANK = 1, 2, 3
TABLE_RANK = _POOL_RANK + _POOLS_OF_ONE


def answers(task: ProfiledTask, tasks: int) -> blocks.Items:
    """Return what was profiled, the fastest and the cheapest pool, and a sentence per pool."""
    most = _POOLS_OF_ONE if tasks == 1 else _POOLS_OF_SEVERAL
    basis = number_of(
        len(task.data.measured_ns), "profile" if task.data.sha256 else "resource profile"
    )
    title = blocks.Words(name(task.title, _TITLE_CELLS), blocks.STRONG)
    time = f"{task.time(task.profiled_ns)} on {task.profiled_on}, by {basis}"
    items = [blocks.Item((title, f": {time}."), kind="now")]
    best: list[blocks.Inline] = []
    for lead, rest in _best(task):
        if best:
            best.append(" ")
        best += [blocks.Words(lead, blocks.STRONG), f" {rest}."]
    if best:
        items.append(blocks.Item(tuple(best), kind="now"))
    if task.data.more_cpus is not None:
        items.append(blocks.Item(f"{text_of(task.data.more_cpus)}.", kind="now"))
    for position, pool in enumerate(_fastest_first(task)[:most]):
        rank = blocks.ALWAYS if position == 0 else _POOL_RANK + _POOLS_OF_ONE - position
        items.append(blocks.Item.answer(*_sentence(task, pool), rank=rank))
    items += [
        blocks.Item.answer(*_range_sentence(task, pool), rank=_POOL_RANK)
        for pool in task.ranges[:most]
    ]
    further = len(task.known) - most
    if further > 0:
        items.append(blocks.Item(f"and {number_of(further, 'more pool')}"))
    if not task.data.pools:
        items.append(blocks.Item("Nothing to predict: --on has no results of other pools."))
    for reason in refusals(task)[:REASONS]:
        lead = f"Not predicted on {reason}"
        items.append(blocks.Item.answer(blocks.NO_VERDICT, lead, rank=_REASON_RANK))
    for note in task.data.notes:
        words = blocks.Words(f"{text_of(note)}.", blocks.WARNING)
        items.append(blocks.Item(words, mark="!", rank=_NOTE_RANK))
    return blocks.Items(items)


def refusals(task: ProfiledTask) -> list[str]:
    """Return 'amd-16, amd-30: the reason.'; a measured pool needs none."""
    reasons = [
        (pool.pool, f"{text_of(pool.reason)}.")
        for pool in task.data.pools
        if pool.reason and not pool.measured_ns and pool not in task.ranges
    ]
    return [f"{listed(names.split(', '), _NAMED)}: {reason}" for names, reason in sharing(reasons)]


def _fastest_first(task: ProfiledTask) -> list[PoolPrediction]:
    return sorted(task.known, key=lambda pool: (best_ns(pool) or 0.0, pool.pool))


def _sentence(task: ProfiledTask, pool: PoolPrediction) -> tuple[str, str, str]:
    """Return the verdict, what to read if one reads nothing else, and the rest."""
    drawn, time_ns = task.ratio(pool), best_ns(pool) or 0.0
    share = f"{percent(PREDICTION_LEVEL)} of single tasks"
    as_long = f"{ratio(time_ns / task.profiled_ns)} as long as on {task.profiled_on}"
    predicted = f"{task.interval(pool)} for {share}"
    if pool.measured_ns:
        lead = f"On {pool.pool} it took {task.time(time_ns)}"
        profiles = number_of(len(pool.measured_ns), "profile")
        rest = f", by {profiles}, {as_long}"
        if pool.time_ns:
            rest += f"; predicted: {task.time(pool.time_ns)} ({predicted})"
    else:
        lead = f"On {pool.pool} it takes {task.time(time_ns)}"
        rest = f" ({predicted}), {as_long}"
    verdict = Verdict.INCONCLUSIVE if drawn is None else drawn.verdict
    if pool.measured_ns:
        verdict = Verdict.SLOWER if time_ns > task.profiled_ns else Verdict.FASTER
    return verdict, lead, f"{rest}{_doubts(pool, verdict)}{_cost(task, pool, time_ns)}."


def _range_sentence(task: ProfiledTask, pool: PoolPrediction) -> tuple[str, str, str]:
    """Return the same of a pool where no time of its range is likely."""
    low, high = (money_text(end, pool.price) for end in (pool.at_least_ns, pool.at_most_ns))
    cost = f"; {PAID} cost {low} to {high}" if low else ""
    reason = f": {text_of(pool.reason)}" if pool.reason else ""
    return (
        Verdict.INCONCLUSIVE,
        f"On {pool.pool} it takes {task.interval(pool)}",
        f"{cost}{reason}.",
    )


def _doubts(pool: PoolPrediction, verdict: str) -> str:
    """Return what limits a predicted time: its interval, and results of a single worker."""
    doubts = []
    if not pool.measured_ns and verdict == Verdict.INCONCLUSIVE:
        doubts.append("neither clearly slower nor clearly faster")
    low, high = pool.low_ns or 0.0, pool.high_ns or 0.0
    if pool.time_ns and high > _WIDE_RATIO * low and not is_cut(low, high):
        doubts.append("a wide interval")
    if pool.workers == 1 and pool.time_ns:
        doubts.append("by results of one worker")
    return "".join(f", {doubt}" for doubt in doubts)


def _cost(task: ProfiledTask, pool: PoolPrediction, time_ns: float) -> str:
    """Write '; 1,000 tasks cost 0.15 USD (−25 %)'; nothing without a price."""
    amount = money_text(time_ns, pool.price)
    if not amount:
        return ""
    price_ratio = task.price_ratio(pool)
    change = ""
    if price_ratio is not None:
        change = f" ({change_text(price_ratio * time_ns / task.profiled_ns)})"
    return f"; {PAID} cost {amount}{change}"


class _Span(NamedTuple):
    """A pool's time or cost, with the ends of its interval."""

    middle: float
    low: float
    high: float


def _best(task: ProfiledTask) -> Iterator[tuple[str, str]]:
    """Yield which pool is fastest and which is cheapest, and which may be as good."""
    times = {task.profiled_on: _Span(*[task.profiled_ns] * 3)}
    prices = {task.profiled_on: task.data.price}
    for pool in task.known:
        middle = best_ns(pool) or 0.0
        ends = (middle, middle)
        if not pool.measured_ns:
            ends = pool.low_ns or 0.0, pool.high_ns or 0.0
        times[pool.pool] = _Span(middle, *ends)
        prices[pool.pool] = pool.price
    for pool in task.ranges:
        low_ns, high_ns = pool.at_least_ns or 0.0, pool.at_most_ns or 0.0
        # Without a likely time, the longest one is certain.
        times[pool.pool] = _Span(high_ns, low_ns, high_ns)
        prices[pool.pool] = pool.price
    if len(times) < 2:
        return
    yield "Fastest:", _first(times, "fast")
    priced = {pool: price for pool, price in prices.items() if price is not None}
    # Amounts of two currencies have no order.
    if len(priced) > 1 and len({price.currency for price in priced.values()}) == 1:
        costs = {
            pool: _Span(*(value * price.per_hour for value in times[pool]))
            for pool, price in priced.items()
        }
        # A profile of a command lacks the rest of its task.
        alone = ", by this command's time alone" if task.data.sha256 else ""
        yield "Cheapest:", f"{_first(costs, 'cheap')}{alone}"


def _first(spans: Mapping[str, _Span], quality: str) -> str:
    """Write 'intel; amd-30 may be as fast', of which the intervals overlap."""
    first, *others = sorted(spans, key=lambda pool: (spans[pool].middle, pool))
    overlapping = [pool for pool in others if spans[pool].low <= spans[first].high]
    if not overlapping:
        return first
    return f"{first}; {listed(overlapping, _NAMED)} may be as {quality}"


def picture(task: ProfiledTask, most: int = 0) -> Sequence[blocks.Picture]:
    """Draw the profiled pool and the fastest of the others, as ratios to it."""
    if not task.known:
        return []
    rows = [
        StripRow(
            name=task.profiled_on,
            verdict=blocks.BASELINE,
            chip=f"profiled, {task.time(task.profiled_ns)}",
            ratio=1.0,
            noun="profile",
            dots=_dots(task, task.data.measured_ns),
        )
    ]
    for pool in _fastest_first(task)[: most or None]:
        drawn = task.ratio(pool)
        time_ns = best_ns(pool) or 0.0
        row = StripRow(
            name=pool.pool,
            verdict=_sentence(task, pool)[0],
            chip=f"{'measured, ' if pool.measured_ns else ''}{task.time(time_ns)}",
            ratio=time_ns / task.profiled_ns,
            interval=drawn.interval if drawn else None,
            noun="profile",
            dots=_dots(task, pool.measured_ns),
        )
        rows.append(row)
    share = percent(PREDICTION_LEVEL)
    caption = (
        f"Time divided by that on {task.profiled_on}: each dot is a profile, and {share} of single "
        "tasks are on the line"
    )
    return blocks.Picture.strip(caption, rows, DEFAULT_MARGIN)


def _dots(task: ProfiledTask, times_ns: Sequence[int]) -> list[Dot]:
    return [
        Dot(time_ns / task.profiled_ns, f"a profile: {task.time(time_ns)}") for time_ns in times_ns
    ]
