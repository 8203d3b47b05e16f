# SPDX-License-Identifier: MPL-2.0
"""Two measurements of the same workers, such as two places: each machine is compared with itself.

Differences between machines cancel and need no assumption. Several machines show how far their ratios
differ. A single one shows only its own noise, and the interval does not apply to other machines.

Measurements that took turns are compared turn by turn: a drift of the machine is in both. Others came one after
the other, and whatever changed meanwhile is in their ratio.
"""

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import sub
from statistics import fmean

from io_benchmark.analysis.inference.estimates import (
    RUNS,
    Estimate,
    MachineRatio,
    compare_means,
    shares_of_average,
)
from io_benchmark.analysis.model import Entry
from io_benchmark.analysis.run_noise import usual_times_ns
from io_benchmark.analysis.variances import MeanVariance

IN_TURNS = "turns"
_FEWEST_TURNS = 5


def took_turns(entry: Entry, base: Entry) -> bool:
    return min(len(entry.turn_ends), len(base.turn_ends)) >= _FEWEST_TURNS


def within_workers(machines: Sequence[Sequence[tuple[Entry, Entry]]]) -> Estimate:
    """Compare pairs of measurements that the same tasks made, by machine."""
    by_task = [[_compare(entry, base) for entry, base in pairs] for pairs in machines]
    logs = [fmean([task.log_ratio for task in tasks]) for tasks in by_task]
    if len(logs) > 1:
        error = MeanVariance.of_mean(logs)
        return Estimate(fmean(logs), error.variance, error.degrees)
    (tasks,) = by_task
    blocks = shares_of_average([block for task in tasks for block in task.blocks], len(tasks))
    error, method = MeanVariance.of_sum(blocks), tasks[0].method
    if len(tasks) > 1:
        between_runs = MeanVariance.of_mean([task.log_ratio for task in tasks])
        if MeanVariance.wider(blocks, [between_runs]) == [between_runs]:
            error, method = between_runs, RUNS
    return Estimate(logs[0], error.variance, error.degrees, method, None, error.variance)


def _compare(entry: Entry, base: Entry) -> MachineRatio:
    if not took_turns(entry, base):
        return compare_means([entry], [base])
    count = min(len(entry.turn_ends), len(base.turn_ends))
    sides = [side.first(side.turn_ends[count - 1]) for side in (entry, base)]
    differences = list(map(sub, *(_errors_of_turns(side, count) for side in sides)))
    # What is estimated of the turns: the average of first reads, and that of the rest.
    degrees = count - (2 if entry.first_reads else 1)
    variance = math.fsum(each * each for each in differences) * count / degrees
    candidate, baseline = ([math.log(side.mean_ns)] for side in sides)
    return MachineRatio(candidate, baseline, [MeanVariance(variance, degrees)], IN_TURNS)


def _errors_of_turns(entry: Entry, count: int) -> list[float]:
    """Return what each turn adds to the relative error of the mean: its time less that usual for its work.

    First reads take longer and become fewer, so that they have an average of their own.
    """
    is_first = [number in entry.first_reads for number in range(len(entry.total_ns))]
    usual_ns = usual_times_ns(is_first, entry.total_ns, entry.operations)
    samples = zip(is_first, entry.total_ns, entry.operations, strict=True)
    longer_ns = (time_ns - usual_ns[kind] * operations for kind, time_ns, operations in samples)
    sums_ns, whole_ns = [0.0, *accumulate(longer_ns)], sum(entry.total_ns)
    bounds = pairwise((0, *entry.turn_ends[:count]))
    return [(sums_ns[end] - sums_ns[start]) / whole_ns for start, end in bounds]
