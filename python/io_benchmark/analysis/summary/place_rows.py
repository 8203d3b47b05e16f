# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Storage configurations beside each other: the same work in each place that a task names.

The first place that a task names is what its others are held against, within the worker: one machine
with itself, so that nothing is assumed of how machines differ. Other work is not held against it; the
same work done in another way is, and the way is named.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from io_benchmark.analysis.inference import estimates, independent_workers
from io_benchmark.analysis.model import Comparison, Subject, Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import AtPlace, PlaceRow, Places, SubjectReport
from io_benchmark.analysis.validity import comparability, rules
from io_benchmark.analysis.validity.comparability import Run
from io_benchmark.analysis.words import plain

KINDS = {"overlay": "container overlay"}
# A place's kind says it already.
OVERLAYS = ("overlay", "aufs")
FACT_LENGTH = 40


def of(
    plan: Plan,
    workers: Sequence[Worker],
    compared: Mapping[Subject, Sequence[Run]],
    reports: Sequence[SubjectReport],
) -> tuple[Places, ...]:
    """One for all that a task measured in more than one place, in the report's order."""
    sides: dict[str, list[Worker]] = {}
    for worker in workers:
        sides.setdefault(worker.side, []).append(worker)
    named = [(worker, _named(worker)) for side in plan.order(sides) for worker in sides[side]]
    by_subject = {report.subject: report for report in reports}
    found = []
    for measurement in dict.fromkeys(_anywhere(subject) for subject in compared):
        own = [(worker, places[measurement]) for worker, places in named if measurement in places]
        if any(len(places) > 1 for _, places in own):
            rows = list(dict.fromkeys(place for _, places in own for place in places))
            table = _Table(measurement, rows[0], [one for one, _ in own], compared, by_subject)
            found.append(Places(table.at(rows[0]), tuple(map(table.row, rows))))
    return tuple(found)


def _anywhere(subject: Subject) -> Subject:
    return replace(subject, place="")


def _named(worker: Worker) -> dict[Subject, list[str]]:
    """Where a task measures what, in the order in which it names its places."""
    order = {place.name: at for at, place in enumerate(worker.result.config.places)}
    found: dict[Subject, dict[str, None]] = {}
    for entry in sorted(worker.entries, key=lambda one: order.get(one.subject.place, len(order))):
        found.setdefault(_anywhere(entry.subject), {})[entry.subject.place] = None
    return {measurement: list(places) for measurement, places in found.items()}


class _Table:
    """One measurement's rows."""

    def __init__(
        self,
        measurement: Subject,
        first: str,
        workers: Sequence[Worker],
        compared: Mapping[Subject, Sequence[Run]],
        reports: Mapping[Subject, SubjectReport],
    ) -> None:
        self._measurement = measurement
        self._first = first
        self._compared = compared
        self._reports = reports
        self._workers: dict[str, list[Worker]] = {}
        for worker in workers:
            self._workers.setdefault(worker.side, []).append(worker)

    def at(self, place: str) -> Subject:
        return replace(self._measurement, place=place)

    def row(self, place: str) -> PlaceRow:
        report = self._reports.get(self.at(place))
        comparisons: tuple[Comparison, ...] = report.comparisons if report is not None else ()
        return PlaceRow(
            place, tuple(self._side(place, side) for side in self._workers), comparisons
        )

    def _side(self, place: str, side: str) -> AtPlace:
        here = [
            (worker, entry)
            for worker in self._workers[side]
            for entry in worker.entries
            if entry.subject == self.at(place)
        ]
        runs = self._runs(place, side)
        found = AtPlace(
            side=side,
            what=" or ".join(dict.fromkeys(what(worker, place) for worker, _ in here)),
            mean_ns=self._reports[self.at(place)].figures[side].mean_ns if runs else None,
            missing="" if runs else _why_missing(here),
            ratio=None,
            interval=None,
            method="",
            workers=0,
            not_held="",
            differs=_once(rules.cut_short(run) for run in runs),
        )
        return found if place == self._first or not runs else self._held(found, side, runs)

    def _runs(self, place: str, side: str) -> list[Run]:
        """Those that a verdict could rest on."""
        return [run for run in self._compared.get(self.at(place), ()) if run[0].side == side]

    def _held(self, found: AtPlace, side: str, runs: Sequence[Run]) -> AtPlace:
        """Against the same tasks' runs at the first place."""
        first = {id(worker): (worker, entry) for worker, entry in self._runs(self._first, side)}
        pairs = [(run, first[id(run[0])]) for run in runs if id(run[0]) in first]
        if not pairs:
            return replace(found, not_held=f"nothing of {self._first} to hold it against")
        other_work = _once(
            _difference(rule, *pair) for rule in comparability.SAME_WORK for pair in pairs
        )
        if other_work:
            return replace(found, not_held=f"other work: {'; '.join(other_work)}")
        by_machine = independent_workers.by_machine([run for run, _ in pairs])
        estimate = estimates.within_workers(
            [
                [(entry, first[id(worker)][1]) for worker, entry in shared]
                for shared in by_machine.values()
            ]
        )
        ways = _once(_difference(rule, *pair) for rule in comparability.WAYS for pair in pairs)
        alone = len(runs) - len(pairs)
        without = (f"{alone} of its runs have nothing at {self._first}",) if alone else ()
        return replace(
            found,
            ratio=estimate.ratio,
            interval=estimates.interval(estimate, estimates.LEVEL),
            method=estimate.method,
            workers=len(by_machine),
            differs=(*found.differs, *ways, *without),
        )


def _why_missing(runs: Sequence[Run]) -> str:
    return "; ".join(_once(map(rules.left_out, runs))) or "no task of it measures this there"


def _difference(rule: Callable[[Run], str | None], run: Run, first: Run) -> str | None:
    here, there = rule(run), rule(first)
    if here == there:
        return None
    if rule is comparability.parameters:
        (here,), (there,) = comparability.without_common([here or ""], [there or ""])
    return f"{here or 'nothing'} here, {there or 'nothing'} at {first[1].subject.place}"


def _once(words: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, words)))


def what(worker: Worker, place: str) -> str:
    """'volume, ext4', 'container overlay', 'memory, tmpfs'."""
    seen = next((one for one in worker.result.storage.places if one.name == place), None)
    if seen is None or seen.kind is None:
        why = seen.failed if seen is not None else None
        return f"could not be looked at: {plain(why, 120)}" if why else "of an unknown kind"
    kind = plain(KINDS.get(seen.kind, seen.kind), FACT_LENGTH)
    if seen.filesystem is not None:
        system: str | None = seen.filesystem.type
    else:
        system = seen.mount.filesystem if seen.mount is not None else None
    if system is None or system in OVERLAYS:
        return kind
    return f"{kind}, {plain(system, FACT_LENGTH)}"
