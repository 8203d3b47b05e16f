# SPDX-License-Identifier: MPL-2.0
"""What a reader must know of a pool besides its figures: mixed machines, old results, new names."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta

from io_benchmark.analysis.fleet.changes import PRICE
from io_benchmark.analysis.fleet.fleet_model import FleetChange
from io_benchmark.analysis.fleet.pool_readings import Located, PoolReadings, machines_of
from io_benchmark.analysis.fleet.readings import LOCAL_SSDS, NO_DISKS
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.statements import Statement, count, joined, statement
from io_benchmark.analysis.reading.machines import KIND_FACTS, Facts, FactValue
from io_benchmark.number_text import plural

# A pool that missed this many days was not measured in three weeks of a weekly cron.
_OLD_DAYS = 21
# Facts that machines have now: older machines may be gone.
_RECENT = timedelta(weeks=8)
# Each machine is in some zone, and pools have several.
_USUALLY_DIFFER = ("zone",)
_MIXED_FACTS: Mapping[str, str] = {
    LOCAL_SSDS: "{} local SSDs",
    **{name: words for name, words in KIND_FACTS.items() if name not in _USUALLY_DIFFER},
    "image": "the image {}",
    "schedulers": "the I/O scheduler {}",
    "I/O limits": "the I/O limits {}",
    "CPU limits": "the CPU limits {}",
}
_ONE = {"disks": "1 disk", "CPUs": "1 CPU", LOCAL_SSDS: "1 local SSD"}
_NONE = {LOCAL_SSDS: "no local SSD", "I/O limits": "no I/O limits", "CPU limits": "no CPU limits"}
_MOST_MIXED = 3  # flags about a pool's machines


def flags_of(
    pool: PoolReadings, changes: Sequence[FleetChange], as_of: date, renamed: Sequence[Statement]
) -> tuple[Statement, ...]:
    """Return the flags of a pool, what limits its figures most first."""
    flags = [*_changed(changes), *mixed_machines(recent(pool, changes)), *renamed]
    days = (as_of - pool.last).days
    if days > _OLD_DAYS:
        flags.append(statement("not measured for {days} days", days=count(days)))
    if machines_of(pool.located) == 1:
        flags.append(statement("one machine only"))
    return tuple(flags)


def recent(pool: PoolReadings, changes: Sequence[FleetChange]) -> list[Located]:
    """Return the readings of the machines that a pool has now, since its last change."""
    days = [change.since for change in changes if change.figure != PRICE]
    return pool.since(max([pool.last - _RECENT, *(day for day in days if day <= pool.last)]))


def _changed(changes: Sequence[FleetChange]) -> Iterable[Statement]:
    """Return the slowdowns that no later change of the same figure followed."""
    figures = set()
    for change in changes:  # the newest first
        if change.figure in figures:
            continue
        figures.add(change.figure)
        if change.ratio <= 1:
            continue
        since = change.since.isoformat()
        lead = statement(
            "dearer since {since}" if change.figure == PRICE else "slower since {since}",
            since=since,
        )
        if 0 < change.machines < change.of_machines:
            part = statement(
                "{machines} of {all} machines",
                machines=count(change.machines),
                all=count(change.of_machines),
            )
            lead = statement("{lead}, {part}", lead=lead, part=part)
        names = [fact.name for fact in change.facts]
        yield statement("{lead}: {facts}", lead=lead, facts=joined(names)) if names else lead


def mixed_machines(located: Sequence[Located]) -> list[Statement]:
    """Return by which facts a pool's machines differ, in the most telling words only.

    A value that all machines have from some push on is a change, and its machines are alike. Facts
    that divide the machines in the same way are stated once.
    """
    flags: list[Statement] = []
    divisions: set[frozenset[frozenset[str]]] = set()
    for name, words in _MIXED_FACTS.items():
        newest = _current_values(located, name)
        values = Counter(newest.values())
        if len(values) < 2:
            continue
        alike = grouped(newest, newest.__getitem__).values()
        division = frozenset(map(frozenset, alike))
        if division in divisions:
            continue
        divisions.add(division)
        usual = max(values, key=lambda value: (values[value], value))
        for value, machines in sorted(values.items(), key=lambda item: (-item[1], item[0])):
            if value != usual:
                flags.append(_machines_have(machines, len(newest), name, words, value))
    return flags[:_MOST_MIXED]


def _current_values(located: Sequence[Located], name: str) -> dict[str, str]:
    """Return the newest value of a fact by machine, of values that are mixed with the newest."""
    spans: dict[str, tuple[int, int]] = {}
    newest: dict[str, str] = {}
    for item in located:
        value = _value(item.reading.facts, name)
        if value is not None:
            first, _ = spans.get(value, (item.push, 0))
            spans[value] = first, item.push
            newest[item.machine] = value
    begin = max((last for _, last in spans.values()), default=0)
    kept = set()
    for value, (first, last) in sorted(spans.items(), key=lambda span: span[1][1], reverse=True):
        if last >= begin:
            kept.add(value)
            begin = min(begin, first)
    return {machine: value for machine, value in newest.items() if value in kept}


def _value(facts: Facts, name: str) -> str | None:
    value: FactValue | None = next((value for fact, value in facts if fact == name), None)
    return value if value is None or isinstance(value, str) else ",".join(value)


def _machines_have(
    machines: int, all_machines: int, name: str, words: str, value: str
) -> Statement:
    """Return '3 of 12 machines have no local SSD'."""
    if value == NO_DISKS and name in _NONE:
        words = _NONE[name]
    elif value == "1" and name in _ONE:
        words = _ONE[name]
    else:
        words = words.format("{value}")
    verb = "has" if machines == 1 else "have"
    template = f"{{machines}} of {{all}} {plural(all_machines, 'machine')} {verb} {words}"
    return statement(template, machines=count(machines), all=count(all_machines), value=value)


def renamed_pools(pools: Sequence[PoolReadings]) -> dict[str, list[Statement]]:
    """Return, by pool, which one it probably was before, or is now: of the same worker type.

    Both pools keep their rows: a new name may be a new pool.
    """
    flags: dict[str, list[Statement]] = {pool.pool: [] for pool in pools}
    with_queue = [pool for pool in pools if pool.queue]
    for members in grouped(with_queue, lambda pool: pool.queue).values():
        for pool in members:
            ended = [former for former in members if former.last < pool.first]
            if ended:
                former = max(ended, key=lambda each: (each.last, each.pool))
                template = "probably {former} until {last}: the same worker type"
                flag = statement(template, former=former.pool, last=former.last.isoformat())
                flags[pool.pool].append(flag)
                template = "probably {pool} since {first}: the same worker type"
                flag = statement(template, pool=pool.pool, first=pool.first.isoformat())
                flags[former.pool].append(flag)
    return flags
