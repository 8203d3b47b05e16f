# SPDX-License-Identifier: MPL-2.0
"""What is missing for a gate to pass: an image does not pass by what was not measured.

A result that is missing may be the slow one: its task may have ended because it was slow. So each
task of both pools must leave a complete result. Where two results cannot be compared at all, or are
of one pool, nothing is decided.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from msgspec import Struct

from io_benchmark.analysis.compare import Compared
from io_benchmark.analysis.gate.gate_model import Gate
from io_benchmark.analysis.model.comparison import Problem, Severity
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.measurement import Measurement
from io_benchmark.analysis.model.run import UNKNOWN, Run, Worker
from io_benchmark.analysis.model.statements import Statement, count, joined, statement
from io_benchmark.analysis.statistics.variances import FEWEST_FOR_VARIATION
from io_benchmark.analysis.validity.rules import reason_left_out
from io_benchmark.number_text import plural
from io_benchmark.results.parts import OutcomeState
from io_benchmark.suggestions import closest

_VERSION_RULE = "script-version"


class Absent(Struct, frozen=True):
    """The results that could not be read, by the sides whose tasks should have left them."""

    lost: tuple[str, ...] = ()  # the side of each task that ended without a result
    sides: frozenset[str] = frozenset()  # that have a task without a result that could be read
    is_side_unknown: bool = False  # of some result that could not be read


def reasons_against_any_answer(
    gate: Gate, compared: Compared, sides: Collection[str], absent: Absent
) -> Iterator[Statement]:
    """Yield why nothing is decided, also if the times differ."""
    runs = {side: [run for run in compared.counted if run.side == side] for side in gate.sides}
    lost = Counter(absent.lost)
    for side in gate.sides:
        if not runs[side]:
            yield _without_results(side, lost[side], sides, absent)
    if not all(runs.values()):
        return
    if not compared.plan.is_change:
        yield from _shared_pool(gate, runs[gate.candidate], runs[gate.baseline])
    allowed = compared.options.allow
    for problem in _problems(compared):
        if problem.rule == _VERSION_RULE and problem.rule not in allowed:
            yield statement(
                "the results are of different versions of the benchmark ({problem})",
                problem=problem.message,
            )
            break
    for side in gate.sides:
        workers = {_machine(number, run) for number, run in enumerate(runs[side])}
        if len(workers) < FEWEST_FOR_VARIATION:
            yield statement(
                f"{{side}} has {{workers}} {plural(len(workers), 'worker')}, and {{fewest}} or "
                "more show how far workers of a pool differ",
                side=side,
                workers=count(len(workers)),
                fewest=count(FEWEST_FOR_VARIATION),
            )


def reasons_against_passing(gate: Gate, compared: Compared, absent: Absent) -> Iterator[Statement]:
    """Yield what was not measured of two sides that both have results."""
    lost = Counter(absent.lost)
    for side in gate.sides:
        if lost[side]:
            yield statement(
                f"{{lost}} {plural(lost[side], 'task')} of {{side}} ended without a result",
                lost=count(lost[side]),
                side=side,
            )
        elif side in absent.sides:
            yield statement(
                "not all results of {side} are there: tasks are still running, or results could "
                "not be read",
                side=side,
            )
    if absent.is_side_unknown:
        yield statement("a result could not be read, and its pool is not known")
    for measurement in compared.everything:
        yield from _not_measured(gate, compared, measurement)
    refused = [
        problem
        for problem in _problems(compared)
        if problem.severity is Severity.REFUSED and set(problem.sides) == set(gate.sides)
    ]
    for rule, alike in grouped(refused, lambda problem: problem.rule).items():
        yield statement(
            "the rule {rule} refuses to compare {subjects}: {message}",
            rule=rule,
            subjects=_named([str(problem.subject) for problem in alike]),
            message=alike[0].message,
        )


def _machine(number: int, worker: Worker) -> str:
    return f"#{number}" if worker.machine == UNKNOWN else worker.machine


def _problems(compared: Compared) -> Iterator[Problem]:
    return chain.from_iterable(measurement.problems for measurement in compared.everything)


def _without_results(side: str, lost: int, sides: Collection[str], absent: Absent) -> Statement:
    if lost:
        template = f"{{lost}} {plural(lost, 'task')} of {{side}} ended, and none left a result"
        return statement(template, side=side, lost=count(lost))
    if side in absent.sides:
        return statement("no result of {side} could be read", side=side)
    names = sorted(sides)
    meant = closest(side, names)
    return statement(
        "there are no results of {side}; there are: {names}"
        + ("; perhaps {meant} is meant" if meant else ""),
        side=side,
        names=joined(names or ["none"]),
        meant=meant,
    )


def _shared_pool(
    gate: Gate, candidate: Sequence[Worker], baseline: Sequence[Worker]
) -> Iterator[Statement]:
    """Yield why two sides are one pool: nothing would differ, whatever the image is.

    Tasks of one worker pool may have two images of containers, of which one is new.
    """
    images = [{run.image for run in side} for side in (candidate, baseline)]
    if images[0].isdisjoint(images[1]) and "" not in images[0] | images[1]:
        return
    queues = [{run.queue for run in side} - {""} for side in (candidate, baseline)]
    machines = [{run.machine for run in side} - {UNKNOWN} for side in (candidate, baseline)]
    names = {"candidate": gate.candidate, "baseline": gate.baseline}
    if queues[0] & queues[1]:
        template = "{candidate} and {baseline} ran on the same worker pool, {pool}"
        yield statement(template, pool=joined(sorted(queues[0] & queues[1])), **names)
    elif machines[0] & machines[1]:
        template = "{candidate} and {baseline} ran on the same machine, {machine}"
        yield statement(template, machine=min(machines[0] & machines[1]), **names)


def _not_measured(gate: Gate, compared: Compared, measurement: Measurement) -> Iterator[Statement]:
    """Yield which workers of a side have no such measurement that may be compared."""
    runs = [worker.run_of(measurement.subject) for worker in compared.counted]
    if all(_is_skipped(worker, measurement) for worker in compared.counted):
        return
    used = {
        id(run.worker)
        for side in measurement.sides.values()
        for same in side.workers
        for run in same
    }
    for side in gate.sides:
        side_runs = [run for run in runs if run.side == side]
        without = [run for run in side_runs if id(run.worker) not in used]
        if without:
            yield statement(
                f"{{without}} of {{runs}} {plural(len(side_runs), 'run')} of {{side}} "
                f"{'has' if len(without) == 1 else 'have'} no usable measurement of {{subject}} "
                "({reason})",
                without=count(len(without)),
                runs=count(len(side_runs)),
                side=side,
                subject=str(measurement.subject),
                reason=_reason(without[0].worker, measurement),
            )


def _entry(worker: Worker, measurement: Measurement) -> Run | None:
    """Return the run with its outcome, also where it has no samples."""
    return next((run for run in worker.runs if run.subject == measurement.subject), None)


def _is_skipped(worker: Worker, measurement: Measurement) -> bool:
    run = _entry(worker, measurement)
    return run is not None and run.outcome.state is OutcomeState.SKIPPED and not run.is_measured


def _reason(worker: Worker, measurement: Measurement) -> Statement:
    run = _entry(worker, measurement)
    if run is None:
        return statement("its result does not have it")
    return reason_left_out(run)


def _named(subjects: Sequence[str]) -> Statement:
    more = len(subjects) - 1
    template = "{first}" + (" and {more} more" if more else "")
    return statement(template, first=subjects[0], more=count(more))
