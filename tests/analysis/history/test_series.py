# SPDX-License-Identifier: MPL-2.0
"""Readings become points, points series, and series levels with their changes."""

import math
from datetime import UTC, date, datetime, timedelta

import pytest
from msgspec.structs import replace
from sample_report import text

from io_benchmark.analysis.history.history_model import (
    FactChange,
    HistoryReading,
    Origin,
)
from io_benchmark.analysis.history.series import _points_of, history
from io_benchmark.analysis.model import Subject
from io_benchmark.analysis.observed.machine_identity import MachineMarks
from io_benchmark.report.content.statement_text import text_of

MS = 1_000_000
FIRST = datetime(2026, 4, 27, 3, tzinfo=UTC)
SUBJECT = Subject("cache-retrieve", "workspace", "overwrite", "seed")


def conditions_of(*pairs):
    return tuple((rule, text(traits)) for rule, traits in pairs)


CONDITIONS = conditions_of(("profile", "profile full"), ("cache-state", "cold cache"))
# A little noise that is none: no level is exactly constant.
WAVE = (0.00, 0.02, -0.01, 0.01, -0.02)


def reading(at, mean_ms, *, worker="0", group=None, conditions=CONDITIONS, facts=(), task=None):
    """A worker's mean in the week number `at`."""
    origin = Origin(
        group=group or f"group-{at}",
        time=FIRST + timedelta(weeks=at),
        revision=f"{at:040x}",
        task_id=task or f"task-{at}-{worker}",
        run_id=0,
        source="here",
        marks=MachineMarks(f"zone/{at}-{worker}"),
    )
    return HistoryReading(origin, SUBJECT, conditions, math.log(mean_ms * MS), facts)


def weeks(*levels_ms, facts=lambda _at: ()):
    """A worker a week, each level for so many weeks."""
    means = [mean for count, mean in levels_ms for _ in range(count)]
    return [
        reading(at, mean * math.exp(WAVE[at % 5]), facts=facts(at)) for at, mean in enumerate(means)
    ]


def test_a_change():
    """From one level to the next: ratio, interval, the points against the level before."""

    def facts(at):
        return (("disks", "2" if at < 12 else "1"), ("kernel", "6.8"))

    (series,) = history("amd-16", weeks((12, 75), (8, 150), facts=facts)).series
    (change,) = series.changes
    assert change.at == 12
    assert change.p_value < 1e-6
    assert change.ratio == pytest.approx(2, rel=0.01)
    assert change.interval.low_ratio < change.ratio < change.interval.high_ratio < 2.1
    assert change.interval.level_ratio == 0.95
    means_ns = [one.mean_ns for one in series.levels]
    assert [change.before_ns, change.after_ns] == pytest.approx(means_ns)
    assert change.changed == (FactChange("disks", "2", "1", 0),)
    assert (change.varied, change.unobserved) == ((), False)
    assert [(level.start, level.end) for level in series.levels] == [(0, 12), (12, 20)]
    assert [point.ratio for point in series.points[:12]] == [None] * 12
    before_ns = series.levels[0].mean_ns
    assert [point.ratio for point in series.points[12:]] == [
        point.mean_ns / before_ns for point in series.points[12:]
    ]


def test_interval_by_hand():
    """Without dependence on the point before, the interval is Student's, with one variance."""
    from scipy.stats import ttest_ind

    (series,) = history("amd-16", weeks((12, 75), (8, 150))).series
    (change,) = series.changes
    logs = [math.log(point.mean_ns) for point in series.points]
    theirs = ttest_ind(logs[12:], logs[:12]).confidence_interval(0.95)
    assert series.autocorrelation == 0
    assert math.log(change.interval.low_ratio) == pytest.approx(theirs.low)
    assert math.log(change.interval.high_ratio) == pytest.approx(theirs.high)


