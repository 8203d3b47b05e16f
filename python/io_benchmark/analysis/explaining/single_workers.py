# SPDX-License-Identifier: MPL-2.0
"""Why one worker alone is slower or faster than its pool: compared with the rest of the pool.

The difference is divided and its causes are judged by the rules that compare pools. Verdicts do not
change: they count all workers, because leaving out a worker for its times would be choosing the
answer.
"""

import math
from collections.abc import Sequence

from msgspec.structs import replace

from io_benchmark.analysis.comparing import figures
from io_benchmark.analysis.comparing.comparisons import compare_sides
from io_benchmark.analysis.comparing.samples import in_common
from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.deciding import judge
from io_benchmark.analysis.explaining.diagnoses import suggest_remedies
from io_benchmark.analysis.explaining.measured_gains import Push
from io_benchmark.analysis.explaining.parts import divide
from io_benchmark.analysis.explaining.trial_outcomes import outcomes
from io_benchmark.analysis.explaining.unlike_machines import SingleMachine
from io_benchmark.analysis.model.cause import Cause, Diagnosis, Remedy, State
from io_benchmark.analysis.model.comparison import Comparison
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.looks import SINGLE, Schedule
from io_benchmark.analysis.model.measurement import ComparedSides, Measurement, OtherMeasurement
from io_benchmark.analysis.model.report import SingleWorker
from io_benchmark.analysis.model.run import UNKNOWN, Worker
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import Quantity, Unit, count, statement
from io_benchmark.analysis.statistics import variations


def explain_single_workers(
    machines: Sequence[SingleMachine],
    measurements: Sequence[Measurement],
    *,
    margin: float,
    assumed: float,
) -> tuple[SingleWorker, ...]:
    """Describe the machines; each is explained on one measurement, the leading workload's."""
    explained = _leading(machines)
    by_subject = {measurement.subject: measurement for measurement in measurements}
    return tuple(
        SingleWorker(
            subject=machine.subject,
            side=machine.side,
            machine=machine.worker.machine,
            tasks=tuple(_task(run.worker) for run in machine.machine),
            instance_type=machine.worker.result.task.instance_type,
            others=machine.others.count,
            ratio=machine.ratio,
            usual=machine.usual,
            division=divide(machine.machine, machine.others, _names(machine)),
            without=_without(machine, machines, by_subject[machine.subject], margin),
            diagnosis=_diagnose(
                machine, _measurements(machine, measurements, margin, assumed), assumed
            )
            if machine in explained
            else None,
        )
        for machine in machines
    )


def _key(worker: Worker) -> tuple[str, str]:
    """Return what tells machines apart; a run whose machine is unknown is one by itself."""
    unknown = worker.machine == UNKNOWN
    return worker.side, f"{worker.task_id} {worker.source}" if unknown else worker.machine


def _task(worker: Worker) -> str:
    return worker.task_id if worker.run_id is None else f"{worker.task_id}.{worker.run_id}"


def _leading(machines: Sequence[SingleMachine]) -> list[SingleMachine]:
    """Return each machine once: of its first workload, where it differs most."""
    return [
        max(
            (choice for choice in same if choice.subject.workload == same[0].subject.workload),
            key=lambda choice: abs(math.log(choice.ratio)),
        )
        for same in grouped(machines, lambda machine: _key(machine.worker)).values()
    ]


def _names(machine: SingleMachine) -> tuple[str, str]:
    """Return what sentences call a worker, and the rest of its pool."""
    worker, rest = machine.worker, f"the rest of {machine.side}"
    if worker.machine == UNKNOWN:
        return f"task {worker.task_id}", rest
    return f"worker {worker.machine.rpartition('/')[2]}", rest


