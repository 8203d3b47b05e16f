# SPDX-License-Identifier: MPL-2.0
"""Real tasks in sentences: one per pool, with where the time goes and what it costs below it."""

import math
from collections.abc import Iterator, Sequence

from msgspec import UNSET, UnsetType

from io_benchmark import number_text
from io_benchmark.analysis.model.comparison import DIFFERENT, Interval
from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.tasks import task_model as model
from io_benchmark.analysis.tasks.difference_model import ComparedPhases
from io_benchmark.report import blocks
from io_benchmark.report.content import ends_text, text_of, verdict_text
from io_benchmark.report.sections.real_tasks import phase_differences
from io_benchmark.text import name

POOLS_NAMED = 4  # up to this many pools the title names all of them, and they keep their order
# What a screen leaves out first: rows of the table, what answers say further, then pools.
_LEFT_OUT = (
    "Stopped runs",
    "Failed runs",
    "Tear-down",
    "Set-up",
    "Pending",
    "Workers",
    "To settle it",
    "Where",
    "Money",
)
RANKS = {title: rank for rank, title in enumerate(_LEFT_OUT)}
_CAVEATS_SHOWN = 2
_NOTE_LENGTH = 220  # characters of a caveat
_ANSWERS_KEPT = (4, 2, 1)  # how many pools keep their answer at each step of leaving out more
# A difference that is smaller than this, in the unit of the whole time, is written as 0.
_NEGLIGIBLE = 0.005
# Parts of a task's time that are named in a sentence; pending is no part of it.
_PARTS = {
    model.OWN_WORK: f"its {model.OWN_WORK}",
    model.SET_UP: model.SET_UP,
    model.TEAR_DOWN: model.TEAR_DOWN,
}


def answers(report: model.TaskReport) -> blocks.Items:
    """Return a sentence per pool, with what limits it, the parts of the time and the costs."""
    items = []
    common_look = _look_of_all(report)
    limits = [] if common_look is None else [_adjusted_by(common_look)]
    if report.unreadable:
        sources = number_text.number_of(len(report.unreadable), "source")
        limits.append(f"{sources} of runs could not be read")
    if limits:
        items.append(
            blocks.Item((blocks.Words("All pools:", blocks.WARNING), f" {'; '.join(limits)}."))
        )
    for position, comparison in enumerate(in_order(report.comparisons)):
        workers = (comparison.workers.candidate, comparison.workers.baseline)
        look = ""
        if comparison.look is not None and common_look is None:
            look = f"; {_adjusted_by(comparison.look)}"
        lead, rest = verdict_text(comparison, report.margin_ratio, workers, look)
        below = [blocks.Item.led("But:", f"{caveats}.") for caveats in _caveats(comparison)]
        below += (
            blocks.Item.led(f"{title}:", sentence, rank=RANKS[title])
            for title, sentence in _below(comparison)
        )
        below += _phases(comparison, report.phases)
        sentence = f"{rest}, {_difference(comparison)}{_single_workers(comparison)}."
        rank = pool_rank(position, _ANSWERS_KEPT)
        items.append(blocks.Item.answer(comparison.verdict, lead, sentence, below, rank))
    nothing = blocks.Item.answer(blocks.NO_VERDICT, "Nothing could be compared.")
    if not report.comparisons:
        items.append(nothing)
    return blocks.Items(items, noun=" pools")


def _adjusted_by(look: Statement) -> str:
    return f"{text_of(look)}, for which intervals are wider"


def _look_of_all(report: model.TaskReport) -> Statement | None:
    """Return the look that each of several pairs has."""
    looks = {comparison.look for comparison in report.comparisons}
    return looks.pop() if len(looks) == 1 and len(report.comparisons) > 1 else None


def _caveats(comparison: model.TaskComparison) -> Iterator[str]:
    """Yield the gravest warnings as one sentence; the notes have all of them."""
    if comparison.warnings:
        clauses = [name(text_of(note), _NOTE_LENGTH) for note in in_answer(comparison)]
        left_out = len(comparison.warnings) - len(clauses)
        if left_out > 0:
            clauses.append(f"and {number_text.number_of(left_out, 'more caveat')} below")
        yield "; ".join(clauses)


def in_answer(comparison: model.TaskComparison) -> Sequence[Statement]:
    """Return the warnings that the sentence of a pool has."""
    return comparison.warnings[:_CAVEATS_SHOWN]


def _difference(comparison: model.TaskComparison) -> str:
    """Write '+6 min per task (+3.9 to +8.2)'."""
    unit_s, unit = number_text.duration_unit(comparison.times[comparison.baseline].task_s)
    difference = f"{_signed(comparison.difference_s / unit_s)} {unit} per task"
    if _is_cut(comparison.interval):
        return difference
    low, high = (_signed(end_s / unit_s) for end_s in comparison.difference_interval_s)
    return f"{difference} ({low} to {high})"


def _single_workers(comparison: model.TaskComparison) -> str:
    """Return the rule that decided, where a side has one worker."""
    match comparison.single_sides:
        case []:
            return ""
        case [side]:
            return f"; {side} has one worker, which decides nothing"
    return "; one worker per pool decides nothing"


def _signed(value: float) -> str:
    """Write a difference with its sign and two significant digits."""
    return _with_decimals(value, _decimals(value))


