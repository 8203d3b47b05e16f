# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Limits of what a single result adds to a history: any task can have written it.

A worker that measures every workload in three places has some 100 measurements, and 50 facts.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from io_benchmark.analysis.history.history_model import (
    Condition,
    Fact,
    HistoryReading,
    LeftOut,
)
from io_benchmark.analysis.statements import Statement, count, joined, statement

MEASUREMENTS, _FACTS, _LINES = 200, 150, 50
# Characters of a name, of a fact or condition, and of a line about what was left out.
_NAME, VALUE, _LINE = 100, 300, 600
# Of a task, a group, a worker or a revision.
IDENTIFIER = 200
_DIGEST = 8


def bounded(
    readings: Sequence[HistoryReading], left_out: Sequence[LeftOut], source: str, task: Statement
) -> tuple[list[HistoryReading], list[LeftOut]]:
    """Return as much as may be shown, and a line that names what was cut."""
    kept = [_bounded_reading(reading) for reading in readings[:MEASUREMENTS]]
    lines = [LeftOut(line.source, _bounded(line.reason, _LINE)) for line in left_out[:_LINES]]
    most_facts = max((len(reading.facts) for reading in readings), default=0)
    changed = any(
        (before.facts[:_FACTS], before.conditions) != (after.facts, after.conditions)
        for before, after in zip(readings, kept, strict=False)
    )
    cuts = [
        *_beyond(len(readings), MEASUREMENTS, "measurements"),
        *_beyond(most_facts, _FACTS, "facts about its worker"),
        *_beyond(len(left_out), _LINES, "lines about what was left out"),
    ]
    if changed:
        cuts.append(statement("texts longer than {length} characters", length=count(VALUE)))
    if cuts:
        reason = statement(
            "{task}: this result holds more than a history shows; cut: {cuts}",
            task=_bounded(task, IDENTIFIER),
            cuts=joined(cuts, "; "),
        )
        lines.append(LeftOut(source, reason))
    return kept, lines


def _beyond(number: int, most: int, names: str) -> list[Statement]:
    if number <= most:
        return []
    return [statement(f"{{cut}} of {{all}} {names}", cut=count(number - most), all=count(number))]


def _bounded_reading(reading: HistoryReading) -> HistoryReading:
    return replace(
        reading,
        conditions=tuple(
            Condition(rule, _bounded(traits, VALUE)) for rule, traits in reading.conditions
        ),
        facts=tuple(
            Fact(shortened(name, _NAME), shortened(value, VALUE))
            for name, value in reading.facts[:_FACTS]
        ),
    )


def _bounded(text: Statement, most: int) -> Statement:
    """Shorten the texts of a statement, so that all of them together have at most `most` characters."""
    texts = [value for _, value in text.values if isinstance(value, str)]
    if sum(map(len, texts)) <= most:
        return text
    each = most // len(texts)
    return replace(
        text,
        values=tuple(
            (name, shortened(value, each) if isinstance(value, str) else value)
            for name, value in text.values
        ),
    )


def shortened(text: str, most: int) -> str:
    """Cut a text, and end it with a digest, so that different texts stay different."""
    if len(text) <= most:
        return text
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    return f"{text[: max(most - _DIGEST - 2, 0)]}… {digest}"
