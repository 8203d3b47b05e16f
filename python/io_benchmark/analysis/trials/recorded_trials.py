# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The trials that workers recorded for one subject, and what their disks could write at most."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from io_benchmark.analysis.model import Subject, Worker
from io_benchmark.results.trials import Trials

# Smaller gaps are not tried.
LEAST_GAP_RATIO = 1.1
# Nearer than this, two ceilings do not make copies differ.
CEILINGS_DIFFER_RATIO = 1.2
# Nearer than this, a pace is the other side's ceiling.
SAME_PACE_RATIO = 1.1
_NS_PER_S = 1e9


def trials_of(worker: Worker, subject: Subject) -> Trials | None:
    """Return what a worker recorded beside its samples of the subject."""
    entries = (entry.retrieves for entry in worker.entries if entry.subject == subject)
    return next((entry.trials for entry in entries if entry is not None), None)


def ceiling_bytes_per_s(recorded: Iterable[Trials]) -> float | None:
    """Return the mean over runs of the rate at which the disks wrote a file; None: not measured."""
    rates = [
        sum(each.written_bytes for each in run.ceilings)
        / (sum(each.duration_ns for each in run.ceilings) / _NS_PER_S)
        for run in recorded
        if run.ceilings
    ]
    return fmean(rates) if rates else None


def paced_at(recorded: Sequence[Trials], bytes_per_s: float) -> list[Trials]:
    """Return the runs whose copies were held to about this rate."""
    return [
        run
        for run in recorded
        if run.pace_bytes_per_s is not None
        and 1 / SAME_PACE_RATIO <= run.pace_bytes_per_s / bytes_per_s <= SAME_PACE_RATIO
    ]
