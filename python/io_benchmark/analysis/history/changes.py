# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What changed in host and storage where a level does.

A fact that is one thing on all workers before and another on all after changed here. Since noise
can put a change one or two points beside where it was, a fact that is one thing up to a point near
by and another from there on is told as well, with how far off it is. What varies on a side is no
explanation by itself, and listed apart.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from io_benchmark.analysis.history.history_model import FactChange, Facts, FactSpread

# As far as noise is seen to move a change that is worth looking at.
POINTS_NEAR = 2

# A worker's point and what was observed there, by point.
Observed = Sequence[tuple[int, Facts]]


@dataclass(frozen=True)
class FactChanges:
    changed: tuple[FactChange, ...]
    varied: tuple[FactSpread, ...]
    unobserved: bool


def fact_changes(observed: Observed, at: int) -> FactChanges:
    """What changed at point `at`, what near it, and what varies."""
    changed: list[FactChange] = []
    varied: list[FactSpread] = []
    seen = False
    for name in _names(observed):
        values = [
            (point, value) for point, facts in observed for key, value in facts if key == name
        ]
        before = tuple(sorted({value for point, value in values if point < at}))
        after = tuple(sorted({value for point, value in values if point >= at}))
        if not before or not after:
            continue
        seen = True
        if before == after and len(before) == 1:
            continue
        switch = _switch(values)
        if switch is not None and abs(switch.at - at) <= POINTS_NEAR:
            changed.append(FactChange(name, switch.before, switch.after, switch.at - at))
        else:
            varied.append(FactSpread(name, before, after))
    changed.sort(key=lambda one: abs(one.points_off))
    return FactChanges(tuple(changed), tuple(varied), not seen)


def _names(observed: Observed) -> list[str]:
    """In the order in which the facts are told."""
    return list(dict.fromkeys(name for _, facts in observed for name, _ in facts))


@dataclass(frozen=True)
class _Switch:
    before: str
    after: str
    at: int  # the first point with the new value


def _switch(values: Sequence[tuple[int, str]]) -> _Switch | None:
    """Where it is one thing on all workers up to a point, and another from that point on."""
    pieces = [
        (value, [point for point, _ in some])
        for value, some in itertools.groupby(sorted(values), key=lambda one: one[1])
    ]
    if len(pieces) != 2 or pieces[0][1][-1] == pieces[1][1][0]:
        return None
    (before, _), (after, points) = pieces
    return _Switch(before, after, points[0])
