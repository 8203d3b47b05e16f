# SPDX-License-Identifier: MPL-2.0
"""A pool over time: what changed and when, then each series with its picture and its points."""

from collections.abc import Iterator

from msgspec.structs import replace

from io_benchmark.analysis.history import Change, FactChange, History, HistorySeries, Level, Trend
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.reading.machines import FactValue
from io_benchmark.analysis.statistics.series_fit import FEWEST_VALUES
from io_benchmark.number_text import NOTHING, listed, number_of, percent, ratio
from io_benchmark.report import blocks
from io_benchmark.report.content import bounds_text, mean_texts, text_of
from io_benchmark.results import workloads
from io_benchmark.text import clean, name

_HEADS = ("Revision", "Workers", "Mean", "From zero", "Ratio", "Change")
# The width of a bar, and the characters of a revision and of a fact's value.
_BAR_CELLS = 12
_REVISION_LENGTH = 12
_VALUE_LENGTH = 120
# The page folds the table of a series with more points.
_POINTS_SHOWN = 60
# On the first screen: points at most, those that are never left out, and notes.
_SCREEN_POINTS = 10
_POINTS_KEPT = 3
_SCREEN_NOTES = 2
_NOTE_LENGTH = 220
# The answer names this many facts that changed, and counts the others.
_FACTS_IN_ANSWER = 3
# A trend of a shorter history is reported per week.
_LONG_DAYS = 180
_YEARS_OF_A_WEEK = 7 / 365.25
_INTRODUCTION = (
    "A point is one push, at the mean of its workers' logarithms; its ratio is to the level "
    "before. A step is reported only where it explains the points better than chance, dependence "
    "on the point before or a trend. Looking at a steady pool every week shows a false step in "
    "at most 5 % of years. Intervals are a little too narrow, because the data chose the point "
    "of the change."
)


def document(history: History) -> blocks.Document:
    """Return the report's blocks: what changed and when, then each series."""
    content: list[blocks.Block] = [blocks.Heading("Answer")]
    answers = [
        blocks.Items(
            list(_answer(series, history)),
            _title(series, history) if len(history.series) > 1 else "",
        )
        for series in history.series
    ]
    content += answers
    if history.series:
        content.append(blocks.Paragraph(_INTRODUCTION, blocks.QUIET))
    else:
        nothing = blocks.Words("No result could be read and judged.", blocks.NO_VERDICT)
        content.append(blocks.Paragraph(nothing))
    for series in history.series:
        content += _series(series)
    left_out = [f"{result.source}: {text_of(result.reason)}" for result in history.left_out]
    content += blocks.Items.lists(
        ("Left out", left_out),
        ("Not read", history.unreadable),
        ("Remarks", [text_of(remark) for remark in history.remarks]),
    )
    screen: list[blocks.Block] = []
    if answers:
        screen = [*answers, *_first_points(history), *_left_out(history)]
    return blocks.Document(f"History of {history.pool}", content, screen)


def _first_points(history: History) -> Iterator[blocks.Table]:
    """Write the newest points of a single series; several have their answers alone on a screen."""
    if len(history.series) > 1:
        return
    (series,) = history.series
    table = _points_table(series)
    rows = [
        # The newest are left out last.
        replace(row, rank=blocks.ALWAYS if number < _POINTS_KEPT else _SCREEN_POINTS - number)
        for number, row in enumerate(table.rows[:_SCREEN_POINTS])
    ]
    left_out = len(table.rows) - len(rows)
    yield replace(table, rows=rows, shown=0, left_out=left_out)


def _left_out(history: History) -> Iterator[blocks.Items]:
    """Write the first lines about what was not read or left out."""
    lines = [f"Not read: {line}" for line in history.unreadable]
    lines += [text_of(remark) for remark in history.remarks]
    lines += [f"Left out: {result.source}: {text_of(result.reason)}" for result in history.left_out]
    if lines:
        items = [
            blocks.Item(blocks.Words(name(line, _NOTE_LENGTH), blocks.WARNING), mark="!")
            for line in lines
        ]
        yield blocks.Items(items, noun="; --details shows them", shown=_SCREEN_NOTES)


def _title(series: HistorySeries, history: History) -> str:
    """Return the subject, with the conditions that its other series do not have."""
    siblings = [sibling for sibling in history.series if sibling.subject == series.subject]
    conditions = (
        text_of(traits)
        for rule, traits in series.conditions.items()
        if any((rule, traits) not in sibling.conditions.items() for sibling in siblings)
    )
    return "; ".join((str(series.subject), *conditions))


