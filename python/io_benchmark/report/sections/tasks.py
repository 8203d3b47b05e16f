# SPDX-License-Identifier: MPL-2.0
"""Real tasks: a sentence per pool, how long the parts of the time take, and each label."""

import math
from collections.abc import Callable, Iterator, Sequence

from io_benchmark.analysis.model import DIFFERENT, Advice, Interval
from io_benchmark.analysis.tasks.task_model import (
    CostComparison,
    LabelRow,
    Reference,
    Standing,
    TaskComparison,
    TaskReport,
    TaskTimes,
)
from io_benchmark.number_text import (
    MINUS,
    NOTHING,
    count,
    digits,
    duration_unit,
    is_cut,
    percent,
    ratio,
)
from io_benchmark.report.blocks import (
    ALWAYS,
    NO_VERDICT,
    WARNING,
    Block,
    Document,
    Heading,
    Item,
    Items,
    Row,
    Table,
    Words,
)
from io_benchmark.report.content.harmless import make_harmless
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.content.verdict_text import ends_text, verdict_text
from io_benchmark.text import name

_POOLS_NAMED, _LABELS_SHOWN, _SCREEN_NOTES = 4, 40, 2
_TITLE_LENGTH, _HEAD_CELLS, _NOTE_LENGTH = 200, 26, 220
# Of a difference, in the unit of the whole time.
_NEGLIGIBLE = 0.005
# What a screen leaves out first: rows of the table, what answers say further, then pools.
_RANKS = {
    title: rank
    for rank, title in enumerate(
        (
            *("Stopped runs", "Failed runs", "Tear-down", "Set-up", "Pending", "Workers"),
            *("To settle it", "Where", "Expected", "Benchmark", "Money"),
        )
    )
}
_POOL_RANK = len(_RANKS)
# Pools whose row and answer are left out later, each time with a further rank.
_ROWS_LEFT, _ANSWERS_LEFT = (8, 6, 3), (4, 2, 1)
_STANDINGS: dict[Standing, str] = {
    "overstates": "overstates these tasks",
    "understates": "understates these tasks",
    "contradicts": "contradicts these tasks",
    "fits": "does not differ from these tasks by more than chance",
}
_Part = tuple[str, Callable[[TaskTimes], float | None]]


def document(report: TaskReport) -> Document:
    """Write everything that a report about tasks says, and what its first screen has."""
    report = make_harmless(report)
    answers = _answers(report)
    table = _pair_table(report) if len(report.comparisons) == 1 else _sides_table(report)
    tables = [table] if table.rows else []
    notes = list(dict.fromkeys(_notes(report)))
    remarks = [text_of(remark) for remark in report.remarks]
    urgent = [*notes, *(f"Not read: {line}" for line in report.unreadable), *remarks]
    warnings = [Item(Words(name(text, _NOTE_LENGTH), WARNING), mark="!") for text in urgent]
    hidden = "; tasks --details shows them"
    blocks: list[Block] = [answers, *tables]
    for comparison in report.comparisons:
        if len(comparison.labels) > 1:
            blocks += _labels(comparison)
    for title, lines in (
        ("Notes", notes),
        ("Not read", report.unreadable),
        ("Messages about the runs", remarks),
    ):
        blocks += [Heading(title), Items.of(lines)] if lines else []
    reason = report.baseline_reason
    shown = "" if not report.baseline or reason.startswith("--") else f" ({reason})"
    return Document(
        f"How long the same tasks take: {_title(report)}{shown}",
        tuple(blocks),
        (answers, Items(tuple(warnings), noun=hidden, shown=_SCREEN_NOTES), *tables),
        "tasks",
    )


def _title(report: TaskReport) -> str:
    if len(report.comparisons) <= _POOLS_NAMED or not report.baseline:
        return name(report.title, _TITLE_LENGTH)
    return f"{len(report.comparisons):,} pools against {report.baseline}"


