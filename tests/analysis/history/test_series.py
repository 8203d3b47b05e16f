# SPDX-License-Identifier: MPL-2.0
"""Readings become points, points series, and series levels with their changes."""

import math
from datetime import date

import pytest
from msgspec.structs import replace
from sample_history import MS, reading
from scipy.stats import ttest_ind

from io_benchmark.analysis.history.history_model import FactChange, HistoryReading, Point
from io_benchmark.analysis.history.series import _change, history
from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.reading.machines import MachineMarks
from io_benchmark.analysis.statistics.series_fit import LevelStep
from io_benchmark.report.content import text_of
from io_benchmark.report.formats import rendered

# Noise whose mean is zero and which no value before predicts.
WAVE = (0.0, 2.0, -1.0, 1.0, -2.0)


def weeks(*levels_ms: tuple[int, float]) -> list[HistoryReading]:
    """A worker a week, each level for so many weeks; the disk is lost in week 12."""
    means = [mean for count, mean in levels_ms for _ in range(count)]
    return [
        reading(
            week,
            mean,
            facts=(("disks", "2" if week < 12 else "1"), ("kernel", "6.8")),
            percent=WAVE[week % 5],
        )
        for week, mean in enumerate(means)
    ]


def points(*readings: HistoryReading) -> tuple[Point, ...]:
    (series,) = history("amd-16", readings).series
    return series.points


def test_a_change() -> None:
    """From one level to the next: ratio, Student's interval, points against the level before."""
    (series,) = history("amd-16", weeks((12, 75), (8, 150))).series
    (change,) = series.changes
    assert change.at == 12
    logs = [math.log(point.mean_ns) for point in series.points]
    expected = ttest_ind(logs[12:], logs[:12]).confidence_interval(0.95)
    interval = change.interval
    assert (math.log(interval.low_ratio), math.log(interval.high_ratio)) == pytest.approx(expected)
    means_ns = [level.mean_ns for level in series.levels]
    assert [change.before_ns, change.after_ns] == pytest.approx(means_ns)
    assert change.ratio == pytest.approx(means_ns[1] / means_ns[0])
    assert change.changed == (FactChange("disks", "2", "1", 0),)
    assert not change.unobserved
    assert [(level.start, level.end) for level in series.levels] == [(0, 12), (12, 20)]
    assert [point.ratio for point in series.points] == [None] * 12 + [
        point.mean_ns / means_ns[0] for point in series.points[12:]
    ]


def test_a_point_is_the_mean_of_its_workers() -> None:
    """Of their logarithms; several tasks on one machine are one worker, the earliest dates it."""
    machine = MachineMarks("machine")
    (point,) = points(
        reading(3, 50, group="g", percent=0),
        reading(1, 100, group="g", percent=0, marks=machine, task_id="one"),
        reading(2, 400, group="g", percent=0, marks=machine, task_id="two", run_id=None),
    )
    assert (point.time, point.group) == (reading(1, 1).origin.time, "g")
    assert [(worker.worker_id, worker.tasks) for worker in point.workers] == [
        ("machine", ("one.0", "two")),
        ("zone/3-0", ("task-3-0.0",)),
    ]
    assert [worker.mean_ns for worker in point.workers] == pytest.approx([200 * MS, 50 * MS])
    assert point.mean_ns == pytest.approx(100 * MS)
    # Two bare files may be of two machines.
    (point,) = points(*(reading(0, mean, marks=MachineMarks()) for mean in (100, 400)))
    assert len(point.workers) == 2


def test_workers_of_two_pools_with_one_id() -> None:
    """After a pool was replaced, its `static/1` is another machine, also in another push."""
    marks = [MachineMarks("static/1", pool=pool) for pool in ("p/old", "p/new")]
    (point,) = points(*(reading(0, 100, group="g", marks=mark) for mark in marks))
    names = ["static/1 of p/new", "static/1 of p/old"]
    assert sorted(worker.worker_id for worker in point.workers) == names
    both = points(*(reading(week, 100, marks=mark) for week, mark in enumerate(marks)))
    assert sorted(worker.worker_id for each in both for worker in each.workers) == names