def _answer(series: HistorySeries, history: History) -> Iterator[blocks.Item]:
    """Write the changes, the trend, what is not clear, and the time that it takes now."""
    for change in series.changes:
        yield _change_answer(change, series)
    if series.trend is not None:
        yield _trend(series.trend, series)
    if series.possible:
        yield blocks.Item.answer(Verdict.INCONCLUSIVE, f"{_unclear(series)}.")
    elif not series.changes:
        yield blocks.Item.answer(Verdict.EQUIVALENT, f"{_steady(series)}.")
    is_short = len(series.points) < FEWEST_VALUES
    yield blocks.Item(f"{_newest(series) if is_short else _now(series, history)}.", kind="now")


def _change_answer(change: Change, series: HistorySeries) -> blocks.Item:
    """Write a change in one sentence, with the facts that changed with it."""
    kind, size = change.verdict, ratio(change.ratio)
    before, after = mean_texts(series.subject, [change.before_ns, change.after_ns])
    bounds = bounds_text(change.interval, change.interval.level_ratio)
    changed = [
        f"{where}: {listed(facts, _FACTS_IN_ANSWER, '; and {:,} more', '; ')}."
        for where, facts in _changed_facts(change)
    ]
    sentences = (f" {bounds}, from {before} to {after}.", *(changed or [_nothing(change)]))
    lead = f"{series.points[change.at].date}: takes {size} as long as before"
    return blocks.Item.answer(kind, lead, " ".join(sentences))


def _nothing(change: Change) -> str:
    """Return why a change has no facts."""
    if change.unobserved:
        return (
            "It is unknown what changed: host and storage were not observed both before and after."
        )
    return "No observed fact about host and storage changed here."


def _changed_facts(change: Change) -> Iterator[tuple[str, list[str]]]:
    """Yield what changed at the point of the change, then what changed at points close by."""
    here = [_change_text(fact) for fact in change.changed if fact.points_off == 0]
    if here:
        yield "Changed here", here
    close_by = [_change_text(fact) for fact in change.changed if fact.points_off != 0]
    if close_by:
        yield "Close by", close_by


def _steady(series: HistorySeries) -> str:
    """Return that there is no change, or too few points to see one."""
    (level,) = series.levels
    if level.end < FEWEST_VALUES:
        return (
            f"{_points(level)}: too few to distinguish a change from chance, which needs "
            f"{FEWEST_VALUES} or more"
        )
    return f"{'No step' if series.trend else 'No change'} in {_points(level)}"


def _now(series: HistorySeries, history: History) -> str:
    """Return the mean of the last level, or where the trend is now, and how far points vary."""
    level, last = series.levels[-1], series.points[-1]
    mean_ns = level.mean_ns if series.trend is None else series.expected_ns[-1]
    (mean,) = mean_texts(series.subject, [mean_ns])
    since = series.points[level.start].date
    siblings = [sibling for sibling in history.series if sibling.subject == series.subject]
    is_newest = last.time >= max(sibling.points[-1].time for sibling in siblings)
    if series.trend is not None:
        start = "Now" if is_newest else "It was"
        sentence = f"{start} about {mean} on {last.date}; the level began on {since}"
    elif is_newest:
        sentence = f"Now {mean} since {since}"
    else:
        sentence = f"It was {mean} from {since} to {last.date}"
    variation = level.variation_ratio
    varies = "" if variation is None else f", which vary by {percent(variation)}"
    return f"{sentence}, {_points(level)}{varies}"


def _newest(series: HistorySeries) -> str:
    """Return the newest point: the mean of so few would hide that they may be of two levels."""
    means_ns = [point.mean_ns for point in series.points]
    newest, low, high = mean_texts(series.subject, [means_ns[-1], min(means_ns), max(means_ns)])
    if workloads.of(series.subject.workload).higher_is_better:
        low, high = high, low
    date = series.points[-1].date
    count = len(means_ns)
    others = f"; the {count} points are from {low} to {high}" if count > 1 else ""
    return f"The newest point, {date}: {newest}{others}"


def _points(level: Level) -> str:
    return number_of(level.end - level.start, "point")


def _trend(trend: Trend, series: HistorySeries) -> blocks.Item:
    """Write `trend: +10 % time per year (+8 to +12 %)`; of a short history per week."""
    days = (series.points[-1].time - series.points[0].time).days
    years, unit = (1.0, "year") if days >= _LONG_DAYS else (_YEARS_OF_A_WEEK, "week")
    lead = f"trend: {_percents(trend.ratio**years)} % time per {unit}"
    low = _percents(trend.interval.low_ratio**years)
    high = _percents(trend.interval.high_ratio**years)
    return blocks.Item.answer(Verdict.EQUIVALENT, lead, f" ({low} to {high} %).")


def _percents(growth: float) -> str:
    """Write '+10' for 1.1, with two significant digits."""
    rounded = float(f"{100 * (growth - 1):.2g}")
    return f"{rounded:+g}"


