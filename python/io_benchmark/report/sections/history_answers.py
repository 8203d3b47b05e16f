# SPDX-License-Identifier: MPL-2.0
"""A pool over time in sentences: its changes, with the facts that changed, and its time now."""

from collections.abc import Iterator

from io_benchmark.analysis.history import history_model as model
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.reading.machines import FactValue
from io_benchmark.analysis.statistics.series_fit import FEWEST_VALUES
from io_benchmark.number_text import listed, number_of, percent, ratio
from io_benchmark.report import blocks
from io_benchmark.report.content import interval_text, mean_texts
from io_benchmark.results import workloads
from io_benchmark.text import clean

_FACTS_IN_ANSWER = 3  # the answer names this many facts that changed, and counts the others
_VALUE_LENGTH = 120  # characters of a fact's value
_LONG_DAYS = 180  # a trend of a shorter history is reported per week
_YEARS_OF_A_WEEK = 7 / 365.25


def answer(series: model.HistorySeries, history: model.History) -> Iterator[blocks.Item]:
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
    newest = _newest(series) if is_short else _now(series, history)
    yield blocks.Item(f"{newest}{_missing(history)}.", kind="now")


def _missing(history: model.History) -> str:
    """Return how many results no series has."""
    counts = {
        "could not be read": len(history.unreadable),
        "left out": len(history.left_out),
    }
    parts = [f"{number_of(count, 'result')} {what}" for what, count in counts.items() if count]
    return f"; {', '.join(parts)}" if parts else ""


def _change_answer(change: model.LevelChange, series: model.HistorySeries) -> blocks.Item:
    """Write a change in one sentence, with the facts that changed with it."""
    kind, size = change.verdict, ratio(change.ratio)
    before, after = mean_texts(series.subject, [change.before_ns, change.after_ns])
    bounds = interval_text(change.interval, change.interval.level_ratio)
    changed = [
        f"{where}: {listed(facts, _FACTS_IN_ANSWER, '; and {:,} more', '; ')}."
        for where, facts in changed_facts(change)
    ]
    sentences = (f" ({bounds}), from {before} to {after}.", *(changed or [nothing_changed(change)]))
    lead = f"{series.points[change.at].date}: takes {size} as long as before"
    return blocks.Item.answer(kind, lead, " ".join(sentences))


def nothing_changed(change: model.LevelChange) -> str:
    if change.unobserved:
        return (
            "It is unknown what changed: host and storage were not observed both before and after."
        )
    return "No observed fact about host and storage changed here."


def changed_facts(change: model.LevelChange) -> Iterator[tuple[str, list[str]]]:
    """Yield what changed at the point of the change, then what changed at points close by."""
    here = [_change_text(fact) for fact in change.changed if fact.points_off == 0]
    if here:
        yield "Changed here", here
    close_by = [_change_text(fact) for fact in change.changed if fact.points_off != 0]
    if close_by:
        yield "Close by", close_by


def _change_text(fact: model.FactChange) -> str:
    """Return 'disks 2 → 1', and how far from the change of the level it changed."""
    points = number_of(abs(fact.points_off), "point")
    distance = f" ({points} {'later' if fact.points_off > 0 else 'earlier'})"
    change = f"{fact.name} {fact_difference(fact.before, fact.after)}"
    return change + distance if fact.points_off else change


def fact_difference(before: FactValue, after: FactValue) -> str:
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


def _steady(series: model.HistorySeries) -> str:
    """Return that there is no change, or too few points to see one."""
    (level,) = series.levels
    if level.end < FEWEST_VALUES:
        return (
            f"{_points(level)}: too few to distinguish a change from chance, which needs "
            f"{FEWEST_VALUES} or more"
        )
    return f"{'No step' if series.trend else 'No change'} in {_points(level)}"


def _now(series: model.HistorySeries, history: model.History) -> str:
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


def _newest(series: model.HistorySeries) -> str:
    """Return the newest point: the mean of so few would hide that they may be of two levels."""
    means_ns = [point.mean_ns for point in series.points]
    newest, low, high = mean_texts(series.subject, [means_ns[-1], min(means_ns), max(means_ns)])
    if workloads.of(series.subject.workload).higher_is_better:
        low, high = high, low
    date = series.points[-1].date
    count = len(means_ns)
    others = f"; the {count} points are from {low} to {high}" if count > 1 else ""
    return f"The newest point, {date}: {newest}{others}"


def _points(level: model.Level) -> str:
    return number_of(level.end - level.start, "point")


def _trend(trend: model.Trend, series: model.HistorySeries) -> blocks.Item:
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


def _unclear(series: model.HistorySeries) -> str:
    """Return what may explain the points and is not clear."""
    explanations = " or ".join(f"a {name}" for name in series.possible)
    if series.trend is not None or series.changes:
        return f"There may also be {explanations}, which is not clear"
    if len(series.possible) > 1:
        return f"Not steady, but none of these explains it clearly: {explanations}"
    return f"Not steady: there may be {explanations}, which is not clear"
