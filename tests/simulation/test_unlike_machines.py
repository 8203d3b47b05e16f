# SPDX-License-Identifier: MPL-2.0
"""Simulation: among equal machines hardly one is named, and a bad one of five is.

The same for splits. Workers of equal pools differ by 5 or 10 %, by a normal distribution or one
with heavier tails. Where tails are heavy and workers differ by 10 %, some machines really are half
as slow again: these are named.
"""

import math

import numpy as np
import pytest
from simulation import ASSUMED, SUBJECT, run_on

from io_benchmark.analysis.explaining.mixed_pools import _MachineSplit
from io_benchmark.analysis.explaining.unlike_machines import SingleMachine
from io_benchmark.analysis.model.measurement import Measurement
from io_benchmark.analysis.model.side import Side

FALSE_NAMES, FOUND = 0.02, 0.90
FALSE_SPLITS, SPLITS_FOUND = 0.05, 0.95


def normal(generator, count):
    return generator.normal(0, 1, count)


def heavy_tailed(generator, count):
    """Student's distribution with five degrees of freedom."""
    return generator.standard_t(5, count) / math.sqrt(5 / 3)


def names(*sides):
    """The machines that are named where the sides' machines have these log means."""
    compared = [
        run_on(f"pool{pool}/{at}", log_mean, f"pool{pool}")
        for pool, side in enumerate(sides)
        for at, log_mean in enumerate(side)
    ]
    measurement = Measurement(SUBJECT, {}, (), sides=Side.by_name(compared))
    found = SingleMachine.find_all([measurement], ASSUMED)
    return [machine.worker.machine for machine in found]


@pytest.mark.parametrize("workers", [4, 5, 8, 12])
@pytest.mark.parametrize(
    ("draw", "variation"),
    [
        pytest.param(normal, 0.05, id="5 percent"),
        pytest.param(normal, 0.10, id="10 percent"),
        pytest.param(heavy_tailed, 0.05, id="5 percent, heavy tails"),
    ],
)
def test_equal_machines_are_seldom_named(draw, variation, workers, repetitions, tolerance):
    """Of reports about two equal pools, at most one in fifty names a machine."""
    generator = np.random.default_rng(workers)
    named = sum(
        bool(names(*(variation * draw(generator, workers) for _ in range(2))))
        for _ in range(repetitions)
    )
    assert named / repetitions <= FALSE_NAMES + tolerance


@pytest.mark.parametrize("ratio", [1.5, 1 / 1.5])
def test_a_bad_machine_of_five_is_named(ratio, repetitions, tolerance):
    """Half as slow or as fast again, where equal machines differ by 5 %: named in 90 of 100."""
    generator = np.random.default_rng(5)
    named = 0
    for _ in range(repetitions):
        bad, good = (0.05 * generator.normal(0, 1, 5) for _ in range(2))
        bad[0] += math.log(ratio)
        named += names(bad, good) == ["pool0/0"]
    assert named / repetitions >= FOUND - tolerance


def irrelevant(generator: np.random.Generator, workers: int, count: int) -> list[dict[str, str]]:
    """Facts of two or three values that do not depend on the times."""
    drawn = [generator.integers(0, generator.integers(2, 4), workers) for _ in range(count)]
    return [
        {f"fact {number}": str(fact[at]) for number, fact in enumerate(drawn)}
        for at in range(workers)
    ]


@pytest.mark.parametrize("draw", [normal, heavy_tailed])
@pytest.mark.parametrize("bad", [0, 1])
@pytest.mark.parametrize("workers", [4, 8, 12])
def test_equal_machines_are_seldom_split(workers, bad, draw, repetitions, tolerance):
    """At most 5 of 100 pools, also where one machine takes twice as long as all others."""
    generator = np.random.default_rng(workers)
    split = 0
    for _ in range(repetitions):
        errors = draw(generator, workers)
        logs = generator.uniform(0.03, 0.10) * errors
        logs[:bad] += math.log(2)
        split += _MachineSplit.find(logs.tolist(), irrelevant(generator, workers, 4)) is not None
    assert split / repetitions <= FALSE_SPLITS + tolerance


@pytest.mark.parametrize(("slow", "workers"), [(2, 8), (4, 8), (3, 10), (6, 12)])
def test_unlike_machines_are_found_by_their_fact(slow, workers, repetitions, tolerance):
    """Machines 1.3 to 2 times as slow are told by their common fact, beside others."""
    generator = np.random.default_rng(slow)
    found = 0
    for _ in range(repetitions):
        logs = generator.uniform(0.03, 0.08) * generator.normal(size=workers)
        logs[:slow] += math.log(generator.uniform(1.3, 2.0))
        facts = irrelevant(generator, workers, 3)
        facts = [{**each, "disks": str(1 + (at >= slow))} for at, each in enumerate(facts)]
        split = _MachineSplit.find(logs.tolist(), facts)
        found += split is not None and "disks" in split.facts and len(split.slower) == slow
    assert found / repetitions >= SPLITS_FOUND - tolerance
