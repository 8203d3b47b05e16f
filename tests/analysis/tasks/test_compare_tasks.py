# SPDX-License-Identifier: MPL-2.0
"""Real tasks: which runs count, clocks that are wrong, and costs."""

import math
from collections.abc import Sequence

import pytest
import real_tasks
from msgspec.structs import replace
from sample_tasks import START_MS, compared, completed, of_rows

from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.looks import SINGLE
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.statistics.ratios import Estimate
from io_benchmark.analysis.tasks import compare_tasks, task_pair
from io_benchmark.analysis.tasks.compare_tasks import compare_tasks as task_report
from io_benchmark.analysis.tasks.labelled_ratio import LabelledRatio
from io_benchmark.analysis.tasks.task_model import BothSides, TaskComparison, TaskReport
from io_benchmark.costs.worker_time import Price
from io_benchmark.report.content import text_of
from io_benchmark.report.formats import rendered
from io_benchmark.sources.run_results import TaskRun

DAY_MS = 86_400_000


def pools(
    first: float, second: float, workers: int = 4, spread: float = 0.02, label: str = "build"
) -> list[TaskRun]:
    """Return runs of as many minutes on `a` and on `b`, one per worker."""
    return [
        completed(pool, minutes * math.exp(spread * (worker % 3 - 1)), f"g/{pool}{worker}", label)
        for pool, minutes in (("a", first), ("b", second))
        for worker in range(workers)
    ]


def only(report: TaskReport) -> TaskComparison:
    (made,) = report.comparisons
    return made


def warnings(report: TaskReport) -> list[str]:
    return [text_of(warning) for warning in only(report).warnings]


def log_ratio(candidate, baseline, labels):
    """Compare workers that took so long for each of the labels, ln of seconds."""
    first, second = (
        {label: {f"{pool}{at}": log for at, log in enumerate(logs)} for label in labels}
        for pool, logs in (("a", candidate), ("b", baseline))
    )
    return LabelledRatio(first, second, dict.fromkeys(labels, 3.4), SINGLE).estimate(0.05)


@pytest.mark.parametrize("labels", [("x",), ("x", "y")])
def test_estimate(labels):
    """It is that of workers with one label; two labels that say the same show no more."""
    candidate, baseline = (1.0, 1.1, 1.3), (0.9, 0.8, 1.0)
    known = log_ratio(candidate, baseline, labels)
    expected = Estimate.of_means(candidate, baseline, 0.05)
    assert known.log_ratio == pytest.approx(expected.log_ratio, abs=1e-9)
    assert known.error.variance == pytest.approx(expected.error.variance, abs=1e-9)
    assert len(labels) > 1 or known.error.degrees == pytest.approx(expected.error.degrees)


def test_the_mix_does_not_change_the_ratio() -> None:
    """One pool ran mostly the long task, the other mostly the short one: they are equal."""
    runs = []
    for pool, longs in (("a", 6), ("b", 1)):
        for worker in range(8):
            label, minutes = ("long", 60) if worker < longs else ("short", 5)
            factor = math.exp(0.02 * (worker % 3 - 1))
            runs.append(completed(pool, minutes * factor, f"g/{pool}{worker}", label))
    report = compared(runs)
    assert only(report).ratio == pytest.approx(1, abs=0.03)
    assert only(report).verdict is not Verdict.SLOWER
    assert any("without regard to labels it would be 3." in line for line in warnings(report))


def test_every_run_is_counted() -> None:
    """Completed runs are compared, and the others are counted.

    Runs whose times contradict each other are left out.
    """
    lost = [("exception", each) for each in ("worker-shutdown", "claim-expired", "internal-error")]
    stopped = [("exception", reason) for reason in ("canceled", "deadline-exceeded")]
    runs = [
        completed("a", 3, f"g/x{at}", state=state, reason=reason)
        for at, (state, reason) in enumerate([*lost, *stopped, ("failed", "failed")])
    ]
    runs += [
        completed("a", 3, "g/y", started_ms=-1, state="exception", reason="deadline-exceeded"),
        completed("a", -3, "g/z"),
        completed("a", 5, "g/w", scheduled_ms=START_MS + 1001),
        completed("a", 10, "g/v", scheduled_ms=START_MS + 1000),
        completed("a", 3, "g/u", "other", state="failed", reason="failed"),
    ]
    report = compared([*pools(10, 10), *runs])
    known, side = only(report), report.sides[1]
    assert known.failed == BothSides(0, 1)
    assert known.lost == BothSides(0, 3)
    assert known.stopped == BothSides(0, 2)
    assert known.completed == BothSides(4, 5)
    assert (side.completed, side.failed, side.lost, side.stopped) == (5, 2, 3, 2)
    assert (side.never_started, side.unusable) == (1, 2)
    assert "runs of a whose times contradict each other: 2; they are left out" in warnings(report)


