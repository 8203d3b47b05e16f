# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Runs of unequal length are compared over the part of the sequence that all of them have.

A run that ended early, by its time budget or by --precision, measured more of the start: the cold
start of a cache, or the time before a burst credit was used up. What one side measured later is not
compared with what the other measured at the start.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.moving_blocks import did_same_work
from io_benchmark.analysis.model import Entry, Problem, Run, Severity, Subject
from io_benchmark.analysis.statements import count, statement
from io_benchmark.results import workloads


def compared_samples(
    subject: Subject,
    whole: tuple[SideData, SideData],
    candidate: Sequence[Run],
    baseline: Sequence[Run],
) -> tuple[SideData, SideData, list[Problem]]:
    """Return what is compared of the candidate's and the baseline's runs, and a problem if not all.

    `whole` are all samples. Retrieve i took the same file in each run. Windows of time hold different
    work, and are all used.
    """
    entries = [run.entry for run in (*candidate, *baseline)]
    lengths = {len(entry.total_ns) for entry in entries}
    shortest = min(lengths)
    if len(lengths) == 1 or not did_same_work([_cut(entry, shortest) for entry in entries]):
        return *whole, []
    ours, theirs = (
        SideData.of([run._replace(entry=_cut(run.entry, shortest)) for run in runs])
        for runs in (candidate, baseline)
    )
    sides = (baseline[0].worker.side, candidate[0].worker.side)
    message = statement(
        "{baseline} and {candidate} are compared over the first {length} {samples} of each run",
        baseline=sides[0],
        candidate=sides[1],
        length=count(shortest),
        samples=workloads.of(subject.workload).samples,
    )
    explanation = statement("The runs have different lengths. The figures are of whole runs.")
    problem = Problem("unequal-length", Severity.WARNING, subject, sides, message, explanation)
    return ours, theirs, [problem]


def _cut(entry: Entry, length: int) -> Entry:
    return replace(
        entry,
        start_ns=entry.start_ns[:length],
        total_ns=entry.total_ns[:length],
        operations=entry.operations[:length],
        size_bytes=entry.size_bytes[:length],
        lookup_ns=None if entry.lookup_ns is None else entry.lookup_ns[:length],
    )
