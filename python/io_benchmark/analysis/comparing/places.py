# SPDX-License-Identifier: MPL-2.0
"""Compare the places of one task: the same work in each of them.

Each place is compared with the first that the task names, within the worker: one machine with
itself, so that nothing is assumed of how machines differ. Several machines show how far their
ratios differ; a single one shows only its own noise. Different work is not compared; the same work
done by a different method is, and the method is named.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, product
from operator import add, attrgetter, sub
from statistics import fmean
from typing import NamedTuple, Self

from msgspec.structs import replace

from io_benchmark.analysis.model.groups import by_machine, grouped
from io_benchmark.analysis.model.measurement import Measurement, SubjectReport
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.report import AtPlace, PlaceRow, Places
from io_benchmark.analysis.model.run import Run, Worker
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import Statement, count, joined, statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.reading.mounts import LAYERED, filesystem_type
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.analysis.statistics.machine_ratios import MachineRatio
from io_benchmark.analysis.statistics.noise import RelativeTimes
from io_benchmark.analysis.statistics.ratios import RUNS, Estimate
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.analysis.validity import rules
from io_benchmark.text import clean

_KINDS = {"overlay": "container overlay"}
_FACT_LENGTH = 40
IN_TURNS = "turns"
_FEWEST_TURNS = 5
_NOT_MEASURED = statement("no task of it measures this there")


def compare_places(
    plan: Plan,
    workers: Sequence[Worker],
    measurements: Sequence[Measurement],
    reports: Sequence[SubjectReport],
) -> tuple[Places, ...]:
    """Return a table for each measurement in several places of a task, in the report's order."""
    sides = grouped(workers, attrgetter("side"))
    in_order = [worker for side in plan.order(sides) for worker in sides[side]]
    measured = chain.from_iterable(map(_runs, in_order))
    runs = grouped(measured, lambda run: replace(run.subject, place=""))
    compared = {measurement.subject: measurement.sides for measurement in measurements}
    by_subject = {report.subject: report for report in reports}
    tables = []
    for measurement in dict.fromkeys(replace(subject, place="") for subject in compared):
        places = {(id(run.worker), run.subject.place) for run in runs[measurement]}
        if len(places) > len({worker for worker, _ in places}):
            tables.append(_table(runs[measurement], compared, by_subject))
    return tuple(tables)


def _runs(worker: Worker) -> list[Run]:
    """Return what a task measures, in the order in which it names its places."""
    order = {place.name: number for number, place in enumerate(worker.result.config.places)}
    return sorted(worker.runs, key=lambda run: order.get(run.subject.place, len(order)))


def _table(
    runs: Sequence[Run],
    compared: Mapping[Subject, Mapping[str, Side]],
    reports: Mapping[Subject, SubjectReport],
) -> Places:
    by_place = grouped(runs, attrgetter("subject"))
    first = next(iter(by_place))
    base = {id(run.worker): run for side in compared.get(first, {}).values() for run in side}
    rows = []
    for subject, place_runs in by_place.items():
        # A verdict can be based on those that are compared.
        valid, measured = compared.get(subject, {}), grouped(place_runs, attrgetter("side"))
        sides = []
        for side in dict.fromkeys(run.worker.side for run in runs):
            side_runs, valid_runs = measured.get(side, []), list(valid.get(side, ()))
            kinds = dict.fromkeys(_place_kind(run.worker.run_of(subject)) for run in side_runs)
            reasons = map(rules.reason_left_out, side_runs)
            unmeasured = joined(reasons, "; ") if side_runs else _NOT_MEASURED
            at_place = AtPlace(
                side=side,
                kind=" or ".join(kinds),
                mean_ns=reports[subject].figures[side].mean_ns if valid_runs else None,
                missing=None if valid_runs else unmeasured,
                differences=_distinct(map(rules.cut_short, valid_runs)),
            )
            if subject != first and valid_runs:
                at_place = _compare(at_place, valid_runs, base, first.place)
            sides.append(at_place)
        comparisons = reports[subject].comparisons if subject in reports else ()
        rows.append(PlaceRow(subject.place, tuple(sides), comparisons))
    return Places(first, tuple(rows))


def _compare(
    at_place: AtPlace, runs: Sequence[Run], base: Mapping[int, Run], first: str
) -> AtPlace:
    pairs = [(run, base[id(run.worker)]) for run in runs if id(run.worker) in base]
    if not pairs:
        nothing = statement("nothing was measured at {first}", first=first)
        return replace(at_place, not_compared=nothing)
    if other_work := _differences(rules.SAME_WORK, pairs):
        different = statement("different work: {traits}", traits=joined(other_work, "; "))
        return replace(at_place, not_compared=different)
    machines = by_machine(pairs, lambda pair: pair[0].worker.machine)
    estimate = _within_workers(machines)
    differences = [*at_place.differences, *_differences(rules.SAME_METHOD, pairs)]
    if unpaired := len(runs) - len(pairs):
        template = "{runs} of its runs have nothing at {first}"
        differences.append(statement(template, runs=count(unpaired), first=first))
    here, there = (Side.of(runs).mean_ns for runs in zip(*pairs, strict=True))
    return replace(
        at_place,
        ratio=estimate.ratio,
        means_ns=(here, there),
        interval=estimate.interval(LEVEL),
        method=estimate.method,
        workers=len(machines),
        in_turns=all(_took_turns(run, at_first) for run, at_first in pairs),
        differences=tuple(differences),
    )


