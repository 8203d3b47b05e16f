# SPDX-License-Identifier: MPL-2.0
"""Simulation: how often a history shows a step that is not there, and a step or trend that is.

The bars: a false step in 5 % of histories at most, whether they are steady or drift, with
autocorrelation up to 0.5 and heavy tails; in 5 % of years at most where a steady pool is looked at
every week; 95 % of steps of 20 % within two weeks of daily points.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pytest
from simulated_history import Noise, Values, daily, drift, irregular, steps, weekly
from simulation import Rates

from io_benchmark.analysis.statistics.series_fit import SeriesFit

FALSE = 0.05
# A history is some milliseconds, and a year has 52 of them.
PART_OF_REPETITIONS, PART_OF_YEARS, MOST = 10, 40, 300


@dataclass(frozen=True)
class Case:
    """Times, noise, and what moves the values beside it."""

    times: Values
    noise: Noise
    moved: Callable[[Values], Values] = np.zeros_like

    def __call__(self, generator: np.random.Generator) -> tuple[Values, Values]:
        return self.times, self.noise.draw(generator, len(self.times)) + self.moved(self.times)


def effects(times: Values, values: Values) -> SeriesFit:
    return SeriesFit.of([datetime.fromtimestamp(time, UTC) for time in times], values)


@pytest.fixture
def histories(repetitions):
    return Rates(min(repetitions // PART_OF_REPETITIONS, MOST))


@pytest.fixture
def years(request, repetitions):
    if not request.config.getoption("--long"):
        pytest.skip("only with --long: a few years show no rate")
    return Rates(min(repetitions // PART_OF_YEARS, MOST))


def drawn(make, number):
    generator = np.random.default_rng(12)
    return [effects(*make(generator)) for _ in range(number)]


STEADY = {
    **{
        f"{count} points, autocorrelation {autocorrelation}": Case(
            weekly(count), Noise(autocorrelation=autocorrelation)
        )
        for count in (10, 60)
        for autocorrelation in (0.0, 0.5)
    },
    "heavy tails, autocorrelation 0.5": Case(weekly(60), Noise(degrees=3, autocorrelation=0.5)),
    "5 % outliers": Case(weekly(60), Noise(outliers=0.05)),
    "variation grows threefold": Case(weekly(60), Noise(growth=3.0)),
    "irregular": Case(irregular(np.random.default_rng(1), 60), Noise()),
}


@pytest.mark.parametrize("name", STEADY)
def test_steady(name, histories):
    """A steady history seldom shows anything."""
    for history in drawn(STEADY[name], histories.repetitions):
        histories.add("shown", bool(history.steps or history.trend))
    assert histories.keeps("shown", FALSE)


def _drift(times: Values) -> Values:
    return drift(times, 0.10)


@pytest.mark.parametrize(
    ("case", "least"),
    [
        pytest.param(Case(weekly(52), Noise(), _drift), 0.0, id="a year"),
        pytest.param(Case(weekly(104), Noise(), _drift), 0.8, id="two years"),
    ],
)
def test_drift(case, least, histories):
    """A trend is seldom told as steps, and is told as what it is where it shows."""
    for history in drawn(case, histories.repetitions):
        histories.add("steps", bool(history.steps))
        histories.add("trend", history.trend is not None)
    assert histories.keeps("steps", FALSE)
    assert histories.reaches("trend", least)


@pytest.mark.parametrize(
    ("days", "lasting", "ratio", "least", "noise"),
    [
        (60, 14, 1.2, 0.95, Noise()),
        (60, 14, 1.2, 0.85, Noise(autocorrelation=0.4)),
        (60, 3, 1.2, 0.90, Noise(0.029)),  # three workers
        (30, 14, 1.2, 0.70, Noise()),
        (100, 50, 1.1, 0.70, Noise()),
    ],
)
def test_steps_are_found(days, lasting, ratio, least, noise, histories):
    """A real step in the last days is found within two points of where it is, so often at least."""
    start = days - lasting
    case = Case(daily(days), noise, lambda times: steps(len(times), (start, ratio)))
    for history in drawn(case, histories.repetitions):
        histories.add("found", any(abs(step.at - start) <= 2 for step in history.steps))
    assert histories.reaches("found", least)


YEARS = {
    "from the tenth week, autocorrelation 0.5, heavy tails": (
        weekly(62),
        10,
        1,
        Noise(autocorrelation=0.5, degrees=3),
    ),
    "daily points, autocorrelation 0.5": (daily(378), 14, 7, Noise(autocorrelation=0.5)),
}
NEWEST = 100  # points that are read by default


@pytest.mark.parametrize("name", YEARS)
def test_a_year_of_weekly_looks(name, years):
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
