# SPDX-License-Identifier: MPL-2.0
"""From estimates to verdicts: Holm's steps, the margin and the single worker, each limit from both sides."""

import math

import numpy as np
import pytest

from io_benchmark.analysis.inference.comparisons import holm, judge, verdict
from io_benchmark.analysis.inference.estimates import Estimate
from io_benchmark.analysis.inference.looks import SINGLE, Schedule
from io_benchmark.analysis.model import Interval, Verdict

MARGIN = 0.05
SLOWER, EQUIVALENT, INCONCLUSIVE = Verdict.SLOWER, Verdict.EQUIVALENT, Verdict.INCONCLUSIVE


def test_holm_is_rs_p_adjust() -> None:
    """R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") gives 0.03 0.06 0.06 0.02."""
    assert [p for p, _ in holm([0.6, 0.01, 0.7], [SINGLE] * 3)] == pytest.approx([1.0, 0.03, 1.0])
    adjusted = holm([0.01, 0.04, 0.03, 0.005], [SINGLE] * 4)
    assert [p for p, _ in adjusted] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    # Two are rejected at alpha/4 and alpha/3; the third fails at alpha/2, and so does the fourth.
    assert [1 - level for _, level in adjusted] == pytest.approx(
        [0.05 / 3, 0.05 / 2, 0.05 / 2, 0.05 / 4]
    )


def test_holms_intervals_decide_as_its_p_values_do() -> None:
    """The interval at a step's level excludes 1 exactly where the adjusted p-value is below 5 %."""
    generator = np.random.default_rng(7)
    for _ in range(200):
        estimates = [
            Estimate(generator.normal(0, 0.2), 0.005, generator.uniform(2, 30))
            for _ in range(generator.integers(1, 6))
        ]
        for judgement in judge(estimates, [SINGLE] * len(estimates), MARGIN):
            assert judgement.interval.excludes(1.0) == (judgement.p_value < 0.05)


@pytest.mark.parametrize(("p_value", "is_rejected"), [(0.0249, True), (0.0251, False)])
def test_a_second_candidate_halves_the_error(p_value: float, is_rejected: bool) -> None:
    """The smaller p-value of two is compared with 2.5 %; where it fails, the other fails too."""
    first, second = holm([p_value, 0.04], [SINGLE] * 2)
    assert (first[0] < 0.05, second[0] < 0.05) == (is_rejected, is_rejected)
    assert 1 - second[1] == pytest.approx(0.05 if is_rejected else 0.025)


def test_a_look_spends_a_part_of_the_error() -> None:
    """The level of the interval is that of the part, and the p-value is divided by it."""
    look = Schedule().look(3)
    part = look.p_value(0.05) / 0.05
    ((p_value, level),) = holm([0.001], [look])
    assert part < 0.2
    assert (p_value, level) == pytest.approx((0.001 / part, 1 - 0.05 * part))


@pytest.mark.parametrize(
    ("adjusted", "at_90", "expected"),
    [
        pytest.param((1.10, 1.30), (1.12, 1.28), SLOWER, id="slower"),
        pytest.param((0.70, 0.90), (0.72, 0.88), Verdict.FASTER, id="faster"),
        pytest.param((0.95, 1.06), (0.97, 1.03), EQUIVALENT, id="equivalent"),
        pytest.param((1.01, 1.04), (1.01, 1.03), EQUIVALENT, id="real-but-within-margin"),
        pytest.param((0.90, 1.20), (0.93, 1.15), INCONCLUSIVE, id="wide"),
        pytest.param((1.01, 1.09), (1.02, 1.08), SLOWER, id="across-the-margin"),
        pytest.param((0.0, math.inf), (0.0, math.inf), INCONCLUSIVE, id="unknown"),
        pytest.param((0.9, 1.1), (1 / 1.05, 1.05), EQUIVALENT, id="as-wide-as-the-margin"),
        pytest.param((0.9, 1.1), (0.952, 1.05), INCONCLUSIVE, id="below-the-margin"),
        pytest.param((0.9, 1.1), (1 / 1.05, 1.051), INCONCLUSIVE, id="above-the-margin"),
        pytest.param((1.0, 1.3), (1.01, 1.2), INCONCLUSIVE, id="touches-1"),
        pytest.param((1.01, 1.05), (1.0, 1.06), INCONCLUSIVE, id="differs-by-too-little"),
    ],
)
def test_verdicts(
    adjusted: tuple[float, float], at_90: tuple[float, float], expected: Verdict
) -> None:
    """Each of the four, by the intervals alone."""
    assert verdict(Interval(*adjusted, 0.95), Interval(*at_90, 0.90), MARGIN) is expected


@pytest.mark.parametrize(
    ("log_ratio", "single_sides", "expected"),
    [
        # The assumed 0.0049 of the variance counts as 0.01 per single worker: 1.96 × √0.0201 = 0.2779.
        pytest.param(0.277, 2, INCONCLUSIVE, id="two-single-workers"),
        pytest.param(0.279, 2, SLOWER, id="more-than-workers-differ"),
        pytest.param(-0.277, 2, INCONCLUSIVE, id="faster"),
        pytest.param(0.196, 1, INCONCLUSIVE, id="one-single-worker"),
        pytest.param(0.198, 1, SLOWER, id="more-than-one-worker-differs"),
        pytest.param(0.196, 0, SLOWER, id="several-workers"),
    ],
)
def test_a_single_worker_may_be_unusual(
    log_ratio: float, single_sides: int, expected: Verdict
) -> None:
    """It is slower only by more than workers of one pool differ, by 10 % at the least."""
    estimate = Estimate(
        log_ratio, 0.005, math.inf, single_sides=single_sides, single_variance=0.0049
    )
    (judgement,) = judge([estimate], [SINGLE], MARGIN)
    assert judgement.verdict is expected
