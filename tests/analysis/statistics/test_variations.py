# SPDX-License-Identifier: MPL-2.0
"""What is assumed of workers and of pushes, and where it comes from.

The rates are in tests/simulation.
"""

import math
from statistics import stdev

import pytest
import seed_workers
import simulation
from scipy.stats import chi2

from io_benchmark.analysis.compare import compare
from io_benchmark.analysis.comparing.pairs import Options
from io_benchmark.analysis.comparing.pushes import push_variation
from io_benchmark.analysis.model.comparison import WorkerVariation
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.statistics import variations
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.report.content import text_of

ONE = (0.0,)
# Their standard deviation is 0.1.
THREE = (-0.1, 0.0, 0.1)


def of_others(deviation: float) -> WorkerVariation:
    """What is assumed of a single worker where three of another pool vary so."""
    return variations.of_pair(("a", "b"), {"a": ONE, "b": (-deviation, 0.0, deviation)})


LEAST = "5 % is the least that counts"


@pytest.mark.parametrize(
    ("sides", "ratio", "workers", "explanation"),
    [
        ({"a": ONE, "b": THREE}, 0.24, 3, "3 workers of b vary by 10 %"),
        ({"a": ONE, "b": ONE, "c": THREE, "d": THREE}, 0.24, 6, "6 workers of c, d vary by 10 %"),
        ({"a": ONE, "b": ONE, "c": (0.0, 0.2)}, 2.4 * 0.02**0.5, 2, "2 workers of c vary by 14 %"),
        ({"a": ONE, "b": (0.0,) * 3}, 0.12, 3, f"3 workers of b vary by 0 %; {LEAST}"),
    ],
)
def test_other_pools(sides, ratio, workers, explanation):
    """One sentence names the pools, how far they vary, by how many workers, and what is assumed."""
    known = variations.of_pair(("a", "b"), sides)
    assert known.ratio == pytest.approx(ratio)
    assert (known.source, known.workers) == ("pools", workers)
    assert text_of(known.message) == f"{100 * ratio:.0f} % is assumed"
    assert known.explanation is not None
    more = "another pool may vary 2.4 times as much."
    assert text_of(known.explanation) == f"{explanation}, and {more}"


@pytest.mark.parametrize("workers", [3, 5, 10, 30, 100])
def test_what_a_decision_needs_follows_from_the_upper_limit(workers: int) -> None:
    """At scipy's quantile of chi-squared; few workers are not trusted as many are."""
    several = tuple(0.1 * at for at in range(workers))
    known = variations.of_pair(("a", "b"), {"a": ONE, "b": several})
    exact = stdev(several) * math.sqrt((workers - 1) / chi2.ppf(0.35, workers - 1))
    assert known.expected_ratio == pytest.approx(exact, rel=0.015)


@pytest.mark.parametrize(
    ("known", "message", "explanation"),
    [
        (variations.DEFAULT, "10 % is assumed", None),
        (
            variations.given(0.08),
            "10 % is assumed, the least for a single worker (--worker-variation is 8 %)",
            None,
        ),
    ],
    ids=["default", "option"],
)
def test_a_single_worker(known, message, explanation):
    """It may be an unusual one, whatever is known of others.

    How many a decision needs stays the same.
    """
    single = variations.of_single_worker(known)
    assert (single.ratio, text_of(single.message)) == (0.10, message)
    assert (single.explanation and text_of(single.explanation)) == explanation
    assert (single.expected_ratio, single.source) == (known.expected_ratio, known.source)
    assert (single.usual_ratio, single.shown_by) == (known.ratio, None)


@pytest.mark.parametrize("known", [variations.given(0.1), of_others(0.1)], ids=["10", "more"])
def test_a_single_worker_of_a_pool_that_varies(known):
    """What varies by 10 % or more is assumed as it is."""
    assert variations.of_single_worker(known) is known


A, B = "push a", "push b"


def runs(*groups: str, log_means: tuple[float, ...] = ()) -> list[Run]:
    """One run on each machine, in these pushes."""
    logs = log_means or (0.0,) * len(groups)
    return [
        simulation.run_on(f"{groups} {at}", log, push=group)
        for at, (group, log) in enumerate(zip(groups, logs, strict=True))
    ]


def between(candidate, baseline, past=None, pushes=0):
    sides = Side.of(candidate), Side.of(baseline)
    earlier = None if past is None else (pushes, past)
    return push_variation(*sides, earlier, is_change=True)


def test_what_is_assumed_and_what_is_known():
    """5 % is assumed; the past replaces it, and several pushes of a side count by their number."""
    assumed = between(runs(A, A), runs(B, B))
    assert (assumed.ratio, assumed.degrees, assumed.pushes) == (0.05, 20.0, 0)
    past = between(runs(A, A), runs(B, B), MeanVariance(0.0004, 11.0), 12)
    assert (past.ratio, past.degrees, past.pushes) == (pytest.approx(0.02), 11.0, 12)
    candidate = runs(A, A, "c", "c", log_means=(0.0, 0.02, 0.1, 0.12))
    seen = between(candidate, runs(B, B))
    assert seen.degrees == 5.0
    assert seen.ratio == pytest.approx(math.sqrt((4 * 0.0025 + 0.005) / 5))


def changed(side, group):
    """Three workers of amd-16, of this push."""
    change = {"amd-16": {"task.task_group_id": lambda _: group}}
    return seed_workers.workers(3, pools=["amd-16"], side=f"{{pool}} {side}", change=change)


@pytest.mark.parametrize(("group", "is_warned"), [(A, False), (B, True)])
def test_the_report_says_what_its_interval_rests_on(group, is_warned):
    """Between pushes the interval is wider, and a warning has the reason.

    Within one it is as before.
    """
    plan = Plan.before_and_after(["amd-16"])
    report = compare(plan, [*changed("before", A), *changed("after", group)], Options())
    warnings = [text_of(problem.message) for problem in seed_workers.broken(report, "pushes")]
    expected = (
        "amd-16 after and amd-16 before were measured by different pushes; pushes vary by 5 %, "
        "which is "
        "assumed"
    )
    assert warnings == ([expected] if is_warned else [])
    interval = report.subjects[0].comparisons[0].interval
    assert (interval.high_ratio > 1.10) is is_warned
