# SPDX-License-Identifier: MPL-2.0
"""A ranking in sentences: the labels that cost most, what to do about each, and their sum."""

import math
from collections.abc import Iterator, Sequence

from msgspec import UNSET

from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.tasks.ranking import ExplainedRanking, LabelRanking, RankedLabel
from io_benchmark.number_text import MINUS, compact, money, number_of, plural, ratio, signed
from io_benchmark.report import blocks
from io_benchmark.report.content import ends_text, workers_text
from io_benchmark.report.drawn import AmountRow
from io_benchmark.report.sections.real_tasks import phase_differences
from io_benchmark.text import name

_S_PER_HOUR, _MONTH_DAYS = 3600, 30
_DRAWN = 3  # more would move the sentences off a first screen
_ANSWERED = 3  # labels that have a sentence; the table has all
# Characters of the names of a label and of a pool in a sentence.
_LABEL_CELLS = 60
_POOL_CELLS = 40
# What a screen leaves out first: what to do about a label, sentences from the last one on, and at
# last what to do about the first label.
_BELOW_RANK, _SENTENCE_RANK = 3, 4
FIRST_RANK = _SENTENCE_RANK + _ANSWERED


def answers(ranking: LabelRanking) -> blocks.Items:
    """Return a sentence for each label that costs most, and one for all labels together."""
    if not ranking.labels:
        return blocks.Items([blocks.Item.answer(blocks.NO_VERDICT, *_nothing(ranking))])
    commands: Sequence[str] = ()
    if isinstance(ranking, ExplainedRanking):
        commands = ranking.next_commands
    items = []
    for position, row in enumerate(ranking.labels[:_ANSWERED]):
        is_first = position == 0
        below = []
        if row.phases is not UNSET:
            words = f"{phase_differences.sentence(row.phases)}{_hours_of_set_up(row, ranking)}"
            below.append(blocks.Item.led("Set-up by logs:", words))
        if commands and commands[position]:
            rank = FIRST_RANK if is_first else _BELOW_RANK
            below.append(blocks.Item.led("What now:", f"`{commands[position]}`", rank=rank))
        rank = blocks.ALWAYS if is_first else _SENTENCE_RANK + _ANSWERED - position
        items.append(blocks.Item.answer(Verdict.SLOWER, *_sentence(row, ranking), below, rank))
    items.append(blocks.Item(_sum(ranking), kind="now"))
    return blocks.Items(items)


def picture(ranking: LabelRanking) -> list[blocks.Picture]:
    """Draw what the costliest labels take longer per month."""
    rows = [
        AmountRow(
            name=name(row.label, _LABEL_CELLS),
            detail=f"{name(row.pool, _POOL_CELLS)} against {name(row.reference, _POOL_CELLS)}",
            verdict=Verdict.SLOWER,
            outcome=f"+{hours_text(row)}",
            amount=row.hours,
            low=row.hours_interval[0],
            high=row.hours_interval[1],
        )
        for row in ranking.labels[:_DRAWN]
    ]
    return blocks.Picture.amounts("Worker hours per month more than on the fastest pool", rows)


def hours_text(row: RankedLabel) -> str:
    """Write '193 (179 to 205)'."""
    low, high = (compact(end) for end in row.hours_interval)
    return f"{compact(row.hours)} ({low} to {high})"


def _hours_of_set_up(row: RankedLabel, ranking: LabelRanking) -> str:
    """Return what the named phases take longer per month, of all runs of the label."""
    if row.phases is UNSET:
        return ""
    decided_s = math.fsum(
        phase.difference_s for phase in row.phases.differences if phase.is_decided
    )
    if decided_s <= 0:
        return ""
    hours = decided_s * row.runs[0] / _S_PER_HOUR * _MONTH_DAYS / ranking.days
    return f" That is {_worker_hours(hours)} per month."


def _worker_hours(hours: float) -> str:
    written = compact(hours)
    return f"{written} worker {plural(1 if written == '1' else hours, 'hour')}"


def _nothing(ranking: LabelRanking) -> tuple[str, str]:
    if not ranking.compared:
        return (
            "Nothing could be compared.",
            " No label has completed runs on two workers each of two pools.",
        )
    pairs = number_of(ranking.compared, "pair")
    unread = " What could not be read is not compared." if ranking.unreadable else ""
    lead = "No label is proven to take longer on a pool"
    return lead, f", of {pairs} of a label and a pool.{unread}"


def _sentence(row: RankedLabel, ranking: LabelRanking) -> tuple[str, str]:
    """Return what to read if one reads nothing else, and the rest of the sentence."""
    label, pool = name(row.label, _LABEL_CELLS), name(row.pool, _POOL_CELLS)
    reference = name(row.reference, _POOL_CELLS)
    hours = _worker_hours(row.hours)
    low, high = (compact(end) for end in row.hours_interval)
    times = f"{ratio(row.ratio)} as long ({ends_text(row.interval)}; {workers_text(row.workers)})"
    why = f", because of {row.cause}" if row.cause else ""
    if row.money is None:
        lead = f"{label} on {pool} takes {hours} per month more than on {reference}"
        return lead, f" ({low} to {high}): {times}{why}."
    size = f"{money(abs(row.money))} {row.currency} per month"
    change = f"saves {size} against" if row.money < 0 else f"costs {size} more than on"
    lead = f"{label} on {pool} {change} {reference}"
    bounds = _money_bounds(row, row.money, ranking)
    return lead, f"{bounds}, and takes {hours} more ({low} to {high}): {times}{why}."


def _money_bounds(row: RankedLabel, amount: float, ranking: LabelRanking) -> str:
    """Return ' (5.10 to 9)': the money at the ends of the hours; prices are taken as exact."""
    prices = {pool.pool: pool.price for pool in ranking.pools}
    price = prices.get(row.reference)
    if price is None:
        return ""
    # The hours of the pool were counted; what the reference would take is not known exactly.
    ends = [amount + price.per_hour * (end - row.hours) for end in row.hours_interval]
    least, most = sorted(-end for end in ends) if amount < 0 else ends
    return f" ({_amount(least)} to {_amount(most)})"


def _amount(value: float) -> str:
    return f"{MINUS if value < 0 else ''}{money(abs(value))}"


def _sum(ranking: LabelRanking) -> str:
    """Return what all ranked labels cost together, and between which bounds."""
    rows = ranking.labels
    hours = _worker_hours(math.fsum(row.hours for row in rows))
    low, high = (compact(math.fsum(row.hours_interval[end] for row in rows)) for end in (0, 1))
    paid = "".join(f", {amount}" for amount in _amounts(rows))
    days = compact(ranking.days)
    return (
        f"Sum of {number_of(len(rows), 'pair')} of a label and a pool: +{hours} per "
        f"month ({low} to {high}; all intervals hold together){paid}, by {days} "
        f"{plural(1 if days == '1' else ranking.days, 'day')} of runs. Pairs without a proven "
        f"difference are not in it{_lost(ranking)}."
    )


def _amounts(rows: Sequence[RankedLabel]) -> Iterator[str]:
    """Yield the sum of the money in each currency."""
    currencies = sorted({row.currency for row in rows if row.money is not None})
    for currency in currencies:
        amounts = [row.money or 0.0 for row in rows if row.currency == currency]
        total = math.fsum(amounts)
        some = f" for {len(amounts):,} of them" if len(amounts) < len(rows) else ""
        yield f"{signed(money(abs(total)), total)} {currency}{some}"


def _lost(ranking: LabelRanking) -> str:
    return "; nor is what could not be read" if ranking.unreadable else ""