def test_no_change():
    """One level; how far its points vary."""
    (series,) = history("amd-16", weeks((20, 75))).series
    assert series.changes == ()
    (level,) = series.levels
    assert (level.start, level.end) == (0, 20)
    assert level.mean_ns == pytest.approx(75 * MS)
    assert level.variation_ratio == pytest.approx(math.sqrt(sum(one**2 for one in WAVE) * 4 / 19))


def test_a_point_is_the_mean_of_its_workers():
    """Of their logarithms; the earliest of them dates it, whatever order they come in."""
    some = [
        reading(3, 100, worker="b", group="g"),
        reading(1, 400, worker="a", group="g"),
    ]
    (point,) = _points_of(some)
    assert point.mean_ns == pytest.approx(200 * MS)
    assert [round(worker.mean_ns / MS) for worker in point.workers] == [100, 400]
    assert (point.time, point.group) == (FIRST + timedelta(weeks=1), "g")


def test_two_tasks_on_one_machine_are_one_worker():
    """They are not independent of each other."""
    first = reading(0, 100, worker="same", task="one")
    second = reading(0, 400, worker="same", task="two")
    other = reading(0, 50, worker="other")
    (point,) = _points_of([first, second, other])
    assert [worker.tasks for worker in point.workers] == [("one.0", "two.0"), ("task-0-other.0",)]
    assert point.mean_ns == pytest.approx(100 * MS)


def test_unknown_machines_are_not_one():
    """Two bare files may be of two machines."""
    some = [reading(0, 100), reading(0, 400)]
    some = [replace(one, origin=replace(one.origin, marks=MachineMarks())) for one in some]
    assert len(_points_of(some)[0].workers) == 2


def test_different_conditions_are_different_series():
    """What a comparison would refuse is in a different series; the one with the newest point is first."""
    warm = conditions_of(("profile", "profile full"), ("cache-state", "warm cache"))
    some = [
        *(reading(at, 75) for at in range(10)),
        *(reading(at, 50, conditions=warm) for at in range(10, 14)),
    ]
    found = history("amd-16", some)
    assert [(one.conditions, len(one.points)) for one in found.series] == [
        (dict(warm), 4),
        (dict(CONDITIONS), 10),
    ]
    assert found.left_out == ()


def test_one_point_unlike_the_others_is_named():
    """It is listed with what differs, and has no series."""
    warm = conditions_of(("profile", "profile full"), ("cache-state", "warm cache"))
    some = [*(reading(at, 75) for at in range(10)), reading(10, 50, conditions=warm)]
    found = history("amd-16", some)
    assert [len(one.points) for one in found.series] == [10]
    (left_out,) = found.left_out
    assert (left_out.source, text_of(left_out.reason)) == (
        "2026-07-06",
        f"{SUBJECT}: task task-10-0.0: cache-state: warm cache, others: cold cache",
    )


def test_the_newest_and_since():
    """`newest` counts points; points before `since` are not counted as left out."""
    some = weeks((20, 75))
    found = history("amd-16", some, newest=5)
    assert [point.group for point in found.series[0].points] == [
        f"group-{at}" for at in range(15, 20)
    ]
    assert tuple(map(text_of, found.remarks)) == (
        "15 older points are left out; --last N takes more",
    )
    later = history("amd-16", some, since=date(2026, 8, 31), remarks=["before"])
    assert [point.group for point in later.series[0].points] == ["group-18", "group-19"]
    assert tuple(map(text_of, later.remarks)) == ("before",)


def test_the_order_in_which_they_come_does_not_matter():
    """Over a network it is another one each time."""
    some = [reading(at, 75 + worker, worker=str(worker)) for at in range(12) for worker in range(3)]
    assert history("amd-16", some) == history("amd-16", some[::-1])


def test_nothing():
    """No readings are not an error here."""
    found = history("amd-16", [], unreadable=["gone"])
    assert (found.series, found.unreadable) == ((), ("gone",))
