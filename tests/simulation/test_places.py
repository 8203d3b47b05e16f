# SPDX-License-Identifier: MPL-2.0
"""Simulation: two places of one machine that becomes slower and faster while it measures them.

A drift of 10 % (a standard deviation over the whole measurement) is in both places where they take turns. Where
one comes after the other, it is taken for a difference between them.
"""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from msgspec.structs import replace
from simulation import entry

from io_benchmark.analysis.model import Entry
from io_benchmark.analysis.summary.place_rows import IN_TURNS, within_workers

RETRIEVES, TURNS, LEVEL, DRIFT = 200, 10, 0.95, 0.10
WIDTH = 0.09  # half of an interval, with 200 retrieves
SECONDS = np.array((0.043, 0.033, 0.0055))  # of the three sizes of files
COLD = 1.8  # times as long, where a file is read for the first time
Moments: TypeAlias = np.ndarray
Drift = Callable[[Moments, np.random.Generator], Moments]


def walk(moments: Moments, generator: np.random.Generator) -> Moments:
    return np.asarray(np.cumsum(generator.normal(size=len(moments))))


def wave(moments: Moments, generator: np.random.Generator) -> Moments:
    periods, start = generator.uniform(0.7, 4), generator.random()
    return np.asarray(np.sin(2 * np.pi * (moments * periods + start)))


def line(moments: Moments, generator: np.random.Generator) -> Moments:
    return np.asarray(moments * generator.choice([-1, 1]))


def step(moments: Moments, generator: np.random.Generator) -> Moments:
    return np.asarray((moments > generator.uniform(0.1, 0.9)) * generator.choice([-1.0, 1.0]))


def steady(moments: Moments, _generator: np.random.Generator) -> Moments:
    return np.zeros(len(moments))


def order(generator: np.random.Generator, *, in_turns: bool) -> list[tuple[int, int]]:
    """Return place and retrieve in the order of time."""
    if not in_turns:
        return [(place, retrieve) for place in (0, 1) for retrieve in range(RETRIEVES)]
    length = RETRIEVES // TURNS
    return [
        (int(place), retrieve)
        for start in range(0, RETRIEVES, length)
        for place in generator.permutation(2)
        for retrieve in range(start, start + length)
    ]


def measured(
    drift: Drift, generator: np.random.Generator, *, in_turns: bool
) -> tuple[Entry, Entry]:
    """Return what was measured at two equal places."""
    files = generator.integers(0, 100, RETRIEVES)
    firsts = frozenset(int(first) for first in np.unique(files, return_index=True)[1])
    taken = order(generator, in_turns=in_turns)
    course = drift(np.linspace(0, 1, len(taken)), generator)
    if course.std():
        course *= DRIFT / course.std()
    waves = np.zeros(len(taken))
    for sample in range(1, len(taken)):
        waves[sample] = 0.8 * waves[sample - 1] + generator.normal(0, 0.05)
    times_ns = np.zeros((2, RETRIEVES))
    for (place, retrieve), slow in zip(taken, course + waves, strict=True):
        usual_s = SECONDS[files[retrieve] % 3] * (COLD if retrieve in firsts else 1.0)
        times_ns[place, retrieve] = 1e9 * usual_s * math.exp(slow + generator.normal(0, 0.1))
    ends = range(RETRIEVES // TURNS, RETRIEVES + 1, RETRIEVES // TURNS) if in_turns else ()
    first, second = (
        replace(entry(times, files % 3), first_reads=firsts, turn_ends=tuple(ends))
        for times in times_ns
    )
    return first, second


@pytest.mark.parametrize("drift", [steady, walk, wave, line, step])
def test_places_in_turns(drift: Drift, repetitions: int, tolerance: float) -> None:
    """The interval is narrow, and misses equal places in 5 % whatever the machine does."""
    generator, missed, widths = np.random.default_rng(7), 0, []
    for _ in range(repetitions):
        estimate = within_workers([[measured(drift, generator, in_turns=True)]])
        interval = estimate.interval(LEVEL)
        missed += interval.excludes(1.0)
        widths.append(math.sqrt(interval.high_ratio / interval.low_ratio) - 1)
        assert estimate.method == IN_TURNS
    assert missed / repetitions <= 1 - LEVEL + 0.01 + tolerance
    assert np.mean(widths) <= WIDTH


@pytest.mark.parametrize("drift", [walk, line])
def test_places_one_after_the_other(drift: Drift, repetitions: int) -> None:
    """What turns are for: the ratio of equal places is often off by more than 9 %."""
    generator = np.random.default_rng(8)
    pairs = [measured(drift, generator, in_turns=False) for _ in range(repetitions)]
    logs = [within_workers([[pair]]).log_ratio for pair in pairs]
    assert np.mean(np.abs(logs) > math.log1p(WIDTH)) > 0.5
