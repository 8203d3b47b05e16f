# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a report about real tasks says: sentences and tables, without any markup."""

import math
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.model import DIFFERENT, Interval, Verdict
from io_benchmark.analysis.tasks.task_model import (
    CostComparison,
    LabelRow,
    Reference,
    Standing,
    TaskComparison,
    TaskReport,
    TaskTimes,
)
from io_benchmark.number_text import MINUS, NOTHING, count, digits, interval, percent, ratio
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.text import name

_LABELS_SHOWN = 40
_POOLS_NAMED = 4
_TITLE_LENGTH, _HEAD_CELLS = 200, 26
# Of a difference, in the unit of the whole time.
_NEGLIGIBLE = 0.005
_SECONDS_BELOW, _MINUTES_BELOW = 90.0, 5400.0
_STANDINGS: dict[Standing, str] = {
    "overstates": "overstates these tasks",
    "understates": "understates these tasks",
    "contradicts": "contradicts these tasks",
    "fits": "does not differ from these tasks by more than chance",
}


class TaskAnswer(Struct, frozen=True):
    """The answer about one candidate."""

    lead: str
    text: str
    verdict: str
    below: tuple[tuple[str, str], ...]  # what it says further, each with its name


class TaskTable(Struct, frozen=True):
    title: str
    heads: tuple[str, ...]  # of all columns but the first
    rows: tuple[tuple[str, ...], ...]

    @property
    def columns(self) -> tuple[Sequence[str], ...]:
        """Return the labels of the rows, then the cells by column."""
        return tuple(zip(*self.rows, strict=True))


class TaskContent(Struct, frozen=True):
    title: str
    nothing: str  # why there is no answer, or nothing
    answers: tuple[TaskAnswer, ...]
    notes: tuple[str, ...]  # what changes how the answers are read
    times: TaskTable
    labels: tuple[TaskTable, ...]  # of comparisons with several labels
    remarks: tuple[str, ...]
    unreadable: tuple[str, ...]

    @classmethod
    def of(cls, report: TaskReport) -> "TaskContent":
        """Write the report."""
        reason = report.baseline_reason
        shown = "" if not report.baseline or reason.startswith("--") else f" ({reason})"
        several = [each for each in report.comparisons if len(each.labels) > 1]
        return cls(
            f"How long the same tasks take: {_title(report)}{shown}",
            "" if report.comparisons else "Nothing could be compared.",
            tuple(_answer(each, report) for each in _ordered(report.comparisons)),
            tuple(dict.fromkeys(_notes(report))),
            _one_pair(report) if len(report.comparisons) == 1 else _sides(report),
            tuple(map(_labels, several)),
            tuple(map(text_of, report.remarks)),
            report.unreadable,
        )


def _ordered(comparisons: Sequence[TaskComparison]) -> Sequence[TaskComparison]:
    """Of many, those that differ most come first."""
    if len(comparisons) <= _POOLS_NAMED:
        return comparisons
    return sorted(
        comparisons,
        key=lambda each: (
            each.verdict not in DIFFERENT,
            -abs(math.log(each.ratio)),
            each.candidate,
        ),
    )


def _title(report: TaskReport) -> str:
    if len(report.comparisons) <= _POOLS_NAMED or not report.baseline:
        return name(report.title, _TITLE_LENGTH)
    return f"{len(report.comparisons):,} pools against {name(report.baseline)}"


def _notes(report: TaskReport) -> Iterator[str]:
    for each in report.comparisons:
        of_this = f"{name(each.candidate)}: " if len(report.comparisons) > 1 else ""
        yield from (f"{of_this}{text_of(warning)}" for warning in each.warnings)
    for each in report.comparisons:
        if each.look is not None:
            yield f"{text_of(each.look)}; the intervals are adjusted"


