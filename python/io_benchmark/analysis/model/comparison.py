# SPDX-License-Identifier: MPL-2.0
"""One candidate against the baseline: ratio, intervals, verdict, advice, and broken rules."""

from enum import StrEnum
from typing import Literal

from msgspec import Struct

from io_benchmark.analysis.model.statements import Statement, share, statement
from io_benchmark.analysis.model.subject import Subject


class Interval(Struct, frozen=True):
    low_ratio: float
    high_ratio: float
    level_ratio: float  # 0.95

    def excludes(self, value: float) -> bool:
        return value < self.low_ratio or value > self.high_ratio

    def within(self, low: float, high: float) -> bool:
        return low <= self.low_ratio and self.high_ratio <= high

    def times(self, factor: float) -> "Interval":
        return Interval(factor * self.low_ratio, factor * self.high_ratio, self.level_ratio)


class Verdict(StrEnum):
    SLOWER = "slower"
    FASTER = "faster"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


DIFFERENT = (Verdict.SLOWER, Verdict.FASTER)


class Advice(Struct, frozen=True):
    """How to settle an inconclusive comparison."""

    leaning: Verdict  # the more probable verdict
    workers_to_add: int | None  # per side; None: not decidable by repetition, see `obstacle`
    variation_ratio: float  # between workers, as assumed here
    message: Statement
    obstacle: Statement | None = None  # why more workers would not decide it
    # Where it takes many: a margin with which so few more workers should settle it.
    wider_margin_ratio: float | None = None
    workers_at_wider_margin: int | None = None


class WorkerVariation(Struct, frozen=True):
    """A standard deviation of the logarithms of workers' means, and where it comes from."""

    ratio: float  # as it is assumed of a worker without others
    expected_ratio: float  # from which the workers that a decision needs are calculated
    source: Literal["default", "option", "pools"]
    message: Statement  # "12 % is assumed"
    explanation: Statement | None = None  # in a sentence: what it follows from
    measured_ratio: float | None = None  # of these workers
    workers: int = 0
    shown_by: Statement | None = None  # "5 workers of intel"
    # What is assumed of usual workers, where `ratio` is more because a single one may be unusual.
    usual_ratio: float | None = None


class PushVariation(Struct, frozen=True):
    """A standard deviation of the logarithms of a pool's levels in different pushes."""

    ratio: float
    degrees: float  # how many pushes it rests on, less those that gave a level
    pushes: int  # earlier ones of the pool; 0: it is assumed
    unshared: float  # how many pushes' variances are in the ratio of the sides

    @property
    def obstacle(self) -> Statement:
        return statement(
            "pushes vary by {variation}, whatever the number of workers; measure both again on "
            "another day, or in one push",
            variation=share(self.ratio),
        )


class Comparison(Struct, frozen=True):
    """One candidate against the baseline, for one subject."""

    subject: Subject
    baseline: str
    candidate: str
    ratio: float  # candidate over baseline, of `means_ns`: above 1 is slower
    interval: Interval  # 95 %, adjusted for several candidates and looks
    interval_90: Interval  # adjusted for several looks
    p_value: float  # adjusted
    verdict: Verdict
    method: str  # "workers" (Welch on log means), or how one worker per side was compared
    assumed_variation_ratio: float | None  # between workers; None where it was estimated
    # How far workers must differ for this difference to be chance; None where it can be chance.
    variation_to_explain_ratio: float | None
    advice: Advice | None
    look: Statement | None = None  # "second of at most 3 looks"; None: a single look, or one worker
    of_all: "Comparison | None" = None  # by all workers, where this verdict is an earlier look's
    workers: tuple[int, int] | None = None  # of the candidate and the baseline at that look
    assumed_variation: WorkerVariation | None = None  # where the assumed one comes from
    means_ns: tuple[float, float] | None = None  # geometric means of candidate and baseline


class Severity(StrEnum):
    REFUSED = "refused"  # there is no verdict
    ALLOWED = "allowed"  # refused without --allow
    WARNING = "warning"  # there is a verdict, with a note


class Problem(Struct, frozen=True):
    """A validity rule that the results break."""

    rule: str
    severity: Severity
    subject: Subject | None  # None: everything from these sides
    sides: tuple[str, ...]
    message: Statement  # one line: what differs, with both sides' values
    explanation: Statement | None = None  # in sentences; the first screen leaves it out
    can_be_allowed: bool = False  # it is refused, and --allow compares nevertheless
