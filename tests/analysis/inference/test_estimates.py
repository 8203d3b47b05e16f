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

from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.looks import SINGLE, Schedule
from io_benchmark.analysis.model import Interval, Run, Verdict

# Student's sleep data (1908), as R ships it.
SLEEP_1 = (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0)
SLEEP_2 = (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4)


def sides(candidate: tuple[float, ...], baseline: tuple[float, ...]) -> tuple[SideData, SideData]:
    one = simulation.entry(np.full(100, 1000))
    return (
        SideData(candidate, ((one,),) * len(candidate)),
        SideData(baseline, ((one,),) * len(baseline)),
    )


def test_welch_is_rs_t_test() -> None:
    """What R 4 prints for t.test(extra ~ group, data = sleep)."""
    found = Estimate.of_sides(*sides(SLEEP_1, SLEEP_2), 0.05)
    assert found.log_ratio / found.error == pytest.approx(-1.8608, abs=5e-5)
    assert found.degrees == pytest.approx(17.776, abs=5e-4)
    assert found.p_value == pytest.approx(0.07939, abs=5e-6)
    interval = found.interval(0.95)
    assert math.log(interval.low_ratio) == pytest.approx(-3.3654832, abs=5e-8)
    assert math.log(interval.high_ratio) == pytest.approx(0.2054832, abs=5e-8)
    assert found.assumed_variation is None


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("is_equal", [True, False])
def test_several_workers_are_scipys(seed: int, is_equal: bool) -> None:
    """Welch's interval; with unequal numbers the pooled one where that is wider."""
    from scipy.stats import ttest_ind

    generator = np.random.default_rng(seed)
    count = generator.integers(3, 9)
    candidate = generator.normal(0.1, 0.05, count)
    baseline = generator.normal(0, 0.1, count if is_equal else count + generator.integers(1, 8))
    estimate = Estimate.of_sides(*sides(tuple(candidate), tuple(baseline)), 0.05)
    interval = estimate.interval(0.95)
    tests = [ttest_ind(candidate, baseline, equal_var=pooled) for pooled in (False, True)]
    expected = [test.confidence_interval(0.95) for test in tests[: 1 if is_equal else 2]]
    wider = max(expected, key=lambda each: each.high - each.low)
    assert math.log(interval.low_ratio) == pytest.approx(wider.low, rel=1e-9)
    assert math.log(interval.high_ratio) == pytest.approx(wider.high, rel=1e-9)
    if is_equal:
        assert estimate.p_value == pytest.approx(tests[0].pvalue, rel=1e-9)


def test_two_workers_vary_as_assumed_at_least() -> None:
    """Two workers of a pool that agree by chance do not show that all of them do."""
    found = Estimate.of_sides(*sides((0.1, 0.101), (0.0, 0.0, 0.001)), 0.05)
    assert found.assumed_variation == 0.05
    assert found.degrees == 3
    assert found.variance == pytest.approx(0.05**2 * (1 / 2 + 1 / 3))


def test_swapping_the_sides_turns_the_ratio_over() -> None:
    """Nothing but the direction changes: the ratio, the interval and the verdict mirror."""
    candidate, baseline = sides((0.3, 0.35, 0.31), (0.0, 0.01))
    there = Estimate.of_sides(candidate, baseline, 0.05)
    back = Estimate.of_sides(baseline, candidate, 0.05)
    assert there.ratio == pytest.approx(1 / back.ratio)
    forth, reverse = there.interval(0.95), back.interval(0.95)
    assert forth.low_ratio == pytest.approx(1 / reverse.high_ratio)
    assert there.p_value == pytest.approx(back.p_value)


@pytest.mark.parametrize(
    ("counts", "is_look", "degrees"),
    [
        pytest.param((3, 3), True, 4.0, id="three"),
        pytest.param((4, 4), True, 6.0, id="four"),
        pytest.param((3, 3), False, 2.0, id="not-a-look"),
        pytest.param((5, 5), True, 4.0, id="five"),
        pytest.param((3, 5), True, 2.0, id="three-and-five"),
    ],
)
def test_few_workers_at_a_look(counts: tuple[int, int], is_look: bool, degrees: float) -> None:
    """Three or four per side cannot show which side varies more: their variances are pooled."""
    generator = np.random.default_rng(3)
    varied = tuple(generator.normal(0, 1, counts[0]))
    equal = tuple(1e-9 * at for at in range(counts[1]))
    look = Schedule().look(3) if is_look else SINGLE
    found = Estimate.of_sides(*sides(varied, equal), 0.05, look)
    assert found.degrees == pytest.approx(degrees, rel=1e-3)


