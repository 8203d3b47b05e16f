# SPDX-License-Identifier: MPL-2.0
"""Variances and degrees of freedom, calculated by hand."""

import math

import pytest

from io_benchmark.analysis.inference import variances
from io_benchmark.analysis.inference.variances import MeanVariance

# Student's t at 97.5 %, as every textbook prints it.
T_1, T_2, T_NORMAL = 12.706, 4.303, 1.960
# Their sample variances are 0.01 and 0.005.
THREE_RUNS, TWO_RUNS = (0.0, 0.2, 0.1), (0.0, 0.1)


def rounded(parts: list[MeanVariance]) -> list[tuple[float, float]]:
    return [(round(part.variance, 9), part.degrees) for part in parts]


@pytest.mark.parametrize(
    ("candidate", "baseline", "expected"),
    [
        pytest.param(
            THREE_RUNS,
            TWO_RUNS,
            [(round(0.01 / 3, 9), 3.0), (0.01 / 2, 2.0)],
            id="the-larger-spread-counts-for-both",
        ),
        pytest.param(
            TWO_RUNS,
            THREE_RUNS,
            [(0.01 / 2, 2.0), (round(0.01 / 3, 9), 3.0)],
            id="whichever-side-it-is",
        ),
        pytest.param(
            THREE_RUNS, (0.0,), [(round(0.01 / 3, 9), 2.0), (0.01, 2.0)], id="one-run-borrows"
        ),
        pytest.param((0.3,), (0.0,), [], id="no-side-ran-twice"),
    ],
)
def test_repeated_runs(
    candidate: tuple[float, ...],
    baseline: tuple[float, ...],
    expected: list[tuple[float, float]],
) -> None:
    """A side has its runs less one as degrees, and at most as many again from the other side."""
    assert rounded(MeanVariance.of_repeated_runs(candidate, baseline)) == expected


def test_runs_of_several_machines_are_pooled() -> None:
    """Each machine adds its runs less one to the degrees; one that ran once adds nothing."""
    pooled = MeanVariance.pooled([THREE_RUNS, TWO_RUNS, (7.0,)])
    assert pooled is not None
    assert rounded([pooled]) == [(round((2 * 0.01 + 0.005) / 3, 9), 3.0)]
    assert MeanVariance.pooled([(7.0,), (8.0,)]) is None


def test_satterthwaites_degrees() -> None:
    """(4 + 1)² ÷ (4² ÷ 2 + 1² ÷ 4); what is known for certain does not limit them."""
    assert MeanVariance.satterthwaite([MeanVariance(4, 2), MeanVariance(1, 4)]) == 25 / 8.25
    assert MeanVariance.satterthwaite([MeanVariance(1, math.inf)]) == math.inf
    assert MeanVariance.satterthwaite([MeanVariance(math.inf, 1), MeanVariance(1, 4)]) == 1.0


def test_howes_degrees() -> None:
    """The interval is as wide as each part's own quantile requires."""
    assert MeanVariance.howe([MeanVariance(0.3, 2)]) == pytest.approx(2)
    degrees = MeanVariance.howe([MeanVariance(0.5, 2), MeanVariance(0.5, math.inf)])
    expected = math.sqrt((T_2**2 + T_NORMAL**2) / 2)
    assert variances.reach(0.95, degrees) == pytest.approx(expected, abs=5e-4)
    assert MeanVariance.howe([MeanVariance(0.5, math.inf)]) == math.inf
    assert MeanVariance.howe([MeanVariance(math.inf, 1), MeanVariance(1, 4)]) == 1.0


def test_the_wider_interval_decides() -> None:
    """A small variance with one degree of freedom has a wide interval."""
    blocks = [MeanVariance(1.0, math.inf)]
    equally_wide = (T_NORMAL / T_1) ** 2
    wide, narrow = ([MeanVariance(share * equally_wide, 1)] for share in (1.01, 0.99))
    assert MeanVariance.wider(blocks, wide) == wide
    assert MeanVariance.wider(blocks, narrow) == blocks


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param((1.0,), (0.05**2, 20.0), id="one"),
        pytest.param((1.0, 1.01), (0.05**2, 20.0), id="two that agree"),
        pytest.param((1.0, 1.5), (0.125, 1.0), id="two that differ"),
        pytest.param((1.0, 1.0, 1.0), (0.0, 2.0), id="three"),
    ],
)
def test_single_values(values, expected):
    """Few values do not show how far others differ; two count where they differ by more."""
    single = MeanVariance.of_single(values)
    assert (single.variance, single.degrees) == pytest.approx(expected)
