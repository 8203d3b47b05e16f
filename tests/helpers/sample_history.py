# SPDX-License-Identifier: MPL-2.0
"""Histories for the tests of their reports, which the analysis makes from round numbers."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace
from sample_report import HOSTILE_NAMES, text

from io_benchmark.analysis.history.history_model import (
    Facts,
    FactSpread,
    History,
    HistoryReading,
    LeftOut,
    Origin,
)
from io_benchmark.analysis.history.series import history
from io_benchmark.analysis.model import Subject
from io_benchmark.analysis.observed.machine_identity import MachineMarks
from io_benchmark.report.formats import Layout
from io_benchmark.report.formats.output import rendered

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
    at: int,
    mean_ms: float,
    worker: int = 0,
    facts: Facts = (),
    *,
    cold: bool = True,
    percent: float | None = None,
    **origin: Any,
) -> HistoryReading:
    """Return a worker's mean in the week number `at`; `percent` replaces what stands for noise."""
    if percent is None:
        percent = POINTS[at % len(POINTS)] + WORKERS[worker]
    known: dict[str, Any] = {
        "group": f"group-{at}",
        "time": FIRST + timedelta(weeks=at),
        "revision": f"{at:02d}{'c0ffee' * 6}00",
        "task_id": f"task-{at}-{worker}",
        "run_id": 0,
        "source": "sample",
        "marks": MachineMarks(f"zone/{at}-{worker}"),
    }
    conditions = CONDITIONS if cold else (*CONDITIONS[:-1], ("cache-state", text("warm cache")))
    log_mean = math.log(mean_ms * MS) + percent / 100
    return HistoryReading(Origin(**(known | origin)), SUBJECT, conditions, log_mean, facts)


def _facts(at: int, *, disks: int) -> Facts:
    return (
        ("disks", str(disks)),
        ("stripes", str(disks) if disks > 1 else "none"),
        ("mount options", (*MOUNT, "stripe=32") if disks > 1 else MOUNT),
        ("kernel", "6.8.0-1024-gcp" if at < 20 else "6.8.0-1031-gcp"),
        ("zone", ZONES[at % 3]),
        ("grep", "grep (GNU grep) 3.8"),
    )


def one_change(count: int = 30, workers: int = 3, change_at: int = 19) -> History:
    """Return a pool that loses one of its two disks, and gets a new kernel a week later."""
    return history(
        "amd-16",
        [
            reading(
                at, 146 if at >= change_at else 76, worker, _facts(at, disks=1 + (at < change_at))
            )
            for at in range(count)
            for worker in range(workers)
        ],
    )


def there_and_back() -> History:
    """Return a slow month without observed facts, with one worker per week."""
    slow = range(12, 18)
    readings = [reading(at, 110 if at in slow else 76) for at in range(30)]
    return history("intel", readings, remarks=["asked https://tc.example.com"])


def trend_and_step() -> History:
    """Return two years in which the time grows by 12 % per year, with a step after the first."""
    readings = [reading(at, 76 * 1.12 ** (at / 52) * (1.3 if at >= 60 else 1)) for at in range(100)]
    return history("amd-16", readings)


def unclear() -> History:
    """Return two weeks of days that become slower."""
    return history(
        "amd-30", [reading(at, 76 * 1.03**at, time=FIRST + timedelta(days=at)) for at in range(14)]
    )


def too_few() -> History:
    return history("amd-30", [reading(at, 77) for at in range(5)])


def steady() -> History:
    """Return more weeks than a table shows, and results that are left out."""
    readings = [reading(at, 77, facts=_facts(at, disks=2)) for at in range(70)]
    readings[40] = reading(40, 50, cold=False)
    return history(
        "amd-30",
        readings,
        left_out=[
            LeftOut("2026-05-04", text("incomplete: amd-30, task x run 0: 60 of 2000 retrieves"))
        ],
        unreadable=["task y run 0 (io-benchmark-amd-30): has no artifact"],
    )


def two_series() -> History:
    """Return a series with a cold cache, then one with a warm cache."""
    readings = [reading(at, 77 if at < 14 else 40, cold=at < 14) for at in range(26)]
    return history("amd-30", readings)


def nothing() -> History:
    return history("amd-16", [], unreadable=["task x: it expired"])


def hostile() -> History:
    """Return a history with an attack in every text from a result or from the queue."""
    script, breaks, escapes, entities, long = HOSTILE_NAMES
    found = one_change()
    (series,) = found.series
    (change,) = series.changes
    worker = replace(series.points[0].workers[0], worker_id=script, tasks=(breaks, escapes))
    point = replace(series.points[0], revision=script, group=breaks, workers=(worker,))
    fact = replace(change.changed[0], name=script, before=breaks, after=entities)
    changed = replace(
        change,
        changed=(fact, replace(fact, name=long, points_off=1)),
        varied=(FactSpread(escapes, (script, long), (breaks,)),),
    )
    return History(
        pool=script,
        series=(
            replace(
                series,
                subject=Subject(long, entities, breaks, script),
                conditions={entities: text(script), long: text(breaks)},
                points=(point, *series.points[1:]),
                changes=(changed,),
            ),
        ),
        left_out=(LeftOut(breaks, text(script)),),
        unreadable=(escapes, entities),
        remarks=(text(script), text(long)),
    )


def on_terminal(found: History, columns: int, *, colour: bool = False) -> str:
    layout = Layout(columns=columns, styles=colour, colors=colour)
    return rendered(found, "text", layout=layout)
