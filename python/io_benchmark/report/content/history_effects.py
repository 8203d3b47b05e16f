# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A history's trend and seasons, and what may explain its points and is not clear, in words."""

from io_benchmark.analysis.history.explanations import STEP
from io_benchmark.analysis.history.history_model import Effect, HistorySeries
from io_benchmark.analysis.history.seasons import DAY, TREND, WEEK, WEEKENDS

# A trend of a shorter history is reported per week.
_LONG_DAYS = 180
_SLOWEST = {WEEK: "on {time}s", DAY: "at {time} UTC"}
_POSSIBLE = {
    STEP: "a step",
    TREND: "a trend",
    WEEK: "a season of a week",
    WEEKENDS: "different weekends",
    DAY: "a season of a day",
}


def trend_and_seasons(series: HistorySeries) -> tuple[tuple[str, str], ...]:
    """Return a sentence for the trend and for each season."""
    found = [] if series.trend is None else [_trend(series.trend, series)]
    return (*found, *map(_season, series.seasons))


def _trend(trend: Effect, series: HistorySeries) -> tuple[str, str]:
    """Return `trend: +10 % per year (8 to 12)`; of a short history per week."""
    length = series.points[-1].time - series.points[0].time
    part, name = (1.0, "year") if length.days >= _LONG_DAYS else (7 / 365.25, "week")
    ends = (trend.interval.low_ratio, trend.interval.high_ratio)
    size, low, high = (_change_percent(ratio**part) for ratio in (trend.ratio, *ends))
    return f"trend: {size} % per {name}", f"({low} to {high} % of the time)"


def _season(season: Effect) -> tuple[str, str]:
    low, high = season.interval.low_ratio, season.interval.high_ratio
    if season.name == WEEKENDS:
        is_faster = season.ratio < 1
        shares = [abs(1 - ratio) for ratio in (season.ratio, low, high)]
        size, first, second = (f"{100 * share:.2g}" for share in (shares[0], *sorted(shares[1:])))
        word = "faster" if is_faster else "slower"
        return f"season: weekends {size} % {word}", f"({first} to {second})"
    size, first, second = (_change_percent(ratio)[1:] for ratio in (season.ratio, low, high))
    when = _SLOWEST[season.name].format(time=season.slowest)
    return f"season: ±{size} % over a {season.name}", f"({first} to {second}), slowest {when}"


def _change_percent(ratio_of_times: float) -> str:
    """Return `+10` for 1.1, with two significant digits."""
    return f"{float(f'{100 * (ratio_of_times - 1):.2g}'):+g}"


def unclear_effects(series: HistorySeries) -> str:
    """Return what may explain the points and is not clear, or nothing."""
    *others, last = [_POSSIBLE[name] for name in series.possible] or [""]
    listed = f"{', '.join(others)} or {last}" if others else last
    if series.trend is not None or series.seasons or series.changes:
        return f"There may also be {listed}, which is not clear" if last else ""
    if others:
        return f"Not steady, but none of these explains it clearly: {listed}"
    return f"Not steady: there may be {listed}, which is not clear" if last else ""