def _notes(report: TaskReport) -> Iterator[str]:
    for comparison in report.comparisons:
        pool = f"{comparison.candidate}: " if len(report.comparisons) > 1 else ""
        yield from (f"{pool}{text_of(warning)}" for warning in comparison.warnings)
    for comparison in report.comparisons:
        if comparison.look is not None:
            yield f"{text_of(comparison.look)}; the intervals are adjusted"


def _answers(report: TaskReport) -> Items:
    if not report.comparisons:
        nothing = Words("Nothing could be compared.", NO_VERDICT)
        return Items((Item(nothing, kind=NO_VERDICT),))
    items = tuple(
        _answer(comparison, report, rank=_pool_rank(position, _ANSWERS_LEFT))
        for position, comparison in enumerate(_in_order(report.comparisons))
    )
    return Items(items, noun=" pools")


def _pool_rank(position: int, kept: Sequence[int]) -> int:
    """Return the rank of a pool: those behind the first 4 go first, the very first one never."""
    gone = [step for step, number in enumerate(kept) if position >= number]
    return _POOL_RANK + gone[0] if gone else ALWAYS


def _answer(comparison: TaskComparison, report: TaskReport, rank: int) -> Item:
    lead, text = verdict_text(comparison, report.margin_ratio)
    return Item(
        (Words(lead, comparison.verdict), f" {text}, {_difference(comparison)}."),
        tuple(
            Item((Words(f"{title}:", "strong"), f" {text}"), rank=_RANKS[title])
            for title, text in _below(comparison)
        ),
        comparison.verdict,
        rank=rank,
    )


def _difference(comparison: TaskComparison) -> str:
    """Return '+6 min per task (+3.9 to +8.2)'."""
    size_s, unit = duration_unit(comparison.times[comparison.baseline].task_s)
    value, low, high = (
        _signed(seconds / size_s)
        for seconds in (comparison.difference_s, *comparison.difference_interval_s)
    )
    ends = "" if _is_cut(comparison.interval) else f" ({low} to {high})"
    return f"{value} {unit} per task{ends}"


def _signed(value: float) -> str:
    """Write two significant digits with their sign."""
    if abs(value) < _NEGLIGIBLE:
        return "0"
    text = f"{abs(value):.2g}" if abs(value) < 100 else f"{abs(value):,.0f}"
    return f"{MINUS if value < 0 else '+'}{text}"


def _below(comparison: TaskComparison) -> Iterator[tuple[str, str]]:
    where = _where(comparison)
    if where:
        yield "Where", f"{where}."
    for reference in comparison.references:
        yield _reference(reference)
    if comparison.cost is not None:
        yield "Money", _money(comparison, comparison.cost)
    if comparison.advice is not None:
        yield "To settle it", _to_settle(comparison.advice)


def _where(comparison: TaskComparison) -> str:
    """Return 'work +5.6 min, set-up +0.3 min', of what takes more or less time."""
    before, after = (comparison.times[side] for side in (comparison.baseline, comparison.candidate))
    size_s, unit = duration_unit(before.task_s)
    parts: list[_Part] = [
        ("its own work", lambda times: times.work_s),
        ("set-up", lambda times: times.set_up_s),
        ("tear-down", lambda times: times.tear_down_s),
    ]
    if before.set_up_s is None or after.set_up_s is None:
        parts[1:] = [("set-up and tear-down", lambda times: times.around_work_s)]
    texts = []
    for part, value_of in parts:
        first, second = value_of(before), value_of(after)
        if first is not None and second is not None:
            texts.append(f"{part} {_signed((second - first) / size_s)} {unit}")
    return ", ".join(texts)


def _reference(reference: Reference) -> tuple[str, str]:
    value = f"{ratio(reference.ratio)} ({_named_ends(reference.interval)})"
    standing = _STANDINGS[reference.standing]
    if reference.kind == "benchmark":
        return "Benchmark", f"{value}, which {standing}."
    operations = count(reference.operations or 0)
    duration = f"{digits((reference.operation_ns or 0) / 1e6)} ms"
    share = percent(reference.share or 0)
    return "Expected", (
        f"{value}, as {operations} operations of {duration} are {share} of a task, which {standing}."
    )


