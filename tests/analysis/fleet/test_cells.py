# SPDX-License-Identifier: MPL-2.0
"""The mean of a pool's machines, how sure it is, and the ranks of pools."""

import math

import numpy as np
import pytest

from io_benchmark.analysis.fleet.cells import MachineValue, MeanValue, mean_value, ranks
from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.statistics.levels import LEVEL

TRUTH = 700.0
REPETITIONS = 400
# A rate of 95 % is above this in 999 of 1000 simulations.
LEAST_COVERAGE = 0.91


def width(mean: MeanValue) -> float:
    """Return how far the interval reaches, in logarithms; it is as far on both sides."""
    above = math.log(mean.interval.high_ratio / mean.value)
    assert above == pytest.approx(math.log(mean.value / mean.interval.low_ratio))
    return above


def measured(*values: float, machine: str = "", push: int | None = None) -> list[MachineValue]:
    """Return values of different machines in different pushes, unless one is named."""
    return [
        MachineValue(machine or f"m{number}", number if push is None else push, value)
        for number, value in enumerate(values)
    ]


def test_machines_count_once() -> None:
    """The value is the geometric mean of machines, however often each was measured."""
    often = measured(100, 100, 100, 100, machine="often")
    mean = mean_value([*often, MachineValue("once", 0, 400.0)])
    assert mean.value == pytest.approx(200)
    assert mean.machines == 2


def test_a_machine_counts_its_pushes_once() -> None:
    """Two tasks of one machine in one push weigh as much as one in another push."""
    mean = mean_value([*measured(100, 100, machine="m", push=0), MachineValue("m", 1, 400.0)])
    assert mean.value == pytest.approx(200)


def test_one_machine_in_one_push() -> None:
    """A single machine's variation is assumed as comparisons do, 10 %, and a push's 5 %."""
    mean = mean_value(measured(700))
    assert mean.is_assumed
    assert width(mean) == pytest.approx(2.086 * math.hypot(0.10, 0.05), rel=1e-3)


@pytest.mark.parametrize(
    ("values", "is_assumed"),
    [
        (measured(700, 707), True),
        (measured(700, 707, 714, push=0), True),
        (measured(700, 707, 714, machine="m"), True),
        (measured(700, 707, 714), False),
    ],
    ids=["two", "one push", "one machine", "three of each"],
)
def test_which_intervals_are_assumed(values, is_assumed):
    """Fewer than three machines, or than three pushes, do not show how far they differ."""
    assert mean_value(values).is_assumed == is_assumed


def test_more_readings_make_an_interval_shorter() -> None:
    """One, two, three and more machines that agree: the interval becomes shorter each time."""
    widths = [width(mean_value(measured(*[700.0, 710.0] * count)[:count])) for count in (1, 2, 3)]
    widths.append(width(mean_value(measured(*[700.0, 710.0] * 20))))
    assert widths == sorted(widths, reverse=True)


def test_a_week_that_moves_all_machines_counts_as_one() -> None:
    """Four machines per push that move together are as uncertain as one machine per push."""
    weeks = [700.0, 770.0, 665.0, 735.0, 710.0, 680.0]
    single = mean_value(measured(*weeks))
    together = [
        MachineValue(f"{week} {number}", week, value)
        for week, value in enumerate(weeks)
        for number in range(4)
    ]
    assert width(mean_value(together)) == pytest.approx(width(single))


def test_weeks_that_resemble_the_ones_before() -> None:
    """Weeks that stay slow for long show less than as many that go up and down; in any order."""
    high_low = measured(700, 750, 700, 750, 700, 750, 700, 750)
    lasting = measured(700, 700, 700, 700, 750, 750, 750, 750)
    assert width(mean_value(lasting)) > 1.3 * width(mean_value(high_low))
    mixed = [lasting[number] for number in (4, 0, 6, 2, 1, 7, 3, 5)]
    assert width(mean_value(mixed)) == pytest.approx(width(mean_value(lasting)))


