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
from msgspec.structs import replace
from scipy.stats import chi2

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.inference import variations
from io_benchmark.analysis.inference.comparisons import judge
from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.looks import SINGLE
from io_benchmark.analysis.inference.variances import MeanVariance
from io_benchmark.analysis.model import DIFFERENT, WorkerVariation
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.statements import statement
from io_benchmark.report.content.statement_text import text_of

ONE, TWO = (0.0,), (0.0, 0.01)
# Their standard deviation is 0.1.
THREE = (-0.1, 0.0, 0.1)


def earlier(measured: float, workers: int) -> WorkerVariation:
    return variations.of_history(
        MeanVariance(measured**2, workers - 1.0), workers, statement("earlier workers of a (past)")
    )


def side(logs: Sequence[float]) -> SideData:
    entries = [simulation.entry(np.full(40, 1e6 * math.exp(log))) for log in logs]
    return SideData(tuple(logs), tuple((entry,) for entry in entries))


def test_nothing_is_known():
    """Five percent, because each pool has one worker; two workers of the pair itself are not others.

    What is known of others does not matter to sides of three workers or more.
    """
    enough = {"a": THREE, "b": THREE, "c": (0.0, 0.5, 1.0)}
    for sides in ({"a": ONE, "b": ONE}, {"a": TWO, "b": TWO}, {"a": TWO, "b": THREE}, enough):
        assert variations.of_pair(("a", "b"), sides) == variations.default()
    assert variations.default().ratio == 0.05


MORE = "another pool may vary 2.4 times as much."


@pytest.mark.parametrize(
    ("sides", "ratio", "workers", "explanation"),
    [
        ({"a": ONE, "b": THREE}, 0.24, 3, f"3 workers of b vary by 10 %, and {MORE}"),
        (
            {"a": ONE, "b": ONE, "c": THREE, "d": THREE},
            *(0.24, 6, f"6 workers of c, d vary by 10 %, and {MORE}"),
        ),
        (
            {"a": ONE, "b": (0.0, 0.0, 0.0)},
            *(0.12, 3, f"3 workers of b vary by 0 %; 5 % is the least that counts, and {MORE}"),
        ),
    ],
    ids=["the-other-side", "a-third-and-a-fourth-pool", "workers-that-agree"],
)
def test_other_pools(sides, ratio, workers, explanation):
    """One sentence names the pools, how far they vary, by how many workers, and what is assumed."""
    known = variations.of_pair(("a", "b"), sides)
    assert known.ratio == pytest.approx(ratio)
    assert (known.source, known.workers) == ("pools", workers)
    assert text_of(known.message) == f"{100 * ratio:.0f} % is assumed"
    assert known.explanation is not None
    assert text_of(known.explanation) == explanation


def test_two_workers_vary_as_the_others_do() -> None:
    """As a floor, the others' own variation is taken: the interval has few degrees of freedom already."""
    known = variations.of_pair(("a", "b"), {"a": TWO, "b": TWO, "c": THREE})
    assert known.ratio == pytest.approx(0.1)
    assert text_of(known.message) == "10 % is assumed"
    found = Estimate.of_sides(side(TWO), side(TWO), known.ratio)
    assert found.assumed_variation == known.ratio
    assert found.degrees == 2


@pytest.mark.parametrize("workers", [3, 5, 10, 30, 100])
def test_the_past_counts_by_its_upper_limit(workers: int) -> None:
    """Scipy's quantile of chi-squared; few workers are not trusted as many are."""
    degrees = workers - 1
    known = earlier(0.1, workers)
    for ratio, level in ((known.ratio, 0.2), (known.expected_ratio, 0.35)):
        exact = 0.1 * math.sqrt(degrees / chi2.ppf(level, degrees))
        assert ratio == pytest.approx(exact, rel=0.015)


@pytest.mark.parametrize(("past", "source"), [(0.05, "pools"), (0.30, "history")])
def test_the_wider_of_both_counts(past, source):
    """Of other pools and of the pool's own past; a decision needs workers for both sides' variances."""
    known = variations.of_pair(("a", "b"), {"a": ONE, "b": THREE}, [earlier(past, 20)])
    assert known.source == source
    expected = (earlier(0.1, 3).expected_ratio, earlier(past, 20).expected_ratio)
    assert known.expected_ratio == pytest.approx(math.hypot(*expected) / math.sqrt(2))
    # Five percent is the least, and the sentence says so.
    steady = variations.of_pair(("a", "b"), {"a": ONE, "b": ONE}, [earlier(0.01, 20)])
    assert (steady.ratio, steady.source) == (0.05, "history")
    assert steady.explanation is not None
    least = "earlier workers of a (past) vary by 1 %; 5 % is the least that counts."
    assert text_of(steady.explanation) == least


def test_a_past_without_enough_workers() -> None:
    """Its reason is given where nothing else is known; other pools count as if it were not there."""
    reason = statement("The past has too few.")
    empty = replace(variations.default(), explanation=reason)
    unknown = variations.of_pair(("a", "b"), {"a": ONE, "b": ONE}, [empty])
    assert unknown.explanation == reason
    sides = {"a": ONE, "b": THREE}
    known = variations.of_pair(("a", "b"), sides, [empty])
    assert known == variations.of_pair(("a", "b"), sides)


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
        assert comparison.assumed_variation_ratio == comparison.assumed_variation.ratio
        assert comparison.assumed_variation.workers == 5
    _, problem = report(Options(worker_variation=0.08), intel=5, amd_16=1)
    assert text_of(problem.message).endswith("8 % is assumed (--worker-variation)")
