# SPDX-License-Identifier: MPL-2.0
"""What each machine's blocks of time differ by, freed of what its tasks were and when they ran.

The logarithm of a run's time is the sum of what its label takes, what the label takes longer in
this block of time, what its machine takes longer, and noise. All are estimated together, so that a
machine that got heavier tasks is not slower, nor one that ran more tasks after they became slower.
The noise of each label is its own. A run counts less the farther it is off (Huber 1981, Robust
Statistics, chapter 7).

What a label takes longer in a block is shrunk by how much its blocks vary, as far as they vary by
more than noise. So a label that never changes costs no information. What is known of a machine in
a block is the weight of its runs there, less what the same runs say about the label.
"""

import math
from typing import NamedTuple, Self

import numpy as np

from io_benchmark.analysis.tasks.machines.machine_runs import Codes, Numbers, PoolRuns, sums_of

_ROUNDS = 4  # until neither the noise of labels nor the outliers change much
_OUTLIER = 2.0  # standard deviations from which on a run counts less
_NORMAL_MEDIAN = 0.6745
_PERIOD_RUNS = 6  # of a label, on average
_LEAST_NOISE = 0.01  # of a label; times are rounded, and equal times would count without bound
# Machines are assumed to differ by less than about this factor: it decides only where no run does.
_MOST_DIFFERENT = 0.2
_NO_VARIATION = 1e9  # the precision of a label's blocks that do not vary
_MOST_EXPLAINED = 0.9
_LEAST_WEIGHT = 1.0  # of a block: that of a run whose noise is a factor of e
_SMALLEST = 1e-300
_LAST_RESIDUAL, _MOST_STEPS = 1e-6, 200


class MachineBlocks(NamedTuple):
    """What machines differ by in each block of time, by machine and block."""

    logs: Numbers  # 0 is the average machine
    weights: Numbers  # 1 / the variance that noise of runs alone gives each; 0: nothing is known


