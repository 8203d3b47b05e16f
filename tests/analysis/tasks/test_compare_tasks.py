# SPDX-License-Identifier: MPL-2.0
"""Real tasks: which runs count, clocks that are wrong, costs, and what they are compared with."""

import math
import random

import pytest
import real_tasks
from msgspec.structs import replace
from sample_tasks import START_MS, compared, completed, many, of_rows

from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.looks import SINGLE, Schedule
from io_benchmark.analysis.model import Verdict
from io_benchmark.analysis.tasks.label_ratio import LabelledRatio
from io_benchmark.analysis.tasks.task_model import TaskComparison, TaskReport
from io_benchmark.costs.worker_time import Price
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.sources.task_runs import TaskRun

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


def test_one_label_is_the_comparison_of_workers():
    """With one label the estimate is that of the benchmark's comparisons."""
    logs = {"a": (1.0, 1.1, 1.3), "b": (0.9, 0.8, 1.0, 1.2)}
    sides = [
        {("build", f"{pool}{at}"): log for at, log in enumerate(values)}
        for pool, values in logs.items()
    ]
    look = Schedule().look(3)
    found = LabelledRatio(sides[0], sides[1], {"build": 3.4}, 0.05, look).estimate
    expected = Estimate.of_sides(SideData(logs["a"], ()), SideData(logs["b"], ()), 0.05, look)
    assert found.log_ratio == pytest.approx(expected.log_ratio, rel=1e-12)
    assert found.variance == pytest.approx(expected.variance, rel=1e-12)
    assert found.degrees == expected.degrees


def test_two_equal_labels_are_twice_the_same():
    """Each worker runs both of two labels that say the same: no more is known than of one."""
    logs = {"a": (1.0, 1.1, 1.3), "b": (0.9, 0.8, 1.0)}
    sides = [
        {(label, f"{pool}{at}"): log for at, log in enumerate(values) for label in ("x", "y")}
        for pool, values in logs.items()
    ]
    found = LabelledRatio(sides[0], sides[1], {"x": 2, "y": 2}, 0.05, SINGLE).estimate
    alone = Estimate.of_sides(SideData(logs["a"], ()), SideData(logs["b"], ()), 0.05)
    assert found.log_ratio == pytest.approx(alone.log_ratio)
    assert found.variance == pytest.approx(alone.variance)


def test_the_mix_does_not_change_the_ratio():
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


def test_the_ratio_is_that_of_the_time():
    """A long task that takes 1.5× as long counts by its time, not as one of eleven labels."""
    runs = pools(90, 60, label="long")
    for number in range(10):
        runs += pools(1, 1, label=f"short {number}")
    assert only(compared(runs)).ratio == pytest.approx(100 / 70, rel=0.005)


def test_labels_that_differ_are_named():
    """half is 1.6× slower at one label and equal at the other."""
    half = next(each for each in many().comparisons if each.candidate == "half")
    assert [(row.label, round(row.ratio, 2), row.differs) for row in half.labels] == [
        ("link", 1.6, False),
        ("test", 1.0, True),
    ]
    assert "labels differ, from 1.00× (test) to 1.60× (link)" in text_of(half.warnings[0])


def test_every_run_is_counted():
    """Completed runs are compared; the others are counted by what they are."""
    endings = [
        ("exception", "worker-shutdown"),
        ("exception", "claim-expired"),
        ("exception", "internal-error"),
        ("exception", "canceled"),
        ("exception", "deadline-exceeded"),
        ("failed", "failed"),
    ]
    runs = pools(10, 10)
    runs += [
        completed("a", 3, f"g/x{at}", state=state, reason=reason)
        for at, (state, reason) in enumerate(endings)
    ]
    runs += [
        completed("a", 3, "g/y", started_ms=-1, state="exception", reason="deadline-exceeded"),
        completed("a", -3, "g/z"),
    ]
    runs.append(completed("a", 3, "g/u", "other", state="failed", reason="failed"))
    found = only(compared(runs))
    assert (found.failed, found.lost, found.stopped) == ((0, 1), (0, 3), (0, 2))
    side = compared(runs).sides[1]
    assert (side.completed, side.failed, side.lost, side.stopped) == (4, 2, 3, 2)
    assert (side.never_started, side.unusable) == (1, 1)


