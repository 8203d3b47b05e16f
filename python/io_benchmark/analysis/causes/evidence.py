# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Evidence as short plain text: what each side has, over all of its workers.

It comes from result files that anyone's task can have written.
"""

from collections import Counter
from collections.abc import Sequence

MAXIMUM_FACT = 120
MAXIMUM_EVIDENCE = 400
VARIANTS_SHOWN = 4
MIB = 1024 * 1024
GIB = 1024 * MIB
UNKNOWN = "unknown"


def plain(text: str, limit: int = MAXIMUM_FACT) -> str:
    """One printable line of at most `limit` characters; what would be interpreted shows as '?'."""
    if len(text) <= limit and text.isprintable():
        return text
    cut = text[: limit + 1]
    shown = "".join(character if character.isprintable() else "?" for character in cut)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def tally(texts: Sequence[str | None]) -> str:
    """'one disk' for a single worker, 'one disk on 3 of 3 workers' for several."""
    if not texts:
        return "no worker"
    names = [UNKNOWN if text is None else text or "(empty)" for text in texts]
    if len(names) == 1:
        return plain(names[0], MAXIMUM_EVIDENCE)
    ordered = sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))
    shown = [
        f"{plain(text)} on {count} of {len(names)} workers"
        for text, count in ordered[:VARIANTS_SHOWN]
    ]
    left = len(ordered) - VARIANTS_SHOWN
    return plain(", ".join(shown) + (f", {left} more" if left > 0 else ""), MAXIMUM_EVIDENCE)


def span(values: Sequence[float | None], unit: str, digits: int = 0) -> str:
    """'388 MiB/s' for a single worker, '371 to 402 MiB/s on 3 workers' for several."""
    known = [value for value in values if value is not None]
    if not known:
        return UNKNOWN
    low, high = (f"{value:,.{digits}f}" for value in (min(known), max(known)))
    text = f"{low} {unit}" if low == high else f"{low} to {high} {unit}"
    if len(known) < len(values):
        return f"{text} on {len(known)} of {len(values)} workers"
    return text if len(values) == 1 else f"{text} on {len(values)} workers"


def gib(size_bytes: float) -> str:
    if size_bytes < GIB:
        return f"{size_bytes / MIB:,.0f} MiB"
    return f"{size_bytes / GIB:,.{1 if size_bytes < 10 * GIB else 0}f} GiB"
