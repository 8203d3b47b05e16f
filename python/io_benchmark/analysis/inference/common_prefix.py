# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Runs of unequal length are compared over the part of the sequence that all of them have.

A run that ended early, by its time budget or by --precision, measured more of the start: the cold
start of a cache, or the time before a burst credit was used up. What one side measured later is not
compared with what the other measured at the start.
"""

from collections.abc import Sequence
from dataclasses import replace

from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.moving_blocks import did_same_work
from io_benchmark.analysis.model import Entry, Problem, Run, Severity, Subject
from io_benchmark.analysis.statements import count, statement
from io_benchmark.results import workloads


def common_length(candidate: Sequence[Run], baseline: Sequence[Run]) -> int | None:
    """Return how many samples all runs have; None where all samples are compared.

    Retrieve i took the same file in each run. Windows of time hold different work, and are all used.
    """
    entries = [run.entry for run in (*candidate, *baseline)]
    lengths = {len(entry.total_ns) for entry in entries}
    if len(lengths) == 1:
        return None
    shortest = min(lengths)
    return shortest if did_same_work([_cut(entry, shortest) for entry in entries]) else None


def first_samples(runs: Sequence[Run], length: int) -> SideData:
    """Return a side's workers with this many samples of each run."""
    return SideData.of([run._replace(entry=_cut(run.entry, length)) for run in runs])


def unequal_length(subject: Subject, sides: tuple[str, str], length: int | None) -> list[Problem]:
    """Return a problem where only a part of the samples is compared."""
    if length is None:
        return []
    message = statement(
        "{baseline} and {candidate}: runs have different lengths and are compared over their first "
        "{length} {samples}; the figures are of all",
        baseline=sides[0],
        candidate=sides[1],
        length=count(length),
        samples=workloads.of(subject.workload).samples,
    )
    return [Problem("unequal-length", Severity.WARNING, subject, sides, message)]


def _cut(entry: Entry, length: int) -> Entry:
    return replace(
        entry,
        start_ns=entry.start_ns[:length],
        total_ns=entry.total_ns[:length],
        operations=entry.operations[:length],
        size_bytes=entry.size_bytes[:length],
        lookup_ns=None if entry.lookup_ns is None else entry.lookup_ns[:length],
    )
