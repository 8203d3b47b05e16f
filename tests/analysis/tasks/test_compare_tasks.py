# SPDX-License-Identifier: MPL-2.0
"""Verdicts of real tasks, what is assumed of few workers, and what may mislead."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from sample_tasks import (
    compared,
    completed,
    only_pair,
    runs_on_two_pools,
    warnings_of,
)

from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.tasks.compare_tasks import compare_tasks as task_report
from io_benchmark.report.content import text_of
from io_benchmark.report.formats import rendered
from io_benchmark.sources.run_results import TaskRun

DAY_MS = 86_400_000


def test_what_may_mislead() -> None:
    """Unknown workers, workers of both sides and long tails are reported."""
    unknown = [
        replace(run, worker="", run_id=at) for at, run in enumerate(runs_on_two_pools(10, 10))
    ]
    assert "workers of b, a are not known" in warnings_of(compared(unknown))[0]
    tails = [*runs_on_two_pools(10, 10, 20), completed("a", 2000, "g/tail")]
    assert "by mean times, which the bill follows" in " ".join(warnings_of(compared(tails)))


@pytest.mark.parametrize("labels", [("build",), ("build", "test")])
def test_workers_of_two_pools_with_one_id(labels):
    """Each pool has its own `static/1`: they are two workers, in the warnings and in the error."""
    runs = [
        run
        for label in labels
        for run in [
            *runs_on_two_pools(10, 12, label=label),
            *runs_on_two_pools(5, 6, 3, label=label),
        ]
    ]
    # As of pools whose workers are named by a number.
    static = [replace(run, worker=f"static/{run.worker[3:]}") for run in runs]
    assert compared(static) == compared(runs)
    unknown = [replace(run, worker="") for run in runs]
    several = [replace(run, worker=f"{run.pool}{at}") for at, run in enumerate(sorted(runs))]
    assert only_pair(compared(unknown)).interval == only_pair(compared(several)).interval


def of_systems(**systems: str) -> list[TaskRun]:
    return [replace(run, system=systems[run.pool]) for run in runs_on_two_pools(10, 12)]


def test_pools_of_different_systems() -> None:
    """The same label is other work there: without --allow os it has figures, and no verdict."""
    runs = of_systems(a="linux", b="windows")
    report = compared(runs, baseline="a")
    assert report.comparisons == ()
    (remark,) = report.remarks
    assert text_of(remark) == (
        "b (Windows, 717 s per task) and a (Linux, 597 s per task) are not compared: the same "
        "label is other work on another system; --allow os compares them"
    )
    allowed = compared(runs, baseline="a", across_systems=True)
    assert only_pair(allowed).ratio == pytest.approx(1.2)
    assert warnings_of(allowed)[0] == (
        "the pools are of different systems: the same label is other work"
    )


@pytest.mark.parametrize(("first", "second"), [("linux", "linux"), ("", "windows"), ("", "")])
def test_systems_that_are_not_known_to_differ(first: str, second: str) -> None:
    """They are compared as before; a table may not have them."""
    report = compared(of_systems(a=first, b=second))
    assert only_pair(report) == only_pair(compared(runs_on_two_pools(10, 12)))
    assert report.remarks == ()


def test_workers_of_one_pool_before_and_after():
    """They are the same workers, which is reported."""
    runs = runs_on_two_pools(10, 10)
    plan = Plan.before_and_after(["a"])
    sides = {f"a {when}": [run for run in runs if run.pool == "a"] for when in ("before", "after")}
    assert warnings_of(task_report(plan, sides)) == ["4 workers ran tasks of both sides"]


@pytest.mark.parametrize(
    ("state", "reason", "consequence"),
    [
        ("failed", "failed", "runs failed on b, 11 % on a: those that completed may not be alike"),
        ("exception", "worker-shutdown", "runs were lost on b, 11 % on a: a longer run is lost"),
    ],
)
def test_runs_that_did_not_complete(state, reason, consequence):
    """A tenth of the runs may fail or be lost on one side alone without a warning."""
    ended = completed("a", 1, "g/f", state=state, reason=reason)
    assert warnings_of(compared([*runs_on_two_pools(10, 10, 9), ended])) == []
    assert consequence in warnings_of(compared([*runs_on_two_pools(10, 10, 8), ended]))[0]


@pytest.mark.parametrize(("later", "is_warned"), [(2, False), (3, True)])
def test_times_apart(later, is_warned):
    """Half of the runs of each side are in the time of both at least."""
    runs = runs_on_two_pools(10, 10)
    for at, run in enumerate(runs):
        # Those of `a` come first.
        delay_ms = at % 4 * 1000 + (DAY_MS if at < later else 0)
        resolved_ms = run.resolved_ms + 2 * DAY_MS
        runs[at] = replace(run, started_ms=run.started_ms + delay_ms, resolved_ms=resolved_ms)
    given = warnings_of(compared(runs))
    assert any("ran at different times" in line for line in given) == is_warned


SIX = (59.0, 60.0, 61.0, 60.0, 59.5, 60.5)


def on_pools(**minutes: Sequence[float]) -> list[TaskRun]:
    """Return a run of as many minutes on each worker of each pool."""
    return [
        completed(pool, of_worker, f"g/{pool}{worker}")
        for pool, of_workers in minutes.items()
        for worker, of_worker in enumerate(of_workers)
    ]


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ((60, 61, 62), (80,), Verdict.INCONCLUSIVE),
        ((60, 60), (80,), Verdict.INCONCLUSIVE),
        ((80,), (60, 60), Verdict.INCONCLUSIVE),
        ((60,), (180,), Verdict.INCONCLUSIVE),
        # However much longer its tasks take.
        (SIX, (180,), Verdict.INCONCLUSIVE),
        (SIX, (180, 181), Verdict.FASTER),
    ],
)
def test_one_worker_decides_nothing(first, second, verdict):
    """A pool is called slower or faster from its second worker on; the answer names the rule."""
    report = compared(on_pools(a=first, b=second))
    assert only_pair(report).verdict is verdict
    is_named = "which decides nothing" in rendered(report, "text").replace("\n   ", "")
    assert is_named is (min(map(len, (first, second))) == 1 < max(len(first), len(second)))


def test_a_wide_margin_does_not_let_one_worker_decide():
    """Nor is a pool equivalent by one worker."""
    for count, verdict in ((1, Verdict.INCONCLUSIVE), (2, Verdict.EQUIVALENT)):
        report = compared(on_pools(a=SIX, b=(60, 60)[:count]), margin=0.6)
        assert only_pair(report).verdict is verdict


def test_one_worker_is_no_test_of_several():
    """It leaves the other pools the part of the error that they have without its difference."""
    alone = compared(on_pools(base=SIX, other=(66, 66.5, 65.5, 67)), "base")
    both = compared(on_pools(base=SIX, other=(66, 66.5, 65.5, 67), single=(300,)), "base")
    p_values = {pair.candidate: pair.p_value for pair in both.comparisons}
    assert p_values == {
        "other": pytest.approx(2 * only_pair(alone).p_value, rel=0.2),
        "single": 1.0,
    }


def test_what_is_assumed_of_one_worker_is_said():
    """Another pool may vary 2.4 times as much as one of which workers are known.

    12 % is the least that is assumed.
    """
    report = compared(on_pools(a=(60, 61, 62), b=(80,)))
    expected = (
        "too few workers to show how far those of a pool differ: 12 % is assumed (3 workers of a "
        "vary by 1.6 %)"
    )
    assert warnings_of(report) == [expected]
    assumed = only_pair(report).assumed_variation
    assert assumed is not None
    assert assumed.ratio == pytest.approx(0.12)
    # Pools that are compared with the same baseline count as well.
    noisy = compared(on_pools(a=(60, 61, 62), b=(80,), c=(50, 60, 75)), "b")
    by_all = next(pair for pair in noisy.comparisons if pair.candidate == "a").assumed_variation
    assert by_all is not None
    assert by_all.ratio > 0.2
    assert only_pair(compared(on_pools(a=SIX, b=SIX))).assumed_variation is None


def test_workers_are_advised_in_one_step():
    """Who runs tasks by hand is not sent away for one more worker again and again.

    Looks that a program adds would begin with one more worker here.
    """
    advice = only_pair(compared(on_pools(a=(60, 61, 62), b=(66, 70, 68)))).advice
    assert advice is not None
    assert advice.workers_to_add == 3
