# SPDX-License-Identifier: MPL-2.0
"""A pool over time: what changed and when, then each series with its picture and its points."""

from collections.abc import Iterator

from msgspec.structs import replace

from io_benchmark.analysis.history.history_model import History, HistorySeries
from io_benchmark.number_text import NOTHING, number_of, ratio
from io_benchmark.report import blocks
from io_benchmark.report.content import mean_texts, text_of
from io_benchmark.report.facts import VERSION
from io_benchmark.report.sections.history_answers import answer, changed_facts, nothing_changed
from io_benchmark.results import workloads
from io_benchmark.text import name

_HEADS = ("Revision", "Workers", "Mean", "From zero", "Ratio", "Change")
# The width of a bar, and the characters of a revision.
_BAR_CELLS = 12
_REVISION_LENGTH = 12
_POINTS_SHOWN = 60  # the page folds the table of a series with more points
# On the first screen: points at most, those that are never left out, and notes.
_SCREEN_POINTS = 10
_POINTS_KEPT = 3
_SCREEN_NOTES = 2
_NOTE_LENGTH = 220
_INTRODUCTION = (
    "A point is one push, at the mean of its workers' logarithms; its ratio is to the level "
    "before. A step is reported only where it explains the points better than chance, dependence "
    "on the point before or a trend. Looking at a steady pool every week shows a false step in "
    "at most 5 % of years. Intervals are a little too narrow, because the data chose the point "
    "of the change."
)


def document(history: History) -> blocks.Document:
    several = len(history.series) > 1
    sentences = [
        blocks.Items(list(answer(series, history)), _title(series, history) if several else "")
        for series in history.series
    ]
    answers: list[blocks.Block] = [*sentences]
    if not history.series:
        nothing = blocks.Words("No result could be read and judged.", blocks.NO_VERDICT)
        answers.append(blocks.Paragraph(nothing))
    if len(history.series) == 1:
        answers.insert(0, _picture(history.series[0]))
    content: list[blocks.Block] = []
    for series in history.series:
        content += _series(series, has_picture=several)
    left_out = [f"{result.source}: {text_of(result.reason)}" for result in history.left_out]
    content += blocks.Items.lists(
        ("Left out", left_out),
        ("Not read", history.unreadable),
        ("Remarks", [text_of(remark) for remark in history.remarks]),
    )
    if history.series:
        content.append(blocks.Heading("How to read this"))
        content.append(blocks.Paragraph(_INTRODUCTION, blocks.QUIET))
    screen: list[blocks.Block] = []
    if sentences:
        screen = [*sentences, *_first_points(history), *_left_out(history)]
    return blocks.Document(
        f"History of {history.pool}", content, screen, facts=[*_facts(history)], answer=answers
    )


def _facts(history: History) -> Iterator[blocks.Line]:
    """Yield what was measured, when, and by which program."""
    points = [point for series in history.series for point in series.points]
    if points:
        yield number_of(len(history.series), "measurement")
        days = sorted({point.date for point in points})
        yield f"measured {' to '.join(dict.fromkeys((days[0], days[-1])))}"
        pushes = {(point.time, point.revision) for point in points}
        yield number_of(len(pushes), "push")
    yield VERSION


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


def _series(series: HistorySeries, *, has_picture: bool) -> Iterator[blocks.Block]:
    """Write one series: its picture, its points, and each change with its facts."""
    workload = workloads.of(series.subject.workload)
    about = f"Each value is the mean time of one {workload.operation}, where lower is better."
    if workload.higher_is_better:
        about = (
            f"Each value is a rate, in {workload.unit}, where higher is better. Ratios are of the "
            f"times that one {workload.operation} takes: above 1 is slower."
        )
    conditions = f"{'; '.join(map(text_of, series.conditions.values()))}."
    yield blocks.Heading(str(series.subject))
    yield blocks.Paragraph(about, blocks.QUIET)
    yield blocks.Paragraph(conditions, blocks.QUIET)
    if has_picture:
        yield _picture(series)
    yield _points_table(series)
    for position, change in enumerate(series.changes, start=1):
        date = series.points[change.at].date
        yield blocks.Heading(f"Change {position}, {date}: {ratio(change.ratio)}", 3)
        for where, facts in changed_facts(change):
            yield blocks.Items.of(facts, where.replace("Close", "Changed close"))
        if not change.changed:
            yield blocks.Paragraph(nothing_changed(change))


def _picture(series: HistorySeries) -> blocks.Picture:
    workload = workloads.of(series.subject.workload)
    value = "rate" if workload.higher_is_better else "time"
    levels = "horizontal lines are the levels"
    line = "line is what the trend and the changes explain" if series.trend else levels
    title = f"Mean {value} in {workload.unit}, push by push"
    meaning = (
        ". A large dot is a push; a small dot is one of its workers, where it had several. The "
        f"{line}. A dashed line marks a change, with its ratio."
    )
    return blocks.Picture((blocks.Words(title, blocks.STRONG), meaning), "history", (series, title))


def _points_table(series: HistorySeries) -> blocks.Table:
    """Write a row per point, the newest first."""
    rows = list(reversed(list(_rows(series))))
    drop = ("Revision", "Workers", "From zero", "Ratio")
    table = blocks.Table("Date", _HEADS, rows, drop=drop, shown=_POINTS_SHOWN, noun=" points")
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
