# SPDX-License-Identifier: MPL-2.0
"""The outcome of a trial."""

from enum import StrEnum

from msgspec import Struct

from io_benchmark.analysis.statements import Statement
from io_benchmark.results.trials import TrialKind

# Why a worker did not run its trials, in its own words.
OWN_REASON = "{reason}."


class TrialState(StrEnum):
    CONFIRMED = "confirmed"  # of memory: storage is involved
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    NOT_RUN = "not run"


class TrialOutcome(Struct, frozen=True):
    """One kind of trial, for a pair of sides.

    The share is the part of the gap between the sides that goes with what was changed. It is null for
    memory, which only shows whether storage is involved.
    """

    kind: TrialKind
    state: TrialState
    meaning: Statement  # or why it was not run
    share: float | None = None
    low_share: float | None = None  # 95 %, over repetitions
    high_share: float | None = None
    repetitions: int = 0
    gain_ratio: float | None = None  # how many times as fast the change makes the slower side
