# SPDX-License-Identifier: MPL-2.0
"""Levels of confidence and default thresholds: the one place where they are decided."""

# An interval of a ratio; higher where there are several candidates (Holm).
LEVEL = 0.95
# Two sides are equivalent where the interval at this level is within the margin: two one-sided
# tests, each at 5 %.
EQUIVALENCE_LEVEL = 0.90
# Smaller differences count as equal. Chosen; --margin is another one.
DEFAULT_MARGIN = 0.05
# Between workers of a pool, where it cannot be estimated. Measured: the means of two machines of
# one pool differ by about so much.
DEFAULT_WORKER_VARIATION = 0.05
# Between the levels of a pool in two pushes, where it cannot be estimated. Chosen: as of workers.
DEFAULT_PUSH_VARIATION = 0.05
# Assumed at least where a side has a single worker, which may be an unusual one of its pool. It
# widens the interval, so that the interval alone decides.
SINGLE_WORKER_VARIATION = 0.10


def margin_bounds(margin: float) -> tuple[float, float]:
    """Return symmetric bounds: 1/1.05 to 1.05 for a margin of 5 %."""
    return 1 / (1 + margin), 1 + margin