def test_times_that_contradict_each_other_are_left_out():
    """A run that ends before it starts, or starts before it was scheduled, is never a negative time."""
    runs = pools(10, 10)
    backwards = completed("a", -5, "g/v")
    early = completed("a", 5, "g/w", scheduled_ms=START_MS + 60_000)
    report = compared([*runs, backwards, early])
    assert only(report).completed == (4, 4)
    assert "runs of a that end before they start: 2; they are left out" in warnings(report)


def with_own_times(run: TaskRun, clock_s: float = 0.0) -> TaskRun:
    """Set-up of 30 seconds and tear-down of 10, by a clock that is so much ahead."""
    return replace(
        run,
        own_started_ms=run.started_ms + round((30 + clock_s) * 1000),
        own_ended_ms=run.resolved_ms - round((10 - clock_s) * 1000),
    )


def test_parts_of_the_time():
    """Set-up, own work and tear-down add up to the task."""
    times = only(compared([with_own_times(run) for run in pools(12, 10)])).times["a"]
    assert (times.pending_s, times.set_up_s, times.tear_down_s) == (60, 30, 10)
    assert times.work_s is not None
    assert times.work_s + 40 == pytest.approx(times.task_s, abs=0.01)


@pytest.mark.parametrize("clock_s", [-45, 25], ids=["behind", "ahead"])
def test_a_wrong_clock(clock_s):
    """Work that begins before its run shows it: only the sum is known then, and never negative."""
    runs = [with_own_times(run) for run in pools(12, 10)]
    runs[0] = with_own_times(runs[0], clock_s)
    report = compared(runs)
    times = only(report).times["a"]
    assert (times.set_up_s, times.tear_down_s) == (None, None)
    assert times.around_work_s == pytest.approx(40, abs=0.01)
    assert (
        "the clock of 1 worker of a contradicts the queue's: set-up and tear-down are known as a sum "
        "only" in warnings(report)
    )


def test_work_longer_than_its_run_is_not_known():
    """No clock explains that."""
    runs = [with_own_times(run) for run in pools(12, 10)]
    runs[0] = replace(runs[0], own_ended_ms=runs[0].own_started_ms + DAY_MS)
    assert only(compared(runs)).times["a"].work_s is not None
    alone = [replace(run, own_ended_ms=run.own_started_ms + DAY_MS) for run in runs]
    assert only(compared(alone)).times["a"].work_s is None


def test_one_worker_each_decides_nothing():
    """Many runs on one machine of each pool are one worker."""
    runs = [
        completed(pool, minutes + number / 100, f"g/{pool}", run_id=number)
        for pool, minutes in (("a", 20), ("b", 10))
        for number in range(50)
    ]
    report = compared(runs)
    assert only(report).verdict is Verdict.INCONCLUSIVE
    assert only(report).interval.high_ratio == math.inf
    assert "one worker per pool shows nothing" in warnings(report)[0]


def test_what_may_mislead():
    """Unknown workers, shared ones, other times, other failures and long tails are reported."""
    unknown = [replace(run, worker="", run_id=at) for at, run in enumerate(pools(10, 10))]
    assert "workers of b, a are not known" in warnings(compared(unknown))[0]
    shared = [replace(run, worker=run.worker[:2] + run.worker[3:]) for run in pools(10, 10)]
    assert warnings(compared(shared)) == ["4 workers ran tasks of both sides"]
    later = [
        replace(run, started_ms=run.started_ms + DAY_MS, resolved_ms=run.resolved_ms + DAY_MS)
        if run.pool == "a"
        else run
        for run in pools(10, 10)
    ]
    assert "the pools ran at different times" in warnings(compared(later))[0]
    failed = [completed("a", 1, "g/f", state="failed", run_id=at) for at in range(4)]
    assert "50 % on a" in warnings(compared([*pools(10, 10), *failed]))[0]


