# SPDX-License-Identifier: MPL-2.0
"""Compare the places of one task: the same work in each of them.

Each place is compared with the first that the task names, within the worker: one machine with itself,
so that nothing is assumed of how machines differ. Different work is not compared; the same work done
by a different method is, and the method is named.
"""

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.model import Run, Subject, Worker
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.analysis.observed.worker_view import LAYERED, View
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import AtPlace, PlaceRow, Places, SubjectReport
from io_benchmark.analysis.statements import Statement, count, joined, statement
from io_benchmark.analysis.validity import comparability, rules
from io_benchmark.text import clean

_KINDS = {"overlay": "container overlay"}
_FACT_LENGTH = 40


def compare_places(
    plan: Plan,
    workers: Sequence[Worker],
    compared: Mapping[Subject, Sequence[Run]],
    reports: Sequence[SubjectReport],
) -> tuple[Places, ...]:
    """Return a table for each measurement in more than one place of a task, in the report's order."""
    in_order = [
        (worker, _places_of(worker))
        for side in plan.order({worker.side for worker in workers})
        for worker in workers
        if worker.side == side
    ]
    by_subject = {report.subject: report for report in reports}
    tables = []
    for measurement in dict.fromkeys(_without_place(subject) for subject in compared):
        measuring = [worker for worker, places in in_order if measurement in places]
        names_by_worker = [places.get(measurement, ()) for _, places in in_order]
        if any(len(names) > 1 for names in names_by_worker):
            names = list(dict.fromkeys(itertools.chain(*names_by_worker)))
            table = _Table(measurement, names[0], measuring, compared, by_subject)
            tables.append(Places(table.at(names[0]), tuple(map(table.row, names))))
    return tuple(tables)


def _without_place(subject: Subject) -> Subject:
    return replace(subject, place="")


def _places_of(worker: Worker) -> Mapping[Subject, Collection[str]]:
    """Return where a task measures what, in the order in which it names its places."""
    order = {place.name: at for at, place in enumerate(worker.result.config.places)}
    places: dict[Subject, dict[str, None]] = {}
    for subject in sorted(
        (entry.subject for entry in worker.entries),
        key=lambda subject: order.get(subject.place, len(order)),
    ):
        places.setdefault(_without_place(subject), {})[subject.place] = None
    return places


class _Table(Struct, frozen=True):
    """The rows of one measurement."""

    measurement: Subject
    first: str  # place
    workers: Sequence[Worker]
    compared: Mapping[Subject, Sequence[Run]]
    reports: Mapping[Subject, SubjectReport]

    def at(self, place: str) -> Subject:
        return replace(self.measurement, place=place)

    def row(self, place: str) -> PlaceRow:
        report = self.reports.get(self.at(place))
        sides = tuple(
            self._side(place, side)
            for side in dict.fromkeys(worker.side for worker in self.workers)
        )
        return PlaceRow(place, sides, report.comparisons if report is not None else ())

    def _side(self, place: str, side: str) -> AtPlace:
        measured = [
            Run(worker, entry)
            for worker in self.workers
            for entry in worker.entries
            if worker.side == side and entry.subject == self.at(place)
        ]
        runs = self._runs(place, side)
        at_place = AtPlace(
            side=side,
            kind=" or ".join(
                dict.fromkeys(_place_kind(View(run.worker, self.at(place))) for run in measured)
            ),
            mean_ns=self.reports[self.at(place)].figures[side].mean_ns if runs else None,
            missing=None if runs else _reason_missing(measured),
            differences=_distinct(rules.cut_short(run) for run in runs),
        )
        return at_place if place == self.first or not runs else self._compare(at_place, runs)

    def _runs(self, place: str, side: str) -> list[Run]:
        """Return the runs that a verdict could rest on."""
        return [run for run in self.compared.get(self.at(place), ()) if run.worker.side == side]

    def _compare(self, at_place: AtPlace, runs: Sequence[Run]) -> AtPlace:
        """Compare runs with those of the same tasks at the first place."""
        first = {id(run.worker): run for run in self._runs(self.first, at_place.side)}
        paired = [run for run in runs if id(run.worker) in first]
        if not paired:
            return replace(
                at_place,
                not_compared=statement("nothing was measured at {first}", first=self.first),
            )
        other_work = _differences(comparability.SAME_WORK, paired, first)
        if other_work:
            different = statement("different work: {traits}", traits=joined(other_work, "; "))
            return replace(at_place, not_compared=different)
        machines = by_machine(paired)
        estimate = Estimate.within_workers(
            [
                [(run.entry, first[id(run.worker)].entry) for run in of_machine]
                for of_machine in machines
            ]
        )
        unpaired = len(runs) - len(paired)
        without = statement(
            "{runs} of its runs have nothing at {first}", runs=count(unpaired), first=self.first
        )
        return replace(
            at_place,
            ratio=estimate.ratio,
            means_ns=(
                SideData.of(paired).mean_ns,
                SideData.of([first[id(run.worker)] for run in paired]).mean_ns,
            ),
            interval=estimate.interval(LEVEL),
            method=estimate.method,
            workers=len(machines),
            differences=(
                *at_place.differences,
                *_differences(comparability.SAME_METHOD, paired, first),
                *([without] if unpaired else []),
            ),
        )


def _reason_missing(runs: Sequence[Run]) -> Statement:
    reasons = _distinct(map(rules.reason_left_out, runs))
    return joined(reasons, "; ") if reasons else statement("no task of it measures this there")


def _differences(
    trait_rules: Sequence[comparability.TraitRule], runs: Sequence[Run], first: Mapping[int, Run]
) -> tuple[Statement, ...]:
    """Return by which traits runs differ from those of the same workers at the first place."""
    return _distinct(
        _difference(rule, run, first[id(run.worker)]) for rule in trait_rules for run in runs
    )


def _difference(rule: comparability.TraitRule, run: Run, first: Run) -> Statement | None:
    if rule(run) == rule(first):
        return None
    here, there = comparability.distinct_traits([rule(run), rule(first)])
    place = first.entry.subject.place
    return statement("{here} here, {there} at {first}", here=here, there=there, first=place)


def _distinct(statements: Iterable[Statement | None]) -> tuple[Statement, ...]:
    return tuple(dict.fromkeys(filter(None, statements)))


def _place_kind(view: View) -> str:
    """Return 'volume, ext4', 'container overlay' or 'memory, tmpfs'."""
    observed = view.place
    if observed is None or observed.kind is None:
        reason = observed.failed if observed is not None else None
        return f"could not be observed: {clean(reason, 120)}" if reason else "of an unknown kind"
    kind = clean(_KINDS.get(observed.kind, observed.kind), _FACT_LENGTH)
    filesystem = view.filesystem_type
    # The kind of a layered place has its file system in it already.
    if filesystem is None or filesystem in LAYERED:
        return kind
    return f"{kind}, {clean(filesystem, _FACT_LENGTH)}"
