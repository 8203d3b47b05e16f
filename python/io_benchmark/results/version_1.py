# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Result files of version 1 (until 2026-11-22): their types, and what they are in version 2.

Version 1 had `completed` and `incomplete_reason` where version 2 has `outcome`. Its reason for the end of
a run was only a sentence. This module is the only place that knows these sentences:

  sentence of version 1                          state, and reason, of version 2
  completed is true                              completed
  the time budget of 60 s is used up             time-budget, with the sentence
  stopped by SIGTERM                             stopped, with the sentence
  place workspace (/a): ...; stopped by SIGTERM  stopped, with the sentence
  skipped: no space                              skipped: no space
  not started                                    not-started
  not started: stopped by SIGTERM                not-started: stopped by SIGTERM
  ended in the middle                            running
  still running, or ended without a word         running
  anything else                                  failed, with the sentence
"""

import re
from typing import Any

import msgspec

from io_benchmark.results.common_types import OutcomeState, ResultOutcome, ResultPart, Text

_SENTENCES = (
    (re.compile("skipped: (.*)", re.DOTALL), OutcomeState.SKIPPED),
    (re.compile("not started(?:: (.*))?", re.DOTALL), OutcomeState.NOT_STARTED),
    (
        re.compile("ended in the middle|still running, or ended without a word"),
        OutcomeState.RUNNING,
    ),
    (re.compile("(the time budget of [0-9.e+]+ s is used up)"), OutcomeState.TIME_BUDGET),
    (re.compile("((?:.*; )?stopped by SIG[A-Z]+)", re.DOTALL), OutcomeState.STOPPED),
)


def type_of(part: type[ResultPart]) -> type[Any]:
    """Return the type of a run or an entry in version 1."""
    return msgspec.defstruct(
        part.__name__,
        [("completed", bool), ("incomplete_reason", Text | None), ("outcome", Any, None)],
        bases=(part,),
        frozen=True,
        kw_only=True,
    )


def translate(part: Any, kind: type[ResultPart]) -> Any:
    """Return a run or an entry of version 1 as version 2 has it."""
    fields = {name: getattr(part, name) for name in kind.__struct_fields__}
    outcome = _outcome(part.completed, part.incomplete_reason)
    return kind(**{**fields, "outcome": outcome})


def _outcome(completed: bool, reason: str | None) -> ResultOutcome:
    """Return what the keys `completed` and `incomplete_reason` of version 1 mean."""
    if completed:
        return ResultOutcome(state=OutcomeState.COMPLETED, reason=None)
    for pattern, state in _SENTENCES:
        match = pattern.fullmatch(reason or "")
        if match:
            return ResultOutcome(state=state, reason=match.group(1) if match.groups() else None)
    return ResultOutcome(state=OutcomeState.FAILED, reason=reason)
