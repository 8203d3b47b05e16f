# SPDX-License-Identifier: MPL-2.0
"""Runs of unequal length are compared over the part of the sequence that all of them have.

A run that ended early, by its time budget or by --precision, measured more of the start: the cold
start of a cache, or the time before a burst credit was used up. What one side measured later is not
compared with what the other measured at the start.
"""

import math
from collections.abc import Collection, Sequence
from statistics import fmean

from msgspec.structs import replace

from io_benchmark.analysis.inference.compared_means import did_same_work
from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.levels import DEFAULT_WORKER_VARIATION
from io_benchmark.analysis.inference.moving_blocks import FEWEST_RETRIEVES
from io_benchmark.analysis.model import Entry, Problem, Run, Severity, Subject
from io_benchmark.analysis.observed.machine_identity import by_side
from io_benchmark.analysis.statements import Quantity, Statement, Unit, count, statement
from io_benchmark.results import workloads

# Runs that are left out are named where they are slower by this, and by more than workers differ.
_SLOWER_RATIO, _CLEARLY = 1.1, 2.0


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


def slower_left_out(
    subject: Subject, runs: Sequence[Run], comparable: Sequence[Run]
) -> list[Problem]:
    """Return a problem for each side whose runs are left out because they ended early, and were slower.

    A task that is killed because it is slow takes no part in its pool's mean, which then is too fast.
    """
    kept = {id(run.entry) for run in comparable}
    problems = []
    for side, of_side in by_side(runs).items():
        left_out = [each.entry for each in of_side if id(each.entry) not in kept]
        ended_early = [each for each in left_out if len(each.total_ns) >= FEWEST_RETRIEVES]
        rest = [each.entry for each in of_side if id(each.entry) in kept]
        entries = (*ended_early, *rest)
        if not ended_early or not rest or any(each.retrieves is None for each in entries):
            continue
        length = min(len(each.total_ns) for each in entries)
        slower, faster = (_log_mean(each, length) for each in (ended_early, rest))
        variation = DEFAULT_WORKER_VARIATION * math.sqrt(1 / len(ended_early) + 1 / len(rest))
        if slower - faster <= max(math.log(_SLOWER_RATIO), _CLEARLY * variation):
            continue
        message = statement(
            "{side}: {left_out} that ended early took {ratio} as long as the {rest} compared ones, over "
            "the same first {length} retrieves. The side is slower than its figures",
            side=side,
            left_out=_runs(len(ended_early)),
            ratio=Quantity(math.exp(slower - faster), Unit.RATIO),
            rest=count(len(rest)),
            length=count(length),
        )
        problems.append(Problem("survivors", Severity.WARNING, subject, (side,), message))
    return problems


def _runs(number: int) -> Statement:
    return statement("{runs} run" + ("" if number == 1 else "s"), runs=count(number))


def _log_mean(entries: Collection[Entry], length: int) -> float:
    return fmean(math.log(_cut(each, length).mean_ns) for each in entries)


def _cut(entry: Entry, length: int) -> Entry:
    return replace(
        entry,
        start_ns=entry.start_ns[:length],
        total_ns=entry.total_ns[:length],
        operations=entry.operations[:length],
        size_bytes=entry.size_bytes[:length],
        lookup_ns=None if entry.lookup_ns is None else entry.lookup_ns[:length],
    )
