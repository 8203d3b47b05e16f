# SPDX-License-Identifier: MPL-2.0
"""How far workers of a pool are assumed to differ, and what is assumed of a single one."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.levels import SINGLE_WORKER_VARIATION
from io_benchmark.analysis.statements import Statement, share, statement


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
    # What is assumed of usual workers, where `ratio` is more because a single one may be unusual.
    usual_ratio: float | None = None

    @staticmethod
    def message_of(ratio: float) -> Statement:
        return statement("{variation} is assumed", variation=share(ratio))

    def of_single_worker(self) -> "WorkerVariation":
        """Return what is assumed where a side has a single worker: more than of usual ones."""
        if self.ratio >= SINGLE_WORKER_VARIATION:
            return self
        template = "{assumed}"
        if self.source != "default":
            template += ", the least for a single worker"
        if self.source == "option":
            template += " (--worker-variation is {given})"
        message = statement(
            template, assumed=self.message_of(SINGLE_WORKER_VARIATION), given=share(self.ratio)
        )
        single = replace(
            self, ratio=SINGLE_WORKER_VARIATION, message=message, usual_ratio=self.ratio
        )
        if self.shown_by is None or self.measured_ratio is None:
            return single
        explanation = statement(
            "{shown_by} vary by {measured}.",
            shown_by=self.shown_by,
            measured=share(self.measured_ratio),
        )
        return replace(single, explanation=explanation, shown_by=None)
