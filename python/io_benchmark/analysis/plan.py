# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Which sides there are, and which is held against which."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from io_benchmark.errors import UsageError
from io_benchmark.text import clean_name

BEFORE, AFTER = "before", "after"


@dataclass(frozen=True)
class Plan:
    title: str
    baseline: str
    baseline_reason: str
    pairs: tuple[tuple[str, str], ...]  # (candidate, baseline)

    def order(self, sides: Collection[str]) -> list[str]:
        """Each pair's baseline before its candidate, then what is in no pair."""
        paired = [side for pair in self.pairs for side in reversed(pair)]
        return [side for side in dict.fromkeys([*paired, *sorted(sides)]) if side in sides]


def pools(names: Iterable[str], wanted: str | None) -> Plan:
    """Each pool against one of them."""
    found = sorted(set(names))
    if wanted is not None and wanted not in found:
        listed = ", ".join(found) or "none"
        raise UsageError(f"--baseline {clean_name(wanted)}: no such pool here; there are {listed}")
    if not found:
        return Plan("Pools", "", "there are no results", ())
    baseline = wanted or found[-1]
    reason = "--baseline" if wanted else "the last by name; --baseline chooses another"
    others = [pool for pool in found if pool != baseline]
    return Plan(
        f"{', '.join(others) or 'nothing'} against {baseline}",
        baseline,
        reason,
        tuple((pool, baseline) for pool in others),
    )


def before_and_after(names: Iterable[str]) -> Plan:
    """Each pool against itself, earlier."""
    found = sorted(set(names))
    return Plan(
        f"{', '.join(found)}: {AFTER} against {BEFORE}",
        BEFORE,
        "--against",
        tuple((f"{pool} {AFTER}", f"{pool} {BEFORE}") for pool in found),
    )