def _money(comparison: TaskComparison, cost: CostComparison) -> str:
    per_hour = _more(cost.price_ratio - 1, "per hour")
    low, high = cost.interval.low_ratio - 1, cost.interval.high_ratio - 1
    if cost.interval.excludes(1.0):
        ends = sorted((abs(low), abs(high)))
        per_task = f"{_more(cost.ratio - 1, 'per task')} ({percent(ends[0])} to {percent(ends[1])})"
    else:
        ends_known = "" if _is_cut(cost.interval) else f" ({_change(low)} to {_change(high)})"
        per_task = f"{_change(cost.ratio - 1)} per task{ends_known}, which is inconclusive"
    candidate, baseline = comparison.candidate, comparison.baseline
    source = "the given prices" if cost.baseline.source == "prices" else "the costs of the runs"
    return (
        f"{candidate} costs {per_hour} and {per_task}, by {source}. A task costs the same on both at "
        f"{ratio(cost.break_even_ratio)} the price of {baseline} per hour "
        f"({_named_ends(cost.break_even_interval)})."
    )


def _more(change: float, unit: str) -> str:
    if abs(change) < 0.0005:
        return f"the same {unit}"
    return f"{percent(abs(change))} {'more' if change > 0 else 'less'} {unit}"


def _to_settle(advice: Advice) -> str:
    """Write what is advised; by which assumption is in the JSON."""
    leaning = f"probably {advice.leaning}, not proven"
    if advice.obstacle is not None:
        obstacle = text_of(advice.obstacle)
        return f"{leaning}; more workers are not expected to settle it: {obstacle}."
    workers_to_add = advice.workers_to_add or 0
    workers = "worker" if workers_to_add == 1 else "workers"
    return f"{leaning}; {count(workers_to_add)} more {workers} per pool should settle it."


def _pair_table(report: TaskReport) -> Table:
    """Write the parts of the time of the two sides, and how their runs ended."""
    (comparison,) = report.comparisons
    sides = (comparison.baseline, comparison.candidate)
    times = [comparison.times[side] for side in sides]
    parts: list[_Part] = [
        ("Pending", lambda part: part.pending_s),
        ("Set-up", lambda part: part.set_up_s),
        ("Set-up and tear-down", lambda part: part.around_work_s),
        ("Own work", lambda part: part.work_s),
        ("Tear-down", lambda part: part.tear_down_s),
        ("Task", lambda part: part.task_s),
    ]
    if times[0].set_up_s is not None:
        del parts[2]
    rows: list[tuple[str, ...]] = [
        (title, *(_time(value_of(part), times[0].task_s) for part in times))
        for title, value_of in parts
        if any(value_of(part) is not None for part in times)
    ]
    cost = comparison.cost
    costs = () if cost is None else (cost.baseline, cost.candidate)
    if cost is not None:
        rows.append((f"1,000 tasks, {cost.currency}", *(_amount(side.per_1000) for side in costs)))
    rows.append(("Workers", *map(count, comparison.workers)))
    rows.append(("Completed runs", *map(count, comparison.completed)))
    for title, values in (
        ("Failed runs", comparison.failed),
        ("Lost runs", comparison.lost),
        ("Stopped runs", comparison.stopped),
    ):
        if any(values):
            rows.append((title, *map(_with_share, values, comparison.shares(values))))
    if any(side.lost_share for side in costs):
        rows.append(("Time of lost runs", *(f"+{percent(side.lost_share)}" for side in costs)))
    return Table(
        "",
        tuple(name(side, _HEAD_CELLS) for side in sides),
        tuple(Row(title, tuple(cells), rank=_RANKS.get(title, ALWAYS)) for title, *cells in rows),
    )