def _unclear(series: HistorySeries) -> str:
    """Return what may explain the points and is not clear."""
    explanations = " or ".join(f"a {name}" for name in series.possible)
    if series.trend is not None or series.changes:
        return f"There may also be {explanations}, which is not clear"
    if len(series.possible) > 1:
        return f"Not steady, but none of these explains it clearly: {explanations}"
    return f"Not steady: there may be {explanations}, which is not clear"


def _series(series: HistorySeries) -> Iterator[blocks.Block]:
    """Write one series: its picture, its points, and each change with its facts."""
    workload, value = workloads.of(series.subject.workload), "time"
    about = f"Each value is the mean time of one {workload.operation}, where lower is better."
    if workload.higher_is_better:
        value = "rate"
        about = (
            f"Each value is a rate, in {workload.unit}, where higher is better. Ratios are of the "
            f"times that one {workload.operation} takes: above 1 is slower."
        )
    conditions = f"{'; '.join(map(text_of, series.conditions.values()))}."
    yield blocks.Heading(str(series.subject))
    yield blocks.Paragraph(about, blocks.QUIET)
    yield blocks.Paragraph(conditions, blocks.QUIET)
    levels = "horizontal lines are the levels"
    line = "line is what the trend and the changes explain" if series.trend else levels
    title = f"Mean {value} in {workload.unit}, push by push"
    meaning = (
        ". A large dot is a push; a small dot is one of its workers, where it had several. The "
        f"{line}. A dashed line marks a change, with its ratio."
    )
    yield blocks.Picture((blocks.Words(title, blocks.STRONG), meaning), "history", (series, title))
    yield _points_table(series)
    for position, change in enumerate(series.changes, start=1):
        date = series.points[change.at].date
        yield blocks.Heading(f"Change {position}, {date}: {ratio(change.ratio)}", 3)
        for where, facts in _changed_facts(change):
            yield blocks.Items.of(facts, where.replace("Close", "Changed close"))
        if not change.changed:
            yield blocks.Paragraph(_nothing(change))


def _points_table(series: HistorySeries) -> blocks.Table:
    """Write a row per point, the newest first."""
    newest_first = list(reversed(list(_rows(series))))
    drop = ("Revision", "Workers", "From zero", "Ratio")
    table = blocks.Table(
        "Date", _HEADS, newest_first, drop=drop, shown=_POINTS_SHOWN, noun=" points"
    )
    return table if series.changes else table.keep_columns(range(len(_HEADS) - 1))


def _rows(series: HistorySeries) -> Iterator[blocks.Row]:
    """Yield a row per point; the first one of a level has the number of the change."""
    means = mean_texts(series.subject, [point.mean_ns for point in series.points])
    figure = workloads.of(series.subject.workload).shown
    values = [figure(point.mean_ns) for point in series.points]
    largest = max(values)
    begins = {
        change.at: blocks.Words(f"change {number}", change.verdict)
        for number, change in enumerate(series.changes, start=1)
    }
    for position, (point, mean, value) in enumerate(zip(series.points, means, values, strict=True)):
        bar = "■" * round(_BAR_CELLS * value / largest)
        cells = (
            blocks.Words((point.revision or NOTHING)[:_REVISION_LENGTH], blocks.CODE),
            f"{len(point.workers):,}",
            mean,
            blocks.Words(bar.ljust(_BAR_CELLS), blocks.BAR),
            NOTHING if point.ratio is None else ratio(point.ratio),
            begins.get(position, ""),
        )
        yield blocks.Row(point.date, cells)


def _change_text(fact: FactChange) -> str:
    """Return 'disks 2 → 1', and how far from the change of the level it changed."""
    points = number_of(abs(fact.points_off), "point")
    distance = f" ({points} {'later' if fact.points_off > 0 else 'earlier'})"
    change = f"{fact.name} {_difference(fact.before, fact.after)}"
    return change + distance if fact.points_off else change


def _difference(before: FactValue, after: FactValue) -> str:
    """Return both values; of long lists of options only what was removed and added."""
    if isinstance(before, str) or isinstance(after, str) or min(len(before), len(after)) < 3:
        return f"{_value_text(before)} → {_value_text(after)}"
    removed = ", ".join(option for option in before if option not in after)
    added = ", ".join(option for option in after if option not in before)
    changes = []
    if removed:
        changes.append(f"without {_value_text(removed)}")
    if added:
        changes.append(f"with {_value_text(added)}")
    return " and ".join(changes)


def _value_text(value: FactValue) -> str:
    """Write a value, or all options of a list, with a limited length."""
    return clean(value if isinstance(value, str) else ",".join(value), _VALUE_LENGTH)