@pytest.mark.parametrize(("failed", "is_warned"), [(1, False), (2, True)])
def test_failures_that_differ(failed, is_warned):
    """A tenth of the runs may fail on one side alone without a warning."""
    runs = [completed("a", 1, "g/f", state="failed", run_id=at) for at in range(failed)]
    given = warnings(compared([*pools(10, 10, 10), *runs]))
    assert any("those that completed" in line for line in given) == is_warned


@pytest.mark.parametrize(("later", "is_warned"), [(2, False), (3, True)])
def test_times_apart(later, is_warned):
    """Half of the runs of each side are in the time of both at least."""
    runs = [
        replace(
            run,
            started_ms=run.started_ms
            + at * 1000
            + (DAY_MS if run.pool == "a" and at < later else 0),
            resolved_ms=run.resolved_ms + DAY_MS * 2,
        )
        for pool in "ab"
        for at, run in enumerate(run for run in pools(10, 10) if run.pool == pool)
    ]
    given = warnings(compared(runs))
    assert any("ran at different times" in line for line in given) == is_warned


@pytest.mark.parametrize(("known", "is_shown"), [(1, False), (2, True)])
def test_parts_that_few_runs_have(known, is_shown):
    """Half of a side's runs have a part, or it is not shown."""
    runs = [
        with_own_times(run) if run.pool == "b" or run.worker[-1] in "0123"[:known] else run
        for run in pools(12, 10)
    ]
    assert (only(compared(runs)).times["a"].work_s is not None) == is_shown


@pytest.mark.parametrize(("workers", "is_named"), [(2, False), (3, True)])
def test_a_label_differs_from_three_workers_on(workers, is_named):
    """Two workers per side do not show that one label differs from the others."""
    runs = [*pools(60, 60, 12, spread=0.001, label="x")]
    runs += pools(2, 1, workers, spread=0.001, label="y")
    rows = {row.label: row.differs for row in only(compared(runs)).labels}
    assert rows["y"] is is_named


def test_lost_runs_differ():
    """The longer a run is, the more often its machine goes before it ends."""
    lost = [
        completed("a", 1, "g/f", state="exception", reason="worker-shutdown", run_id=at)
        for at in range(4)
    ]
    assert warnings(compared([*pools(10, 10), *lost]))[0] == (
        "0 % of the runs were lost on b, 50 % on a: a longer run is lost more often, so the more are "
        "lost, the shorter completed runs look"
    )
    tails = [*pools(10, 10, 20), completed("a", 2000, "g/tail")]
    assert "by mean times, which the bill follows" in " ".join(warnings(compared(tails)))


@pytest.mark.parametrize(
    ("rounded_ms", "width"), [(60_000, 0.25), (1000, 0.004)], ids=["to minutes", "to seconds"]
)
def test_rounded_times(rounded_ms, width):
    """Times in whole minutes agree by rounding: the interval is as wide as that allows."""
    start_ms = START_MS // 60_000 * 60_000 + (0 if rounded_ms == 60_000 else 1000)
    runs = [replace(run, started_ms=start_ms) for run in pools(6, 5, 6, spread=0)]
    runs = [
        replace(run, resolved_ms=start_ms + {"a": 6, "b": 5}[run.pool] * 60_000) for run in runs
    ]
    interval = only(compared(runs)).interval
    assert math.log(interval.high_ratio / interval.low_ratio) == pytest.approx(width, rel=0.2)


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


def test_costs_by_what_the_runs_cost():
    """Runs have their costs, those without one are not counted: the price of an hour follows."""
    runs = [
        replace(run, cost=hours * price, currency="USD") if run.worker[-1] != "0" else run
        for run in pools(30, 30)
        for hours in ((run.resolved_ms - run.started_ms) / 3.6e6,)
        for price in ({"a": 0.5, "b": 0.4}[run.pool],)
    ]
    cost = only(compared(runs)).cost
    assert cost is not None
    assert cost.baseline.source == "run costs"
    assert cost.price_ratio == pytest.approx(1.25)
    assert cost.currency == "USD"


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


def test_order_changes_nothing():
    """Runs in any order: the same report, to the last digit."""
    runs = of_rows(real_tasks.rows())
    shuffled = random.Random(7).sample(runs, len(runs))
    assert compared(shuffled) == compared(runs)
