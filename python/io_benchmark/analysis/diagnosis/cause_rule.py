# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How a cause is declared: its hypothesis, its rule and its remedies."""

from collections.abc import Callable
from dataclasses import dataclass

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.judgement import Judgement
from io_benchmark.analysis.diagnosis.measured_gains import FindGain


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