def _answer(each: TaskComparison, report: TaskReport) -> TaskAnswer:
    candidate, baseline = name(each.candidate), name(each.baseline)
    times, around = ratio(each.ratio), f"({percent(LEVEL)} interval {_ends(each.interval)})"
    match each.verdict:
        case Verdict.SLOWER:
            lead, text = f"{candidate} is {times} slower than {baseline}", around
        case Verdict.FASTER:
            lead = f"{candidate} is faster than {baseline}"
            text = f"at {times} its time {around}"
        case Verdict.EQUIVALENT:
            lead = f"{candidate} is equivalent to {baseline}"
            text = f"within ±{percent(report.margin_ratio)}: {times} its time {around}"
        case Verdict.INCONCLUSIVE:
            lead = f"{candidate} compared with {baseline} is inconclusive"
            text = f"at {times} {around}"
    return TaskAnswer(
        lead,
        f"{text}, {_difference(each)}.",
        each.verdict.value,
        tuple(_below(each)),
    )


def _ends(found: Interval) -> str:
    return interval(found.low_ratio, found.high_ratio)


def _difference(each: TaskComparison) -> str:
    """Return '+6 min per task (+3.9 to +8.2)'."""
    size_s, unit = _unit(each.times[each.baseline].task_s)
    value, low, high = (
        _signed(seconds / size_s) for seconds in (each.difference_s, *each.difference_interval_s)
    )
    ends = f" ({low} to {high})" if math.isfinite(each.interval.high_ratio) else ""
    return f"{value} {unit} per task{ends}"


def _signed(value: float) -> str:
    """Write two significant digits with their sign."""
    if abs(value) < _NEGLIGIBLE:
        return "0"
    text = f"{abs(value):.2g}" if abs(value) < 100 else f"{abs(value):,.0f}"
    return f"{MINUS if value < 0 else '+'}{text}"


def _unit(seconds: float) -> tuple[float, str]:
    if seconds < _SECONDS_BELOW:
        return 1.0, "s"
    return (60.0, "min") if seconds < _MINUTES_BELOW else (3600.0, "h")


def _time(seconds: float | None, of: float) -> str:
    """Write a time in the unit and with the decimals that suit another one."""
    if seconds is None:
        return NOTHING
    size_s, unit = _unit(of)
    decimals = min(max(2 - math.floor(math.log10(of / size_s)), 0), 3)
    return f"{seconds / size_s:,.{decimals}f} {unit}"


def _below(each: TaskComparison) -> Iterator[tuple[str, str]]:
    where = _where(each)
    if where:
        yield "Where", f"{where}."
    for reference in each.references:
        yield _reference(reference)
    if each.cost is not None:
        yield "Money", _money(each, each.cost)
    if each.advice is not None:
        # By which assumption is in the JSON.
        yield "To settle it", f"{text_of(each.advice.message).partition(' if ')[0]}."


