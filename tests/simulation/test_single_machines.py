# SPDX-License-Identifier: MPL-2.0
"""Simulation: among equal machines hardly one is named, and a bad one of five is.

Workers of equal pools differ by 5 or 10 %, by a normal distribution or one with heavier tails. Where
tails are heavy and workers differ by 10 %, some machines really are half as slow again: these are named.
"""

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import simulation
from msgspec.structs import replace
from simulation import ASSUMED, SUBJECT

from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.single_machines import SingleMachine
from io_benchmark.analysis.model import Run, Subject, Worker
from io_benchmark.analysis.observed.machine_identity import by_side

FALSE_NAMES, FOUND = 0.02, 0.90
MEAN_NS = 1e8

Draw = Callable[[np.random.Generator, int], np.ndarray]
LogMeans = Sequence[float] | np.ndarray


def normal(generator: np.random.Generator, count: int) -> np.ndarray:
    return generator.normal(0, 1, count)


def heavy_tailed(generator: np.random.Generator, count: int) -> np.ndarray:
    """Student's distribution with five degrees of freedom."""
    return generator.standard_t(5, count) / math.sqrt(5 / 3)


def runs(side: str, log_means: LogMeans) -> list[Run]:
    """One run on each machine."""
    return [
        Run(
            cast("Worker", SimpleNamespace(side=side, machine=f"{side}/{at}")),
            simulation.entry(np.array([MEAN_NS * math.exp(log_mean)])),
        )
        for at, log_mean in enumerate(log_means)
    ]


def find(compared: Sequence[Run], subjects: Sequence[Subject] = (SUBJECT,)) -> list[SingleMachine]:
    """Return the machines that are named where each measurement has these runs."""
    data = {side: SideData.of(of_side) for side, of_side in by_side(compared).items()}
    return SingleMachine.find_all(
        dict.fromkeys(subjects, compared), dict.fromkeys(subjects, data), ASSUMED
    )


def names(*sides: LogMeans) -> list[str]:
    """The machines that are named where the sides' machines have these log means."""
    compared = [run for at, side in enumerate(sides) for run in runs(f"pool{at}", side)]
    return [each.runs[0].worker.machine for each in find(compared)]


@pytest.mark.parametrize("workers", [4, 5, 8, 12])
@pytest.mark.parametrize(
    ("draw", "variation"),
    [
        pytest.param(normal, 0.05, id="5 percent"),
        pytest.param(normal, 0.10, id="10 percent"),
        pytest.param(heavy_tailed, 0.05, id="5 percent, heavy tails"),
    ],
)
def test_equal_machines_are_seldom_named(
    draw: Draw, variation: float, workers: int, repetitions: int, tolerance: float
) -> None:
    """Of reports about two equal pools, at most one in fifty names a machine."""
    generator = np.random.default_rng(workers)
    named = sum(
        bool(names(*(variation * draw(generator, workers) for _ in range(2))))
        for _ in range(repetitions)
    )
    assert named / repetitions <= FALSE_NAMES + tolerance


@pytest.mark.parametrize("ratio", [1.5, 1 / 1.5])
def test_a_bad_machine_of_five_is_named(ratio: float, repetitions: int, tolerance: float) -> None:
    """Half as slow or as fast again, where equal machines differ by 5 %: named in 90 of 100 reports."""
    generator = np.random.default_rng(5)
    named = 0
    for _ in range(repetitions):
        bad, good = (0.05 * generator.normal(0, 1, 5) for _ in range(2))
        bad[0] += math.log(ratio)
        named += names(bad, good) == ["pool0/0"]
    assert named / repetitions >= FOUND - tolerance


def test_a_bad_machine_in_each_pool() -> None:
    """They do not hide each other."""
    assert names([0.0, 0.02, 0.7, -0.03, 0.01], [0.7, 0.02, 0.0, -0.03]) == ["pool0/2", "pool1/0"]


@pytest.mark.parametrize(
    "log_means",
    [
        pytest.param([0.0, 0.02, 0.7], id="of two others nobody knows the usual one"),
        pytest.param([0.0, 0.02, -0.03, 0.7, 0.71], id="two of five: a mixed pool"),
        pytest.param([0.0, 0.001, -0.001, 0.2], id="too little to replace a machine"),
    ],
)
def test_no_machine_is_named(log_means: LogMeans) -> None:
    """Only a machine that is alone, and clearly so."""
    assert names(log_means, [0.0, 0.01, -0.01]) == []


@pytest.mark.parametrize("workers", [4, 6])
def test_a_few_long_stalls_name_no_machine(
    workers: int, repetitions: int, tolerance: float
) -> None:
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
    others = [
        run._replace(worker=cast("Worker", SimpleNamespace(side="pool", machine=f"pool/{at}")))
        for at, log_mean in enumerate((0.1, 0.0, -0.1, 0.0), 1)
        for run in runs("pool", [log_mean])
    ]
    (named,) = find([*others, *bad])
    assert (len(named.runs), len(named.others)) == (2, 4)
    assert named.ratio == pytest.approx(math.exp(0.7), rel=1e-6)


def test_more_machines_need_a_larger_difference() -> None:
    """The level is for all machines that a report looks at, over all its measurements."""

    def usual(measurements: int) -> float:
        compared = runs("pool", [0.7, 0.01, 0.0, -0.01, 0.0])
        subjects = [replace(SUBJECT, variant=str(at)) for at in range(measurements)]
        named = find(compared, subjects)
        return named[0].usual.high_ratio

    assert usual(1) < usual(20)
