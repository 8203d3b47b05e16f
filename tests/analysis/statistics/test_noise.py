# SPDX-License-Identifier: MPL-2.0
"""How well one worker's mean is known, and steps in a run: not of waves, stalls or noise."""

import math
import random
from statistics import median

import numpy as np
import pytest
import simulation

from io_benchmark.analysis.statistics import noise as run_noise
from io_benchmark.analysis.statistics.noise import FEWEST_TO_JUDGE, RelativeTimes, relative_times

COUNT = 400


def relative(times):
    return RelativeTimes(list(times), [1.0] * len(times), ())


def found(times):
    return relative(times).step


def test_runs_together() -> None:
    """Where each run is noisy, their average shows where they became slower.

    The order of runs changes nothing.
    """
    generator, runs = np.random.default_rng(3), []
    for count in range(200, 205):
        factors = np.where(np.arange(count) < 120, 1.0, 1.3)
        runs.append(relative(factors * np.exp(generator.normal(0, 0.6, count))))
    assert sum(run.step is not None for run in runs) <= 2
    step = RelativeTimes.step_of(runs)
    assert step is not None
    assert step.index == pytest.approx(120, abs=10)
    assert step.ratio == pytest.approx(1.3, rel=0.1)
    assert RelativeTimes.step_of(runs[::-1]) == step
    before, after = runs[0].means_around(step.index) or (0, 0)
    halves = runs[0].means_around(None) or (0, 0)
    assert halves[1] / halves[0] < after / before


@pytest.mark.parametrize(
    ("heights", "is_shared"),
    # Their mean has 2.9 and 3.1 standard errors.
    [((1.3, 2.0, 2.9), False), ((1.3, 2.0, 2.7), True), ((1.0, 1.0, 3.0), False), ((), False)],
)
def test_runs_agree_on_a_step(heights, is_shared):
    """A step is compared with how far the runs differ in it: one slow end of three is none."""
    steady = np.exp(np.random.default_rng(3).normal(0, 0.01, COUNT))
    runs = [relative(np.where(np.arange(COUNT) < 240, 1.0, height) * steady) for height in heights]
    assert (RelativeTimes.step_of(runs) is not None) == is_shared


def test_blocks_are_well_over_twenty_retrieves() -> None:
    """Longer than the waves of writeback wherever there are enough retrieves."""
    lengths = [run_noise._block_length(count) for count in (2, 40, 200, 2000, 10_000)]
    assert lengths == [1, 20, 64, 200, 1000]


def test_nothing_is_known_from_nothing() -> None:
    """No second block: the variance is unbounded, not zero."""
    for values in ([], [1.0]):
        assert math.isinf(run_noise.variance_of_mean(values).variance)


@pytest.mark.parametrize(("firsts", "is_apart"), [(7, False), (8, True)])
def test_first_reads_are_a_series_apart(firsts, is_apart):
    """They become fewer, and blocks would take this course for waves.

    A few show nothing by themselves.
    """
    values = np.ones(400)
    values[: 3 * firsts : 3] = 20.0
    apart = run_noise.variance_of_mean(values.tolist(), first_reads=range(0, 3 * firsts, 3))
    whole = run_noise.variance_of_mean(values.tolist())
    assert apart.variance == (pytest.approx(0, abs=1e-20) if is_apart else whole.variance)
    # Half of what independent blocks have: 6.25 of the whole run, 2 of the first reads.
    assert whole.degrees == 5.25 / 2
    assert apart.degrees == (1.0 if is_apart else whole.degrees)


def test_longer_blocks_are_tried():
    """A burst of a third of the run is seen by blocks of a third of it, not by those of a tenth."""
    values = np.concatenate((np.ones(1300), np.full(700, 2.0))).tolist()
    tenth, longer = (
        run_noise.variance_of_mean(values, tries_longer=tries).variance for tries in (False, True)
    )
    thirds = np.convolve(values, np.full(666, 1 / 666), mode="valid") - np.mean(values)
    assert longer == pytest.approx(np.mean(thirds**2) * 666 / (2000 - 666))
    assert longer > 2 * tenth


def test_sizes_are_no_noise() -> None:
    """Times that follow the file's size alone have no error."""
    files = np.array([0, 1, 2] * 100)
    one = simulation.entry(np.array(simulation.SIZES)[files] * 1000, files)
    assert relative_times(one).error_of_mean == 0.0


