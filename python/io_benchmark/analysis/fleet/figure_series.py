# SPDX-License-Identifier: MPL-2.0
"""Whether a pool's newest pushes differ from its own past, for one figure.

Every reading is compared with what is expected of its machine: the level of machines of its kind in
the pushes before, and what this machine differed by. Two questions are asked at each push:

- Did the pool change? The newest two and three pushes are tested. A single push is never
  enough, because a busy week moves all workers.
- Is there a new kind of machine, with other disks for example, that differs? One reading can be
  enough, because new kinds are rare.

The evidence is the logarithm of how much more probable the readings are after a change than without
one, for values with heavy tails (Student's t with 5 degrees): an outlier counts little however far
off it is, and two that agree count twice. How far pushes vary is what was seen so far of the pool.
"""

import math
from collections.abc import Sequence
from operator import mul
from statistics import fmean
from typing import NamedTuple

from io_benchmark.analysis.fleet.machine_levels import (
    WEEK_VARIANCE,
    WORKER_VARIANCE,
    Expected,
    PushValues,
    expected_of,
)
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.analysis.statistics.variances import reach

# As many pushes count as much as what is assumed of how far a pool varies.
_ASSUMED_PUSHES = 4.0
_DEGREES = 5.0  # of Student's t
# A push that is farther off counts as this many standard errors for how far pushes vary.
_FARTHEST = 3.0
_ROUNDS = 4  # until the mean without outliers stays
REMEMBERED = 25  # pushes, of a rare kind of machine
FEWEST_PUSHES = 6  # before the first test
_FEWEST_AFTER_CHANGE = 2
_FEWEST_FOR_KINDS = 12  # readings, before a kind of machine is new
_NEWEST = 3  # pushes that are tested together, at most
# Two pushes that differ by less in sum are not tested.
_UNTESTED = 0.06
# A step is not one where the pushes just before it had gone this part of the way already.
_JUST_BEFORE, _DRIFTED = 4, 0.35
# The evidence that is needed. Chosen by tests/simulation/test_fleets.py, which has the rates.
_ENOUGH = 8.0
_ENOUGH_WITH_FACT = 5.0  # where a fact changed there
_ENOUGH_OF_MEAN_WITH_FACT = 4.0  # the same, of several figures' mean, of which there is one
_ENOUGH_OF_KIND = 5.0


class Shift(NamedTuple):
    """A difference that is certain."""

    start: int  # the number of the first push after it, among the pool's
    log_ratio: float  # of times after and before
    evidence: float  # how much more probable it makes the readings: a logarithm
    error: float  # its standard error
    degrees: float
    kind: int | None  # the kind of machine that it is true of; None: of the pool

    @property
    def half_width(self) -> float:
        return reach(LEVEL, self.degrees) * self.error


class _Push(NamedTuple):
    """How far a push is from what was expected, and the variance of that."""

    difference: float
    variance: float  # of the push's own mean, as a multiple of the scale
    level_variance: float


