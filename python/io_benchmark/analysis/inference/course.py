# SPDX-License-Identifier: MPL-2.0
"""Whether a run became slower or faster at some point: one step in its course, if there is a clear one.

The series is cut into blocks. The split with the largest difference of means is compared with the
long-run variance around both means, by batches of several lengths (CUSUM: Csörgő and Horváth 1997). So
waves and stalls that come again are no step. Autocorrelation of 0.8 between retrieves finds one in fewer
than one of 100 runs of 400 retrieves or more (tests/simulation).
"""

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from statistics import linear_regression

from msgspec import Struct

FEWEST_TO_JUDGE = 60
_MOST_BLOCKS = 100
# Standard errors: far more than for a split that is known before. A faint step counts only where it may
# explain a difference that is shown.
_CLEARLY, _FAINTLY = 4.5, 3.5
# A step that has less of the run on one side is not judged.
_SMALLEST_SIDE = 0.1
_BATCH_LENGTHS = (0.01, 0.05, 0.1, 0.2)  # of the run
# The halves of each side differ by less than this from the step's height; a wave's do not.
_LEVEL_SHARE = 0.3
_SHORTEST_NS = 1e-9  # relative to the average, for a block that took no time


class Step(Struct, frozen=True):
    index: int  # of the first sample after it
    before: float  # the time of an operation, relative to the run's average
    after: float
    errors: float  # its height in standard errors

    @property
    def is_clear(self) -> bool:
        return self.errors > _CLEARLY

    @property
    def ratio(self) -> float:
        """Return how much longer an operation took after it than before it."""
        return self.after / self.before


def find_step(times: Sequence[float], weights: Sequence[float]) -> Step | None:
    """Return the step of a series of times and of the operations in each, clear or faint; None without one."""
    count = len(times)
    if count < FEWEST_TO_JUDGE:
        return None
    blocks = min(_MOST_BLOCKS, count)
    ends = [count * block // blocks for block in range(blocks + 1)]
    time_sums, weight_sums = ([0.0, *accumulate(values)] for values in (times, weights))
    logs = [
        math.log(
            max(_SHORTEST_NS, time_sums[end] - time_sums[start])
            / (weight_sums[end] - weight_sums[start])
        )
        for start, end in pairwise(ends)
    ]
    split, errors = _clearest_split(logs)
    if errors <= _FAINTLY:
        return None
    index = ends[split]
    before = time_sums[index] / weight_sums[index]
    after = (time_sums[-1] - time_sums[index]) / (weight_sums[-1] - weight_sums[index])
    return Step(index, before, after, errors) if before > 0 else None


def _clearest_split(values: Sequence[float]) -> tuple[int, float]:
    """Return where the means of both sides differ most, and by how many standard errors; 0 is no step."""
    count, sums = len(values), [0.0, *accumulate(values)]

    def mean(start: int, end: int) -> float:
        return (sums[end] - sums[start]) / (end - start)

    def contrast(split: int) -> float:
        return (mean(split, count) - mean(0, split)) * math.sqrt(split * (count - split) / count)

    margin = math.ceil(_SMALLEST_SIDE * count)
    split = max(range(margin, count - margin + 1), key=lambda place: abs(contrast(place)))
    height = mean(split, count) - mean(0, split)
    sign, middle = math.copysign(1, height), (split + count) // 2
    before = max(sign * mean(0, split // 2), sign * mean(split // 2, split))
    after = min(sign * mean(split, middle), sign * mean(middle, count))
    rest = [value - mean(0, split) for value in values[:split]]
    rest += [value - mean(split, count) for value in values[split:]]
    # A run that slows down steadily varies around a line, and not around two levels.
    slope, start = linear_regression(range(count), values)
    around_line = [value - start - slope * at for at, value in enumerate(values)]
    error = math.sqrt(min(map(_long_run_variance, (rest, around_line))))
    if not error or after - before < _LEVEL_SHARE * abs(height):
        return split, 0.0
    return split, abs(contrast(split)) / error


def _long_run_variance(rest: Sequence[float]) -> float:
    """Return the largest variance by batches, of what differs from the run's course."""
    count, sums = len(rest), [0.0, *accumulate(rest)]
    variances = []
    for share in _BATCH_LENGTHS:
        length = max(1, int(share * count))
        batches = [end - start for start, end in zip(sums, sums[length:], strict=False)]
        squares = math.fsum(batch * batch for batch in batches) / len(batches)
        # Of the variance of a batch, the course has taken this share away.
        variances.append(squares / length / (1 - 2 * length / count))
    return max(variances)