def _without(
    machine: SingleMachine,
    machines: Sequence[SingleMachine],
    measurement: Measurement,
    margin: float,
) -> tuple[Comparison, ...]:
    """Return the comparisons of the machine's side without the machines that are named."""
    subject, side = machine.subject, machine.side
    left_out = {_key(named.worker) for named in machines if named.subject == subject}
    sides = {
        name: Side.of(run for run in of_all if _key(run.worker) not in left_out)
        for name, of_all in measurement.sides.items()
    }
    # The same look: as strict as the comparison of all machines was.
    rest = []
    for pair in measurement.pairs:
        candidate, baseline = (sides[name] for name in pair.names)
        common = in_common(candidate, baseline)
        rest.append(replace(pair, candidate=common.candidate, baseline=common.baseline))
    comparisons = compare_sides(subject, rest, margin=margin)
    return tuple(again for again in comparisons if side in (again.candidate, again.baseline))


def _diagnose(
    machine: SingleMachine, measurements: Sequence[OtherMeasurement], assumed: float
) -> Diagnosis:
    """Judge why the machine differs from the rest of its pool, and suggest what to try."""
    sides = machine.others.divided_like(machine.machine)
    case = Case.of(machine.subject, machine.ratio, *sides, measurements)
    slower, faster = ([run.worker for run in side] for side in (case.slower, case.faster))
    trials = outcomes(machine.subject, slower, faster, assumed)
    causes = judge(case, trials)
    worker, rest = _names(machine)
    measured = {(worker, other.subject): other.candidate.mean_ns for other in measurements}
    measured |= {(rest, other.subject): other.baseline.mean_ns for other in measurements}
    # All workers of a pool have its machine type, also where they do not name it.
    machine_type = machine.worker.result.task.instance_type or machine.side
    machines = {worker: machine_type, rest: machine_type}
    slow, fast = (worker, rest) if case.candidate_is_slower else (rest, worker)
    push = Push(machine.subject, slow, fast, measured, machines, trials=trials)
    # What the whole pool shares is not a remedy for one of its workers.
    remedies = suggest_remedies([cause for cause in causes if not cause.is_shared], push)
    if not remedies and machine.ratio >= 1:
        remedies = _replacement(machine, causes, push)
    return Diagnosis(worker, causes, remedies, machine.subject, trials)


def _replacement(machine: SingleMachine, causes: Sequence[Cause], push: Push) -> tuple[Remedy, ...]:
    """Return the remedy to replace a slow worker, whatever causes that; none without a cause."""
    supported = [cause for cause in causes if cause.state.holds]
    possible = supported or [cause for cause in causes if cause.state is State.NOT_SEPARABLE]
    if not possible:
        return ()
    now_ns, then_ns = (push.measured[side, push.subject] for side in (push.slow, push.fast))
    evidence = statement(
        "The other {others} workers of the pool take {then} instead of {now}.",
        others=count(machine.others.count),
        then=Quantity(then_ns, Unit.NANOSECONDS),
        now=Quantity(now_ns, Unit.NANOSECONDS),
    )
    action = statement("replace this worker, or set it up as the rest of its pool")
    return (Remedy(possible[0].name, action, machine.ratio, True, (evidence,)),)


def _measurements(
    machine: SingleMachine, measurements: Sequence[Measurement], margin: float, assumed: float
) -> list[OtherMeasurement]:
    """Compare the machine with the rest of its pool on every measurement that both have."""
    key = _key(machine.worker)
    worker, rest_of_pool = _names(machine)
    compared = []
    for measurement in measurements:
        runs = list(measurement.sides.get(machine.side, ()))
        alone = Side.of(run for run in runs if _key(run.worker) == key)
        rest = Side.of(run for run in runs if _key(run.worker) != key)
        if alone.workers and rest.workers:
            # The worker is compared for itself, and not for its pool.
            pair = ComparedSides(alone, rest, variations.given(assumed), SINGLE, Schedule(), None)
            (comparison,) = compare_sides(measurement.subject, [pair], margin=margin)
            comparison = replace(comparison, candidate=worker, baseline=rest_of_pool)
            of_both = map(figures.summarize, (rest, alone))
            compared.append(OtherMeasurement(comparison, *of_both))
    return compared
