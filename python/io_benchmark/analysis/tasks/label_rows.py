# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Each label by itself: its ratio, and whether it differs from that of all labels."""

import math

from io_benchmark.analysis.inference import levels
from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.tasks.runs import means_by_label
from io_benchmark.analysis.tasks.task_model import LabelRow
from io_benchmark.analysis.tasks.task_pair import TaskPair, log_means

# That any label is said to differ where none does. Times are skewed, which makes it larger than that.
_CHANCE = 0.01
_FEWEST_WORKERS = 3


def label_rows(pair: TaskPair, worker_variation: float) -> tuple[LabelRow, ...]:
    """Compare each label by itself; it differs from all where even many tests leave no doubt."""
    logs = log_means(pair.theirs), log_means(pair.ours)
    means = means_by_label(pair.theirs), means_by_label(pair.ours)
    completed: dict[str, list[int]] = {label: [0, 0] for label in pair.found.shares}
    for at, cells in enumerate((pair.theirs, pair.ours)):
        for (label, _), runs in cells.items():
            completed[label][at] += len(runs)
    by_label: tuple[dict[str, list[float]], ...] = ({}, {})
    for side, of_side in zip(by_label, logs, strict=True):
        for (label, _), log in sorted(of_side.items()):
            side.setdefault(label, []).append(log)
    strict = 1 - _CHANCE / len(pair.found.shares)
    rows = []
    for label, share in pair.found.shares.items():
        theirs, ours = (SideData(tuple(side[label]), ()) for side in by_label)
        log_ratio = math.fsum(ours.log_means) / ours.count
        log_ratio -= math.fsum(theirs.log_means) / theirs.count
        interval, differs = None, False
        if min(ours.count, theirs.count) > 1:
            of_label = Estimate.of_sides(ours, theirs, worker_variation)
            interval = of_label.interval(levels.LEVEL)
            can_differ = (
                len(pair.found.shares) > 1 and min(ours.count, theirs.count) >= _FEWEST_WORKERS
            )
            differs = can_differ and of_label.interval(strict).excludes(pair.found.estimate.ratio)
        counts = (completed[label][0], completed[label][1])
        workers = (theirs.count, ours.count)
        both = (means[0][label], means[1][label])
        rows.append(
            LabelRow(label, share, counts, workers, both, math.exp(log_ratio), interval, differs)
        )
    return tuple(sorted(rows, key=lambda row: (-row.share, row.label)))
