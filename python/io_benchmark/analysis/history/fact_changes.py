# SPDX-License-Identifier: MPL-2.0
"""Which facts about workers changed where a level changes.

A fact changed here if it has one value on all workers before and a different one on all workers
after. Noise can move a change by one or two points. So a fact that changes at a nearby point is also
listed, with its distance. A fact that varies before or after the change does not explain it, and is
listed separately.
"""

import itertools
from collections.abc import Iterable, Sequence

from io_benchmark.analysis.history.history_model import FactChange, FactSpread
from io_benchmark.analysis.observed.host_facts import Facts, FactValue

# How far noise can move a change that is large enough to matter.
_POINTS_NEAR = 2


def fact_changes(
    observed: Iterable[tuple[int, Facts]], start: int
) -> tuple[tuple[FactChange, ...], tuple[FactSpread, ...], bool]:
    """Return what changed at point `start` or near it, what varies, and whether nothing was observed.

    `observed` has the number of a point and the facts of a worker, for each worker.
    """
    values: dict[str, list[tuple[int, FactValue]]] = {}
    for point, facts in sorted(observed, key=lambda pair: pair[0]):
        for name, value in facts:
            values.setdefault(name, []).append((point, value))
    changed: list[FactChange] = []
    varied: list[FactSpread] = []
    unobserved = True
    for name, pairs in values.items():
        before = tuple(sorted({value for point, value in pairs if point < start}, key=str))
        after = tuple(sorted({value for point, value in pairs if point >= start}, key=str))
        if before and after:
            unobserved = False
            change = _single_change(name, pairs, start)
            if change is not None and abs(change.points_off) <= _POINTS_NEAR:
                changed.append(change)
            elif before != after or len(before) > 1:
                varied.append(FactSpread(name, before, after))
    changed.sort(key=lambda change: abs(change.points_off))
    return tuple(changed), tuple(varied), unobserved


def _single_change(
    name: str, pairs: Sequence[tuple[int, FactValue]], start: int
) -> FactChange | None:
    """Return where a fact has one value on all workers before, and a different one from there on."""
    pieces = [
        (value, [point for point, _ in piece])
        for value, piece in itertools.groupby(
            sorted(pairs, key=lambda pair: (pair[0], str(pair[1]))), key=lambda pair: pair[1]
        )
    ]
    if len(pieces) != 2 or pieces[0][1][-1] == pieces[1][1][0]:
        return None
    (before, _), (after, points) = pieces
    return FactChange(name, before, after, points[0] - start)
