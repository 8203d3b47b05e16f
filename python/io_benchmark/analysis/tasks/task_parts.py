# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The parts of two sides' time: pending, set-up, own work, tear-down."""

import math

from io_benchmark.analysis.tasks.task_model import TaskTimes
from io_benchmark.analysis.tasks.task_pair import Cells, TaskPair


def times_of(pair: TaskPair) -> dict[str, TaskTimes]:
    """Return both sides' mean times; a part only where all labels have it on both sides."""
    names = ("pending_s", "work_s", "set_up_s", "tear_down_s")
    sides = [
        {name: _part_by_label(cells, name) for name in names} for cells in (pair.theirs, pair.ours)
    ]
    around = [_around_by_label(cells) for cells in (pair.theirs, pair.ours)]
    times = {}
    for at, (side, cells) in enumerate(((pair.baseline, pair.theirs), (pair.candidate, pair.ours))):
        parts = {
            name: pair.weighted(sides[at][name])
            if all(of_side[name].keys() == pair.mix.keys() for of_side in sides)
            else None
            for name in names
        }
        is_skewed = bool(pair.baseline.skewed or pair.candidate.skewed)
        has_around = all(of_side.keys() == pair.mix.keys() for of_side in around)
        times[side.name] = TaskTimes(
            pair.mean_s(cells),
            parts["pending_s"],
            None if is_skewed else parts["set_up_s"],
            parts["work_s"],
            None if is_skewed else parts["tear_down_s"],
            pair.weighted(around[at]) if has_around else None,
        )
    return times


def _part_by_label(cells: Cells, name: str) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for (label, _), runs in sorted(cells.items()):
        known = [value for run in runs if (value := getattr(run, name)) is not None]
        values.setdefault(label, []).extend(known)
    return {label: math.fsum(each) / len(each) for label, each in values.items() if each}


def _around_by_label(cells: Cells) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for (label, _), runs in sorted(cells.items()):
        known = [run.task_s - run.work_s for run in runs if run.work_s is not None]
        values.setdefault(label, []).extend(known)
    return {label: math.fsum(each) / len(each) for label, each in values.items() if each}
