# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A changed fact in words: `disks 2 → 1`; of a long list only what came and went."""

from io_benchmark.analysis.history.history_model import FactChange, FactSpread
from io_benchmark.text import clean

VALUE_LENGTH = 120
VALUES_SHOWN = 4


def change_in_words(fact: FactChange) -> str:
    words = f"{clean(fact.name)} {_difference(fact.before, fact.after)}"
    if fact.points_off:
        count = abs(fact.points_off)
        points = "1 point" if count == 1 else f"{count} points"
        words += f" ({points} {'later' if fact.points_off > 0 else 'earlier'})"
    return words


def spread_in_words(fact: FactSpread) -> str:
    before, after = _some(fact.before), _some(fact.after)
    if before == after:
        return f"{clean(fact.name)}: {before}, before as after"
    return f"{clean(fact.name)}: {before} before, {after} after"


def _difference(before: str, after: str) -> str:
    old, new = before.split(","), after.split(",")
    if min(len(old), len(new)) < 3 or " " in before + after:
        return f"{clean(before, VALUE_LENGTH)} → {clean(after, VALUE_LENGTH)}"
    gone = ", ".join(one for one in old if one not in new)
    come = ", ".join(one for one in new if one not in old)
    parts = [
        f"{word} {clean(some, VALUE_LENGTH)}"
        for word, some in (("without", gone), ("with", come))
        if some
    ]
    return " and ".join(parts)


def _some(values: tuple[str, ...]) -> str:
    shown = " or ".join(clean(value, VALUE_LENGTH) for value in values[:VALUES_SHOWN])
    more = len(values) - VALUES_SHOWN
    return f"{shown} or {more:,} others" if more > 0 else shown
