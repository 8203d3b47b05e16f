# SPDX-License-Identifier: MPL-2.0
"""Steps in a run: found where they are, and not made of waves, stalls and correlated noise."""

import math
import random
from statistics import median

import pytest

from io_benchmark.analysis.inference.course import FEWEST_TO_JUDGE, find_step

COUNT = 400


def series(kind, generator, count=COUNT):
    """Times around 1: independent, correlated by 0.8, heavy tails, waves, or stalls of 10 in 170."""
    if kind == "correlated":
        values, level = [], generator.gauss(0, 0.5)
        for _ in range(count):
            level = 0.8 * level + generator.gauss(0, 0.3)
            values.append(math.exp(level))
        return values
    noise = [math.exp(generator.gauss(0, 0.3)) for _ in range(count)]
    phase = generator.random() * 2 * math.pi
    factors = {
        "independent": lambda _: 1.0,
        "heavy": lambda _: generator.paretovariate(1.7),
        "waves": lambda at: 1 + 0.6 * math.sin(20 * math.pi * at / count + phase),
        "stalls": lambda at: 20.0 if at % 170 > 160 else 1.0,
    }
    return [value * factors[kind](at) for at, value in enumerate(noise)]


def found(times):
    step = find_step(times, [1.0] * len(times))
    return step if step is not None and step.is_clear else None


@pytest.mark.parametrize("kind", ["independent", "correlated", "heavy", "waves", "stalls"])
def test_no_step(kind):
    """Of steady runs at most one of 100 has a clear step, and most of three have no faint one."""
    generator = random.Random(2)
    runs = [series(kind, generator) for _ in range(300)]
    assert sum(found(times) is not None for times in runs) <= 3
    faint = [find_step(times, [1.0] * COUNT) for times in runs]
    slower = [step is not None and step.ratio >= 1.1 for step in faint]
    assert sum(median(slower[at : at + 3]) for at in range(0, 300, 3)) <= 3


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


def test_slope():
    """A run that slows down steadily to twice its time is found as often."""
    generator = random.Random(4)
    noise = [series("independent", generator) for _ in range(100)]
    slopes = [[time * (1 + at / COUNT) for at, time in enumerate(times)] for times in noise]
    assert sum(found(times) is not None for times in slopes) >= 90


def test_operations_count():
    """A batch of more operations that takes longer is no step; one that takes longer for each is."""
    counts = [100.0] * 50 + [200.0] * 50
    assert find_step(counts, counts) is None
    slower = [*counts[:50], *(2 * count for count in counts[50:])]
    noisy = [time * (1 + at % 2 / 100) for at, time in enumerate(slower)]
    step = find_step(noisy, counts)
    assert step is not None
    assert step.index == 50
    assert step.ratio == pytest.approx(2.0)


def test_fewest():
    """Below 60 samples there is no judgement."""
    times = [1.0 + at % 2 / 100 + (at >= FEWEST_TO_JUDGE // 2) for at in range(FEWEST_TO_JUDGE)]
    assert found(times) is not None
    assert found(times[1:]) is None


def test_a_slope_and_a_peak():
    """A run that slows down steadily has a step in its middle; one that only was slow for a while has none."""
    slope = [1 + at / COUNT + at % 2 / 100 for at in range(COUNT)]
    step = found(slope)
    assert step is not None
    assert step.index == pytest.approx(COUNT / 2, abs=COUNT / 10)
    peak = [1 + 2 * (150 <= at < 250) + at % 2 / 100 for at in range(COUNT)]
    assert found(peak) is None
