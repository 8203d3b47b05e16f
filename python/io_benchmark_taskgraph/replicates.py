# SPDX-License-Identifier: MPL-2.0
"""How many tasks per pool decide a gate's margin.

The numbers are those of io_benchmark/analysis/statistics/gate_sizes.py, which has their reasons; a
test compares them. Standard library only.
"""

from __future__ import annotations

import math
from statistics import NormalDist

_LEVEL = 0.95
_CHANCE = 0.8  # of passing, for an image that is equal
_FALSE_ALARMS = 0.02
_FEWEST = 5
_ONE_SIDED = NormalDist().inv_cdf(_LEVEL)


def replicates_for(margin: float, variation: float, measurements: int) -> int:
    """Return the tasks per pool with which an equal image passes in 80 of 100 gates.

    `variation` is how far a pool's workers differ, and each measurement must pass.
    """
    missed = (1 - _CHANCE - _FALSE_ALARMS) / measurements
    reach = _ONE_SIDED + NormalDist().inv_cdf(1 - missed)
    number = 2 * (variation * reach / math.log1p(margin)) ** 2
    return max(_FEWEST, math.ceil(number + _ONE_SIDED**2 / 4))
