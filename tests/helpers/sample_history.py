# SPDX-License-Identifier: MPL-2.0
"""Histories for the tests of their reports, which the analysis makes from round numbers."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace
from sample_report import HOSTILE_NAMES, text

from io_benchmark.analysis.history.history_model import History, HistoryReading, LeftOut, Origin
from io_benchmark.analysis.history.series import history
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.reading.machines import Facts, MachineMarks

MS = 1_000_000
FIRST = datetime(2026, 4, 27, 3, tzinfo=UTC)  # a Monday
SUBJECT = Subject("cache-retrieve", "workspace", "overwrite", "seed")
CONDITIONS = (
    ("profile", text("profile full")),
    ("sequence", text("seed 1, sequence over 100 files")),
    ("copy-method", text("copied by sendfile")),
    ("cache-state", text("cold cache")),
)
ZONES = ("us-central1-a", "us-central1-b", "us-central1-f")
MOUNT = ("commit=60", "data=writeback", "nobarrier", "relatime", "rw")
# In place of noise, in percent.
POINTS = (0.0, 2.1, -1.4, 0.8, -2.6, 3.1, -0.3, 1.2, -3.4, 0.6)
WORKERS = (0.0, 2.8, -2.2)


def reading(
    week: int,
    mean_ms: float,
    worker: int = 0,
    facts: Facts = (),
    *,
    cold: bool = True,
    percent: float | None = None,
    **origin: Any,
) -> HistoryReading:
    """Return a worker's mean in a week; `percent` replaces what stands for noise."""
    if percent is None:
        percent = POINTS[week % len(POINTS)] + WORKERS[worker]
    usual: dict[str, Any] = {
        "group": f"group-{week}",
        "time": FIRST + timedelta(weeks=week),
        "revision": f"{week:02d}{'c0ffee' * 6}00",
        "task_id": f"task-{week}-{worker}",
        "run_id": 0,
        "source": "sample",
        "marks": MachineMarks(f"zone/{week}-{worker}"),
    }
    conditions = CONDITIONS if cold else (*CONDITIONS[:-1], ("cache-state", text("warm cache")))
    log_mean = math.log(mean_ms * MS) + percent / 100
    return HistoryReading(Origin(**(usual | origin)), SUBJECT, conditions, log_mean, facts)


def _facts(week: int, disks: int) -> Facts:
    return (
        ("disks", str(disks)),
        ("stripes", str(disks) if disks > 1 else "none"),
        ("mount options", (*MOUNT, "stripe=32") if disks > 1 else MOUNT),
        ("kernel", "6.8.0-1024-gcp" if week < 20 else "6.8.0-1031-gcp"),
        ("zone", ZONES[week % 3]),
        ("grep", "grep (GNU grep) 3.8"),
    )


def one_change() -> History:
    """Return a pool that loses one of its two disks, and gets a new kernel a week later."""
    readings = [
        reading(week, mean_ms, worker, _facts(week, disks))
        for mean_ms, disks, weeks in ((76, 2, range(19)), (146, 1, range(19, 30)))
        for week in weeks
        for worker in range(3)
    ]
    return history("amd-16", readings)


def trend_and_step() -> History:
    """Return two years in which the time grows by 12 % per year, with a step after the first."""
    readings = [
        reading(week, 76 * 1.12 ** (week / 52) * (1.3 if week >= 60 else 1)) for week in range(100)
    ]
    return history("amd-16", readings)


def unclear() -> History:
    """Return two weeks of days that become slower."""
    days = [(day, FIRST + timedelta(days=day)) for day in range(14)]
    return history("amd-30", [reading(day, 76 * 1.03**day, time=time) for day, time in days])


def too_few() -> History:
    return history("amd-30", [reading(week, 77) for week in range(5)])


def steady() -> History:
    """Return more weeks than a table shows, and results that are left out."""
    readings = [reading(week, 77, facts=_facts(week, 2)) for week in range(70)]
    reason = text("incomplete: amd-30, task x run 0: 60 of 2000 retrieves")
    unreadable = ["task y run 0 (io-benchmark-amd-30): has no artifact"]
    left_out = [LeftOut("2026-05-04", reason)]
    return history("amd-30", readings, left_out=left_out, unreadable=unreadable)


def two_series() -> History:
    """Return a series with a cold cache, then one with a warm cache."""
    readings = [reading(week, 77 if week < 14 else 40, cold=week < 14) for week in range(26)]
    return history("amd-30", readings)


def nothing() -> History:
    return history("amd-16", [], unreadable=["task x: it expired"])


def hostile() -> History:
    """Return a history with an attack in every text from a result or from the queue."""
    script, breaks, escapes, entities, long = HOSTILE_NAMES
    (series,) = one_change().series
    (change,) = series.changes
    worker = replace(series.points[0].workers[0], worker_id=script, tasks=(breaks, escapes))
    point = replace(series.points[0], revision=script, group=breaks, workers=(worker,))
    fact = replace(change.changed[0], name=script, before=breaks, after=entities)
    changed = replace(
        change, changed=(fact, replace(fact, name=long, before=escapes, points_off=1))
    )
    hostile_series = replace(
        series,
        subject=Subject(long, entities, breaks, script),
        conditions={entities: text(script), long: text(breaks)},
        points=(point, *series.points[1:]),
        changes=(changed,),
    )
    return History(
        pool=script,
        series=(hostile_series,),
        left_out=(LeftOut(breaks, text(script)),),
        unreadable=(escapes, entities),
        remarks=(text(script), text(long)),
    )