def test_different_conditions_are_different_series() -> None:
    """The one with the newest point is first."""
    cold = [reading(week, 75) for week in range(10)]
    made = history("amd-16", [*cold, reading(10, 50, cold=False)])
    assert [len(line.points) for line in made.series] == [1, 10]


def test_the_newest_and_since() -> None:
    """`newest` counts points; points before `since` are not counted as left out."""
    readings = weeks((20, 75))
    newest = history("amd-16", readings, newest=5)
    groups = [point.group for point in newest.series[0].points]
    assert groups == [f"group-{week}" for week in range(15, 20)]
    assert [*map(text_of, newest.remarks)] == ["15 older points are left out; --last N takes more"]
    later = history("amd-16", readings, since=date(2026, 8, 31), remarks=["before"], older=1)
    assert [point.group for point in later.series[0].points] == ["group-18", "group-19"]
    older = "1 older point is left out; --last N takes more"
    assert [*map(text_of, later.remarks)] == ["before", older]


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, "The newest point, 2026-04-27: 77.0 ms."),
        # The mean of both would be 106 ms, which was never measured.
        (2, "The newest point, 2026-05-04: 149 ms; the 2 points are from 77.0 ms to 149 ms."),
        (9, "The newest point, 2026-06-22: 141 ms; the 9 points are from 77.0 ms to 151 ms."),
        (10, "Now"),
    ],
)
def test_few_points_have_no_level(count: int, expected: str) -> None:
    """They may be of two levels, so that they have no mean."""
    readings = [reading(week, 146 if week else 77) for week in range(count)]
    report = " ".join(rendered(history("amd-16", readings), "text").split())
    assert f"- {expected}" in report


def test_rates_in_text() -> None:
    """A read at depth 1 takes 90 µs; a rate is written as a rate, and slower stays slower."""
    subject = Subject("random-io", "workspace", "read-depth-1")
    readings = [replace(known, subject=subject) for known in weeks((5, 0.09), (10, 0.18))]
    report = " ".join(rendered(history("amd-16", readings), "markdown").split())
    assert "takes 2.00× as long as before" in report
    assert "from 11,100 IOPS to 5,560 IOPS" in report
    assert "rate, in IOPS, where higher is better" in report


def changes(**facts: str) -> tuple[list[tuple[str, int]], bool]:
    """Return which facts changed how far from point 3, and whether any was observed on both sides.

    A fact has a value per point; `a|b` are those of two workers, and - is one that was not
    observed.
    """
    observed = [
        (point, ((name, value),) if value != "-" else ())
        for name, values in facts.items()
        for point, workers in enumerate(values.split())
        for value in workers.split("|")
    ]
    found = _change(LevelStep(3, 1.0, 1.0, 1.0, Interval(1.0, 1.0, 0.95)), observed)
    return [(fact.name, fact.points_off) for fact in found.changed], not found.unobserved


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        # Constant on each side and different is a change; so is a single switch close by.
        ({"disks": "2|2 2 2 1|1 1 1"}, ([("disks", 0)], True)),
        ({"disks": "2 1 1 1 1 1"}, ([("disks", -2)], True)),
        ({"disks": "2 2 2 2 2 1"}, ([("disks", 2)], True)),
        ({"disks": "2 2 2 2 2 2 1"}, ([], True)),
        ({"disks": "2 2 2 2 2 2"}, ([], True)),
        ({"disks": "2 1 2 1 2 1"}, ([], True)),
        ({"disks": "2 2 1|2 1 1 1"}, ([], True)),
        ({"disks": "2 2 2 1 3 1"}, ([], True)),
        # What changed at the point is first.
        ({"kernel": "a a b b", "disks": "2 2 2 1"}, ([("disks", 0), ("kernel", -1)], True)),
        # Without any fact on both sides, nothing is known.
        ({"disks": "- - - 1 1"}, ([], False)),
        ({"disks": "1 1 1 - -"}, ([], False)),
        ({"disks": "- - - - -"}, ([], False)),
        ({"disks": "1 - 1 1 -"}, ([], True)),
    ],
)
def test_facts(facts: dict[str, str], expected: tuple[list[tuple[str, int]], bool]) -> None:
    """Which facts changed where a level does."""
    assert changes(**facts) == expected