class FigureSeries:
    """The pushes of one figure, to which one is added after the other."""

    def __init__(self, *, is_mean_of_figures: bool = False) -> None:
        self._is_mean_of_figures = is_mean_of_figures
        self._pushes: list[PushValues] = []
        self._expected: dict[int, Expected | None] = {}  # by how many pushes are before it
        self._squares, self._degrees = _ASSUMED_PUSHES, _ASSUMED_PUSHES
        self._fewest = FEWEST_PUSHES
        self.start = -1  # the number of the first push of the level

    def add(self, push: PushValues, changed_facts: Sequence[bool]) -> Shift | None:
        """Add a push, and return the change that is certain with it.

        `changed_facts` says for each of the pool's pushes whether a fact changed there.
        """
        if self.start < 0:
            self.start = push.number
        self._pushes.append(push)
        shift = None
        latest = self._before(1)
        if latest is not None:
            newest = self._differences(1, latest, None)
            if newest:
                shift = self._pool_shift(changed_facts)
            shift = shift or self._kind_shift()
            for each in newest:
                self._learn(each)
        return shift

    def estimate(self, start: int, kind: int | None) -> Shift | None:
        """Return the difference since a push, however uncertain; None where it is not known."""
        newest = sum(push.number >= start for push in self._pushes)
        expected = self._before(newest)
        pushes = self._differences(newest, expected, kind) if expected and newest else []
        return self._test(pushes, start, kind) if pushes else None

    @property
    def _scale(self) -> float:
        return self._squares / self._degrees

    def _learn(self, push: _Push) -> None:
        square = push.difference**2 / (push.variance + push.level_variance)
        self._squares += min(square, _FARTHEST**2 * self._scale)
        self._degrees += 1

    def _before(self, newest: int) -> Expected | None:
        """Return what was expected before the newest pushes; None before the first test."""
        end = len(self._pushes) - newest
        if end < self._fewest:
            return None
        if end not in self._expected:
            self._expected[end] = expected_of(self._pushes[max(0, end - REMEMBERED) : end])
        return self._expected[end]

    def _differences(self, newest: int, expected: Expected, kind: int | None) -> list[_Push]:
        """Return the newest pushes, of a new kind of machine or of all kinds known before."""
        pushes = []
        for push in self._pushes[-newest:]:
            kinds = expected.levels if kind is None else (kind,)
            differences, level_variance = [], 0.0
            for each, of_kind in push.by_kind.items():
                if each in kinds:
                    level = expected.level_of(each)
                    level_variance += level.variance * len(of_kind.logs)
                    differences += [
                        log - level.log - expected.of_machine(machine)
                        for log, machine in zip(of_kind.logs, of_kind.machines, strict=True)
                    ]
            if differences:
                pushes.append(
                    _Push(
                        _without_outliers(differences, self._scale),
                        WEEK_VARIANCE + WORKER_VARIANCE / len(differences),
                        level_variance / len(differences),
                    )
                )
        return pushes

    def _pool_shift(self, changed_facts: Sequence[bool]) -> Shift | None:
        """Return the most probable change of the newest pushes, if one is certain."""
        shifts: list[Shift] = []
        is_certain = False
        for newest in (2, 1, *range(3, _NEWEST + 1)):
            expected = self._before(newest)
            pushes = self._differences(newest, expected, None) if expected else []
            if expected is None or len(pushes) < newest:
                break
            if newest == 2 and abs(sum(push.difference for push in pushes)) < _UNTESTED:
                break
            shift = self._test(pushes, self._pushes[-newest].number, None)
            enough = _ENOUGH
            if changed_facts[shift.start]:
                is_mean = self._is_mean_of_figures
                enough = _ENOUGH_OF_MEAN_WITH_FACT if is_mean else _ENOUGH_WITH_FACT
            if newest > 1 and shift.evidence >= enough and self._is_step(newest, expected, shift):
                is_certain = True
            shifts.append(shift)
        return max(shifts, key=lambda each: each.evidence) if is_certain else None

    def _is_step(self, newest: int, expected: Expected, shift: Shift) -> bool:
        """Return whether the pushes just before were not on their way there already."""
        before = self._differences(newest + _JUST_BEFORE, expected, None)[:-newest]
        earlier = fmean(push.difference for push in before)
        return earlier / shift.log_ratio < _DRIFTED

    def _kind_shift(self) -> Shift | None:
        for newest in range(1, _NEWEST + 1):
            expected = self._before(newest)
            if expected is None or expected.readings < _FEWEST_FOR_KINDS:
                break
            kinds = {
                value.kind: None
                for value in self._pushes[-newest].values
                if value.kind not in expected.levels
            }
            for kind in kinds:
                pushes = self._differences(newest, expected, kind)
                shift = self._test(pushes, self._pushes[-newest].number, kind)
                if shift.evidence >= _ENOUGH_OF_KIND:
                    return shift
        return None

    def _test(self, pushes: Sequence[_Push], start: int, kind: int | None) -> Shift:
        """Return the most probable change, and the evidence for it."""
        count, scale = len(pushes), self._scale
        # All pushes are compared with the same level, so that its error does not average out.
        variances = [scale * (push.variance + count * push.level_variance) for push in pushes]
        weights = [1 / variance for variance in variances]
        differences = [push.difference for push in pushes]
        mean = sum(map(mul, weights, differences)) / sum(weights)

        def remaining(log_ratio: float) -> float:
            """Return minus the logarithm of how probable the pushes are after this change."""
            surprise = 0.0
            for difference, weight in zip(differences, weights, strict=True):
                surprise += _surprise((difference - log_ratio) ** 2 * weight)
            return surprise

        candidates = [mean, *differences] if count > 2 else [mean]
        log_ratio = min(candidates, key=lambda each: (remaining(each), each))
        error = 1 / math.sqrt(sum(weights))
        evidence = remaining(0.0) - remaining(log_ratio)
        return Shift(start, log_ratio, evidence, error, self._degrees, kind)

    def restart(self, shift: Shift) -> None:
        """Begin a new level; kinds of machines that were not seen since moved as the others did."""
        self.start = shift.start
        self._expected.clear()
        if shift.kind is not None:
            return
        self._fewest = _FEWEST_AFTER_CHANGE
        since = [push for push in self._pushes if push.number >= shift.start]
        seen = {value.kind for push in since for value in push.values}
        before = []
        for push in self._pushes:
            moved = [
                value._replace(log=value.log + shift.log_ratio)
                for value in push.values
                if value.kind not in seen
            ]
            if push.number < shift.start and moved:
                before.append(PushValues.of(push.number, moved))
        self._pushes = before + since


def _surprise(square: float) -> float:
    """Return minus the logarithm of the density, less its value at 0."""
    return (_DEGREES + 1) / 2 * math.log1p(square / _DEGREES)


def _without_outliers(differences: Sequence[float], scale: float) -> float:
    """Return a mean in which those count little that are far off, at first from no difference."""
    if len(differences) == 1:
        return differences[0]
    mean = 0.0
    variance = scale * (WEEK_VARIANCE + WORKER_VARIANCE) * _DEGREES
    for _ in range(_ROUNDS):
        weights, weighted = 0.0, 0.0
        for difference in differences:
            weight = 1 / (1 + (difference - mean) ** 2 / variance)
            weights += weight
            weighted += weight * difference
        mean = weighted / weights
    return mean
