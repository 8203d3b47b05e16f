# SPDX-License-Identifier: MPL-2.0
"""Real tasks: a sentence per pool, how long the parts of the time take, and each label."""

import math
from collections.abc import Iterator, Sequence

from io_benchmark.analysis.model.comparison import DIFFERENT, Interval
from io_benchmark.analysis.tasks.task_model import (
    OWN_WORK,
    CostComparison,
    TaskComparison,
    TaskReport,
)
from io_benchmark.number_text import (
    NOTHING,
    count,
    duration_unit,
    is_cut,
    money,
    number_of,
    percent,
    ratio,
    rounded_parts,
    signed,
)
from io_benchmark.report import blocks
from io_benchmark.report.content import baseline_text, ends_text, text_of, verdict_text
from io_benchmark.text import LINE_LENGTH, name

_POOLS_NAMED, _LABELS_SHOWN, _SCREEN_NOTES = 4, 40, 2
_TITLE_LENGTH, _HEAD_CELLS, _NOTE_LENGTH = 200, 26, 220
# Of a difference, in the unit of the whole time.
_NEGLIGIBLE = 0.005
# Parts of a task's time that are named in a sentence; pending is no part of it.
_PARTS = {OWN_WORK: f"its {OWN_WORK}", "set-up": "set-up", "tear-down": "tear-down"}
# What a screen leaves out first: rows of the table, what answers say further, then pools.
_LEFT_OUT = (
    *("Stopped runs", "Failed runs", "Tear-down", "Set-up", "Pending", "Workers"),
    *("To settle it", "Where", "Money"),
)
_RANKS = {title: rank for rank, title in enumerate(_LEFT_OUT)}
# Pools whose row and answer are left out later, each time with a further rank.
_ROWS_LEFT, _ANSWERS_LEFT = (8, 6, 3), (4, 2, 1)


def document(report: TaskReport) -> blocks.Document:
    answers, is_pair = _answers(report), len(report.comparisons) == 1
    table = _pair_table(*report.comparisons) if is_pair else _pools_table(report)
    tables = [table] if table.rows else []
    notes = [
        f"{'' if is_pair else f'{pair.candidate}: '}{text_of(warning)}"
        for pair in report.comparisons
        for warning in pair.warnings
    ]
    looks = [pair.look for pair in report.comparisons if pair.look is not None]
    notes += (f"{text_of(look)}; the intervals are adjusted" for look in looks)
    notes = list(dict.fromkeys(notes))
    remarks = [*map(text_of, report.remarks)]
    warnings = [
        blocks.Item(blocks.Words(line, blocks.WARNING), mark="!")
        for line in (
            # They name what to set or to ask for, such as a scope.
            *(name(f"Not read: {line}", LINE_LENGTH) for line in report.unreadable),
            *(name(note, _NOTE_LENGTH) for note in notes),
            *(name(remark, _NOTE_LENGTH) for remark in remarks),
        )
    ]
    pairs = {pair.candidate: pair for pair in _in_order(report.comparisons)}
    caption = "Ratio of a task's time to the baseline's, with its interval"
    paid = {pool: (pair, pair.cost) for pool, pair in pairs.items() if pair.cost is not None}
    content: list[blocks.Block] = [
        answers,
        *blocks.Picture.forest(caption, pairs, report.margin_ratio),
        *blocks.Picture.costs("the baseline", paid),
        *tables,
    ]
    for comparison in report.comparisons:
        if len(comparison.labels) > 1:
            content += _labels(comparison)
    content += blocks.Items.lists(
        ("Notes", notes), ("Not read", report.unreadable), ("Messages about the runs", remarks)
    )
    pools = name(report.title, _TITLE_LENGTH)
    if len(report.comparisons) > _POOLS_NAMED and report.baseline:
        pools = f"{len(report.comparisons):,} pools against {report.baseline}"
    if report.baseline:
        pools += baseline_text(report.baseline_reason)
    title = f"How long the same tasks take: {pools}"
    hidden = blocks.Items(warnings, noun="; --details shows them", shown=_SCREEN_NOTES)
    return blocks.Document(title, content, [answers, hidden, *tables])


def _answers(report: TaskReport) -> blocks.Items:
    items = []
    for position, comparison in enumerate(_in_order(report.comparisons)):
        lead, rest = verdict_text(
            comparison, report.margin_ratio, tuple(reversed(comparison.workers))
        )
        # The difference is written as +6 min per task (+3.9 to +8.2).
        unit_s, unit = duration_unit(comparison.times[comparison.baseline].task_s)
        low, high = (_signed(end_s / unit_s) for end_s in comparison.difference_interval_s)
        ends = "" if _is_cut(comparison.interval) else f" ({low} to {high})"
        difference = f"{_signed(comparison.difference_s / unit_s)} {unit} per task{ends}"
        below = [
            blocks.Item.led(f"{title}:", sentence, rank=_RANKS[title])
            for title, sentence in _below(comparison)
        ]
        sentence = f"{rest}, {difference}{_of_single_workers(comparison)}."
        rank = _pool_rank(position, _ANSWERS_LEFT)
        items.append(blocks.Item.answer(comparison.verdict, lead, sentence, below, rank))
    nothing = blocks.Item.answer(blocks.NO_VERDICT, "Nothing could be compared.")
    return blocks.Items(items or [nothing], noun=" pools")


