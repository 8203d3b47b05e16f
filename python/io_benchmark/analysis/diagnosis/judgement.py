# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a rule returns: a state with both sides' evidence, and the sentences that explain it."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from io_benchmark.analysis.model import Evidence, State
from io_benchmark.analysis.statements import Statement, Value, statement

NOTHING_TO_EXPLAIN = "The times differ too little to need an explanation."


@dataclass(frozen=True)
class Judgement:
    """The state of a cause, with the reason for it."""

    state: State
    evidence: "Sides"
    explanation: tuple[Statement, ...]
    predicted_ratio: float | None = None
    workload: str | None = None  # that would show what is not observable
    is_part: bool = False  # the ratio is a measured part of the difference, not a prediction

    def also(self, template: str, **values: Value) -> "Judgement":
        """Return the judgement with a further sentence."""
        return replace(self, explanation=(*self.explanation, statement(template, **values)))

    def may_be_chance(self) -> "Judgement":
        return self.also("This may be chance; more workers would show it.")


class Sides(NamedTuple):
    """Both sides' evidence, and the judgements that it can lead to."""

    baseline: Evidence
    candidate: Evidence

    def supported(
        self,
        template: str,
        *,
        predicted_ratio: float | None = None,
        is_part: bool = False,
        **values: Value,
    ) -> Judgement:
        explanation = (statement(template, **values),)
        return Judgement(
            State.SUPPORTED, self, explanation, predicted_ratio=predicted_ratio, is_part=is_part
        )

    def ruled_out(self, template: str, **values: Value) -> Judgement:
        return Judgement(State.RULED_OUT, self, (statement(template, **values),))

    def nothing_to_explain(self) -> Judgement:
        return self.ruled_out(NOTHING_TO_EXPLAIN)

    def faster_side_is_worse(self) -> Judgement:
        return self.ruled_out("The faster side has the slower setting.")

    def not_observable(
        self, template: str, *, workload: str | None = None, **values: Value
    ) -> Judgement:
        explanation = (statement(template, **values),)
        return Judgement(State.NOT_OBSERVABLE, self, explanation, workload=workload)
