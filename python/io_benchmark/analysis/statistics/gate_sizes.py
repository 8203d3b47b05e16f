# SPDX-License-Identifier: MPL-2.0
"""How many workers per pool a gate needs, by its margin and by how far workers vary.

The kind `io-benchmark-gate` proposes the same numbers (`io_benchmark_taskgraph/`); a test compares
them.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist

from io_benchmark.analysis.statistics.levels import DEFAULT_WORKER_VARIATION, LEVEL
from io_benchmark.analysis.statistics.settling import CHANCE

# "At most so much slower", where nothing else is asked. Chosen: 5 % would need 18 workers.
DEFAULT_GATE_MARGIN = 0.10
# The part of equal pools in which a single worker looks too slow by chance.
FALSE_ALARMS = 0.02
# Fewer workers seldom show a pool of which a part is slow: 3 of 10 slow ones, and 5 workers measure
# at least one of them in 83 of 100 gates. Chosen.
FEWEST_PROPOSED = 5
MOST_PROPOSED = 100
_ONE_SIDED = NormalDist().inv_cdf(LEVEL)
# What Student's t needs more than the normal distribution (Guenther 1981, Am. Stat. 35:243).
_FOR_STUDENT = _ONE_SIDED**2 / 4
_DECIDES = NormalDist().inv_cdf(CHANCE)


def workers_for_margin(
    margin: float, variation: float = DEFAULT_WORKER_VARIATION, measurements: int = 1
) -> int | None:
    """Return the workers of each pool with which an equal pool passes in 80 of 100 gates.

    `variation` is the standard deviation of ln of workers' means. Each measurement must pass, and
    they are taken as independent. Return None where it takes more than MOST_PROPOSED.
    """
    return workers_to_pass(margin, [variation] * measurements, [0.0] * measurements)


def workers_to_pass(
    margin: float, variations: Sequence[float], log_ratios: Sequence[float]
) -> int | None:
    """Return the workers of each pool with which a gate passes, if these are the true ratios."""
    missed = (1 - CHANCE - FALSE_ALARMS) / len(variations)
    reach = _ONE_SIDED + NormalDist().inv_cdf(1 - missed)
    most = 0.0
    for variation, log_ratio in zip(variations, log_ratios, strict=True):
        room = math.log1p(margin) - log_ratio
        if room <= 0:
            return None
        most = max(most, 2 * (variation * reach / room) ** 2)
    return _proposed(most)


def workers_to_fail(
    margin: float, variation: float, log_ratio: float, measurements: int
) -> int | None:
    """Return the workers of each pool with which a gate fails, if this is the true ratio."""
    excess = log_ratio - math.log1p(margin)
    if excess <= 0:
        return None
    reach = NormalDist().inv_cdf(1 - (1 - LEVEL) / (2 * measurements)) + _DECIDES
    return _proposed(2 * (variation * reach / excess) ** 2)


def _proposed(number: float) -> int | None:
    needed = max(FEWEST_PROPOSED, math.ceil(number + _FOR_STUDENT))
    return needed if needed <= MOST_PROPOSED else None
