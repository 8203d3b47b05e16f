# SPDX-License-Identifier: MPL-2.0
"""How far pushes differ: what counts of it in a ratio, where it comes from, and what is advised."""

import math
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import simulation
from seed_workers import workers

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.inference import variations
from io_benchmark.analysis.inference.comparisons import advise
from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.analysis.inference.pairs import Pair
from io_benchmark.analysis.inference.variances import MeanVariance
from io_benchmark.analysis.inference.variations import PushVariation
from io_benchmark.analysis.model import Run, Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.report.content.statement_text import text_of

A, B = "push a", "push b"


def runs(*groups: str | None, log_means: tuple[float, ...] = (), is_elsewhere=False) -> list[Run]:
    """One run on each machine, in these pushes; elsewhere than on Taskcluster, by another CI system."""
    logs = log_means or (0.0,) * len(groups)
    return [
        Run(
            cast(
                "Worker",
                SimpleNamespace(
                    machine=f"machine {at} of {id(groups)}",
                    side="side",
                    result=SimpleNamespace(
                        task=SimpleNamespace(
                            group=group, task_group_id=None if is_elsewhere else group
                        )
                    ),
                ),
            ),
            simulation.entry(np.array([1e8 * math.exp(log)])),
        )
        for at, (group, log) in enumerate(zip(groups, logs, strict=True))
    ]


def between(candidate, baseline, past=None, pushes=0, *, is_change=True):
    return PushVariation.between(candidate, baseline, past, pushes, is_change=is_change)


@pytest.mark.parametrize(
    ("candidate", "baseline", "unshared"),
    [
        pytest.param((A, A), (B, B), 2.0, id="one push each"),
        pytest.param((A, A), (B, "c"), 1.5, id="two pushes before"),
        pytest.param((A, A, B), (B, B, A), 2 / 9, id="uneven parts of the same pushes"),
        pytest.param((None, None), (None,), 2.0, id="files that name no push"),
    ],
)
def test_the_part_that_counts(candidate, baseline, unshared):
    """A push's variance counts by the square of how much more of one side's workers it has."""
    variation = between(runs(*candidate), runs(*baseline))
    assert variation.unshared == pytest.approx(unshared)
    assert variation.variance.variance == pytest.approx(unshared * variation.ratio**2)


@pytest.mark.parametrize(
    ("candidate", "baseline", "is_change"),
    [((A, A), (A,), True), ((A, B), (B, A), True), ((None,), (None,), False)],
)
def test_the_same_pushes(candidate, baseline, is_change):
    """What shifts both sides cancels: nothing is assumed, nor of pools whose files name no push."""
    assert between(runs(*candidate), runs(*baseline), is_change=is_change) is None


@pytest.mark.parametrize("is_change", [False, True])
def test_jobs_of_another_system(is_change):
    """Jenkins numbers the jobs of one push apart: these numbers tell before from after, not pools."""
    sides = runs("jenkins 12 a", is_elsewhere=True), runs("jenkins 7 b", is_elsewhere=True)
    assert (between(*sides, is_change=is_change) is not None) is is_change


def test_what_is_assumed_and_what_is_known():
    """5 % is assumed; the past replaces it, and several pushes of the sides count as they are many."""
    assumed = between(runs(A, A), runs(B, B))
    assert (assumed.ratio, assumed.degrees, assumed.pushes) == (0.05, 20.0, 0)
    past = between(runs(A, A), runs(B, B), MeanVariance(0.0004, 11.0), 12)
    assert (past.ratio, past.degrees, past.pushes) == (pytest.approx(0.02), 11.0, 12)
    candidate = runs(A, A, "c", "c", log_means=(0.0, 0.02, 0.1, 0.12))
    seen = between(candidate, runs(B, B))
    assert seen.degrees == 5.0
    assert seen.ratio == pytest.approx(math.sqrt((4 * 0.0025 + 0.005) / 5))


def test_more_workers_do_not_help():
    """With pushes that vary by 5 %, another day is advised; the same sides in one push need 6 more."""
    after, before = [
        SideData(
            tuple(shift + 0.01 * at for at in (-1, 0, 1)), ((simulation.entry(np.ones(200)),),) * 3
        )
        for shift in (0.08, 0.0)
    ]
    variation = variations.given(0.05)
    looks = Schedule((3,), is_declared=True)
    pairs = [
        Pair("after", "before", after, before, variation, schedule=schedule, push_variation=pushes)
        for pushes, schedule in (
            (None, None),
            (between(runs(A, A, A), runs(B, B, B)), None),
            (PushVariation(0.001, 11.0, 12, 2.0), looks),
        )
    ]
    one_push, two, no_look = (
        advise(pair.estimate, pair, margin=0.05, comparisons=1) for pair in pairs
    )
    assert one_push.workers_to_add is not None
    assert two.workers_to_add is None
    assert two.obstacle is not None
    assert text_of(two.obstacle).startswith("pushes vary by 5 %, whatever the number of workers")
    # Pushes that hardly vary are not the reason.
    assert no_look.obstacle is not None
    assert text_of(no_look.obstacle).startswith("no look is declared after 3 workers per pool")


def changed(side, group):
    """Three workers of amd-16, of this push."""
    change = {"amd-16": {"task.task_group_id": lambda _: group}}
    return workers(3, pools=["amd-16"], side=f"{{pool}} {side}", change=change)


@pytest.mark.parametrize(("group", "is_warned"), [(A, False), (B, True)])
def test_the_report_says_what_its_interval_rests_on(group, is_warned):
    """Between pushes the interval is wider, and a warning has the reason; within one it is as before."""
    plan = Plan.before_and_after(["amd-16"])
    report = compare(plan, [*changed("before", A), *changed("after", group)], Options())
    warnings = [text_of(problem.message) for problem in report.problems if problem.rule == "pushes"]
    expected = (
        "amd-16 after and amd-16 before were measured by different pushes; pushes vary by 5 %, which is "
        "assumed"
    )
    assert warnings == ([expected] if is_warned else [])
    interval = report.subjects[0].comparisons[0].interval
    assert (interval.high_ratio > 1.10) is is_warned