def with_own_times(run: TaskRun, clock_s: float = 0.0) -> TaskRun:
    """Set-up of 30 seconds and tear-down of 10, by a clock that is so much ahead."""
    return replace(
        run,
        own_started_ms=run.started_ms + round((30 + clock_s) * 1000),
        own_ended_ms=run.resolved_ms - round((10 - clock_s) * 1000),
    )


@pytest.mark.parametrize(
    ("clock_s", "is_right"), [(0, True), (-31, True), (-31.1, False), (11, True), (11.1, False)]
)
def test_clocks(clock_s: float, is_right: bool) -> None:
    """Work that begins before its run, or ends after it, shows a wrong clock.

    Such a run has no set-up.
    """
    runs = [with_own_times(run, clock_s if run.pool == "a" else 0.0) for run in pools(12, 10)]
    times = only(compared(runs)).times["a"]
    assert (times.set_up_s is not None, times.tear_down_s is not None) == (is_right, is_right)
    assert times.work_s is not None
    assert times.work_s + 40 == pytest.approx(times.task_s, abs=0.5)
    assert times.pending_s == 60


def test_what_may_mislead() -> None:
    """Unknown workers, workers of both sides and long tails are reported."""
    unknown = [replace(run, worker="", run_id=at) for at, run in enumerate(pools(10, 10))]
    assert "workers of b, a are not known" in warnings(compared(unknown))[0]
    tails = [*pools(10, 10, 20), completed("a", 2000, "g/tail")]
    assert "by mean times, which the bill follows" in " ".join(warnings(compared(tails)))


@pytest.mark.parametrize("labels", [("build",), ("build", "test")])
def test_workers_of_two_pools_with_one_id(labels):
    """Each pool has its own `static/1`: they are two workers, in the warnings and in the error."""
    runs = [
        run
        for label in labels
        for run in [*pools(10, 12, label=label), *pools(5, 6, 3, label=label)]
    ]
    # As of pools whose workers are named by a number.
    static = [replace(run, worker=f"static/{run.worker[3:]}") for run in runs]
    assert compared(static) == compared(runs)
    unknown = [replace(run, worker="") for run in runs]
    several = [replace(run, worker=f"{run.pool}{at}") for at, run in enumerate(sorted(runs))]
    assert only(compared(unknown)).interval == only(compared(several)).interval


def test_workers_of_one_pool_before_and_after():
    """They are the same workers, which is reported."""
    runs = pools(10, 10)
    plan = Plan.before_and_after(["a"])
    sides = {f"a {when}": [run for run in runs if run.pool == "a"] for when in ("before", "after")}
    assert warnings(task_report(plan, sides)) == ["4 workers ran tasks of both sides"]


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
    assert warnings(compared([*pools(10, 10, 9), ended])) == []
    assert consequence in warnings(compared([*pools(10, 10, 8), ended]))[0]


def test_the_labels_with_most_runs_are_compared(monkeypatch):
    """However long the others take."""
    for module in (task_pair, compare_tasks):
        monkeypatch.setattr(module, "MOST_LABELS", 1)
    report = compared([*pools(1, 1, 4, label="many"), *pools(90, 60, 2, label="long")])
    assert [row.label for row in only(report).labels] == ["many"]
    assert "only the 1 labels with most runs are compared" in warnings(report)


@pytest.mark.parametrize(("later", "is_warned"), [(2, False), (3, True)])
def test_times_apart(later, is_warned):
    """Half of the runs of each side are in the time of both at least."""
    runs = pools(10, 10)
    for at, run in enumerate(runs):
        # Those of `a` come first.
        delay_ms = at % 4 * 1000 + (DAY_MS if at < later else 0)
        resolved_ms = run.resolved_ms + 2 * DAY_MS
        runs[at] = replace(run, started_ms=run.started_ms + delay_ms, resolved_ms=resolved_ms)
    given = warnings(compared(runs))
    assert any("ran at different times" in line for line in given) == is_warned


@pytest.mark.parametrize(
    ("workers", "ratio", "spread", "is_named"),
    [
        # Two workers per side do not show that one label differs from the others.
        (2, 2.0, 0.001, False),
        (3, 2.0, 0.001, True),
        # With two labels, the chance of a false alarm is half as large for each: at 1 %, 1.057
        # would be one.
        (4, 1.057, 0.02, False),
        (4, 1.065, 0.02, True),
    ],
)
def test_a_label_that_differs(workers, ratio, spread, is_named):
    """It differs by more than chance, from three workers per side on."""
    runs = [*pools(60, 60, max(workers, 4), spread=spread, label="x")]
    runs += pools(2 * ratio, 2, workers, spread=spread, label="y")
    found = only(compared(runs))
    assert {row.label: row.differs for row in found.labels}["y"] is is_named
    assert not is_named or any("from 1.00× (x) to " in text_of(line) for line in found.warnings)


