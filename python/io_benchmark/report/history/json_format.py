# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The parts of a history in JSON and their types, as in the reports' own `json_format`.

Versions:
  1 (2026-11)  the first
"""

from typing import Literal

from io_benchmark.report.formats.json_format import Interval, Number, Record, Subject

VERSION: Literal[1] = 1


class Worker(Record, frozen=True):
    """One machine; several tasks on it are one worker."""

    worker_id: str
    tasks: list[str]
    mean_ns: Number


class Point(Record, frozen=True):
    """One push. `ratio`: against the level before the one that it is in; null on the first."""

    time: str
    task_group_id: str
    revision: str | None
    mean_ns: Number
    value: Number
    ratio: Number
    workers: list[Worker]


class Level(Record, frozen=True):
    """The points from `start` to before `end`, which nothing divides."""

    start: int
    end: int
    mean_ns: Number
    value: Number
    variation_ratio: Number


class FactChange(Record, frozen=True):
    """`points_off`: so many points after the change of the level; negative: before it."""

    name: str
    before: str
    after: str
    points_off: int


class FactSpread(Record, frozen=True):
    """A fact that varies on a side of a change."""

    name: str
    before: list[str]
    after: list[str]


class Change(Record, frozen=True):
    """`at` is the number of the new level's first point; a ratio above 1 is slower."""

    at: int
    p_value: Number
    before_ns: Number
    after_ns: Number
    ratio: Number
    interval: Interval
    changed: list[FactChange]
    varied: list[FactSpread]
    unobserved: bool


class Series(Record, frozen=True):
    """Points that are alike but for the time; `conditions` by the rule's name.

    A `mean_ns` is the time of one `operation`; `value` is the same in the workload's own `unit`, which
    may be a rate. Ratios are of times: above 1 is slower.
    """

    subject: Subject
    operation: str
    unit: str
    higher_is_better: bool
    conditions: dict[str, str]
    points: list[Point]
    levels: list[Level]
    changes: list[Change]


class LeftOut(Record, frozen=True):
    what: str
    why: str


class Document(Record, frozen=True):
    """A pool's whole history, as far as it was asked for."""

    version: Literal[1]
    pool: str
    series: list[Series]
    left_out: list[LeftOut]
    unreadable: list[str]
    remarks: list[str]