def _differences(
    trait_rules: Sequence[rules.TraitRule], pairs: Sequence[tuple[Run, Run]]
) -> tuple[Statement, ...]:
    """Return by which traits runs differ from those of the same workers at the first place."""
    return _distinct(_difference(rule, *pair) for rule in trait_rules for pair in pairs)


def _difference(rule: rules.TraitRule, run: Run, first: Run) -> Statement | None:
    if rule(run) == rule(first):
        return None
    here, there = rules.distinct_traits([rule(run), rule(first)])
    place = first.subject.place
    return statement("{here} here, {there} at {first}", here=here, there=there, first=place)


def _distinct(statements: Iterable[Statement | None]) -> tuple[Statement, ...]:
    return tuple(dict.fromkeys(filter(None, statements)))


def _place_kind(run: Run) -> str:
    """Return 'volume, ext4', 'container overlay' or 'memory, tmpfs'."""
    observed = run.place
    if observed is None or observed.kind is None:
        reason = observed.failed if observed is not None else None
        return f"could not be observed: {clean(reason, 120)}" if reason else "of an unknown kind"
    kind = clean(_KINDS.get(observed.kind, observed.kind), _FACT_LENGTH)
    filesystem = filesystem_type(run)
    # The kind of a layered place has its file system in it already.
    if filesystem is None or filesystem in LAYERED:
        return kind
    return f"{kind}, {clean(filesystem, _FACT_LENGTH)}"


def _took_turns(entry: Run, base: Run) -> bool:
    return min(len(entry.turn_ends), len(base.turn_ends)) >= _FEWEST_TURNS


def _within_workers(machines: Sequence[Sequence[tuple[Run, Run]]]) -> Estimate:
    """Compare pairs of measurements that the same tasks made, by machine."""
    by_task = [[_compare_entries(entry, base) for entry, base in pairs] for pairs in machines]
    logs = [fmean([task.log_ratio for task in tasks]) for tasks in by_task]
    if len(logs) > 1:
        return Estimate(fmean(logs), MeanVariance.of_mean(logs))
    (tasks,) = by_task
    blocks = [block.share_of_average(len(tasks)) for task in tasks for block in task.blocks]
    error, method = MeanVariance.of_sum(blocks), tasks[0].method
    if len(tasks) > 1:
        between_runs = MeanVariance.of_mean([task.log_ratio for task in tasks])
        if MeanVariance.wider(blocks, [between_runs]) == [between_runs]:
            error, method = between_runs, RUNS
    return Estimate(logs[0], error, method, None, error.variance)


def _compare_entries(entry: Run, base: Run) -> MachineRatio:
    if not _took_turns(entry, base):
        return MachineRatio.between([entry], [base])
    count = min(len(entry.turn_ends), len(base.turn_ends))
    sides = [side.first(side.turn_ends[count - 1]) for side in (entry, base)]
    # What is estimated of the turns: the average of first reads, and that of the rest.
    degrees = count - (2 if entry.first_reads else 1)
    variance = _variance_of_turns(*(_Turns.of(side, count) for side in sides))
    candidate, baseline = ([math.log(side.mean_ns)] for side in sides)
    return MachineRatio(candidate, baseline, [MeanVariance(variance, degrees)], IN_TURNS)


class _Turns(NamedTuple):
    """What each turn is of an entry's whole time: beyond what is usual, and what is usual.

    First reads take longer and become fewer, so that they have an average of their own.
    """

    errors: list[float]
    usual: tuple[list[float], list[float]]  # of other retrieves, of first reads

    @classmethod
    def of(cls, entry: Run, count: int) -> Self:
        is_first = [number in entry.first_reads for number in range(len(entry.total_ns))]
        usual_ns = RelativeTimes.usual_ns(is_first, entry.total_ns, entry.operations)
        turns, turn = cls([0.0] * count, ([0.0] * count, [0.0] * count)), 0
        whole_ns = sum(entry.total_ns)
        for number, kind in enumerate(is_first):
            turn += number >= entry.turn_ends[turn]
            share = usual_ns[kind] * entry.operations[number] / whole_ns
            turns.usual[kind][turn] += share
            turns.errors[turn] += entry.total_ns[number] / whole_ns - share
        return turns


def _variance_of_turns(candidate: _Turns, baseline: _Turns) -> float:
    """Return the variance of ln of the ratio, if each turn is slower or faster by chance.

    First reads may all be in one turn. Then their average hides how slow that was, and the errors
    of the other turns show it. What is slow in both sides' turn counts by how much more of its time
    one side has in it.
    """
    sides = [[*map(add, *side.usual)] for side in (candidate, baseline)]
    turns = _means(*sides)
    kinds = [kind for kind in map(_means, candidate.usual, baseline.usual) if any(kind)]
    # What is left of an error in each turn beside the averages that it is part of.
    left = [
        (first == second) * turns[first]
        - sum(kind[first] * kind[second] / sum(kind) for kind in kinds)
        for first, second in product(range(len(turns)), repeat=2)
    ]
    own = _squares(map(sub, candidate.errors, baseline.errors)) * _squares(turns)
    shared = _squares(_means(candidate.errors, baseline.errors)) * _squares(map(sub, *sides))
    return (own + shared) / _squares(left)


def _means(first: Iterable[float], second: Iterable[float]) -> list[float]:
    return [*map(fmean, zip(first, second, strict=True))]


def _squares(values: Iterable[float]) -> float:
    return math.fsum(value * value for value in values)
