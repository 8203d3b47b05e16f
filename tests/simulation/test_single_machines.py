# SPDX-License-Identifier: MPL-2.0
"""Simulation: among equal machines hardly one is named, and a bad one of five is.

Workers of equal pools differ by 5 or 10 %, by a normal distribution or one with heavier tails. Where
tails are heavy and workers differ by 10 %, some machines really are half as slow again: these are named.
"""

import math
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import simulation
from msgspec.structs import replace
from simulation import ASSUMED, SUBJECT

from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.model import Run, Worker
from io_benchmark.analysis.observed.machine_identity import by_side
from io_benchmark.analysis.summary.unlike_machines import SingleMachine

FALSE_NAMES, FOUND = 0.02, 0.90
MEAN_NS = 1e8


def normal(generator, count):
    return generator.normal(0, 1, count)


def heavy_tailed(generator, count):
    """Student's distribution with five degrees of freedom."""
    return generator.standard_t(5, count) / math.sqrt(5 / 3)


def runs(side, log_means, first=0):
    """One run on each machine."""
    return [
        Run(
            cast("Worker", SimpleNamespace(side=side, machine=f"{side}/{at}")),
            simulation.entry(np.array([MEAN_NS * math.exp(log_mean)])),
        )
        for at, log_mean in enumerate(log_means, first)
    ]


def find(compared, subjects=(SUBJECT,)):
    """Return the machines that are named where each measurement has these runs."""
    data = {side: SideData.of(side_runs) for side, side_runs in by_side(compared).items()}
    return SingleMachine.find_all(
        dict.fromkeys(subjects, compared), dict.fromkeys(subjects, data), ASSUMED
    )


def names(*sides):
    """The machines that are named where the sides' machines have these log means."""
    compared = [run for at, side in enumerate(sides) for run in runs(f"pool{at}", side)]
    return [machine.runs[0].worker.machine for machine in find(compared)]


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
    """Half as slow or as fast again, where equal machines differ by 5 %: named in 90 of 100 reports."""
    generator = np.random.default_rng(5)
    named = 0
    for _ in range(repetitions):
        bad, good = (0.05 * generator.normal(0, 1, 5) for _ in range(2))
        bad[0] += math.log(ratio)
        named += names(bad, good) == ["pool0/0"]
    assert named / repetitions >= FOUND - tolerance


@pytest.mark.parametrize("workers", [4, 6])
def test_a_few_long_stalls_name_no_machine(workers, repetitions, tolerance):
    """One retrieve of a hundred stalls, some for long: who met the longest stall is chance."""
    generator = np.random.default_rng(workers)
    named = 0
    for _ in range(min(repetitions, 200)):
        compared = [
            run._replace(entry=simulation.entry(MEAN_NS * factors))
            for side in ("a", "b")
            for run in runs(side, [0.0] * workers)
            for stalls in [(generator.random(150) < 0.01) * generator.pareto(1.5, 150)]
            for factors in [math.exp(generator.normal(0, 0.05)) * (1 + 10 * stalls)]
        ]
        named += bool(find(compared))
    assert named / min(repetitions, 200) <= FALSE_NAMES + tolerance


def test_a_bad_machine_whose_retrieves_are_noisy() -> None:
    """It takes twice as long in all of them, which noise of 30 % in each does not hide."""
    generator = np.random.default_rng(3)
    compared = [
        run._replace(
            entry=simulation.entry(MEAN_NS * factor * np.exp(generator.normal(0, 0.3, 150)))
        )
        for run, factor in zip(runs("a", [0.0] * 6), (1, 1, 2, 1, 1, 1), strict=True)
    ]
    assert [each.runs[0].worker.machine for each in find(compared)] == ["a/2"]


def test_runs_on_one_machine_count_once() -> None:
    """Two tasks on the bad machine are one machine; its ratio is to the others' mean."""
    bad = [run for log_mean in (0.6, 0.8) for run in runs("pool", [log_mean])]
    others = runs("pool", (0.1, 0.0, -0.1, 0.0), first=1)
    (named,) = find([*others, *bad])
    assert (len(named.runs), len(named.others)) == (2, 4)
    assert named.ratio == pytest.approx(math.exp(0.7), rel=1e-6)


def test_more_machines_need_a_larger_difference() -> None:
    """The level is for all machines that a report looks at, over all its measurements."""

    def usual(measurements):
        compared = runs("pool", [0.7, 0.01, 0.0, -0.01, 0.0])
        subjects = [replace(SUBJECT, variant=str(at)) for at in range(measurements)]
        named = find(compared, subjects)
        return named[0].usual.high_ratio

    assert usual(1) < usual(20)
