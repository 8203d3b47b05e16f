# SPDX-License-Identifier: MPL-2.0
"""What slow workers of both pools mean, each limit from both sides."""

import math

import pytest
from scipy import stats
from simulated_gates import worker_of_logs

from io_benchmark.analysis.gate.mixed_sides import (
    Meaning,
    MixedSides,
    _chance_of_as_many,
    find_mixed_sides,
)
from io_benchmark.analysis.model.looks import SINGLE, Schedule
from io_benchmark.analysis.model.measurement import ComparedSides
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.statistics import variations

NOISE = (0.01, -0.01, 0.02, -0.02, 0.0, 0.015, -0.015, 0.005)


def side(name: str, slow: int, by: float, *, is_on_boot_disk: bool) -> Side:
    """Eight workers, the first so many slower."""
    workers = [
        worker_of_logs(
            name,
            number,
            [noise + (math.log(by) if number < slow else 0.0)],
            is_on_boot_disk=is_on_boot_disk and number < slow,
        )
        for number, noise in enumerate(NOISE)
    ]
    return Side.of_workers(workers, workers[0].runs[0].subject)


def mixed(
    candidate: int, baseline: int, by: float = 2.0, *, is_on_boot_disk: bool = False
) -> MixedSides:
    """Judge pools of which so many workers are slow, with or without a fact."""
    pair = ComparedSides(
        side("alpha", candidate, by, is_on_boot_disk=is_on_boot_disk),
        side("production", baseline, by, is_on_boot_disk=is_on_boot_disk),
        variations.DEFAULT,
        SINGLE,
        Schedule(),
        None,
    )
    return find_mixed_sides(pair, (), 0.1, 1)


@pytest.mark.parametrize(
    ("candidate", "baseline", "meaning"),
    [
        (0, 0, Meaning.NONE),
        (1, 0, Meaning.FAILS),
        (3, 0, Meaning.FAILS),
        (1, 1, Meaning.CANNOT_PASS),
        (0, 2, Meaning.NONE),
    ],
)
def test_workers_on_their_boot_disk(candidate: int, baseline: int, meaning: Meaning) -> None:
    """They fail the candidate; where the old pool has such workers too, nothing passes."""
    assert mixed(candidate, baseline, is_on_boot_disk=True).meaning is meaning


@pytest.mark.parametrize(
    ("candidate", "baseline", "meaning"),
    [
        (1, 0, Meaning.CANNOT_PASS),
        (3, 0, Meaning.CANNOT_PASS),
        (4, 0, Meaning.FAILS),
        (2, 1, Meaning.NONE),
        (3, 1, Meaning.CANNOT_PASS),
        (6, 1, Meaning.FAILS),
        (1, 1, Meaning.NONE),
    ],
)
def test_slow_workers_without_a_reason(candidate: int, baseline: int, meaning: Meaning) -> None:
    """They may be anybody's: by how many of all slow ones are the candidate's."""
    assert mixed(candidate, baseline).meaning is meaning


@pytest.mark.parametrize("is_on_boot_disk", [True, False])
def test_a_difference_within_the_margin(*, is_on_boot_disk: bool) -> None:
    """It fails nothing, however clear it is; without a local SSD it does not pass all the same."""
    found = mixed(1, 0, 1.07, is_on_boot_disk=is_on_boot_disk)
    expected = Meaning.CANNOT_PASS if is_on_boot_disk else Meaning.NONE
    assert found.meaning is expected
    assert mixed(1, 1, 1.07, is_on_boot_disk=is_on_boot_disk).meaning is Meaning.NONE


def test_usual_workers_of_the_baseline() -> None:
    """The candidate is compared with those that are not slow, if only the baseline has such."""
    usual = mixed(0, 2, is_on_boot_disk=True).usual_baseline
    assert usual is not None
    assert usual.count == 6
    assert mixed(2, 2).usual_baseline is None


@pytest.mark.parametrize(("slow", "usual"), [(4, 4), (5, None)])
def test_most_of_the_baseline_is_usual(slow: int, usual: int | None) -> None:
    """Three fast workers of eight are not what the new pool must reach."""
    found = mixed(0, slow).usual_baseline
    assert (found and found.count) == usual


@pytest.mark.parametrize("counts", [(1, 6, 0, 6), (4, 6, 0, 6), (5, 8, 2, 12), (8, 8, 1, 8)])
def test_fisher(counts: tuple[int, int, int, int]) -> None:
    """The chance of so many of all slow workers, as scipy has it."""
    slow, workers, alike, of_baseline = counts
    table = [[slow, workers - slow], [alike, of_baseline - alike]]
    expected = stats.fisher_exact(table, alternative="greater").pvalue
    assert _chance_of_as_many(*counts) == pytest.approx(expected)
