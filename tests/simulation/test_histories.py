# SPDX-License-Identifier: MPL-2.0
"""Simulation: how often a history shows a step that is not there, and a step or trend that is.

The bars: a false step in 5 % of histories at most, whether they are steady or drift, with autocorrelation
up to 0.5 and heavy tails; in 5 % of years at most where a steady pool is looked at every week; 95 % of
steps of 20 % within two weeks of daily points.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import pytest
from simulated_history import (
    Noise,
    Values,
    daily,
    drift,
    irregular,
    steps,
    weekly,
    with_gap,
)
from simulated_noise import Rates

from io_benchmark.analysis.history.explanations import Explanation, explain

FALSE = 0.05
# A history is some milliseconds, and a year has 52 of them.
PART_OF_REPETITIONS, PART_OF_YEARS, MOST = 10, 40, 300

Make = Callable[[np.random.Generator], tuple[Values, Values]]


@dataclass(frozen=True)
class Case:
    """Times, noise, and what moves the values beside it."""

    times: Values
    noise: Noise
    moved: Callable[[Values], Values] = np.zeros_like

    def __call__(self, generator: np.random.Generator) -> tuple[Values, Values]:
        return self.times, self.noise.draw(generator, len(self.times)) + self.moved(self.times)


def effects(times: Values, values: Values) -> Explanation:
    return explain([datetime.fromtimestamp(time, UTC) for time in times], values)


@pytest.fixture
def histories(repetitions: int) -> Rates:
    return Rates(min(repetitions // PART_OF_REPETITIONS, MOST))


@pytest.fixture
def years(repetitions: int) -> Rates:
    return Rates(min(repetitions // PART_OF_YEARS, MOST))


def drawn(make: Make, number: int) -> list[Explanation]:
    generator = np.random.default_rng(12)
    return [effects(*make(generator)) for _ in range(number)]


STEADY = {
    **{
        f"{count} points, autocorrelation {autocorrelation}": Case(
            weekly(count), Noise(autocorrelation=autocorrelation)
        )
        for count in (10, 30, 60, 100)
        for autocorrelation in (0.0, 0.4, 0.5)
    },
    "heavy tails": Case(weekly(60), Noise(degrees=3)),
    "heavy tails, autocorrelation 0.5": Case(weekly(60), Noise(degrees=3, autocorrelation=0.5)),
    "5 % outliers": Case(weekly(60), Noise(outliers=0.05)),
    "variation grows threefold": Case(weekly(60), Noise(growth=3.0)),
    "a gap": Case(with_gap(weekly(50), 25), Noise(autocorrelation=0.4)),
    "irregular": Case(irregular(np.random.default_rng(1), 60), Noise()),
    "daily, autocorrelation 0.5": Case(daily(100), Noise(autocorrelation=0.5)),
}


@pytest.mark.parametrize("name", STEADY)
def test_steady(name: str, histories: Rates) -> None:
    """A steady history seldom shows anything."""
    for each in drawn(STEADY[name], histories.repetitions):
        histories.add("shown", bool(each.steps or each.trend))
    assert histories.keeps("shown", FALSE)


def _drift(times: Values) -> Values:
    return drift(times, 0.10)


# Each with how often the right thing is told, at least.
SMOOTH = {
    "a year of drift": (Case(weekly(52), Noise(), _drift), 0.0),
    "a year of drift, three workers": (Case(weekly(52), Noise(0.029), _drift), 0.3),
    "two years of drift": (Case(weekly(104), Noise(), _drift), 0.8),
    "two years of drift, autocorrelation 0.4": (
        Case(weekly(104), Noise(autocorrelation=0.4), _drift),
        0.3,
    ),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth(name: str, histories: Rates) -> None:
    """A trend is seldom told as steps, and is told as what it is where it shows."""
    case, least = SMOOTH[name]
    for history in drawn(case, histories.repetitions):
        histories.add("steps", bool(history.steps))
        histories.add("trend", history.trend is not None)
    assert histories.keeps("steps", FALSE)
    assert histories.reaches("trend", least)


@dataclass(frozen=True)
class Step:
    """A step of some size at a point, and how often it is found within two points, at least."""

    count: int
    at: int
    ratio: float
    least: float
    noise: Noise = field(default_factory=Noise)

    def moved(self, times: Values) -> Values:
        return steps(len(times), (self.at, self.ratio))


STEPS = {
    "20 % for 14 of 60 days": Step(60, 46, 1.2, 0.95),
    "20 % for 14 of 60 days, autocorrelation 0.4": Step(
        60, 46, 1.2, 0.85, Noise(autocorrelation=0.4)
    ),
    "20 % for 5 of 60 days": Step(60, 55, 1.2, 0.85),
    "20 % for 3 of 60 days, three workers": Step(60, 57, 1.2, 0.90, Noise(0.029)),
    "50 % for 3 of 30 days": Step(30, 27, 1.5, 0.85),
    "20 % for 14 of 30 days": Step(30, 16, 1.2, 0.70),
    "20 % in the middle of 30 days": Step(30, 15, 1.2, 0.70),
    "20 % in the middle of 60 days": Step(60, 30, 1.2, 0.90),
    "10 % in the middle of 30 days": Step(30, 15, 1.1, 0.0),
    "10 % in the middle of 60 days": Step(60, 30, 1.1, 0.40),
    "10 % for 14 of 60 days": Step(60, 46, 1.1, 0.30),
    "10 % in the middle of 100 days": Step(100, 50, 1.1, 0.70),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_are_found(name: str, histories: Rates) -> None:
    """Real steps are found within two points of where they are."""
    step = STEPS[name]
    case = Case(daily(step.count), step.noise, step.moved)
    for each in drawn(case, histories.repetitions):
        histories.add("found", any(abs(one.at - step.at) <= 2 for one in each.steps))
    assert histories.reaches("found", step.least)


YEARS = {
    "from the tenth week": (weekly(62), 10, 1, Noise()),
    "from the tenth week, autocorrelation 0.5": (weekly(62), 10, 1, Noise(autocorrelation=0.5)),
    "from the tenth week, autocorrelation 0.5, heavy tails": (
        *(weekly(62), 10, 1),
        Noise(autocorrelation=0.5, degrees=3),
    ),
    "the second year, autocorrelation 0.5": (weekly(104), 52, 1, Noise(autocorrelation=0.5)),
    "daily points, autocorrelation 0.5": (daily(378), 14, 7, Noise(autocorrelation=0.5)),
}
NEWEST = 100  # points that are read by default


@pytest.mark.parametrize("name", YEARS)
def test_a_year_of_weekly_looks(name: str, years: Rates) -> None:
    """At most 5 % of the years in which nothing changes have a look that shows a step."""
    times, first, every, kind = YEARS[name]
    generator = np.random.default_rng(13)
    values = [kind.draw(generator, len(times)) for _ in range(years.repetitions)]
    alarmed: set[int] = set()
    # All years at one look: what depends on the dates alone is computed once.
    for end in range(first, len(times) + 1, every):
        part = slice(max(0, end - NEWEST), end)
        alarmed |= {
            number
            for number, each in enumerate(values)
            if number not in alarmed and effects(times[part], each[part]).steps
        }
    years.hits["alarmed"] = len(alarmed)
    assert years.keeps("alarmed", FALSE)
