# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The content of every report of a history for people, in plain text and in order.

All text is harmless here (`harmless`), and still unescaped: a format escapes its own markup.
"""

from collections.abc import Sequence

from msgspec import Struct

from io_benchmark.analysis.history.explanations import FEWEST_VALUES
from io_benchmark.analysis.history.history_model import (
    Change,
    FactChange,
    FactSpread,
    FactValue,
    History,
    HistorySeries,
    Level,
    Point,
)
from io_benchmark.number_text import NOTHING, digits, interval, percent, ratio, times
from io_benchmark.report.content.harmless import make_harmless
from io_benchmark.report.content.history_effects import trend_and_seasons, unclear_effects
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.results import workloads
from io_benchmark.text import clean

SLOWER, FASTER, STEADY = "slower", "faster", "steady"
POINT_HEADS = ("Date", "Revision", "Workers", "Mean", "Ratio to previous level")
_REVISION_LENGTH = 12
# The answer names this many facts that changed, and counts the others.
_FACTS_IN_ANSWER = 3
_VALUES_SHOWN, _VALUE_LENGTH = 4, 120
_NOT_OBSERVED = (
    "It is unknown what changed: host and storage were not observed both before and after"
)
_NOTHING_CHANGED = "No observed fact about host and storage changed here"


class _PointRow(Struct, frozen=True):
    """A point; `change` is the number of the change that begins at it, or 0."""

    cells: tuple[str, ...]  # in the order of POINT_HEADS
    change: int


class ChangePart(Struct, frozen=True):
    number: int
    kind: str  # SLOWER or FASTER
    lead: str
    rest: str
    summary: str  # what changed there, shortly
    title: str
    changed: tuple[str, ...]
    near: tuple[str, ...]  # a point or two off
    varied: tuple[str, ...]
    nothing: str  # why there is nothing to tell of the machine, or nothing


class SeriesPart(Struct, frozen=True):
    title: str
    apart: str  # the title, with what sets it apart from the subject's other series
    figure: str  # what each value is
    drawn: str  # what the picture shows
    conditions: str
    now: str  # the level that it is on, or was on last
    effects: tuple[tuple[str, str], ...]  # trend and seasons: what it is, and the rest
    unclear: str  # that it is not clear what explains the points, or nothing
    steady: str  # that nothing changed, or nothing
    changes: tuple[ChangePart, ...]
    rows: tuple[_PointRow, ...]


class _HistoryContent(Struct, frozen=True):
    title: str
    introduction: str
    nothing: str  # why there is no history at all, or nothing
    series: tuple[SeriesPart, ...]
    lists: tuple[tuple[str, tuple[str, ...]], ...]  # titles and lines, at the end


def build(history: History) -> _HistoryContent:
    """Write everything that a report of a history says."""
    history = make_harmless(history)
    series = tuple(_series_part(each, history.series) for each in history.series)
    lists = {
        "Left out": tuple(f"{each.source}: {text_of(each.reason)}" for each in history.left_out),
        "Not read": history.unreadable,
        "Remarks": tuple(map(text_of, history.remarks)),
    }
    return _HistoryContent(
        title=f"History of {history.pool}",
        introduction=_introduction(history.series),
        nothing="" if series else "No result could be read and judged.",
        series=series,
        lists=tuple((title, lines) for title, lines in lists.items() if lines),
    )


def _introduction(series: Sequence[HistorySeries]) -> str:
    if not series:
        return ""
    return (
        "A point is one push, at the mean of its workers' logarithms. A step is reported only where it "
        "explains the points better than chance, dependence on the point before, a trend or a season. "
        "Looking at a steady pool every week shows a false step in at most 5 % of years. "
        "Intervals are a little too narrow, because the data chose the point of the change."
    )


def _series_part(series: HistorySeries, every: Sequence[HistorySeries]) -> SeriesPart:
    means = mean_texts(series, [point.mean_ns for point in series.points])
    begins = {change.at: number for number, change in enumerate(series.changes, start=1)}
    return SeriesPart(
        title=str(series.subject),
        apart="; ".join([str(series.subject), *_distinguishing_conditions(series, every)]),
        figure=_figure_text(series),
        drawn=_drawing_title(series),
        conditions="; ".join(text_of(traits) for traits in series.conditions.values()),
        now=_now(series, every),
        effects=trend_and_seasons(series),
        unclear=unclear_effects(series),
        steady="" if series.changes or series.possible else _steady(series),
        changes=tuple(
            _change(change, number, series) for number, change in enumerate(series.changes, start=1)
        ),
        rows=tuple(
            _row(point, mean, begins.get(at, 0))
            for at, (point, mean) in enumerate(zip(series.points, means, strict=True))
        ),
    )


def mean_texts(series: HistorySeries, means_ns: Sequence[float]) -> list[str]:
    """Write the means, all in one unit."""
    workload = workloads.of(series.subject.workload)
    if not workload.higher_is_better:
        return times(means_ns)
    return [f"{digits(workload.shown(mean_ns))} {workload.unit}" for mean_ns in means_ns]


def _drawing_title(series: HistorySeries) -> str:
    """Return the title of pictures: `Mean time in ms`."""
    workload = workloads.of(series.subject.workload)
    return f"Mean {'rate' if workload.higher_is_better else 'time'} in {workload.unit}"


def _figure_text(series: HistorySeries) -> str:
    """Return what each value is, and which direction is better."""
    workload = workloads.of(series.subject.workload)
    if workload.higher_is_better:
        return (
            f"Each value is a rate, in {workload.unit}, where higher is better. Ratios are of the "
            f"times that one {workload.operation} takes: above 1 is slower"
        )
    return f"Each value is the mean time of one {workload.operation}, where lower is better"


def _row(point: Point, mean: str, change: int) -> _PointRow:
    return _PointRow(
        (
            point.date,
            (point.revision or NOTHING)[:_REVISION_LENGTH],
            f"{len(point.workers):,}",
            mean,
            NOTHING if point.ratio is None else ratio(point.ratio),
        ),
        change,
    )


def _counted(level: Level) -> str:
    count = level.end - level.start
    return "1 point" if count == 1 else f"{count:,} points"


def _distinguishing_conditions(series: HistorySeries, every: Sequence[HistorySeries]) -> list[str]:
    """Return the conditions that the subject's other series do not have."""
    others = [each for each in every if each.subject == series.subject]
    return [
        text_of(traits)
        for rule, traits in series.conditions.items()
        if any((rule, traits) not in each.conditions.items() for each in others)
    ]


