# SPDX-License-Identifier: MPL-2.0
"""What is assumed where a side has one or two workers. The rates are in tests/simulation."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
import seed_workers
import simulation
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.inference.comparisons import judge
from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.looks import SINGLE
from io_benchmark.analysis.inference.worker_variation import WorkerVariation
from io_benchmark.analysis.model import DIFFERENT
from io_benchmark.analysis.plan import Plan
from io_benchmark.report.content.statement_text import text_of

ONE, TWO = (0.0,), (0.0, 0.01)
# Their standard deviation is 0.1.
THREE = (-0.1, 0.0, 0.1)


def side(logs: Sequence[float]) -> SideData:
    entries = [simulation.entry(np.full(40, 1e6 * math.exp(log))) for log in logs]
    return SideData(tuple(logs), tuple((entry,) for entry in entries))


def test_nothing_is_known():
    """Five percent, because each pool has one worker; two workers of the pair itself are not others.

    What is known of others does not matter to sides of three workers or more.
    """
    enough = {"a": THREE, "b": THREE, "c": (0.0, 0.5, 1.0)}
    for sides in ({"a": ONE, "b": ONE}, {"a": TWO, "b": TWO}, {"a": TWO, "b": THREE}, enough):
        assert WorkerVariation.of_pair(("a", "b"), sides) == WorkerVariation.default()
    assert WorkerVariation.default().ratio == 0.05


MORE = "another pool may vary 2.4 times as much."


@pytest.mark.parametrize(
    ("sides", "ratio", "explanation"),
    [
        ({"a": ONE, "b": THREE}, 0.24, f"3 workers of b vary by 10 %, and {MORE}"),
        (
            {"a": ONE, "b": ONE, "c": THREE, "d": THREE},
            0.24,
            f"6 workers of c, d vary by 10 %, and {MORE}",
        ),
        (
            {"a": ONE, "b": (0.0, 0.0, 0.0)},
            0.12,
            f"3 workers of b vary by 0 %; 5 % is the least that counts, and {MORE}",
        ),
    ],
    ids=["the-other-side", "a-third-and-a-fourth-pool", "workers-that-agree"],
)
def test_other_pools(sides, ratio, explanation):
    """One sentence names the pools, how far they vary, by how many workers, and what is assumed."""
    known = WorkerVariation.of_pair(("a", "b"), sides)
    assert known.ratio == pytest.approx(ratio)
    assert text_of(known.message) == f"{100 * ratio:.0f} % is assumed"
    assert known.explanation is not None
    assert text_of(known.explanation) == explanation


def test_two_workers_vary_as_the_others_do() -> None:
    """As a floor, the others' own variation is taken: the interval has few degrees of freedom already."""
    known = WorkerVariation.of_pair(("a", "b"), {"a": TWO, "b": TWO, "c": THREE})
    assert known.ratio == pytest.approx(0.1)
    assert text_of(known.message) == "10 % is assumed"
    found = Estimate.of_sides(side(TWO), side(TWO), known.ratio)
    assert found.assumed_variation == known.ratio
    assert found.degrees == 2


@pytest.mark.parametrize("workers", [3, 5, 10, 30, 100])
def test_a_decision_needs_workers_for_the_upper_limit(workers: int) -> None:
    """Scipy's quantile of chi-squared; few workers are not trusted as many are."""
    logs = tuple(np.linspace(-0.2, 0.2, workers))
    known = WorkerVariation.of_pair(("a", "b"), {"a": ONE, "b": ONE, "c": logs})
    degrees = workers - 1
    exact = float(np.std(logs, ddof=1)) * math.sqrt(degrees / chi2.ppf(0.35, degrees))
    assert known.expected_ratio == pytest.approx(exact, rel=0.015)


SPREADS = st.lists(st.floats(-0.3, 0.3), min_size=1, max_size=6)


@given(
    ratio=st.floats(1 / 1.1, 1.1),
    others=SPREADS,
    assumed=st.floats(1e-6, 0.5),
    margin=st.floats(1e-3, 0.2),
)
def test_ten_percent_is_never_shown_by_a_single_worker(ratio, others, assumed, margin):
    """Within ±10 % it is neither slower nor faster, whatever is known of other workers."""
    centre = math.fsum(others) / len(others)
    several = side([other - centre for other in others])
    single = side([math.log(ratio)])
    for pair in ((single, several), (several, single)):
        estimate = Estimate.of_sides(*pair, assumed)
        assert judge([estimate], [SINGLE], margin)[0].verdict not in DIFFERENT


def report(options=None, **counts):
    """Pools of the seed with so many workers, which vary by 3 %, and the problem about single ones."""
    numbers = {name.replace("_", "-"): count for name, count in counts.items()}
    workers = [
        worker
        for pool, count in numbers.items()
        for worker in seed_workers.workers(count, between=0.03, pools=(pool,))
    ]
    made = compare(Plan.of_pools(numbers, "intel"), workers, options or Options())
    (problem,) = [problem for problem in made.problems if problem.rule == "one-worker"]
    return made, problem


def test_the_report_says_where_it_comes_from():
    """Without an option, by the group's pool of five; a number that is given replaces it."""
    found, problem = report(intel=5, amd_16=1, amd_30=1)
    assert problem.sides == ("amd-16", "amd-30")
    assert text_of(problem.message) == (
        "one worker does not show how far workers of its pool differ; 12 % is assumed"
    )
    assert "5 workers of intel vary by" in text_of(problem.explanation)
    for comparison in found.subjects[0].comparisons:
        assert comparison.assumed_variation.ratio == pytest.approx(0.12)
    _, problem = report(Options(worker_variation=0.08), intel=5, amd_16=1)
    assert text_of(problem.message).endswith("8 % is assumed (--worker-variation)")
