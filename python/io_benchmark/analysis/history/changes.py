# SPDX-License-Identifier: MPL-2.0
"""Changes of host and storage where a level changes.

A fact changed here if it has one value on all workers before and a different one on all workers
after. Noise can move a change by one or two points. So a fact that changes at a nearby point is also
listed, with its distance. A fact that varies before or after the change does not explain it, and is
listed separately.
"""

import itertools
from collections.abc import Sequence

from io_benchmark.analysis.history.history_model import FactChange, Facts, FactSpread, FactValue

# How far noise can move a change that is large enough to matter.
_POINTS_NEAR = 2


_PointFacts = tuple[int, Facts]  # the facts of one worker, and the number of its point


def fact_changes(
    observed: Sequence[_PointFacts], at: int
) -> tuple[tuple[FactChange, ...], tuple[FactSpread, ...], bool]:
    """Return what changed at point `at` or near it, what varies, and whether nothing was observed."""
    changed: list[FactChange] = []
    varied: list[FactSpread] = []
    seen = False
    for name in _names(observed):
        values = [
            (point, value) for point, facts in observed for key, value in facts if key == name
        ]
        before = tuple(sorted({value for point, value in values if point < at}, key=str))
        after = tuple(sorted({value for point, value in values if point >= at}, key=str))
        if not before or not after:
            continue
        seen = True
        if before == after and len(before) == 1:
            continue
        change = _single_change(name, values, at)
        if change is not None and abs(change.points_off) <= _POINTS_NEAR:
            changed.append(change)
        else:
            varied.append(FactSpread(name, before, after))
    changed.sort(key=lambda change: abs(change.points_off))
    return tuple(changed), tuple(varied), not seen


def _names(observed: Sequence[_PointFacts]) -> list[str]:
    """Return the facts' names in the order of the facts."""
    return list(dict.fromkeys(name for _, facts in observed for name, _ in facts))


def _single_change(
    name: str, values: Sequence[tuple[int, FactValue]], at: int
) -> FactChange | None:
    """Return where a fact has one value on all workers before, and a different one from there on."""
    pieces = [
        (value, [point for point, _ in pairs])
        for value, pairs in itertools.groupby(
            sorted(values, key=_by_point), key=lambda pair: pair[1]
        )
    ]
    if len(pieces) != 2 or pieces[0][1][-1] == pieces[1][1][0]:
        return None
    (before, _), (after, points) = pieces
    return FactChange(name, before, after, points[0] - at)


def _by_point(pair: tuple[int, FactValue]) -> tuple[int, str]:
    point, value = pair
    return point, str(value)
