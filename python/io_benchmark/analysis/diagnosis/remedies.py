# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What to try: each tied to a supported cause, with the gain that was measured or predicted.

A remedy always has evidence: the supported cause, and where the same push measured the remedy (another
destination, another place, another pool), that decides whether it is suggested at all.
"""

from collections.abc import Mapping, Sequence

from io_benchmark.analysis.diagnosis.cause_rule import Suggestion
from io_benchmark.analysis.diagnosis.causes import RULES
from io_benchmark.analysis.diagnosis.measured_gains import Gain, MeansBySide, Push
from io_benchmark.analysis.model import Cause, Remedy, State, Subject
from io_benchmark.analysis.statements import Statement, statement


def suggest(
    causes: Sequence[Cause],
    subject: Subject,
    measured: MeansBySide,
    candidate: str,
    baseline: str,
    *,
    machines: Mapping[str, str | None] | None = None,
) -> tuple[Remedy, ...]:
    """Return remedies for the slower side of a pair, in the causes' order.

    `measured` has each side's mean time of each subject; `machines` each side's machine type, so
    that another pool of the push can show what another machine type gains.
    """
    sides = (candidate, baseline)
    candidate_ns, baseline_ns = (measured.get(side, {}).get(subject) for side in sides)
    if candidate_ns is not None and baseline_ns is not None and candidate_ns < baseline_ns:
        sides = (baseline, candidate)
    supported = [cause for cause in causes if cause.state is State.SUPPORTED]
    names = frozenset(cause.name for cause in supported)
    push = Push(subject, measured, machines or {}, *sides, names)
    suggestions = {rule.name: rule.remedies for rule in RULES}
    return tuple(
        Remedy(cause.name, _action(suggestion, gain), gain.ratio, gain.measured, gain.evidence)
        for cause in supported
        for suggestion in suggestions.get(cause.name, ())
        if (gain := suggestion.gain(push, cause)) is not None
    )


def _action(suggestion: Suggestion, gain: Gain) -> Statement:
    if gain.such_as is None:
        return statement(suggestion.action)
    return statement(f"{suggestion.action}, such as {{machine}}", machine=gain.such_as)