def test_runs_of_a_machine_are_one_worker() -> None:
    """Its mean is that of the logarithms of its runs, and it weighs as much as another machine."""
    machines = [("m", 1_000_000), ("n", 8_000_000), ("m", 4_000_000)]
    (worker,) = seed_workers.workers(1, pools=("intel",))
    runs = [
        Run(replace(worker, machine=machine), simulation.entry(np.full(10, time_ns)))
        for machine, time_ns in machines
    ]
    data = SideData.of(runs)
    assert data.log_means == pytest.approx([math.log(2e6), math.log(8e6)])
    assert [len(entries) for entries in data.runs] == [2, 1]
    assert data.mean_ns == pytest.approx(4e6)


def test_identical_workers_are_no_crash() -> None:
    """Without variance a difference is certain, and equal means are equal."""
    same = Estimate.of_sides(*sides((1.0,) * 3, (1.0,) * 3), 0.05)
    assert (same.ratio, same.p_value) == (1.0, 1.0)
    apart = Estimate.of_sides(*sides((1.0,) * 3, (0.0,) * 3), 0.05)
    assert apart.p_value == 0.0


def test_an_interval_wider_than_numbers_are() -> None:
    """Three hundred comparisons at once, each with one degree of freedom: no end, and no crash."""
    level = 1 - 0.05 / 300
    found = Estimate(0.1, 0.25, 1.0, "workers", None, 0.0)
    assert found.interval(level) == Interval(0.0, math.inf, level)


def test_one_worker_against_several_takes_the_larger_variation() -> None:
    """A single worker's pool varies at least as the other is seen to, and as is assumed."""
    calm = Estimate.of_sides(*sides((0.5,), (0.0, 0.001, 0.002)), 0.05)
    assert calm.assumed_variation == 0.05
    assert calm.variance == pytest.approx(0.05**2 + 1e-6 / 3)
    wild = Estimate.of_sides(*sides((0.5,), (-0.2, 0.0, 0.2)), 0.05)
    assert wild.variance == pytest.approx(0.04 + 0.04 / 3)
    # Of two variances with the three workers' two degrees of freedom each, the interval needs as few.
    assert wild.degrees == pytest.approx(2)


def test_one_worker_each_says_how_far_workers_would_have_to_differ() -> None:
    """1.92 times: chance only if workers of one pool differed by about a fourth."""
    times = np.full(2000, 100_000_000.0)
    candidate = SideData((math.log(1.92e8),), ((simulation.entry(times * 1.92),),))
    baseline = SideData((math.log(1e8),), ((simulation.entry(times),),))
    found = Estimate.of_sides(candidate, baseline, 0.05)
    assert found.method == "paired retrieves"
    assert found.assumed_variation == 0.05
    assert found.variation_to_explain(0.95) == pytest.approx(
        math.log(1.92) / 2.086 / math.sqrt(2), rel=1e-3
    )
    same = Estimate.of_sides(baseline, baseline, 0.05)
    assert same.variation_to_explain(0.95) is None


def test_samples_explain_a_part_before_workers_do() -> None:
    """Workers need not differ by what the samples' own variance explains."""
    needed = (0.5 / 1.960) ** 2
    found = Estimate(0.5, 0.05, math.inf, "paired retrieves", 0.05, 0.02)
    assert found.variation_to_explain(0.95) == pytest.approx(
        math.sqrt((needed - 0.02) / 2), rel=1e-3
    )
    for within in (needed, needed - 0.004):
        enough = Estimate(0.5, 0.05, math.inf, "paired retrieves", 0.05, within)
        assert enough.variation_to_explain(0.95) is None


def test_too_few_retrieves_give_no_narrow_interval() -> None:
    """One retrieve a side: the interval is everything, the verdict inconclusive."""
    one = SideData((0.0,), ((simulation.entry(np.array([100.0])),),))
    other = SideData((5.0,), ((simulation.entry(np.array([14000.0])),),))
    found = Estimate.of_sides(other, one, 0.05)
    assert simulation.judged(found) == (Interval(0.0, math.inf, 0.95), Verdict.INCONCLUSIVE)


def test_tasks_of_one_machine_that_differ_show_its_noise() -> None:
    """Each task's blocks agree; so the spread of the three ratios, with two degrees of freedom."""
    base = simulation.entry(np.full(100, 1_000_000))
    ratios = (1.0, 1.25, 1.6)
    tasks = [(simulation.entry(np.full(100, 1_000_000 * ratio)), base) for ratio in ratios]
    found = Estimate.within_workers([tasks])
    logs = [math.log(ratio) for ratio in ratios]
    assert found.log_ratio == pytest.approx(np.mean(logs))
    assert found.variance == pytest.approx(np.var(logs, ddof=1) / 3)
    assert (found.degrees, found.method) == (2.0, "runs of one worker")
    assert found.within_variance == found.variance