def _with_share(runs: int, share: float) -> str:
    """Write '1 (7.7 %)': the runs that ended in some way, of these and the completed ones."""
    return f"{count(runs)} ({percent(share)})" if runs else count(runs)


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else digits(value)


def _sides_table(report: TaskReport) -> Table:
    """Write a row for each comparison, or for each side where there is none."""
    if not report.comparisons:
        rows = [
            (side.side, *map(count, (side.completed, side.failed, side.lost, side.stopped)))
            for side in report.sides
        ]
        return _table(("Completed", "Failed", "Lost", "Stopped"), rows)
    rows = []
    for comparison in _in_order(report.comparisons):
        baseline_s = comparison.times[comparison.baseline].task_s
        cost = comparison.cost
        rows.append(
            (
                comparison.candidate,
                _time(baseline_s, baseline_s),
                _time(comparison.times[comparison.candidate].task_s, baseline_s),
                ratio(comparison.ratio),
                comparison.verdict.value,
                NOTHING if cost is None else _change(cost.ratio - 1),
                _with_share(comparison.lost[1], comparison.shares(comparison.lost)[1]),
            )
        )
    return _table(("Baseline", "Task", "Ratio", "Verdict", "Cost", "Lost"), rows)


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    """Make a table with a row per pool, in which what comes last matters least."""
    return Table(
        "",
        heads,
        tuple(
            Row(pool, tuple(cells), rank=_pool_rank(position, _ROWS_LEFT))
            for position, (pool, *cells) in enumerate(rows)
        ),
        drop=heads[:1:-1],
        noun=" pools",
    )


def _labels(comparison: TaskComparison) -> Iterator[Block]:
    title = f"{comparison.candidate} against {comparison.baseline}, by label"
    if len(comparison.labels) > _LABELS_SHOWN:
        title += f" (the {_LABELS_SHOWN} with most time, of {len(comparison.labels):,})"
    heads = ("Share", "Baseline", "Task", "Ratio", "Interval", "Workers")
    yield Heading(title)
    rows = tuple(map(_label, comparison.labels[:_LABELS_SHOWN]))
    yield Table("", heads, rows, drop=heads[:1:-1])


def _label(row: LabelRow) -> Row:
    ends = NOTHING if row.interval is None else ends_text(row.interval)
    return Row(
        name(row.label) + (" *" if row.differs else ""),
        (
            percent(row.share),
            *(_time(mean_s, row.means_s[0]) for mean_s in row.means_s),
            ratio(row.ratio),
            ends,
            f"{row.workers[0]:,}, {row.workers[1]:,}",
        ),
    )


def _in_order(comparisons: Sequence[TaskComparison]) -> Sequence[TaskComparison]:
    """Of many, those that differ most come first."""
    if len(comparisons) <= _POOLS_NAMED:
        return comparisons
    return sorted(
        comparisons,
        key=lambda comparison: (
            comparison.verdict not in DIFFERENT,
            -abs(math.log(comparison.ratio)),
            comparison.candidate,
        ),
    )


def _time(seconds: float | None, whole_s: float) -> str:
    """Write a time in the unit and with the decimals that suit the whole."""
    if seconds is None:
        return NOTHING
    size_s, unit = duration_unit(whole_s)
    decimals = min(max(2 - math.floor(math.log10(whole_s / size_s)), 0), 3)
    return f"{seconds / size_s:,.{decimals}f} {unit}"


def _named_ends(bounds: Interval) -> str:
    """Return '1.65 to 2.23', or 'interval unknown'."""
    return f"{'interval ' if _is_cut(bounds) else ''}{ends_text(bounds)}"


def _is_cut(bounds: Interval) -> bool:
    return is_cut(bounds.low_ratio, bounds.high_ratio)


def _change(value: float) -> str:
    text = percent(abs(value))
    sign = "" if text == "0 %" else MINUS if value < 0 else "+"
    return f"{sign}{text}"
