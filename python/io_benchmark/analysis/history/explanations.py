# SPDX-License-Identifier: MPL-2.0
"""What explains a pool's history: nothing, a trend, seasons, steps, or several of these.

A model is a choice of these. Its cost is how badly it fits the points' logarithms (`autoregression`), and a
penalty for each thing in it, as in Schwarz' criterion (Ann. Statist. 6, 1978). The penalties are larger than
his. With them, at most 5 % of steady histories show a step at any of 52 weekly looks (tests/simulation).
This includes histories with an autocorrelation of up to 0.5 and with heavy tails. The penalties grow with
the number of points, because each point adds a look, and a place for a step.

The report shows what is in the cheapest model, and in every other model that costs about as much. What is
only in some of these is listed as possible.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.arrays import Numbers
from io_benchmark.analysis.history.autoregression import Regression
from io_benchmark.analysis.history.seasons import TREND, YEAR_DAYS, Calendar

# A step between five equal values and five others is not found in fewer.
FEWEST_VALUES = 10
# The penalty of a step is 9 + 2 ln n, and 2 ln (n / 30) more beyond 30 points, because long histories have
# new points every day. Two steps back to the same level have 1.4 times that.
_STEP_PENALTY, _BACK_PENALTY, _LONG = 9.0, 1.4, 30
# The penalty of a trend is 11 and ln n; that of the seasons is 11 and ln n per column.
_SMOOTH_PENALTY = 11.0
# Models whose costs differ by less explain a history about as well. A drift that can be seen within less
# than half a year is so steep that a step is more likely from the start.
_ABOUT_AS_WELL, _ABOUT_AS_WELL_IN_SHORT = 6.0, 3.0
_SHORT_DAYS = YEAR_DAYS / 2
_MOST_STEPS = 12
STEP = "step"
# A step is the same in two models if it is at most this many points off.
_SAME_STEP = 3


class _Model(Struct, frozen=True):
    """What explains a history."""

    names: tuple[str, ...] = ()  # trend and seasons
    # The first points of new levels, in order, and by how much each lowered the cost.
    steps: tuple[tuple[int, float], ...] = ()
    cost: float = 0.0

    def columns(self, calendar: Calendar) -> Numbers:
        """Return the columns of a linear model, those of steps last."""
        numbers = np.arange(len(calendar.days))
        steps = [(numbers >= at).astype(np.float64) for at, _ in self.steps]
        return np.column_stack([calendar.columns(self.names), *steps])


def explain(calendar: Calendar, values: Numbers) -> tuple[_Model, tuple[str, ...]]:
    """Return what all good models have in common, and what only some of them have."""
    if len(values) < FEWEST_VALUES:
        return _Model(), ()
    models = list(_models(calendar, values, ()))
    best = min(models, key=lambda model: model.cost)
    seasons = _best_seasons(calendar, values, best)
    if seasons:
        models = list(_models(calendar, values, seasons))
        best = min(models, key=lambda model: model.cost)
    is_short = calendar.length_days < _SHORT_DAYS
    margin = _ABOUT_AS_WELL_IN_SHORT if is_short else _ABOUT_AS_WELL
    about_as_good = [
        model
        for model in models
        if model.cost <= best.cost + margin
        and not _is_part(model, best)
        and not _is_part(best, model)
    ]
    clear = _common(calendar, [best, *about_as_good])
    return clear, _beside(clear, [best, *about_as_good])


def _models(calendar: Calendar, values: Numbers, seasons: tuple[str, ...]) -> Iterator[_Model]:
    """Return the models with these seasons, without and with a trend, each with more and more steps."""
    trends: list[tuple[str, ...]] = [(), (TREND,)] if calendar.length_days > 0 else [()]
    for trend in trends:
        names = (*trend, *seasons)
        columns = calendar.columns(names)
        model = Regression(columns, values)
        if not model.is_possible:
            continue
        cost = model.deviance + _penalty(calendar, names)
        yield from _with_steps(calendar, values, _Model(names, cost=cost))


def _with_steps(calendar: Calendar, values: Numbers, model: _Model) -> Iterator[_Model]:
    """Return the model, and with steps added as long as these make it cheaper."""
    yield model
    count = len(values)
    penalty = _STEP_PENALTY + 2 * math.log(count) + 2 * max(0.0, math.log(count / _LONG))
    while len(model.steps) < _MOST_STEPS:
        best = Regression(model.columns(calendar), values).best_steps()
        gain, starts = max(
            (best.gain - penalty, (best.at,)),
            (best.gain_back - _BACK_PENALTY * penalty, best.at_back),
        )
        if gain <= 0 or any(at in starts for at, _ in model.steps):
            return
        steps = sorted([*model.steps, *((at, gain) for at in starts)])
        model = _Model(model.names, tuple(steps), model.cost - gain)
        if not Regression(model.columns(calendar), values).is_possible:
            return
        yield model


def _best_seasons(calendar: Calendar, values: Numbers, model: _Model) -> tuple[str, ...]:
    """Return the seasons that make a model without seasons cheapest."""
    costs = {}
    for seasons in calendar.seasons():
        columns = replace(model, names=(*model.names, *seasons)).columns(calendar)
        regression = Regression(columns, values)
        if regression.is_possible:
            costs[seasons] = regression.deviance + _penalty(calendar, seasons)
    return min(costs, key=lambda seasons: costs[seasons])


def _penalty(calendar: Calendar, names: Sequence[str]) -> float:
    columns: int = calendar.columns(names).shape[1] - 1
    groups = {name == TREND for name in names}
    return _SMOOTH_PENALTY * len(groups) + columns * math.log(len(calendar.days))


def _is_part(model: _Model, whole: _Model) -> bool:
    """Return whether one model contains the other, so that only their penalties decided."""
    return set(model.names) <= set(whole.names) and all(
        _has_step(whole, at) for at, _ in model.steps
    )


def _has_step(model: _Model, at: int) -> bool:
    return any(abs(at - start) <= _SAME_STEP for start, _ in model.steps)


def _common(calendar: Calendar, models: Sequence[_Model]) -> _Model:
    """Return what the first model has in common with all others."""
    best, *_ = models
    names = tuple(
        name
        for name in best.names
        if (name != TREND or calendar.shows_trend) and all(name in model.names for model in models)
    )
    steps = tuple(step for step in best.steps if all(_has_step(model, step[0]) for model in models))
    return _Model(names, steps, best.cost)


def _beside(clear: _Model, models: Sequence[_Model]) -> tuple[str, ...]:
    """Return what only some of the models have."""
    names = {name for model in models for name in model.names if name not in clear.names}
    if any(not _has_step(clear, at) for model in models for at, _ in model.steps):
        names.add(STEP)
    return tuple(sorted(names))