def test_costs_by_prices():
    """Seven percent less per hour, and 2.2 % of the time lost: 9.5 % more per task."""
    prices = {"intel": Price(0.42, "USD"), "amd-16": Price(0.39, "USD")}
    cost = only(compared(of_rows(real_tasks.rows()), prices=prices)).cost
    assert cost is not None
    assert cost.baseline.per_1000 == pytest.approx(1000 * 39 / 60 * 0.42)
    assert cost.candidate.lost_share == pytest.approx(12 / (12 * 45))
    assert cost.price_ratio == pytest.approx(0.39 / 0.42)
    ratio = only(compared(of_rows(real_tasks.rows()))).ratio
    assert cost.ratio == pytest.approx(0.39 / 0.42 * ratio * (1 + 12 / 540))
    assert cost.break_even_ratio == pytest.approx(1 / (ratio * (1 + 12 / 540)))
    assert cost.candidate.per_1000 == pytest.approx(cost.baseline.per_1000 * cost.ratio)
    # Lost runs make costs less sure than times.
    times, costs = only(compared(of_rows(real_tasks.rows()))).interval, cost.interval
    assert costs.high_ratio / costs.low_ratio > times.high_ratio / times.low_ratio


def test_no_cost_without_comparable_prices():
    """Other currencies or a missing price give no ratio; other kinds are reported."""
    runs = pools(30, 30)
    dollars = Price(0.4, "USD", "spot")
    one = compared(runs, prices={"a": dollars})
    assert (only(one).cost, warnings(one)) == (None, ["no price for b"])
    both = compared(runs, prices={"a": dollars, "b": Price(0.4, "EUR")})
    assert only(both).cost is None
    assert "EUR and USD are different currencies" in warnings(both)[0]
    assert warnings(compared(runs)) == []
    kinds = {"a": dollars, "b": Price(0.8, "USD", "on-demand")}
    assert warnings(compared(runs, prices=kinds)) == [
        "prices are of different kinds: b on-demand, a spot"
    ]


def test_one_worker_against_several_of_unlike_labels():
    """The variance grows with the weight that one of the workers has, by hand."""
    baseline = {"x": {"b0": 1.0, "b1": 1.3, "b2": 0.8}, "y": {"b0": 1.0}}
    candidate = {"x": {"a": 1.5}, "y": {"a": 1.5}}
    ratio = LabelledRatio(candidate, baseline, {"x": 1, "y": 1}, SINGLE)
    x, y = ratio.shares["x"], ratio.shares["y"]
    unit = 1 + (x / 3 + y) ** 2 + 2 * (x / 3) ** 2
    assert unit > 1 + 1 / 3
    alone = Estimate.of_means(*ratio.workers, 0.05)
    expected = alone.error.variance * unit / (1 + 1 / 3)
    assert ratio.estimate(0.05).error.variance == pytest.approx(expected)


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
    assert only(report).verdict is verdict
    is_named = "which decides nothing" in rendered(report, "text").replace("\n   ", "")
    assert is_named is (min(map(len, (first, second))) == 1 < max(len(first), len(second)))


def test_a_wide_margin_does_not_let_one_worker_decide():
    """Nor is a pool equivalent by one worker."""
    for count, verdict in ((1, Verdict.INCONCLUSIVE), (2, Verdict.EQUIVALENT)):
        report = compared(on_pools(a=SIX, b=(60, 60)[:count]), margin=0.6)
        assert only(report).verdict is verdict


def test_one_worker_is_no_test_of_several():
    """It leaves the other pools the part of the error that they have without its difference."""
    alone = compared(on_pools(base=SIX, other=(66, 66.5, 65.5, 67)), "base")
    both = compared(on_pools(base=SIX, other=(66, 66.5, 65.5, 67), single=(300,)), "base")
    p_values = {pair.candidate: pair.p_value for pair in both.comparisons}
    assert p_values == {"other": pytest.approx(2 * only(alone).p_value, rel=0.2), "single": 1.0}


def test_what_is_assumed_of_one_worker_is_said():
    """Another pool may vary 2.4 times as much as one of which workers are known.

    12 % is the least that is assumed.
    """
    report = compared(on_pools(a=(60, 61, 62), b=(80,)))
    expected = (
        "too few workers to show how far those of a pool differ: 12 % is assumed (3 workers of a "
        "vary by 1.6 %)"
    )
    assert warnings(report) == [expected]
    assumed = only(report).assumed_variation
    assert assumed is not None
    assert assumed.ratio == pytest.approx(0.12)
    # Pools that are compared with the same baseline count as well.
    noisy = compared(on_pools(a=(60, 61, 62), b=(80,), c=(50, 60, 75)), "b")
    by_all = next(pair for pair in noisy.comparisons if pair.candidate == "a").assumed_variation
    assert by_all is not None
    assert by_all.ratio > 0.2
    assert only(compared(on_pools(a=SIX, b=SIX))).assumed_variation is None


def test_workers_are_advised_in_one_step():
    """Who runs tasks by hand is not sent away for one more worker again and again.

    Looks that a program adds would begin with one more worker here.
    """
    advice = only(compared(on_pools(a=(60, 61, 62), b=(66, 70, 68)))).advice
    assert advice is not None
    assert advice.workers_to_add == 3
