# SPDX-License-Identifier: MPL-2.0
"""The facts of a pool's machines: of which kinds they are, and which facts a change comes with."""

from collections import Counter
from collections.abc import Mapping, Sequence

from io_benchmark.analysis.fleet.figure_series import REMEMBERED, Shift
from io_benchmark.analysis.fleet.fleet_model import ChangedFact
from io_benchmark.analysis.fleet.pool_readings import Located
from io_benchmark.analysis.fleet.readings import LOCAL_SSDS
from io_benchmark.analysis.reading.machines import KIND_FACTS, Facts, FactValue

# The facts by which machines of one pool are of several kinds. A kernel changes with the image of
# all machines, and each machine is in some zone.
_KINDS = {LOCAL_SSDS, *KIND_FACTS} - {"kernel", "zone"}
# A fact changes where it was the same in so many pushes before. Others change all the time.
_FACT_PUSHES = 8

Push = Sequence[Located]


def kind_of(facts: Facts) -> Facts:
    return tuple(fact for fact in facts if fact[0] in _KINDS)


def facts_changed(pushes: Sequence[Push]) -> list[bool]:
    """Return for each push whether a fact changed there that was the same for long."""
    # By fact: its value, None where machines differ, and for how many pushes.
    lasted: dict[str, tuple[FactValue | None, int]] = {}
    changed = []
    for push in pushes:
        values_by_name: dict[str, set[FactValue]] = {}
        for item in push:
            for name, fact_value in item.reading.facts:
                values_by_name.setdefault(name, set()).add(fact_value)
        is_changed = False
        for name, values in values_by_name.items():
            value = values.pop() if len(values) == 1 else None
            before, count = lasted.get(name, (None, 0))
            if value == before:
                lasted[name] = (value, count + 1)
                continue
            lasted[name] = (value, 1)
            if value is not None and before is not None and count >= _FACT_PUSHES:
                is_changed = True
        changed.append(is_changed)
    return changed


def facts_of_change(
    pushes: Sequence[Push], shift: Shift, kinds: Mapping[Facts, int]
) -> tuple[ChangedFact, ...]:
    """Return what is true of all affected machines, and was of none just before.

    Noise can move a change by a push, so that facts which changed one push off count as well.
    """
    reach = _FACT_PUSHES if shift.kind is None else REMEMBERED
    for start in (shift.start, shift.start - 1, shift.start + 1):
        before = [item for push in pushes[max(0, start - reach) : start] for item in push]
        after = [
            item
            for push in pushes[start:]
            for item in push
            if shift.kind in (None, kinds[kind_of(item.reading.facts)])
        ]
        changed = _new_facts(before, after, is_kind=shift.kind is not None) if after else ()
        if changed:
            return changed
    return ()


def _new_facts(
    before: Sequence[Located], after: Sequence[Located], *, is_kind: bool
) -> tuple[ChangedFact, ...]:
    changed = []
    facts_after = [dict(item.reading.facts) for item in after]
    for name, value in facts_after[0].items():
        facts_before = (dict(item.reading.facts).get(name) for item in before)
        values = Counter(each for each in facts_before if each is not None)
        # What varied before does not explain a change, unless it tells machines apart.
        is_steady = len(values) == 1 or (is_kind and values and name in _KINDS)
        is_of_all = all(facts.get(name) == value for facts in facts_after)
        if is_steady and is_of_all and value not in values:
            usual = max(values, key=lambda each: (values[each], repr(each)))
            changed.append(ChangedFact(name, usual, value))
    return tuple(changed)
