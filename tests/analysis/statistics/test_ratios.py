# SPDX-License-Identifier: MPL-2.0
"""The statistics, compared with published tables, recorded output, scipy, and at the edges.

Simulation, the fifth oracle, is in tests/simulation.
"""

import math

import numpy as np
import pytest
import seed_workers
import simulation
from msgspec.structs import replace
from simulation import entry

from io_benchmark.analysis.model.comparison import Interval, Verdict
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.statistics.ratios import Estimate
from io_benchmark.analysis.statistics.variances import MeanVariance

NEEDED = (0.5 / 1.960) ** 2


def estimate(candidate, baseline):
    """Compare workers with these log means, whose samples have no noise."""
    return Estimate.of_means(candidate, baseline, 0.05)


def one_worker(times):
    return [[entry(times)]]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("is_equal", [True, False])
def test_several_workers_are_scipys(seed, is_equal):
    """Welch's interval; with unequal numbers the pooled one where that is wider."""
    from scipy.stats import ttest_ind

    generator = np.random.default_rng(seed)
    count = generator.integers(3, 9)
    candidate = generator.normal(0.1, 0.05, count)
    baseline = generator.normal(0, 0.1, count if is_equal else count + generator.integers(1, 8))
    found = estimate(candidate, baseline)
    tests = [ttest_ind(candidate, baseline, equal_var=pooled) for pooled in (False, True)]
    expected = [test.confidence_interval(0.95) for test in tests[: 1 if is_equal else 2]]
    wider = max(expected, key=lambda interval: interval.high - interval.low)
    interval = found.interval(0.95)
    ends = math.log(interval.low_ratio), math.log(interval.high_ratio)
    assert ends == pytest.approx((wider.low, wider.high), rel=1e-9)
    assert not is_equal or found.p_value == pytest.approx(tests[0].pvalue, rel=1e-9)


@pytest.mark.parametrize(
    ("candidate", "baseline", "variance", "degrees", "assumed"),
    [
        # Two that agree.
        ((0.1, 0.101), (0.0, 0.0, 0.001), 0.05**2 * (1 / 2 + 1 / 3), 3, 0.05),
        # A single worker's pool varies at least as the other is seen to, and as is assumed.
        ((0.5,), (0.0, 0.001, 0.002), 0.05**2 + 1e-6 / 3, None, 0.05),
        # Of two variances with the three workers' two degrees each, the interval needs as few.
        ((0.5,), (-0.2, 0.0, 0.2), 0.04 + 0.04 / 3, 2, 0.05),
        ((1.0,) * 3, (0.0,) * 3, 0, math.inf, None),
    ],
)
def test_few_workers(candidate, baseline, variance, degrees, assumed):
    """Workers that agree by chance do not show that all of their pool do."""
    found = estimate(candidate, baseline)
    assert found.error.variance == pytest.approx(variance)
    assert degrees is None or found.error.degrees == pytest.approx(degrees)
    assert found.assumed_variation == assumed


def test_runs_of_a_machine_are_one_worker():
    """Its mean is that of the logarithms of its runs, and it weighs as much as another machine."""
    (worker,) = seed_workers.workers(1, pools=("intel",))
    runs = [
        replace(entry(np.full(10, time_ns)), worker=replace(worker, machine=machine))
        for machine, time_ns in [("m", 1_000_000), ("n", 8_000_000), ("m", 4_000_000)]
    ]
    side = Side.of(runs)
    assert side.log_means == pytest.approx([math.log(2e6), math.log(8e6)])
    assert [*map(len, side.workers)] == [2, 1]
    assert side.mean_ns == pytest.approx(4e6)


def test_the_edges():
    """No variance, too wide intervals, and one retrieve per side: no crash, no verdict."""
    same = estimate((1.0,) * 3, (1.0,) * 3)
    assert (same.ratio, same.p_value) == (1.0, 1.0)
    assert estimate((1.0,) * 3, (0.0,) * 3).p_value == 0.0
    # Three hundred comparisons at once, each with one degree of freedom.
    level = 1 - 0.05 / 300
    assert Estimate(0.1, MeanVariance(0.25, 1.0)).interval(level) == Interval(0.0, math.inf, level)
    candidate, baseline = (one_worker(np.array([time_ns])) for time_ns in (14000.0, 100.0))
    unknown = Interval(0.0, math.inf, 0.95), Verdict.INCONCLUSIVE
    assert simulation.judged(Estimate.of_workers(candidate, baseline, 0.05)) == unknown


@pytest.mark.parametrize(
    ("within", "expected"),
    [(0.02, math.sqrt((NEEDED - 0.02) / 2)), (NEEDED, 0), (NEEDED - 0.004, 0)],
)
def test_samples_explain_a_part_before_workers_do(within, expected):
    """Workers need not differ by what the samples' own variance explains, or by what is assumed."""
    found = Estimate(0.5, MeanVariance(0.05, math.inf), "paired retrieves", 0.05, within)
    assert (found.variation_to_explain(0.95) or 0) == pytest.approx(expected, rel=1e-3)