class _Cells(NamedTuple):
    """Labels in periods: which one each run has, and which label that is."""

    run_cells: Codes
    label: Codes

    @classmethod
    def of(cls, label: Codes, block: Codes, blocks: int) -> Self:
        """Divide the time of each label, so that a period has enough runs on average."""
        runs = np.bincount(label)
        length = np.maximum(1, np.ceil(_PERIOD_RUNS * blocks / np.maximum(runs, 1)))
        codes, run_cells = np.unique(label * blocks + block // length[label], return_inverse=True)
        return cls(run_cells, (codes // blocks).astype(np.int64))


class _Entries(NamedTuple):
    """The runs that a machine has in a cell, together."""

    machine: Codes
    cell: Codes
    weight: Numbers
    weighted_logs: Numbers


class _Effects(NamedTuple):
    machine: Numbers
    label: Numbers
    cell: Numbers


def machine_blocks(runs: PoolRuns, block: Codes, blocks: int) -> MachineBlocks:
    """Estimate all effects of a pool's completed runs; `block` is each run's number of a block."""
    logs = np.log(runs.time_ms)
    # What a table rounds to, all times are multiples of; the deviation of rounding is its 1/√12.
    rounding = np.gcd.reduce(runs.time_ms) / math.sqrt(12) / runs.time_ms
    machines, labels = len(runs.machines), len(runs.labels)
    cells = _Cells.of(runs.label, block, blocks)
    count = len(cells.label)
    by_entry, entry = np.unique(runs.machine * count + cells.run_cells, return_inverse=True)
    effects = _Effects(np.zeros(machines), _medians(logs, runs.label, labels), np.zeros(count))
    precision = np.full(count, _NO_VARIATION)
    residuals = logs - effects.label[runs.label]
    least_noise = np.maximum(_medians(rounding, runs.label, labels), _LEAST_NOISE)
    explained = np.zeros(count)  # the share of the noise of a run that the effect of its cell is
    for _ in range(_ROUNDS):
        free = residuals / np.sqrt(1 - explained[cells.run_cells])
        noise = np.maximum(
            _medians(np.abs(free), runs.label, labels) / _NORMAL_MEDIAN, least_noise
        )[runs.label]
        far = np.maximum(np.abs(free) / noise, _OUTLIER)
        weight = _OUTLIER / far / noise**2
        entries = _Entries(
            machine=by_entry // count,
            cell=by_entry % count,
            weight=sums_of(entry, weight, len(by_entry)),
            weighted_logs=sums_of(entry, weight * logs, len(by_entry)),
        )
        effects = _solve(entries, cells.label, precision, effects)
        residuals = logs - effects.machine[runs.machine] - effects.label[runs.label]
        precision = _precision(residuals, weight, cells, labels)
        residuals -= effects.cell[cells.run_cells]
        usual_weight = 1 / sums_of(cells.run_cells, noise**2, count) * np.bincount(cells.run_cells)
        cell_weight = sums_of(cells.run_cells, weight, count)
        explained = np.minimum(usual_weight / (cell_weight + precision), _MOST_EXPLAINED)
    cell_weight = cell_weight + precision
    informed = weight * (1 - (entries.weight / cell_weight[entries.cell])[entry])
    pair = runs.machine * labels + runs.label
    pair_weight = sums_of(pair, weight, machines * labels)
    informed *= 1 - pair_weight[pair] / sums_of(runs.label, weight, labels)[runs.label]
    place = runs.machine * blocks + block
    weights = sums_of(place, informed, machines * blocks).reshape(machines, blocks)
    scores = sums_of(place, weight * residuals, machines * blocks).reshape(weights.shape)
    has_runs = weights > _LEAST_WEIGHT
    means = np.divide(scores, weights, where=has_runs, out=np.zeros_like(weights))
    logs_of_blocks = np.where(has_runs, effects.machine[:, None] + means, 0.0)
    return MachineBlocks(logs_of_blocks, np.where(has_runs, weights, 0.0))


def _medians(values: Numbers, group: Codes, groups: int) -> Numbers:
    """Return the median of each group; 0 of an empty one."""
    order = np.argsort(group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(1, groups))
    parts = np.split(values[order], ends)
    return np.array([np.median(part) if len(part) else 0.0 for part in parts])


def _precision(residuals: Numbers, weight: Numbers, cells: _Cells, labels: int) -> Numbers:
    """Return for each cell 1 / the variance between periods of its label, beyond that of noise.

    DerSimonian and Laird 1986, Controlled Clinical Trials 7:177; the noise is that within periods.
    """
    count = len(cells.label)
    runs = np.bincount(cells.run_cells, minlength=count)
    cell_weight = sums_of(cells.run_cells, weight, count)
    sums = sums_of(cells.run_cells, weight * residuals, count)
    squares = sums_of(cells.run_cells, weight * residuals**2, count) - sums**2 / cell_weight

    def total(values: Numbers) -> Numbers:
        return sums_of(cells.label, values, labels)

    within = total(squares) / np.maximum(total(runs.astype(np.float64) - 1), 1)
    whole = total(cell_weight)
    mean = (total(sums) / np.maximum(whole, _SMALLEST))[cells.label]
    between = total((sums - cell_weight * mean) ** 2 / cell_weight)
    excess = between - within * (np.bincount(cells.label, minlength=labels) - 1)
    divisor = whole - total(cell_weight**2) / np.maximum(whole, _SMALLEST)
    variance = np.maximum(excess, 0) / np.maximum(divisor, _SMALLEST)
    return 1 / np.maximum(variance, 1 / _NO_VARIATION)[cells.label]


def _solve(entries: _Entries, label: Codes, precision: Numbers, start: _Effects) -> _Effects:
    """Return the effects with the least weighted squares, by conjugate gradients."""
    machines, labels, cells = (len(part) for part in start)
    ends = (machines, machines + labels)
    machine_precision = 1 / _MOST_DIFFERENT**2

    def gathered(entry_values: Numbers) -> Numbers:
        cell_part = sums_of(entries.cell, entry_values, cells)
        machine_part = sums_of(entries.machine, entry_values, machines)
        return np.concatenate((machine_part, sums_of(label, cell_part, labels), cell_part))

    def applied(values: Numbers) -> Numbers:
        machine_part, label_part, cell_part = np.split(values, ends)
        cell_values = label_part[label] + cell_part
        sums = machine_part[entries.machine] + cell_values[entries.cell]
        made = gathered(entries.weight * sums)
        made[: ends[0]] += machine_precision * machine_part
        made[ends[1] :] += precision * cell_part
        return made

    diagonal = gathered(entries.weight)
    diagonal[: ends[0]] += machine_precision
    diagonal[ends[1] :] += precision
    diagonal = np.maximum(diagonal, _SMALLEST)
    values = np.concatenate(start)
    target = gathered(entries.weighted_logs)
    rest = target - applied(values)
    scaled = rest / diagonal
    direction = scaled
    size = float(rest @ scaled)
    least = _LAST_RESIDUAL**2 * float(target @ (target / diagonal))
    for _ in range(_MOST_STEPS):
        if size <= least:
            break
        moved = applied(direction)
        step = size / float(direction @ moved)
        values = values + step * direction
        rest = rest - step * moved
        scaled = rest / diagonal
        new_size = float(rest @ scaled)
        direction = scaled + new_size / size * direction
        size = new_size
    return _Effects(*np.split(values, ends))