def _of_single_workers(comparison: TaskComparison) -> str:
    """Return the rule that decided, where a side has one worker."""
    match comparison.single_sides:
        case []:
            return ""
        case [side]:
            return f"; {side} has one worker, which decides nothing"
    return "; one worker per pool decides nothing"


def _pool_rank(position: int, kept: Sequence[int]) -> int:
    """Return the rank of a pool: those behind the first 4 go first, the very first one never."""
    gone = (step for step, number in enumerate(kept, len(_LEFT_OUT)) if position >= number)
    return next(gone, blocks.ALWAYS)


def _in_order(comparisons: Sequence[TaskComparison]) -> Sequence[TaskComparison]:
    # Of many, those that differ most come first.
    if len(comparisons) <= _POOLS_NAMED:
        return comparisons
    by_size = sorted(comparisons, key=lambda pair: (-abs(math.log(pair.ratio)), pair.candidate))
    return sorted(by_size, key=lambda pair: pair.verdict not in DIFFERENT)


def _signed(value: float) -> str:
    return _with_decimals(value, _decimals(value))


def _decimals(value: float) -> int:
    """Return how many decimals give two significant digits."""
    if abs(value) < _NEGLIGIBLE or math.isinf(value):
        return 0
    return max(1 - math.floor(math.log10(abs(value))), 0)


def _with_decimals(value: float, decimals: int) -> str:
    """Write '+5.6', without zeros at its end."""
    text = f"{abs(value):,.{decimals}f}"
    return signed(text.rstrip("0").rstrip(".") if decimals else text, value)


def _below(comparison: TaskComparison) -> Iterator[tuple[str, str]]:
    # 'its own work +5.6 min, set-up +0.3 min', of what takes more or less time
    unit_s, unit = duration_unit(comparison.times[comparison.baseline].task_s)
    parts = _parts(comparison, unit_s)
    if parts:
        yield "Where", f"{', '.join(f'{title} {size} {unit}' for title, size in parts)}."
    if comparison.cost is not None:
        yield "Money", _money(comparison, comparison.cost)
    if comparison.advice is not None:
        workers = number_of(comparison.advice.workers_to_add or 0, "more worker")
        settling = f"{workers} per pool should settle it"
        if comparison.advice.obstacle is not None:
            obstacle = text_of(comparison.advice.obstacle)
            settling = f"more workers are not expected to settle it: {obstacle}"
        yield "To settle it", f"probably {comparison.advice.leaning}, not proven; {settling}."
    elif comparison.single_sides:
        yield "To settle it", "run the tasks on more workers of both pools."


def _parts(comparison: TaskComparison, unit_s: float) -> list[tuple[str, str]]:
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
    rounded = rounded_parts(values, decimals)
    texts = [_with_decimals(value, decimals) for value in rounded]
    pairs = [*zip((*named, "the rest"), texts, strict=True)]
    return pairs if rounded[-1] else pairs[:-1]


def _money(comparison: TaskComparison, cost: CostComparison) -> str:
    low, high = (_change(end) for end in (cost.interval.low_ratio, cost.interval.high_ratio))
    bounds = "" if _is_cut(cost.interval) else f" ({low} to {high})"
    doubt = "" if cost.interval.excludes(1.0) else ", which is inconclusive"
    source = "the given prices" if cost.baseline.source == "prices" else "the costs of the runs"
    unknown = "interval " if _is_cut(cost.break_even_interval) else ""
    return (
        f"{comparison.candidate} costs {_more(cost.price_ratio)} per hour and {_more(cost.ratio)} per "
        f"task{bounds}{doubt}, by {source}. A task costs the same on both at "
        f"{ratio(cost.break_even_ratio)} the price of {comparison.baseline} per hour "
        f"({unknown}{ends_text(cost.break_even_interval)})."
    )


def _more(cost_ratio: float) -> str:
    change = percent(abs(cost_ratio - 1))
    return "the same" if change == "0 %" else f"{change} {'more' if cost_ratio > 1 else 'less'}"


def _change(cost_ratio: float) -> str:
    return signed(percent(abs(cost_ratio - 1)), cost_ratio - 1)