def _now(series: HistorySeries, every: Sequence[HistorySeries]) -> str:
    level = series.levels[-1]
    (mean,) = mean_texts(series, [level.mean_ns])
    since, last = series.points[level.start].date, series.points[-1]
    newest = max(each.points[-1].time for each in every if each.subject == series.subject)
    is_newest = last.time >= newest
    text = (
        f"Now {mean} since {since}" if is_newest else f"It was {mean} from {since} to {last.date}"
    )
    if series.trend is not None or series.seasons:
        (mean,) = mean_texts(series, [series.expected_ns[-1]])
        text = f"{'Now' if is_newest else 'It was'} about {mean} on {last.date}"
        text += f"; the level began on {since}"
    text += f", {_counted(level)}"
    if level.variation_ratio is not None:
        text += f", which vary by {percent(level.variation_ratio)}"
    return text


def _steady(series: HistorySeries) -> str:
    (level,) = series.levels
    if level.end < FEWEST_VALUES:
        return (
            f"{_counted(level)}: too few to distinguish a change from chance, which needs "
            f"{FEWEST_VALUES} or more"
        )
    return f"{'No step' if series.trend or series.seasons else 'No change'} in {_counted(level)}"


def _change(change: Change, number: int, series: HistorySeries) -> ChangePart:
    slower = change.ratio >= 1
    before, after = mean_texts(series, [change.before_ns, change.after_ns])
    bounds = interval(change.interval.low_ratio, change.interval.high_ratio)
    date = series.points[change.at].date
    verdict = (
        f"{ratio(change.ratio)} slower" if slower else f"faster, at {ratio(change.ratio)} its time"
    )
    here = [fact for fact in change.changed if fact.points_off == 0]
    near = [fact for fact in change.changed if fact.points_off]
    return ChangePart(
        number=number,
        kind=SLOWER if slower else FASTER,
        lead=f"{date}: {verdict}",
        rest=f"({percent(change.interval.level_ratio)} interval {bounds}), from {before} to {after}.",
        summary=" ".join(
            filter(None, (_list_facts("Changed here", here), _list_facts("Close by", near)))
        ),
        title=f"Change {number}, {date}: {ratio(change.ratio)}",
        changed=tuple(_change_text(fact) for fact in here),
        near=tuple(_change_text(fact) for fact in near),
        varied=tuple(_spread_text(fact) for fact in change.varied),
        nothing="" if change.changed else _NOT_OBSERVED if change.unobserved else _NOTHING_CHANGED,
    )


def _list_facts(where: str, changed: Sequence[FactChange]) -> str:
    texts = [_change_text(fact) for fact in changed[:_FACTS_IN_ANSWER]]
    more = len(changed) - len(texts)
    if more:
        texts.append(f"and {more:,} more")
    return f"{where}: {'; '.join(texts)}." if texts else ""


def _change_text(fact: FactChange) -> str:
    """Return 'disks 2 → 1', and how far from the change of the level it changed."""
    text = f"{fact.name} {_difference(fact.before, fact.after)}"
    if fact.points_off:
        count = abs(fact.points_off)
        points = "1 point" if count == 1 else f"{count:,} points"
        text += f" ({points} {'later' if fact.points_off > 0 else 'earlier'})"
    return text


def _spread_text(fact: FactSpread) -> str:
    before, after = _values_text(fact.before), _values_text(fact.after)
    if before == after:
        return f"{fact.name}: {before}, before and after"
    return f"{fact.name}: {before} before, {after} after"


def _difference(before: FactValue, after: FactValue) -> str:
    """Return both values; of long lists of options only what was removed and added."""
    if isinstance(before, str) or isinstance(after, str) or min(len(before), len(after)) < 3:
        return f"{_value_text(before)} → {_value_text(after)}"
    removed = ", ".join(option for option in before if option not in after)
    added = ", ".join(option for option in after if option not in before)
    parts = [f"without {_value_text(removed)}"] if removed else []
    return " and ".join([*parts, *([f"with {_value_text(added)}"] if added else [])])


def _values_text(values: tuple[FactValue, ...]) -> str:
    shown = " or ".join(map(_value_text, values[:_VALUES_SHOWN]))
    more = len(values) - _VALUES_SHOWN
    return f"{shown} or {more:,} others" if more > 0 else shown


def _value_text(value: FactValue) -> str:
    return clean(value if isinstance(value, str) else ",".join(value), _VALUE_LENGTH)
