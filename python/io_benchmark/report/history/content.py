# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What every report of a history for people says, in plain text and in order.

All text is harmless here (`io_benchmark.text`), and still unescaped: a medium escapes its own markup.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from io_benchmark.analysis.history.change_points import FEWEST_VALUES
from io_benchmark.analysis.history.history_model import (
    Change,
    FactChange,
    History,
    Level,
    Point,
    Series,
)
from io_benchmark.report.content.answers import subject_title
from io_benchmark.report.content.units import NOTHING, interval, percent, ratio
from io_benchmark.report.history import figure
from io_benchmark.report.history.facts import change_in_words, spread_in_words
from io_benchmark.text import clean, name

SLOWER, FASTER, STEADY = "slower", "faster", "steady"
REVISION_LENGTH = 12
# Named in the answer; what changed beside these is counted there and told below.
FACTS_IN_ANSWER = 3
NOT_OBSERVED = "What changed is not known: of host and storage nothing was observed on both sides"
NOTHING_CHANGED = "Nothing that is observed of host and storage changed here"


@dataclass(frozen=True)
class Row:
    """A point; `change` is the number of the change that it begins, or 0."""

    date: str
    revision: str
    workers: str
    mean: str
    ratio: str
    change: int


@dataclass(frozen=True)
class ChangePart:
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


@dataclass(frozen=True)
class SeriesPart:
    title: str
    apart: str  # the title, with what sets it apart from the subject's other series
    figure: str  # what each value is
    drawn: str  # what the picture shows
    conditions: str
    now: str  # the level that it is on, or was on last
    steady: str  # that nothing changed, or nothing
    changes: tuple[ChangePart, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Content:
    title: str
    introduction: str
    nothing: str  # why there is no history at all, or nothing
    series: tuple[SeriesPart, ...]
    left_out: tuple[str, ...]
    unreadable: tuple[str, ...]
    remarks: tuple[str, ...]


def build(history: History) -> Content:
    series = tuple(_series(one, history.series) for one in history.series)
    return Content(
        title=f"History of {name(history.pool)}",
        introduction=_introduction(history.series),
        nothing="" if series else "There is nothing that could be read and judged.",
        series=series,
        left_out=tuple(f"{clean(one.what)}: {clean(one.why)}" for one in history.left_out),
        unreadable=tuple(clean(line) for line in history.unreadable),
        remarks=tuple(clean(line) for line in history.remarks),
    )


def _introduction(series: Sequence[Series]) -> str:
    if not series:
        return ""
    return (
        "A point is one push, at the mean of its workers' logarithms. Changes are found by "
        "E-divisive means with permutation tests; intervals are Welch's on the points' logarithms, "
        "after the place was chosen, and so a little too narrow."
    )


def _series(series: Series, every: Sequence[Series]) -> SeriesPart:
    means = figure.texts(series, [point.mean_ns for point in series.points])
    begins = {change.at: number for number, change in enumerate(series.changes, start=1)}
    return SeriesPart(
        title=subject_title(series.subject),
        apart="; ".join([subject_title(series.subject), *_set_apart(series, every)]),
        figure=figure.in_words(series),
        drawn=figure.drawn(series),
        conditions="; ".join(clean(words) for _, words in series.conditions),
        now=_now(series, every),
        steady="" if series.changes else _steady(series),
        changes=tuple(
            _change(change, number, series) for number, change in enumerate(series.changes, start=1)
        ),
        rows=tuple(
            _row(point, mean, begins.get(at, 0))
            for at, (point, mean) in enumerate(zip(series.points, means, strict=True))
        ),
    )


def date_of(point: Point) -> str:
    return point.time.date().isoformat()


def _row(point: Point, mean: str, change: int) -> Row:
    return Row(
        date=date_of(point),
        revision=clean(point.revision or NOTHING)[:REVISION_LENGTH],
        workers=f"{len(point.workers):,}",
        mean=mean,
        ratio=NOTHING if point.ratio is None else ratio(point.ratio),
        change=change,
    )


def _counted(level: Level) -> str:
    count = level.end - level.start
    return "1 point" if count == 1 else f"{count:,} points"


def _set_apart(series: Series, every: Sequence[Series]) -> list[str]:
    """The conditions that the subject's other series do not have."""
    others = [one for one in every if one.subject == series.subject]
    return [
        clean(words)
        for condition in series.conditions
        if any(condition not in one.conditions for one in others)
        for words in condition[1:]
    ]


def _now(series: Series, every: Sequence[Series]) -> str:
    level = series.levels[-1]
    (mean,) = figure.texts(series, [level.mean_ns])
    since, last = date_of(series.points[level.start]), series.points[-1]
    newest = max(one.points[-1].time for one in every if one.subject == series.subject)
    text = f"Now {mean} since {since}"
    if last.time < newest:
        text = f"It was {mean} from {since} to {date_of(last)}"
    text += f", {_counted(level)}"
    if level.variation_ratio is not None:
        text += f" that vary by {percent(level.variation_ratio)}"
    return text


def _steady(series: Series) -> str:
    (level,) = series.levels
    if level.end < FEWEST_VALUES:
        return (
            f"{_counted(level)}: too few to tell a change from chance, which takes "
            f"{FEWEST_VALUES} or more"
        )
    return f"No change in {_counted(level)}"


def _change(change: Change, number: int, series: Series) -> ChangePart:
    slower = change.ratio >= 1
    before, after = figure.texts(series, [change.before_ns, change.after_ns])
    bounds = interval(change.interval.low_ratio, change.interval.high_ratio)
    date = date_of(series.points[change.at])
    how = (
        f"{ratio(change.ratio)} slower" if slower else f"faster, at {ratio(change.ratio)} its time"
    )
    here = [fact for fact in change.changed if fact.points_off == 0]
    near = [fact for fact in change.changed if fact.points_off]
    return ChangePart(
        number=number,
        kind=SLOWER if slower else FASTER,
        lead=f"{date}: {how}",
        rest=f"({percent(change.interval.level_ratio)} interval {bounds}), from {before} to {after}.",
        summary=" ".join(filter(None, (_named("Changed here", here), _named("Close by", near)))),
        title=f"Change {number}, {date}: {ratio(change.ratio)}",
        changed=tuple(change_in_words(fact) for fact in here),
        near=tuple(change_in_words(fact) for fact in near),
        varied=tuple(spread_in_words(fact) for fact in change.varied),
        nothing="" if change.changed else NOT_OBSERVED if change.unobserved else NOTHING_CHANGED,
    )


def _named(where: str, changed: Sequence[FactChange]) -> str:
    words = [change_in_words(fact) for fact in changed[:FACTS_IN_ANSWER]]
    more = len(changed) - len(words)
    if more:
        words.append(f"and {more:,} more")
    return f"{where}: {'; '.join(words)}." if words else ""