def _pair_table(comparison: TaskComparison) -> blocks.Table:
    sides = (comparison.baseline, comparison.candidate)
    before, after = (comparison.times[side] for side in sides)
    parts = {
        "Pending": (before.pending_s, after.pending_s),
        "Set-up": (before.set_up_s, after.set_up_s),
        "Own work": (before.work_s, after.work_s),
        "Tear-down": (before.tear_down_s, after.tear_down_s),
        "Task": (before.task_s, after.task_s),
    }
    rows = {
        title: [_time(mean_s, before.task_s) for mean_s in means_s]
        for title, means_s in parts.items()
        if means_s != (None, None)
    }
    cost = comparison.cost
    costs = [cost.baseline, cost.candidate] if cost is not None else []
    if cost is not None:
        rows[f"1,000 tasks, {cost.currency}"] = [money(side.per_1000) for side in costs]
    rows["Workers"] = [*map(count, comparison.workers)]
    rows["Completed runs"] = [*map(count, comparison.completed)]
    for title, ended in (
        ("Failed runs", comparison.failed),
        ("Lost runs", comparison.lost),
        ("Stopped runs", comparison.stopped),
    ):
        if any(ended):
            rows[title] = [*map(_with_share, ended, comparison.shares(ended))]
    if any(side.lost_share for side in costs):
        rows["Time of lost runs"] = [f"+{percent(side.lost_share)}" for side in costs]
    ranked = [
        blocks.Row(title, cells, rank=_RANKS.get(title, blocks.ALWAYS))
        for title, cells in rows.items()
    ]
    return blocks.Table("", [name(side, _HEAD_CELLS) for side in sides], ranked)


def _with_share(runs: int, share: float) -> str:
    """Write '1 (7.7 %)': the runs that ended in some way, of these and the completed ones."""
    return f"{count(runs)} ({percent(share)})" if runs else count(runs)


def _pools_table(report: TaskReport) -> blocks.Table:
    """Write a row for each comparison, or for each side where there is none."""
    # What comes last matters least.
    heads: tuple[str, ...] = ("Baseline", "Task", "Ratio", "Verdict", "Cost", "Lost")
    rows = []
    for pair in _in_order(report.comparisons):
        times_s = [pair.times[side].task_s for side in (pair.baseline, pair.candidate)]
        cells = [
            *(_time(time_s, times_s[0]) for time_s in times_s),
            *(ratio(pair.ratio), pair.verdict.value),
            NOTHING if pair.cost is None else _change(pair.cost.ratio),
            _with_share(pair.lost[1], pair.shares(pair.lost)[1]),
        ]
        rows.append((pair.candidate, cells))
    if not rows:
        heads = ("Completed", "Failed", "Lost", "Stopped")
        rows = [
            (side.side, [*map(count, (side.completed, side.failed, side.lost, side.stopped))])
            for side in report.sides
        ]
    ranked = [
        blocks.Row(pool, cells, rank=_pool_rank(position, _ROWS_LEFT))
        for position, (pool, cells) in enumerate(rows)
    ]
    return blocks.Table("", heads, ranked, drop=heads[:1:-1], noun=" pools")


def _labels(comparison: TaskComparison) -> Iterator[blocks.Block]:
    title = f"{comparison.candidate} against {comparison.baseline}, by label"
    if len(comparison.labels) > _LABELS_SHOWN:
        title += f" (the {_LABELS_SHOWN} with most time, of {len(comparison.labels):,})"
    if any(label.differs for label in comparison.labels[:_LABELS_SHOWN]):
        title += " (*: not by the ratio of all labels)"
    heads = ("Share", "Baseline", "Task", "Ratio", "Interval", "Workers")
    rows = [
        blocks.Row(
            name(label.label) + (" *" if label.differs else ""),
            (
                percent(label.share),
                *(_time(mean_s, label.means_s[0]) for mean_s in label.means_s),
                ratio(label.ratio),
                NOTHING if label.interval is None else ends_text(label.interval),
                f"{label.workers[0]:,}, {label.workers[1]:,}",
            ),
        )
        for label in comparison.labels[:_LABELS_SHOWN]
    ]
    yield from (blocks.Heading(title), blocks.Table("", heads, rows, drop=heads[:1:-1]))


def _time(seconds: float | None, whole_s: float) -> str:
    """Write a time in the unit and with the decimals that suit the whole."""
    if seconds is None:
        return NOTHING
    unit_s, unit = duration_unit(whole_s)
    decimals = min(max(2 - math.floor(math.log10(whole_s / unit_s)), 0), 3)
    return f"{seconds / unit_s:,.{decimals}f} {unit}"


def _is_cut(bounds: Interval) -> bool:
    return is_cut(bounds.low_ratio, bounds.high_ratio)
