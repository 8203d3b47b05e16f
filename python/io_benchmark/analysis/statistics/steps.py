# SPDX-License-Identifier: MPL-2.0
"""Whether a run became slower or faster at some point, by the logarithms of its blocks' means.

The split with the largest difference of means is compared with the long-run variance around both
means, by batches of several lengths (CUSUM: Csörgő and Horváth 1997). So waves and stalls that come
again are no step. Autocorrelation of 0.8 between retrieves finds one in fewer than one of 100 runs
of 400 retrieves or more (tests/analysis/statistics/test_noise.py). A burst that comes by chance and
lasts for a tenth of the run looks like a step; so several runs must agree on it.
"""

import math
from collections.abc import Sequence
from itertools import accumulate
from statistics import linear_regression
from typing import NamedTuple

from msgspec import Struct

# A step that has less of the run on one side is not judged: it may be a burst. Chosen.
_SMALLEST_SIDE = 0.1
# Lengths of the batches, as parts of the run: from a hundredth, for independent noise, to a fifth,
# for long waves. Chosen.
_BATCH_LENGTHS = (0.01, 0.05, 0.1, 0.2)
# The halves of each side differ by less than this part of the step's height; a wave's do not.
# Chosen.
_LEVEL_SHARE = 0.3


class Step(Struct, frozen=True):
    """A point of a run from which on operations take another time."""

    index: int  # of the first sample after it
    before: float  # the time of an operation, relative to the run's average
    after: float

    @property
    def ratio(self) -> float:
        """Return how much longer an operation took after it than before it."""
        return self.after / self.before


class Split(NamedTuple):
    """A series in two parts, and how clearly their means differ."""

    at: int  # the first value of the second part
    standard_errors: float  # 0: it is no step


def clearest_split(values: Sequence[float]) -> Split:
    """Return where the means of both sides differ most, and by how many standard errors."""
    count = len(values)
    sums = [0.0, *accumulate(values)]

    def mean(start: int, end: int) -> float:
        return (sums[end] - sums[start]) / (end - start)

    def contrast(split: int) -> float:
        """Return the difference of the means, times the square root of what the parts weigh."""
        weight = split * (count - split) / count
        return (mean(split, count) - mean(0, split)) * math.sqrt(weight)

    margin = math.ceil(_SMALLEST_SIDE * count)
    split = max(range(margin, count - margin + 1), key=lambda place: abs(contrast(place)))
    mean_before = mean(0, split)
    mean_after = mean(split, count)
    height = mean_after - mean_before

    # The halves of both sides: the step must be between all of the one and all of the other.
    sign = math.copysign(1, height)
    middle_before = split // 2
    middle_after = (split + count) // 2
    highest_before = max(sign * mean(0, middle_before), sign * mean(middle_before, split))
    lowest_after = min(sign * mean(split, middle_after), sign * mean(middle_after, count))

    around_levels = [value - mean_before for value in values[:split]]
    around_levels += [value - mean_after for value in values[split:]]
    # A run that slows down steadily varies around a line, and not around two levels.
    slope, start = linear_regression(range(count), values)
    around_line = [value - start - slope * at for at, value in enumerate(values)]
    variance = min(_long_run_variance(around_levels), _long_run_variance(around_line))
    error = math.sqrt(variance)
    if not error or lowest_after - highest_before < _LEVEL_SHARE * abs(height):
        return Split(split, 0.0)
    return Split(split, abs(contrast(split)) / error)


def _long_run_variance(rest: Sequence[float]) -> float:
    """Return the largest variance by batches, of what differs from the run's course."""
    count = len(rest)
    sums = [0.0, *accumulate(rest)]
    variances = []
    for share in _BATCH_LENGTHS:
        length = max(1, int(share * count))
        batches = [end - start for start, end in zip(sums, sums[length:], strict=False)]
        mean_square = math.fsum(batch * batch for batch in batches) / len(batches)
        # Of the variance of a batch, the course has taken this part away.
        taken_share = 2 * length / count
        variances.append(mean_square / length / (1 - taken_share))
    return max(variances)