def _decimals(value: float) -> int:
    """Return how many decimals give two significant digits."""
    if abs(value) < _NEGLIGIBLE or math.isinf(value):
        return 0
    return max(1 - math.floor(math.log10(abs(value))), 0)


def _with_decimals(value: float, decimals: int) -> str:
    """Write '+5.6', without zeros at its end."""
    text = f"{abs(value):,.{decimals}f}"
    return number_text.signed(text.rstrip("0").rstrip(".") if decimals else text, value)


def _below(comparison: model.TaskComparison) -> Iterator[tuple[str, str]]:
    """Yield titles and sentences: where the time goes, what it costs, and what would settle it."""
    # 'its own work +5.6 min, set-up +0.3 min'
    unit_s, unit = number_text.duration_unit(comparison.times[comparison.baseline].task_s)
    parts = _parts(comparison, unit_s)
    if parts:
        yield "Where", f"{', '.join(f'{title} {size} {unit}' for title, size in parts)}."
    if comparison.cost is not None:
        yield "Money", _money(comparison, comparison.cost)
    if comparison.advice is not None:
        workers = number_text.number_of(comparison.advice.workers_to_add or 0, "more worker")
        settling = f"{workers} per pool should settle it"
        if comparison.advice.obstacle is not None:
            obstacle = text_of(comparison.advice.obstacle)
            settling = f"more workers are not expected to settle it: {obstacle}"
        yield "To settle it", f"probably {comparison.advice.leaning}, not proven; {settling}."
    elif comparison.single_sides:
        yield "To settle it", "run the tasks on more workers of both pools."


def _phases(
    comparison: model.TaskComparison, compared: ComparedPhases | UnsetType
) -> Iterator[blocks.Item]:
    """Yield what logs say of the pair, where they were read; a screen keeps that."""
    if compared is not UNSET:
        pair = compared.pair_of(comparison.candidate, comparison.baseline)
        words = "no log of a label that both pools have could be used."
        if pair is not None:
            words = phase_differences.sentence(pair, comparison.cost)
        yield blocks.Item.led("Set-up by logs:", words)


def _parts(comparison: model.TaskComparison, unit_s: float) -> list[tuple[str, str]]:
    """Return the parts of the difference, which add up to it as they are written.

    The difference follows from the ratio, and the parts are those of averages: there may be a rest.
    """
    differences_s = comparison.differences_s
    named = {title: differences_s[part] for part, title in _PARTS.items() if part in differences_s}
    if not named:
        return []
    rest_s = comparison.difference_s - math.fsum(named.values())
    values = [value / unit_s for value in (*named.values(), rest_s)]
    decimals = _decimals(comparison.difference_s / unit_s)
    *rounded_values, rounded_rest = number_text.rounded_parts(values, decimals)
    parts = [
        (title, _with_decimals(value, decimals))
        for title, value in zip(named, rounded_values, strict=True)
    ]
    if rounded_rest:
        parts.append(("the rest", _with_decimals(rounded_rest, decimals)))
    return parts


def _money(comparison: model.TaskComparison, cost: model.CostComparison) -> str:
    """Compare what an hour and a task cost, and say at which price a task would cost the same."""
    low, high = (change_text(end) for end in (cost.interval.low_ratio, cost.interval.high_ratio))
    bounds = "" if _is_cut(cost.interval) else f" ({low} to {high})"
    doubt = "" if cost.interval.excludes(1.0) else ", which is inconclusive"
    source = "the given prices" if cost.baseline.source == "prices" else "the costs of the runs"
    unknown = "interval " if _is_cut(cost.break_even_interval) else ""
    return (
        f"{comparison.candidate} costs {_more(cost.price_ratio)} per hour and "
        f"{_more(cost.ratio)} per task{bounds}{doubt}, by {source}. A task costs the same on both "
        f"at {number_text.ratio(cost.break_even_ratio)} the price of {comparison.baseline} per "
        f"hour ({unknown}{ends_text(cost.break_even_interval)})."
    )


def _more(cost_ratio: float) -> str:
    """Write '12 % more', '12 % less' or 'the same'."""
    change = number_text.percent(abs(cost_ratio - 1))
    return "the same" if change == "0 %" else f"{change} {'more' if cost_ratio > 1 else 'less'}"


def change_text(cost_ratio: float) -> str:
    """Write '+12 %'."""
    return number_text.signed(number_text.percent(abs(cost_ratio - 1)), cost_ratio - 1)


def _is_cut(bounds: Interval) -> bool:
    """Return whether the ends of an interval say next to nothing."""
    return number_text.is_cut(bounds.low_ratio, bounds.high_ratio)


def pool_rank(position: int, kept: Sequence[int]) -> int:
    """Return when a screen leaves out the pool at this position.

    The first step keeps the first `kept[0]` pools, the next one `kept[1]`; the first pool stays.
    """
    for rank, number in enumerate(kept, start=len(_LEFT_OUT)):
        if position >= number:
            return rank
    return blocks.ALWAYS


def in_order(comparisons: Sequence[model.TaskComparison]) -> Sequence[model.TaskComparison]:
    """Return the comparisons; of many, those that differ most come first."""
    if len(comparisons) <= POOLS_NAMED:
        return comparisons
    by_size = sorted(comparisons, key=lambda pair: (-abs(math.log(pair.ratio)), pair.candidate))
    return sorted(by_size, key=lambda pair: pair.verdict not in DIFFERENT)
