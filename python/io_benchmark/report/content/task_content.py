# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a report about real tasks says: sentences and tables, without any markup."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.model import Advice, Interval, Verdict
from io_benchmark.analysis.tasks.task_model import (
    CostComparison,
    Reference,
    Standing,
    TaskComparison,
    TaskReport,
    TaskTimes,
)
from io_benchmark.number_text import (
    MINUS,
    count,
    digits,
    duration_unit,
    is_cut,
    percent,
    ratio,
)
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.content.task_tables import (
    POOLS_NAMED,
    TaskTable,
    ends_of,
    in_order,
    labels_table,
    pair_table,
    percent_change,
    sides_table,
)
from io_benchmark.text import name

_TITLE_LENGTH = 200
# Of a difference, in the unit of the whole time.
_NEGLIGIBLE = 0.005
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
            tuple(_answer(each, report) for each in in_order(report.comparisons)),
            tuple(dict.fromkeys(_notes(report))),
            pair_table(report) if len(report.comparisons) == 1 else sides_table(report),
            tuple(map(labels_table, several)),
            tuple(map(text_of, report.remarks)),
            report.unreadable,
        )


def _title(report: TaskReport) -> str:
    if len(report.comparisons) <= POOLS_NAMED or not report.baseline:
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
    times, around = ratio(each.ratio), f"({percent(LEVEL)} interval {ends_of(each.interval)})"
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


def _difference(each: TaskComparison) -> str:
    """Return '+6 min per task (+3.9 to +8.2)'."""
    size_s, unit = duration_unit(each.times[each.baseline].task_s)
    value, low, high = (
        _signed(seconds / size_s) for seconds in (each.difference_s, *each.difference_interval_s)
    )
    ends = "" if _is_cut(each.interval) else f" ({low} to {high})"
    return f"{value} {unit} per task{ends}"


def _signed(value: float) -> str:
    """Write two significant digits with their sign."""
    if abs(value) < _NEGLIGIBLE:
        return "0"
    text = f"{abs(value):.2g}" if abs(value) < 100 else f"{abs(value):,.0f}"
    return f"{MINUS if value < 0 else '+'}{text}"


def _below(each: TaskComparison) -> Iterator[tuple[str, str]]:
    where = _where(each)
    if where:
        yield "Where", f"{where}."
    for reference in each.references:
        yield _reference(reference)
    if each.cost is not None:
        yield "Money", _money(each, each.cost)
    if each.advice is not None:
        yield "To settle it", _to_settle(each.advice)


def _to_settle(advice: Advice) -> str:
    """Write what is advised; by which assumption is in the JSON."""
    leaning = f"probably {advice.leaning}, not proven"
    if advice.obstacle is not None:
        obstacle = text_of(advice.obstacle)
        return f"{leaning}; more workers are not expected to settle it: {obstacle}."
    added = advice.workers_to_add or 0
    workers = "worker" if added == 1 else "workers"
    return f"{leaning}; {count(added)} more {workers} per pool should settle it."


def _where(each: TaskComparison) -> str:
    """Return 'work +5.6 min, set-up +0.3 min', of what takes more or less time."""
    before, after = each.times[each.baseline], each.times[each.candidate]
    size_s, unit = duration_unit(before.task_s)
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
    value = f"{ratio(reference.ratio)} ({_named_ends(reference.interval)})"
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
        ends_text = (
            "" if _is_cut(cost.interval) else f" ({percent_change(low)} to {percent_change(high)})"
        )
        per_task = f"{percent_change(cost.ratio - 1)} per task{ends_text}, which is inconclusive"
    names = (name(each.candidate), name(each.baseline))
    source = "the given prices" if cost.baseline.source == "prices" else "the costs of the runs"
    return (
        f"{names[0]} costs {per_hour} and {per_task}, by {source}. A task costs the same on both at "
        f"{ratio(cost.break_even_ratio)} the price of {names[1]} per hour "
        f"({_named_ends(cost.break_even_interval)})."
    )


def _named_ends(found: Interval) -> str:
    """Return '1.65 to 2.23', or 'interval unknown'."""
    return f"{'interval ' if _is_cut(found) else ''}{ends_of(found)}"


def _is_cut(found: Interval) -> bool:
    return is_cut(found.low_ratio, found.high_ratio)


def _more(change: float, unit: str) -> str:
    if abs(change) < 0.0005:
        return f"the same {unit}"
    return f"{percent(abs(change))} {'more' if change > 0 else 'less'} {unit}"
