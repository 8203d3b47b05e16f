# SPDX-License-Identifier: MPL-2.0
"""From estimates to verdicts, each limit from both sides.

The rates are in tests/simulation.
"""

import math

import pytest
import seed_workers
from msgspec.structs import replace
from written import lines, section

from io_benchmark.analysis.expectations import Expectation
from io_benchmark.analysis.model.comparison import Interval, Verdict
from io_benchmark.analysis.model.looks import SINGLE, Schedule
from io_benchmark.analysis.statistics import variations
from io_benchmark.analysis.statistics.verdicts import _verdict, holm
from io_benchmark.results.format import PLAN_VARIABLE

MARGIN = 0.05
SLOWER, EQUIVALENT, INCONCLUSIVE = Verdict.SLOWER, Verdict.EQUIVALENT, Verdict.INCONCLUSIVE


def test_holm_is_rs_p_adjust():
    """R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") gives 0.03 0.06 0.06 0.02."""
    assert [p for p, _ in holm([0.6, 0.01, 0.7], [SINGLE] * 3)] == pytest.approx([1.0, 0.03, 1.0])
    adjusted = holm([0.01, 0.04, 0.03, 0.005], [SINGLE] * 4)
    assert [p for p, _ in adjusted] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    # Two are rejected at alpha/4 and alpha/3; the third fails at alpha/2, and so does the fourth.
    levels = [1 - level for _, level in adjusted]
    assert levels == pytest.approx([0.05 / 3, 0.05 / 2, 0.05 / 2, 0.05 / 4])


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
def test_verdicts(adjusted, at_90, expected):
    """Each of the four, by the intervals alone."""
    (low, high), (low_90, high_90) = adjusted, at_90
    assert _verdict(Interval(low, high, 0.95), Interval(low_90, high_90, 0.90), MARGIN) is expected


@pytest.mark.parametrize(
    "options", [{}, {"worker_variation": variations.given(0.01)}], ids=["default", "option"]
)
@pytest.mark.parametrize(
    ("factors", "baseline", "expected"),
    [
        # Of two single workers about 2.09 × √0.02 = 0.295 may be chance, 1.34 times the time.
        pytest.param((1.30,), (1.0,), INCONCLUSIVE, id="two-single-workers"),
        pytest.param((1.40,), (1.0,), SLOWER, id="more-than-workers-differ"),
        pytest.param((0.77,), (1.0,), INCONCLUSIVE, id="less-time"),
        pytest.param((0.71,), (1.0,), Verdict.FASTER, id="less-time-than-workers-differ-by"),
        # Of one against three that agree 2.09 × 0.1 = 0.209 at least; their pools may vary by 12 %.
        pytest.param((1.25,), (1.0, 1.01, 0.99), INCONCLUSIVE, id="one-single-worker"),
        pytest.param((1.40,), (1.0, 1.01, 0.99), SLOWER, id="more-than-one-worker-differs"),
    ],
)
def test_a_single_worker_may_be_unusual(factors, baseline, expected, options):
    """Its pool is taken to vary by at least 10 %, which the interval has: it decides."""
    workers = [*pool("amd-16", factors), *pool("intel", baseline)]
    (comparison,) = seed_workers.report_of(workers, **options).subjects[0].comparisons
    assert comparison.verdict is expected
    assert (comparison.assumed_variation_ratio or 0) >= 0.10
    assert comparison.interval.excludes(1.0) is (expected is not INCONCLUSIVE)
    assert (comparison.p_value <= 0.05) is (expected is not INCONCLUSIVE)
    # Nor does an expectation know more than the verdict.
    expectation = Expectation.parse("amd-16/intel<1" if factors[0] < 1 else "amd-16/intel>1")
    report = seed_workers.report_of(workers, **options)
    assert expectation.judge(report).met is (expected is not INCONCLUSIVE)


# --- a verdict that a look has reached stands, whatever workers come later ---

DECIDED = (1.15, 1.16, 1.14)
BASELINE = (0.99, 1.0, 1.01)
LATER = (1.3, 1.31, 1.29)  # workers of the baseline that were added for another pool
DECLARED = Schedule((3, 6), is_declared=True)


def pool(name, factors, plan=None):
    """One worker per factor, each on its own machine, which started one after another."""
    environment = {} if plan is None else {PLAN_VARIABLE: plan}
    change = {"intel": {"config.environment": environment}}
    made = seed_workers.workers(len(factors), pools=("intel",), change=change, side=name)
    return [
        replace(
            worker,
            pool=name,
            task_id=f"{name}-{hour}",
            worker_id=f"{name}-{hour}",
            started=f"2026-11-22T{hour:02}:00:00Z",
            runs=(seed_workers.slowed(worker.runs[0], factor),),
        )
        for hour, (worker, factor) in enumerate(zip(made, factors, strict=True))
    ]


def compared(workers, schedule=DECLARED, lost=()):
    report = seed_workers.report_of(workers, looks=schedule, lost=lost)
    (comparison,) = report.subjects[0].comparisons
    return comparison


def test_a_declared_look_stands():
    """Its figures and verdict are those of that look; those of all workers are beside it."""
    workers = [*pool("amd-16", DECIDED), *pool("intel", (*BASELINE, *LATER))]
    first, comparison = compared(workers[:6]), compared(workers)
    assert (first.verdict, first.of_all) == (SLOWER, None)
    assert comparison.workers == (3, 3)
    assert replace(comparison, of_all=None, workers=None) == first
    assert comparison.of_all.ratio == pytest.approx(1.01, abs=0.01)
    assert comparison.of_all.verdict is INCONCLUSIVE
    assert compared(workers[::-1]) == comparison  # the order of the results does not matter
    report = seed_workers.report_of(workers, looks=DECLARED)
    (assumptions,) = [line for line in lines(section(report, "cache")) if "Welch's test" in line]
    assert assumptions.startswith("- amd-16: 3 and 3 workers, compared by Welch's test")
    assert assumptions.endswith("; first of at most 2 looks")


@pytest.mark.parametrize(
    ("intel", "plan", "lost", "workers"),
    [
        ((*BASELINE, *LATER), None, 0, None),
        ((*BASELINE, *LATER), "3", 0, (3, 3)),
        # A fourth is to come; or it is lost.
        ((*BASELINE, 1.0, *LATER), "4", 0, None),
        ((*BASELINE, 1.0, *LATER), "4", 1, (3, 4)),
    ],
)
def test_what_the_tasks_declare(intel, plan, lost, workers):
    """A plan's look stands as well, without runs that it lost; without one nobody looked."""
    made = [*pool("amd-16", DECIDED, plan), *pool("intel", intel, plan)]
    comparison = compared(made, Schedule(), ["amd-16"] * lost)
    assert (comparison.workers, comparison.verdict is SLOWER) == (workers, workers is not None)
    assert workers is None or (comparison.look, comparison.interval.level_ratio) == (None, 0.95)


# --- how many more workers are advised, and when none would help ---