def test_machines_that_stay_count_as_so_many() -> None:
    """Three machines that differ are as uncertain in 20 weeks as their three means are."""
    values = [
        MachineValue(f"m{number}", week, value)
        for week in range(20)
        for number, value in enumerate((600.0, 700.0, 800.0))
    ]
    deviation = np.std(np.log([600, 700, 800]), ddof=1)
    assert width(mean_value(values)) == pytest.approx(4.303 * deviation / math.sqrt(3), rel=0.04)


def test_what_is_counted_is_exact() -> None:
    """16 CPUs are 16 CPUs on one machine; machines that differ have an interval."""
    mean = mean_value(measured(16), is_counted=True)
    assert mean == MeanValue(16.0, Interval(16.0, 16.0, LEVEL), 1, is_assumed=False)
    assert width(mean_value(measured(16, 16, 30), is_counted=True)) > 0


@pytest.mark.parametrize("weeks", [1, 2, 3, 8, 26])
@pytest.mark.parametrize("kept", [0, 1, 2, 4], ids=lambda kept: f"{kept} machines stay")
@pytest.mark.parametrize("week_variation", [0.0, 0.03])
def test_intervals_cover_the_truth(weeks, kept, week_variation):
    """Workers that vary by 5 %, in weeks that vary or not: 95 % of intervals have the truth."""
    generator = np.random.default_rng(7)
    covered = sum(
        not mean_value(drawn(generator, weeks, kept, week_variation)).interval.excludes(TRUTH)
        for _ in range(REPETITIONS)
    )
    assert covered >= LEAST_COVERAGE * REPETITIONS


def drawn(
    generator: np.random.Generator, weeks: int, kept: int, week_variation: float
) -> list[MachineValue]:
    """Return one to four machines per week; `kept` of them are always the same, 0: all new."""
    staying = generator.normal(0, 0.05, kept)
    values = []
    for week in range(weeks):
        of_week = generator.normal(0, week_variation)
        count = int(generator.integers(1, 5))
        for number in generator.permutation(kept)[:count] if kept else range(count):
            machine = f"m{number}" if kept else f"{week} {number}"
            of_machine = staying[number] if kept else generator.normal(0, 0.05)
            value = TRUTH * math.exp(of_week + of_machine + generator.normal(0, 0.01))
            values.append(MachineValue(machine, week, value))
    return values


def interval(low: float, high: float) -> Interval:
    return Interval(low, high, LEVEL)


def test_ranks() -> None:
    """A rank counts those that are certainly better; intervals that touch are not apart."""
    intervals = [interval(9, 10), interval(5, 7), interval(6, 8), interval(3, 5), interval(1, 2)]
    assert ranks(intervals, higher_is_better=True) == [(1, 1), (2, 4), (2, 3), (3, 4), (5, 5)]
    assert ranks(intervals, higher_is_better=False) == [(5, 5), (2, 4), (3, 4), (2, 3), (1, 1)]
    assert ranks([], higher_is_better=True) == []


@pytest.mark.parametrize("is_higher", [True, False])
def test_overlapping_intervals_share_a_rank(is_higher):
    """Of any two pools whose intervals overlap the ranks overlap, and the others' are in order."""
    generator = np.random.default_rng(3)
    for _ in range(50):
        bounds = np.sort(generator.integers(0, 40, (12, 2)), axis=1).tolist()
        made = ranks([interval(*pair) for pair in bounds], higher_is_better=is_higher)
        for (low, high), (best, worst) in zip(bounds, made, strict=True):
            for (other_low, other_high), (other_best, other_worst) in zip(
                bounds, made, strict=True
            ):
                if low <= other_high and other_low <= high:
                    assert best <= other_worst
                elif (low > other_high) == is_higher:
                    assert best <= other_best
                    assert worst <= other_worst
