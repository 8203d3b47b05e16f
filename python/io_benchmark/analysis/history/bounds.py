# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How much a single result may put into a history: any task can have written it.

A worker that measures every workload in three places has some 100 measurements, and 50 facts.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from io_benchmark.analysis.history.history_model import LeftOut, Reading

MEASUREMENTS, FACTS, LINES = 200, 150, 50
# Characters of a name, of a fact or condition, and of a line about what was left out.
NAME, VALUE, LINE = 100, 300, 600
# Of a task, a group, a worker or a revision.
IDENTIFIER = 200
DIGEST = 8


def bounded(
    readings: Sequence[Reading], left_out: Sequence[LeftOut], what: str
) -> tuple[list[Reading], list[LeftOut]]:
    """As much as may be shown, and a line that says what was cut."""
    kept = [_reading(one) for one in readings[:MEASUREMENTS]]
    lines = [LeftOut(one.what, shortened(one.why, LINE)) for one in left_out[:LINES]]
    most_facts = max((len(one.facts) for one in readings), default=0)
    changed = [
        (before.facts[:FACTS], before.conditions) != (after.facts, after.conditions)
        for before, after in zip(readings, kept, strict=False)
    ]
    cuts = [
        *_beyond(len(readings), MEASUREMENTS, "measurements"),
        *_beyond(most_facts, FACTS, "facts about its worker"),
        *_beyond(len(left_out), LINES, "lines about what was left out"),
        *([f"texts longer than {VALUE} characters"] if any(changed) else []),
    ]
    if cuts:
        why = f"this result holds more than a history shows; cut: {'; '.join(cuts)}"
        lines.append(LeftOut(what, why))
    return kept, lines


def _beyond(count: int, most: int, names: str) -> list[str]:
    return [f"{count - most:,} of {count:,} {names}"] if count > most else []


def _reading(reading: Reading) -> Reading:
    return replace(
        reading,
        conditions=tuple((name, shortened(words, VALUE)) for name, words in reading.conditions),
        facts=tuple(
            (shortened(name, NAME), shortened(value, VALUE))
            for name, value in reading.facts[:FACTS]
        ),
    )


def shortened(text: str, most: int) -> str:
    """What differs stays different: the end is that of a digest."""
    if len(text) <= most:
        return text
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:DIGEST]
    return f"{text[: most - DIGEST - 2]}… {digest}"
