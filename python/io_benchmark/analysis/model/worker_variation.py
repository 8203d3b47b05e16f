# SPDX-License-Identifier: MPL-2.0
"""How far workers of a pool are assumed to differ, and what is assumed of a single one."""

from typing import Literal

from msgspec import Struct

from io_benchmark.analysis.model.statements import Statement


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
