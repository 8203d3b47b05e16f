# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What was tried to find the cause of a difference, and what came out."""

from typing import Self

from msgspec import Struct

from io_benchmark.analysis.trials.trial_model import TrialOutcome, TrialState
from io_benchmark.number_text import NOTHING, signed_percent
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.results.trials import TrialKind

TRIAL_HEADS = ("Outcome", "Explains", "Interval")
_CHANGES = {
    TrialKind.PACE: "the faster side's copies, limited to what the slower side's disks can write",
    TrialKind.LOOKUP: "lookups without grep",
    TrialKind.UNLINK: "the destination removed before each copy",
    TrialKind.MEMORY: "everything in memory",
}


class TrialRow(Struct, frozen=True):
    name: str
    change: str
    state: TrialState
    cells: tuple[str, str, str]  # below TRIAL_HEADS
    meaning: str

    @classmethod
    def of(cls, outcome: TrialOutcome) -> Self:
        """Write one trial's outcome; shares are of the gap between the sides."""
        share, low, high = map(_percent, (outcome.share, outcome.low_share, outcome.high_share))
        interval = NOTHING if low == NOTHING else f"{low} to {high}"
        return cls(
            outcome.kind.value,
            _CHANGES[outcome.kind],
            outcome.state,
            (outcome.state.value, share, interval),
            text_of(outcome.meaning),
        )


def _percent(share: float | None) -> str:
    return NOTHING if share is None else signed_percent(round(100 * share))
