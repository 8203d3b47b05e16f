# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Student's t and the normal distribution, to ten digits.

scipy has them as well, but loading it takes as long as a whole comparison. The tests compare every
function with scipy.
"""

import functools
import math

# From here on Student's distribution is the normal one.
MANY_DEGREES = 1e9
# From here on Hill's transformation has more digits than the continued fraction.
_LARGE_DEGREES = 1e4
# From here on the series of ln Γ(a + 1/2) − ln Γ(a) has more digits than the difference of two lgamma.
_LARGE_A = 20.0
_SMALLEST = 1e-300


def _normal_tail(value: float) -> float:
    """Return the probability of a larger value."""
    return math.erfc(value / math.sqrt(2)) / 2


def tail(value: float, degrees: float) -> float:
    """Return the probability that Student's t is larger than a value.

    Below 0 only with many degrees of freedom, such as infinitely many: the normal distribution.
    """
    if degrees > MANY_DEGREES:
        return _normal_tail(value)
    if degrees > _LARGE_DEGREES:
        # Hill 1970, CACM 13:617; further terms are below 1e-14.
        y = (degrees - 0.5) * math.log1p(value * value / degrees)
        return _normal_tail(math.sqrt(y) * (1 + (y + 3) / (48 * (degrees - 0.5) ** 2)))
    # Of t near 0 the other end of the distribution has more digits.
    x = degrees / (degrees + value * value)
    rest = value * value / (degrees + value * value)
    a = degrees / 2
    # x^a √(1 − x) ÷ B(a, 1/2), without loss for large a.
    power = math.exp(_log_gamma_step(a) - a * math.log1p(value * value / degrees))
    front = math.sqrt(rest / math.pi) * power
    if rest < 1.5 / (a + 2.5):
        return 0.5 - front * _beta_fraction(0.5, a, rest)
    return front * _beta_fraction(a, 0.5, x) / (2 * a)


def _log_gamma_step(a: float) -> float:
    """Return ln Γ(a + 1/2) − ln Γ(a)."""
    if a < _LARGE_A:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    square = a * a
    series = (((17 / 14336 / square - 1 / 640) / square + 1 / 192) / square - 1 / 8) / a
    return math.log(a) / 2 + series


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz."""
    c, d = 1.0, _inverse(1 - (a + b) * x / (a + 1))
    value, step, m = d, 0.0, 0
    while abs(step - 1) > 1e-15:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = _inverse(1 + term * d)
            c = (1 + term / c) or _SMALLEST
            step = c * d
            value *= step
    return value


def _inverse(value: float) -> float:
    return 1 / (value or _SMALLEST)


@functools.lru_cache(maxsize=1024)
def quantile(probability: float, degrees: float) -> float:
    """Return the value that Student's t exceeds with this probability, which is below 1/2.

    Newton's method for ln P(T > e^u). The function is concave, because ln |T| is a difference of
    log-gamma variables, so that the method converges from every start.
    """
    value = math.sqrt(-2 * math.log(2 * probability))
    for _ in range(100):
        above = tail(value, degrees)
        step = above * math.log(above / probability) / (value * _density(value, degrees))
        value *= math.exp(step)
        # Each step has twice the digits of the one before.
        if abs(step) < 1e-8:
            break
    return value


def _density(value: float, degrees: float) -> float:
    if degrees > MANY_DEGREES:
        return math.exp(-value * value / 2) / math.sqrt(2 * math.pi)
    a = degrees / 2
    exponent = _log_gamma_step(a) - (a + 0.5) * math.log1p(value * value / degrees)
    return math.exp(exponent) / math.sqrt(degrees * math.pi)


def degrees_with(value: float, probability: float) -> float:
    """Return the degrees of freedom, at least 1, with which Student's t exceeds a value so often.

    Illinois' method for 1 / degrees, in which the probability is nearly linear.
    """
    low, high = 1 / MANY_DEGREES, 1.0
    below, above = (tail(value, 1 / end) - probability for end in (low, high))
    while high - low > 1e-12 * high and below < 0 < above:
        middle = (low * above - high * below) / (above - below)
        at_middle = tail(value, 1 / middle) - probability
        if at_middle > 0:
            high, above, below = middle, at_middle, below / 2
        else:
            low, below, above = middle, at_middle, above / 2
    return 1 / (low if below == 0 else high)
