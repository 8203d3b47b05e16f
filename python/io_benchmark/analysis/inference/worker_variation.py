# SPDX-License-Identifier: MPL-2.0
"""How far workers of a pool are assumed to differ, where a side has too few of them to show it.

One worker shows nothing of it, two hardly anything. What is known comes from other workers:

- of other pools in the same comparison. Pools differ in how far they vary, by 5 % and by 12 % for
  example, so that another pool may vary 2.4 times as much. More workers there do not change that.
- of the same pool in earlier results. Only their number limits what is known, so that the upper limit of
  their variation is used.

The wider of both is used, and 5 % where neither is known. It is never less than 5 %, because workers that
agree by chance do not show that all do. tests/simulation/test_worker_variation.py has the rates.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.inference.levels import DEFAULT_WORKER_VARIATION
from io_benchmark.analysis.inference.variances import LogMeans, MeanVariance
from io_benchmark.analysis.statements import Statement, count, joined, share, statement

# How many times as much as other pools the pool of a single worker may vary: 12 % against 5 %.
_POOLS_DIFFER = 2.4
# Two workers agree by chance too often to show how far workers of their pool differ.
_FEW_WORKERS = 2
# Quantiles of the normal distribution. The interval with the upper limit at 80 % is at least as wide as
# Student's t. With the one at 65 %, the workers that a decision needs are enough in 80 of 100 cases.
_LEAST = "; {least} is the least that counts"
_AT_80_PERCENT, _AT_65_PERCENT = 0.8416, 0.3853


class WorkerVariation(Struct, frozen=True):
    """A standard deviation of the logarithms of workers' means, and where it comes from."""

    ratio: float  # as it is assumed of a worker without others
    expected_ratio: float  # from which the workers that a decision needs are calculated
    source: Literal["default", "option", "pools", "history"]
    message: Statement  # "12 % is assumed"
    explanation: Statement | None = None  # in a sentence: what it follows from
    measured_ratio: float | None = None  # of these workers
    workers: int = 0
    shown_by: Statement | None = None  # "5 workers of intel"

    @classmethod
    def default(cls) -> "WorkerVariation":
        least = DEFAULT_WORKER_VARIATION
        return cls(least, least, "default", _assumed(least))

    @classmethod
    def given(cls, ratio: float) -> "WorkerVariation":
        message = statement("{variation} is assumed (--worker-variation)", variation=share(ratio))
        return cls(ratio, ratio, "option", message)

    @classmethod
    def of_pools(cls, pools: Mapping[str, LogMeans]) -> "WorkerVariation | None":
        """Return what other pools of a comparison show; None if each has one worker."""
        several = {pool: logs for pool, logs in pools.items() if len(logs) > 1}
        measured = MeanVariance.pooled(list(several.values()))
        if measured is None:
            return None
        workers = sum(map(len, several.values()))
        shown_by = statement(
            "{workers} workers of {pools}", workers=count(workers), pools=joined(sorted(several))
        )
        deviation = math.sqrt(measured.variance)
        least = "" if deviation >= DEFAULT_WORKER_VARIATION else _LEAST
        conclusion = least + ", and another pool may vary {factor} times as much."
        ratio = _POOLS_DIFFER * max(deviation, DEFAULT_WORKER_VARIATION)
        return cls._measured("pools", measured, ratio, workers, shown_by, conclusion)

    @classmethod
    def of_history(
        cls, measured: MeanVariance, workers: int, shown_by: Statement
    ) -> "WorkerVariation":
        """Return what earlier workers of the same pool show."""
        ratio = _upper_limit(measured, _AT_80_PERCENT)
        may_vary_more = ", and so few may vary less than their pool does."
        conclusion = may_vary_more if ratio > DEFAULT_WORKER_VARIATION else f"{_LEAST}."
        return cls._measured("history", measured, ratio, workers, shown_by, conclusion)

    @classmethod
    def _measured(
        cls,
        source: Literal["pools", "history"],
        measured: MeanVariance,
        ratio: float,
        workers: int,
        shown_by: Statement,
        conclusion: str,
    ) -> "WorkerVariation":
        deviation, expected = math.sqrt(measured.variance), _upper_limit(measured, _AT_65_PERCENT)
        explanation = statement(
            "{shown_by} vary by {measured}" + conclusion,
            shown_by=shown_by,
            measured=share(deviation),
            factor=str(_POOLS_DIFFER),
            least=share(DEFAULT_WORKER_VARIATION),
        )
        message = _assumed(ratio)
        return cls(ratio, expected, source, message, explanation, deviation, workers, shown_by)

    @staticmethod
    def has_few(log_means: LogMeans) -> bool:
        """Return whether so few workers do not show how far those of their pool differ."""
        return len(log_means) <= _FEW_WORKERS

    @classmethod
    def of_pair(
        cls,
        pair: tuple[str, str],
        sides: Mapping[str, LogMeans],
        past: Sequence["WorkerVariation"] = (),
    ) -> "WorkerVariation":
        """Return what is assumed of a pair of sides, by all sides and by the pair's past."""
        if not any(cls.has_few(sides[side]) for side in pair):
            return cls.default()
        has_single = any(len(sides[side]) == 1 for side in pair)
        # Without a single worker, the pair itself already counts in its interval.
        pools = cls.of_pools(
            {side: logs for side, logs in sides.items() if has_single or side not in pair}
        )
        several = [variation for variation in (pools, *past) if variation is not None]
        measured = [variation for variation in several if variation.source != "default"]
        if not measured:
            return next(iter(past), cls.default())
        widest = max(measured, key=lambda variation: (variation.ratio, variation.workers))
        # The two sides' variances add up: what a decision needs follows from their mean.
        squares = math.fsum(variation.expected_ratio**2 for variation in measured)
        widest = replace(widest, expected_ratio=math.sqrt(squares / len(measured)))
        if has_single or widest.measured_ratio is None:
            return widest
        # Two workers vary at least as far as the others were seen to, not as far as they may.
        ratio = max(widest.measured_ratio, DEFAULT_WORKER_VARIATION)
        return replace(widest, ratio=ratio, message=_assumed(ratio))


def _assumed(ratio: float) -> Statement:
    return statement("{variation} is assumed", variation=share(ratio))


def _upper_limit(measured: MeanVariance, normal: float) -> float:
    """Return the upper limit of a standard deviation, but not less than the default.

    The quantile of chi-squared is that of Wilson and Hilferty (1931, PNAS 17:684).
    """
    part = 2 / (9 * measured.degrees)
    quantile = (1 - part - normal * math.sqrt(part)) ** 3
    return max(math.sqrt(measured.variance / quantile), DEFAULT_WORKER_VARIATION)