@pytest.mark.parametrize(
    ("height", "is_step_of_one", "is_step_of_three"),
    # 3.43, 3.55, 4.41 and 4.53 standard errors.
    [(1.064, False, False), (1.069, False, True), (1.096, False, True), (1.1, True, True)],
)
def test_the_least_step(height, is_step_of_one, is_step_of_three):
    """One run needs a height of 4.5 standard errors, several together 3.5."""
    noise = np.exp(np.random.default_rng(7).normal(0, 0.3, COUNT))
    run = relative(noise * np.where(np.arange(COUNT) < COUNT // 2, 1.0, height))
    assert (RelativeTimes.step_of([run]) is not None) == is_step_of_one
    assert (RelativeTimes.step_of([run] * 3) is not None) == is_step_of_three


def test_operations_count():
    """A batch of more operations that takes longer is no step.

    One that takes longer for each is.
    """
    counts = [100.0] * 50 + [200.0] * 50
    assert RelativeTimes(counts, counts, ()).step is None
    slower = [*counts[:50], *(2 * count for count in counts[50:])]
    noisy = [time * (1 + at % 2 / 100) for at, time in enumerate(slower)]
    step = RelativeTimes(noisy, counts, ()).step
    assert step is not None
    assert step.index == 50
    assert step.ratio == pytest.approx(2.0)


def test_a_step_is_counted_among_all_samples():
    """First reads do not count for it, and it begins where it does in the run with them."""
    times = [9.0] * 40 + [1 + at % 2 / 100 + (at >= 100) for at in range(200)]
    step = RelativeTimes(times, [1.0] * 240, frozenset(range(40))).step
    assert step is not None
    assert step.index == 140


def test_fewest():
    """Below 60 samples there is no judgement."""
    times = [1.0 + at % 2 / 100 + (at >= FEWEST_TO_JUDGE // 2) for at in range(FEWEST_TO_JUDGE)]
    assert found(times) is not None
    assert found(times[1:]) is None


def test_a_slope_and_a_peak():
    """A run that slows down steadily has a step in its middle.

    One that only was slow for a while has none.
    """
    slope = [1 + at / COUNT + at % 2 / 100 for at in range(COUNT)]
    step = found(slope)
    assert step is not None
    assert step.index == pytest.approx(COUNT / 2, abs=COUNT / 10)
    peak = [1 + 2 * (150 <= at < 250) + at % 2 / 100 for at in range(COUNT)]
    assert found(peak) is None


def series(kind, generator):
    """Times around 1: independent, correlated, with heavy tails, waves, or stalls of 10 in 170."""
    if kind == "correlated":
        values, level = [], generator.gauss(0, 0.5)
        for _ in range(COUNT):
            level = 0.8 * level + generator.gauss(0, 0.3)
            values.append(math.exp(level))
        return values
    noise = [math.exp(generator.gauss(0, 0.3)) for _ in range(COUNT)]
    phase = generator.random() * 2 * math.pi
    factors = {
        "independent": lambda _: 1.0,
        "heavy": lambda _: generator.paretovariate(1.7),
        "waves": lambda at: 1 + 0.6 * math.sin(20 * math.pi * at / COUNT + phase),
        "stalls": lambda at: 20.0 if at % 170 > 160 else 1.0,
    }
    return [value * factors[kind](at) for at, value in enumerate(noise)]


@pytest.mark.parametrize("kind", ["independent", "correlated", "heavy", "waves", "stalls"])
def test_no_step(kind):
    """At most 1 of 100 steady runs has a clear step, and 3 of 100 threes one of a tenth."""
    generator = random.Random(2)
    runs = [series(kind, generator) for _ in range(300)]
    assert sum(found(times) is not None for times in runs) <= 3
    assert shared_steps(runs, 3) <= 3


def shared_steps(runs, together):
    """In how many groups of runs their step makes later operations a tenth slower."""
    groups = [runs[at : at + together] for at in range(0, len(runs), together)]
    steps = [RelativeTimes.step_of(list(map(relative, group))) for group in groups]
    return sum(step is not None and step.ratio >= 1.1 for step in steps)


@pytest.mark.parametrize("burst", [(3.0, 30, 300), (3.0, 100, 600), (1.6, 60, 400), (20.0, 8, 160)])
def test_bursts_by_chance(burst):
    """One run may end within a burst, which looks like a step.

    Of three and six runs at most 3 % share one.
    """
    generator = np.random.default_rng(5)
    noise = simulation.Noise(bursts=simulation.Bursts(*burst), tail=0.2)
    runs = [noise.draw_run(generator, np.zeros(COUNT, dtype=np.int64)) for _ in range(600)]
    assert shared_steps(runs, 3) <= 6
    assert shared_steps(runs, 6) <= 3


@pytest.mark.parametrize("share", [0.5, 2 / 3])
@pytest.mark.parametrize("factor", [1.5, 1 / 1.5])
def test_step(share, factor):
    """A change by half is found in nine of ten runs, near the place where it is."""
    generator, begin = random.Random(3), int(share * COUNT)
    steps = []
    for _ in range(100):
        noise = series("independent", generator)
        times = [time * (factor if at >= begin else 1.0) for at, time in enumerate(noise)]
        steps.append(found(times))
    known = [step for step in steps if step is not None]
    assert len(known) >= 90
    assert median(step.index for step in known) == pytest.approx(begin, abs=COUNT / 50)
    assert median(step.ratio for step in known) == pytest.approx(factor, rel=0.05)
