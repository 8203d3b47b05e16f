# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Evidence as short plain text: what each side has, over all of its workers.

It comes from result files that anyone's task can have written. Workers are counted, not runs: what a
worker showed in any of its runs, it has.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from io_benchmark.analysis.diagnosis.case import View, by_worker
from io_benchmark.analysis.model import UNKNOWN
from io_benchmark.text import clean

MAXIMUM_FACT = 120
MAXIMUM_EVIDENCE = 400
VARIANTS_SHOWN = 4
MIB = 1024 * 1024
GIB = 1024 * MIB


def plain(text: str, limit: int = MAXIMUM_FACT) -> str:
    """Return one safe line, by default as long as one fact of a worker may be."""
    return clean(text, limit)


def tally(views: Sequence[View], text: Callable[[View], str | None]) -> str:
    """'one disk' for a single worker, 'one disk on 3 of 3 workers' for several."""
    workers = by_worker(views)
    if not workers:
        return "no worker"
    if len(workers) == 1:
        (runs,) = workers
        told, count, of = Counter(map(text, runs)), len(runs), "runs"
    else:
        told = Counter(one for runs in workers for one in _told(set(map(text, runs))))
        count, of = len(workers), "workers"
    names = {UNKNOWN if one is None else one or "(empty)": seen for one, seen in told.items()}
    if len(workers) == len(names) == 1:
        return plain(next(iter(names)), MAXIMUM_EVIDENCE)
    ordered = sorted(names.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{plain(name)} on {seen} of {count} {of}" for name, seen in ordered[:VARIANTS_SHOWN]]
    left = len(ordered) - VARIANTS_SHOWN
    return plain(", ".join(shown) + (f", {left} more" if left > 0 else ""), MAXIMUM_EVIDENCE)


def _told(texts: set[str | None]) -> set[str | None]:
    """What a worker's runs tell; that one of them did not tell is no fact beside it."""
    return texts - {None} or texts


def span(
    views: Sequence[View], value: Callable[[View], float | None], unit: str, digits: int = 0
) -> str:
    """'388 MiB/s' for a single worker, '371 to 402 MiB/s on 3 workers' for several."""
    values = [[one for one in map(value, runs) if one is not None] for runs in by_worker(views)]
    known = [one for runs in values for one in runs]
    if not known:
        return UNKNOWN
    low, high = (f"{value:,.{digits}f}" for value in (min(known), max(known)))
    text = f"{low} {unit}" if low == high else f"{low} to {high} {unit}"
    telling = sum(map(bool, values))
    if telling < len(values):
        return f"{text} on {telling} of {len(values)} workers"
    return text if len(values) == 1 else f"{text} on {len(values)} workers"


def gib(size_bytes: float) -> str:
    if size_bytes < GIB:
        return f"{size_bytes / MIB:,.0f} MiB"
    return f"{size_bytes / GIB:,.{1 if size_bytes < 10 * GIB else 0}f} GiB"