def _where(each: TaskComparison) -> str:
    """Return 'work +5.6 min, set-up +0.3 min', of what takes more or less time."""
    before, after = each.times[each.baseline], each.times[each.candidate]
    size_s, unit = _unit(before.task_s)
    parts: list[tuple[str, Callable[[TaskTimes], float | None]]] = [
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
    value = f"{ratio(reference.ratio)} ({_ends(reference.interval)})"
    standing = _STANDINGS[reference.standing]
    if reference.kind == "benchmark":
        return "Benchmark", f"{value}, which {standing}."
    operations = count(reference.operations or 0)
    each = f"{digits((reference.operation_ns or 0) / 1e6)} ms"
    share = percent(reference.share or 0)
    return "Expected", (
        f"{value}, as {operations} operations of {each} are {share} of a task, which {standing}."
    )


def _money(each: TaskComparison, cost: CostComparison) -> str:
    per_hour = _more(cost.price_ratio - 1, "per hour")
    low, high = cost.interval.low_ratio - 1, cost.interval.high_ratio - 1
    if cost.interval.excludes(1.0):
        ends = sorted((abs(low), abs(high)))
        per_task = f"{_more(cost.ratio - 1, 'per task')} ({percent(ends[0])} to {percent(ends[1])})"
    else:
        known = math.isfinite(high)
        ends_text = f" ({_signed_percent(low)} to {_signed_percent(high)})" if known else ""
        per_task = f"{_signed_percent(cost.ratio - 1)} per task{ends_text}, which is inconclusive"
    names = (name(each.candidate), name(each.baseline))
    source = "the given prices" if cost.baseline.source == "prices" else "the costs of the runs"
    return (
        f"{names[0]} costs {per_hour} and {per_task}, by {source}. A task costs the same on both at "
        f"{ratio(cost.break_even_ratio)} the price of {names[1]} per hour "
        f"({_ends(cost.break_even_interval)})."
    )


def _more(change: float, unit: str) -> str:
    if abs(change) < 0.0005:
        return f"the same {unit}"
    return f"{percent(abs(change))} {'more' if change > 0 else 'less'} {unit}"


def _signed_percent(value: float) -> str:
    text = percent(abs(value))
    sign = "" if text == "0 %" else MINUS if value < 0 else "+"
    return f"{sign}{text}"


def _one_pair(report: TaskReport) -> TaskTable:
    """Write the parts of the time of the two sides, and how their runs ended."""
    (each,) = report.comparisons
    names = (each.baseline, each.candidate)
    times = [each.times[side] for side in names]
    whole_s = times[0].task_s
    of_time: list[tuple[str, Callable[[TaskTimes], float | None]]] = [
        ("Pending", lambda part: part.pending_s),
        ("Set-up", lambda part: part.set_up_s),
        ("Set-up and tear-down", lambda part: part.around_work_s),
        ("Own work", lambda part: part.work_s),
        ("Tear-down", lambda part: part.tear_down_s),
        ("Task", lambda part: part.task_s),
    ]
    if times[0].set_up_s is not None:
        del of_time[2]
    rows = [
        (title, *(_time(value_of(part), whole_s) for part in times))
        for title, value_of in of_time
        if any(value_of(part) is not None for part in times)
    ]
    if each.cost is not None:
        costs = (each.cost.baseline, each.cost.candidate)
        rows.append(
            (f"1,000 tasks, {each.cost.currency}", *(_amount(cost.per_1000) for cost in costs))
        )
    rows.append(("Workers", *map(count, each.workers)))
    rows.append(("Completed runs", *map(count, each.completed)))
    for title, values in (
        ("Failed runs", each.failed),
        ("Lost runs", each.lost),
        ("Stopped runs", each.stopped),
    ):
        if any(values):
            rows.append((title, *map(count, values)))
    if each.cost is not None and any(cost.lost_share for cost in costs):
        rows.append(("Time of lost runs", *(f"+{percent(cost.lost_share)}" for cost in costs)))
    heads = tuple(name(side, _HEAD_CELLS) for side in names)
    return TaskTable("", heads, tuple(rows))


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else digits(value)


def _sides(report: TaskReport) -> TaskTable:
    """Write a row for each comparison, or for each side where there is none."""
    if not report.comparisons:
        rows = tuple(
            (name(side.side), *map(count, (side.completed, side.failed, side.lost, side.stopped)))
            for side in report.sides
        )
        return TaskTable("", ("Completed", "Failed", "Lost", "Stopped"), rows)
    rows = tuple(
        (
            name(each.candidate),
            _time(each.times[each.baseline].task_s, each.times[each.baseline].task_s),
            _time(each.times[each.candidate].task_s, each.times[each.baseline].task_s),
            ratio(each.ratio),
            each.verdict.value,
            NOTHING if each.cost is None else _signed_percent(each.cost.ratio - 1),
            count(each.lost[1]),
        )
        for each in _ordered(report.comparisons)
    )
    return TaskTable("", ("Baseline", "Task", "Ratio", "Verdict", "Cost", "Lost"), rows)


def _labels(each: TaskComparison) -> TaskTable:
    rows = [_label(row) for row in each.labels[:_LABELS_SHOWN]]
    left = len(each.labels) - _LABELS_SHOWN
    title = f"{name(each.candidate)} against {name(each.baseline)}, by label"
    if left > 0:
        title += f" (the {_LABELS_SHOWN} with most time, of {len(each.labels):,})"
    heads = ("Share", "Baseline", "Task", "Ratio", "Interval", "Workers")
    return TaskTable(title, heads, tuple(rows))


def _label(row: LabelRow) -> tuple[str, ...]:
    unit_s = row.means_s[0]
    ends = NOTHING if row.interval is None else _ends(row.interval)
    return (
        name(row.label) + (" *" if row.differs else ""),
        percent(row.share),
        *(_time(mean_s, unit_s) for mean_s in row.means_s),
        ratio(row.ratio),
        ends,
        f"{row.workers[0]:,}, {row.workers[1]:,}",
    )
