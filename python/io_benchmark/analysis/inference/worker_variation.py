# SPDX-License-Identifier: MPL-2.0
"""How far workers of a pool are assumed to differ, where a side has too few of them to show it.

One worker shows nothing of it, two hardly anything. What is known comes from other pools in the same
comparison. Pools differ in how far they vary, by 5 % and by 12 % for example, so that another pool may vary
2.4 times as much. More workers there do not change that.

Where nothing is known, it is 5 %. It is never less, because workers that agree by chance do not show that
all do. tests/simulation/test_worker_variation.py has the rates.
"""

import math
from collections.abc import Mapping

from msgspec import Struct

from io_benchmark.analysis.inference.levels import DEFAULT_WORKER_VARIATION
from io_benchmark.analysis.inference.variances import LogMeans, MeanVariance
from io_benchmark.analysis.statements import Statement, count, joined, share, statement

# How many times as much as other pools the pool of a single worker may vary: 12 % against 5 %.
_POOLS_DIFFER = 2.4
# Two workers agree by chance too often to show how far workers of their pool differ.
_FEW_WORKERS = 2
# A quantile of the normal distribution: with the upper limit at 65 % of how far workers vary, the workers that
# a decision needs are enough in 80 of 100 cases.
_AT_65_PERCENT = 0.3853


class WorkerVariation(Struct, frozen=True):
    """A standard deviation of the logarithms of workers' means, and where it comes from."""

    ratio: float  # as it is assumed of a worker without others
    expected_ratio: float  # from which the workers that a decision needs are calculated
    message: Statement  # "12 % is assumed"
    explanation: Statement | None = None  # in a sentence: what it follows from
    shown_by: Statement | None = None  # "5 workers of intel"

    @classmethod
    def default(cls) -> "WorkerVariation":
        least = DEFAULT_WORKER_VARIATION
        return cls(least, least, _assumed(least))

    @classmethod
    def given(cls, ratio: float) -> "WorkerVariation":
        message = statement("{variation} is assumed (--worker-variation)", variation=share(ratio))
        return cls(ratio, ratio, message)

    @classmethod
    def of_pair(cls, pair: tuple[str, str], sides: Mapping[str, LogMeans]) -> "WorkerVariation":
        """Return what is assumed of a pair of sides, by all sides of the comparison."""
        if all(len(sides[side]) > _FEW_WORKERS for side in pair):
            return cls.default()
        has_single = any(len(sides[side]) == 1 for side in pair)
        # Without a single worker, the pair itself already counts in its interval.
        several = {
            side: logs
            for side, logs in sides.items()
            if len(logs) > 1 and (has_single or side not in pair)
        }
        measured = MeanVariance.pooled(several.values())
        if measured is None:
            return cls.default()
        workers = sum(map(len, several.values()))
        shown_by = statement(
            "{workers} workers of {pools}", workers=count(workers), pools=joined(sorted(several))
        )
        deviation = math.sqrt(measured.variance)
        least = max(deviation, DEFAULT_WORKER_VARIATION)
        explanation = statement(
            "{shown_by} vary by {measured}"
            + ("" if deviation == least else "; {least} is the least that counts")
            + ", and another pool may vary {factor} times as much.",
            shown_by=shown_by,
            measured=share(deviation),
            factor=str(_POOLS_DIFFER),
            least=share(least),
        )
        # Two workers vary at least as far as the others were seen to, not as far as they may.
        ratio = _POOLS_DIFFER * least if has_single else least
        return cls(
            ratio,
            _upper_limit(measured, _AT_65_PERCENT),
            _assumed(ratio),
            explanation,
            shown_by,
        )


def _assumed(ratio: float) -> Statement:
    return statement("{variation} is assumed", variation=share(ratio))


def _upper_limit(measured: MeanVariance, normal: float) -> float:
    """Return the upper limit of a standard deviation, but not less than the default.

    The quantile of chi-squared is that of Wilson and Hilferty (1931, PNAS 17:684).
    """
    part = 2 / (9 * measured.degrees)
    quantile = (1 - part - normal * math.sqrt(part)) ** 3
    return max(math.sqrt(measured.variance / quantile), DEFAULT_WORKER_VARIATION)
