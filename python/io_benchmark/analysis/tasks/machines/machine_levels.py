# SPDX-License-Identifier: MPL-2.0
"""The level of each machine, how well that is known, and when it changed last.

The runs of one machine on one day are not independent: the machine has good and bad days. So the
unit is a block of time, such as a day. Its variance is that of noise, which its runs show, and that
between the blocks of a machine, which all machines show together. A machine whose blocks vary more
than the others' is known less well; its own blocks count by their degrees of freedom (Smyth 2004,
Statistical Applications in Genetics and Molecular Biology 3:3). Where a block is like the one
before, there are fewer independent ones.

A machine changed where the means before and after differ by more than blocks do. The penalty of a
change is that of a step in a history (`series_fit`).
"""

import math
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np

from io_benchmark.analysis.tasks.machines.machine_effects import MachineBlocks
from io_benchmark.analysis.tasks.machines.machine_runs import Codes, Numbers

# Machines count together as much as this for the variance of one machine's blocks. Chosen.
_COMMON_DEGREES = 6.0
# The machines whose blocks vary most do not show how far those of usual ones do.
_LEFT_OUT = 0.1
# Of a change, in squared standard errors: 9 + 2 ln n, as `series_fit` has it.
_PENALTY = 9.0
_SHORTEST = 3  # blocks of a level
_FEWEST_ALIKE = 10  # blocks that show whether they are like those before
_MOST_ALIKE = 0.8  # the autocorrelation of blocks
_ROUNDS = 5  # until it hardly changes


class MachineLevel(NamedTuple):
    """What a machine differs by: a logarithm, which is not shrunk."""

    log: float
    variance: float
    degrees: float
    blocks: int  # that this is known from


class _Series(NamedTuple):
    """The blocks of a machine that have any runs."""

    block: Codes
    logs: Numbers
    weights: Numbers

    def part(self, first: int) -> "_Series":
        return _Series(self.block[first:], self.logs[first:], self.weights[first:])


class _Usual(NamedTuple):
    """How the blocks of usual machines vary."""

    between: float  # the variance beyond that of noise
    repetition: float  # by how much fewer the independent blocks are

    def weights(self, machine: _Series) -> Numbers:
        return 1 / (self.between + 1 / machine.weights)


def machine_levels(blocks: MachineBlocks) -> list[MachineLevel | None]:
    """Return the level of each machine; None of one that shares nothing with others."""
    series = _series(blocks)
    usual = _usual(series)
    return [_level(machine, usual) if len(machine.block) else None for machine in series]


def last_changes(blocks: MachineBlocks) -> list[int | None]:
    """Return for each machine the block from which on it has its newest level; None: always."""
    series = _series(blocks)
    usual = _usual(series)
    return [_last_change(machine, usual) for machine in series]


def _series(blocks: MachineBlocks) -> list[_Series]:
    series = []
    for logs, weights in zip(blocks.logs, blocks.weights, strict=True):
        (numbers,) = np.nonzero(weights)
        series.append(_Series(numbers, logs[numbers], weights[numbers]))
    return series


def _usual(series: Sequence[_Series]) -> _Usual:
    """Return how blocks vary, by the machines whose blocks do not vary most."""
    parts = []
    for machine in series:
        count, weight = len(machine.block), machine.weights
        if count > 1:
            mean = np.average(machine.logs, weights=weight)
            excess = float(weight @ (machine.logs - mean) ** 2) - (count - 1)
            divisor = float(weight.sum() - weight @ weight / weight.sum())
            parts.append((excess / divisor, divisor, machine))
    parts.sort(key=lambda part: part[0])
    usual = parts[: len(parts) - int(_LEFT_OUT * len(parts))]
    whole = math.fsum(divisor for _, divisor, _ in usual)
    between = math.fsum(variance * divisor for variance, divisor, _ in usual)
    between = max(0.0, between / whole) if whole else 0.0
    return _Usual(between, _repetition([machine for _, _, machine in usual], between))


def _repetition(series: Sequence[_Series], between: float) -> float:
    """Return by how much fewer the independent blocks are: those next to each other are alike.

    Good and bad days decay as they go on, and noise is between them: so the blocks two apart show
    how slowly they decay.
    """
    products, pairs, lengths = np.zeros(3), np.zeros(3), []
    for machine in series:
        if len(machine.block) >= _FEWEST_ALIKE:
            weights = _Usual(between, 1.0).weights(machine)
            logs = machine.logs - np.average(machine.logs, weights=weights)
            scaled = np.zeros(machine.block[-1] + 1)
            scaled[machine.block] = logs * np.sqrt(weights)
            lengths.append(len(machine.block))
            for distance in range(3):
                both = scaled[distance:] * scaled[: len(scaled) - distance]
                products[distance] += both.sum()
                pairs[distance] += np.count_nonzero(both)
    if not lengths or not pairs.all():
        return 1.0
    seen, repetition = products / pairs, 1.0
    for _ in range(_ROUNDS):
        # Deviations from their own mean are less alike than those from the true one.
        _, next_alike, second_alike = seen + seen[0] * repetition / fmean(lengths)
        whole = seen[0] * (1 + repetition / fmean(lengths))
        alike = max(0.0, next_alike / whole)
        kept = min(max(second_alike / next_alike, 0.0), _MOST_ALIKE) if next_alike > 0 else 0.0
        repetition = 1 + 2 * alike / (1 - kept)
    return float(repetition)


def _level(machine: _Series, usual: _Usual) -> MachineLevel:
    weights, repetition = usual.weights(machine), usual.repetition
    mean = float(np.average(machine.logs, weights=weights))
    degrees = (len(machine.block) - 1) / repetition
    square = float(weights @ (machine.logs - mean) ** 2) / repetition
    scale = (_COMMON_DEGREES + square) / (_COMMON_DEGREES + degrees)
    variance = repetition * scale / float(weights.sum())
    return MachineLevel(mean, variance, _COMMON_DEGREES + degrees, len(machine.block))


def _last_change(machine: _Series, usual: _Usual) -> int | None:
    """Return the first block of the newest level: after each change the rest is looked at."""
    change = None
    split = _clearest_split(machine, usual)
    while split:
        machine = machine.part(split)
        change = int(machine.block[0])
        split = _clearest_split(machine, usual)
    return change


def _clearest_split(machine: _Series, usual: _Usual) -> int:
    """Return where the means before and after differ most; 0 where they do not differ enough."""
    count = len(machine.block)
    if count < 2 * _SHORTEST:
        return 0
    weights = usual.weights(machine)
    ends = slice(_SHORTEST - 1, -_SHORTEST)
    sums, squares = np.cumsum(weights * machine.logs), weights @ machine.logs**2
    before, whole = np.cumsum(weights)[ends], float(weights.sum())
    means_before = sums[ends] / before
    means_after = (sums[-1] - sums[ends]) / (whole - before)
    gains = (means_after - means_before) ** 2 * before * (whole - before) / whole
    best = int(np.argmax(gains))
    left = squares - sums[-1] ** 2 / whole - gains[best]
    repetition = usual.repetition
    degrees = (count - 2) / repetition
    scale = (_COMMON_DEGREES + left / repetition) / (_COMMON_DEGREES + degrees)
    penalty = _PENALTY + 2 * math.log(count)
    return best + _SHORTEST if gains[best] > penalty * scale * repetition else 0
