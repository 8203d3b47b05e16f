# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a rule returns, and how a cause is declared: its hypothesis, its rule and its remedies."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.evidence import Sides
from io_benchmark.analysis.diagnosis.measured_gains import FindGain
from io_benchmark.analysis.model import State
from io_benchmark.analysis.statements import Statement, Value, statement

NOTHING_TO_EXPLAIN = "The times differ too little to need an explanation."
OPPOSITE = "The faster side has the slower setting."
MAY_BE_CHANCE = "This may be chance; more workers would show it."


@dataclass(frozen=True)
class Judgement:
    """A rule's judgement."""

    state: State
    evidence: Sides
    explanation: tuple[Statement, ...]
    predicted_ratio: float | None = None
    workload: str | None = None  # that would show what is not observable
    is_part: bool = False  # the ratio is a measured part of the difference, not a prediction

    def also(self, template: str, **values: Value) -> "Judgement":
        """Return the judgement with a further sentence."""
        return replace(self, explanation=(*self.explanation, statement(template, **values)))


def supported(
    evidence: Sides,
    template: str,
    *,
    predicted_ratio: float | None = None,
    is_part: bool = False,
    **values: Value,
) -> Judgement:
    explanation = (statement(template, **values),)
    return Judgement(
        State.SUPPORTED, evidence, explanation, predicted_ratio=predicted_ratio, is_part=is_part
    )


def ruled_out(evidence: Sides, template: str, **values: Value) -> Judgement:
    return Judgement(State.RULED_OUT, evidence, (statement(template, **values),))


def not_observable(
    evidence: Sides, template: str, *, workload: str | None = None, **values: Value
) -> Judgement:
    explanation = (statement(template, **values),)
    return Judgement(State.NOT_OBSERVABLE, evidence, explanation, workload=workload)


@dataclass(frozen=True)
class Suggestion:
    """A remedy of a cause, and how the gain of it is found."""

    action: str
    gain: FindGain


@dataclass(frozen=True)
class CauseRule:
    """A cause: its hypothesis, how it is judged, whose difference it may explain, and its remedies."""

    name: str
    hypothesis: str
    judge: Callable[[Case], Judgement]
    explains: frozenset[str] = frozenset(("cache-retrieve",))
    remedies: tuple[Suggestion, ...] = ()
