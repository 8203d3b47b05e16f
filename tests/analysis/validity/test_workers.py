# SPDX-License-Identifier: MPL-2.0
"""Rules about the workers of sides: one machine counts once; zones and hours differ."""

from typing import Any

import pytest
import seed_workers
from seed_facts import changing
from seed_workers import broken

from io_benchmark.analysis.compare import compare
from io_benchmark.analysis.comparing.pairs import Options
from io_benchmark.analysis.model.comparison import Severity, Verdict
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.report.content import text_of

BOOT = "4514e179-e9e1-4620-b051-b51d93f6b9cd"
AT_ONCE = "some at the same time, which slows each of them"


def scaled(factor):
    longer = changing(lambda value: value * factor)
    return {f"workloads.0.samples.{name}": longer for name in ("lookup_ns", "copy_ns")}


def runs(side, *changes):
    """Runs with Intel's times, one for each change."""
    change = {f"intel/{at}": change for at, change in enumerate(changes)}
    return seed_workers.workers(len(changes), pools=("intel",), change=change, side=side)


def on_one_machine(**factors):
    """Runs that take so many times as long, all on one machine."""
    return [
        run
        for side, numbers in factors.items()
        for run in runs(side, *({"host.boot_id": BOOT, **scaled(number)} for number in numbers))
    ]


def report(workers, baseline="b"):
    sides = {worker.side for worker in workers}
    plan = Plan.of_pools(sides, baseline if baseline in sides else None)
    return compare(plan, workers, Options())


def only(made):
    (subject,) = made.subjects
    (comparison,) = subject.comparisons
    return comparison


def test_the_averages_of_all_runs_are_compared():
    """Widely where runs differ; runs that differ by a percent give a verdict."""
    comparison = only(report(on_one_machine(a=(0.52, 0.75, 1.08), b=(1.0, 0.8, 1.25))))
    assert comparison.ratio == pytest.approx((0.52 * 0.75 * 1.08) ** (1 / 3), rel=1e-3)
    assert (comparison.method, comparison.verdict) == ("runs of one worker", Verdict.INCONCLUSIVE)
    assert comparison.interval.low_ratio < 0.5
    assert comparison.interval.high_ratio > 1.1
    slower = tuple(2 * (1 + 0.01 * at) for at in range(5))
    agreeing = only(report(on_one_machine(a=slower, b=(1, 1.01, 0.99, 1, 1.02))))
    assert (agreeing.verdict, agreeing.assumed_variation_ratio) == (Verdict.SLOWER, 0.10)


@pytest.mark.parametrize(
    ("started", "at_once"),
    [("2026-11-20T10:00:05Z", True), ("2026-11-20T10:00:10Z", False), ("yesterday", False)],
)
def test_runs_at_the_same_time_are_named(started, at_once):
    """Two jobs at once on one machine slow each other, on one side or on both."""
    first, second = (
        {"host.boot_id": BOOT, "started": time, "duration_ns": 10_500_000_000}
        for time in ("2026-11-20T10:00:00Z", started)
    )
    same_side = runs("a", first, second)
    for workers, rule in (
        (same_side, "same-worker"),
        ([same_side[0], *runs("b", second)], "shared-worker"),
    ):
        made = report(workers)
        assert {line.at_once for line in made.workers} == {at_once}
        (problem,) = broken(made, rule)
        assert (AT_ONCE in text_of(problem.message)) is at_once


def test_machines_of_both_sides():
    """Three of five are named; only where a side has no other machine, machines do not differ."""
    boots = [{"host.boot_id": f"{BOOT[:-1]}{number}"} for number in range(6)]
    alike = " and 2 more, so their machines do not differ"
    for of_a, ending in ((boots[:5], alike), (boots, " and 2 more")):
        made = report([*runs("a", *of_a), *runs("b", *boots[:5])])
        (problem,) = broken(made, "shared-worker")
        assert text_of(problem.message).count("us-central1-f/") == 3
        assert text_of(problem.message).endswith(f"{ending}; {AT_ONCE}")
        assert (problem.explanation is None) is (ending != alike)


@pytest.mark.parametrize(
    ("started", "group", "hours"),
    [
        pytest.param("2026-03-24T16:00:00Z", None, "5.96", id="hours later"),
        pytest.param("2026-03-24T11:03:00Z", None, "1.01", id="an hour later"),
        pytest.param("2026-03-24T11:02:00Z", None, None, id="nearly an hour later"),
        pytest.param("the day before", None, None, id="unknown"),
        pytest.param("2026-03-24T16:00:00Z", "aQ7Jb3o0S5m1XyqkYV2c9A", None, id="another push"),
    ],
)
def test_sides_that_were_measured_at_different_hours(started, group, hours):
    """In one push, a difference may be that of the time of day."""
    later = {"started": started} | ({"task.task_group_id": group} if group else {})
    found = seed_workers.workers(pools=("intel", "amd-16"), change={"amd-16": later})
    problems = broken(report(found, "intel"), "measured-apart")
    difference = "a difference may be that of the time of day"
    expected = f"amd-16 was measured {hours} hours after intel: {difference}"
    assert [text_of(problem.message) for problem in problems] == [expected] * (hours is not None)


# --- zones ---


def in_zones(pool, zones):
    """One worker in each of these zones."""
    change = {}
    for at, zone in enumerate(zones):
        place = {"region": zone.rpartition("-")[0], "zone": zone} if zone else {}
        change[f"{pool}/{at}"] = {"task.location": place}
    return seed_workers.workers(len(zones), between=0.02, pools=(pool,), change=change)


@pytest.mark.parametrize(
    ("intel", "amd", "message"),
    [
        ("aaaaab", "abbbbb", "workers of intel: 5 in a, 1 in b; of amd-30: 1 in a, 5 in b"),
        ("aaa", "bbb", "workers of intel: 3 in a; of amd-30: 3 in b"),
        (
            # Regions that one pool has.
            ["a", "a", "a", "west1-a", "west1-a"],
            ["a", "a", "a", "east1-b", "east1-b"],
            "workers of intel: 3 in a, 2 in west1-a; of amd-30: 3 in a, 2 in east1-b",
        ),
        pytest.param("aaa", "aaa", None, id="one-zone"),
        pytest.param("aabb", "abab", None, id="equal-shares"),
        pytest.param("acca", "cccc", None, id="half-in-common"),
        pytest.param("a", "b", None, id="one-worker-each"),
        pytest.param("aab", ["b", "b", None], None, id="one-is-not-known"),
    ],
)
def test_zones_that_may_be_what_differs(intel, amd, message):
    """Fewer than half of the workers in the same zones, or a region that one side alone has."""
    made = report([*in_zones("intel", intel), *in_zones("amd-30", amd)], "intel")
    problems: Any = broken(made, "zones")
    assert [text_of(problem.message) for problem in problems] == [message] * bool(message)
    for problem in problems:
        assert (problem.severity, problem.sides) == (Severity.WARNING, ("intel", "amd-30"))
        assert "may be that of the zones" in text_of(problem.explanation)
