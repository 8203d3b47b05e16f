# SPDX-License-Identifier: MPL-2.0
"""Why one worker alone is slower or faster than its pool: compared with the rest of the pool.

The difference is divided and its causes are judged by the rules that compare pools. Verdicts do not
change: they count all workers, because leaving out a worker for its times would be choosing the answer.
"""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case, OtherMeasurement
from io_benchmark.analysis.diagnosis.causes import judge
from io_benchmark.analysis.diagnosis.diagnoses import suggest_remedies
from io_benchmark.analysis.inference.comparisons import compare_sides
from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.pairs import Pair, compared_samples
from io_benchmark.analysis.inference.single_machines import SingleMachine
from io_benchmark.analysis.inference.worker_variation import WorkerVariation
from io_benchmark.analysis.model import (
    UNKNOWN,
    Cause,
    Comparison,
    Diagnosis,
    Remedy,
    Run,
    State,
    Subject,
    Worker,
)
from io_benchmark.analysis.observed.machine_identity import by_side
from io_benchmark.analysis.observed.side_views import SideViews
from io_benchmark.analysis.parts.division import Division
from io_benchmark.analysis.report_model import SingleWorker
from io_benchmark.analysis.statements import Quantity, Unit, count, statement
from io_benchmark.analysis.summary import figures
from io_benchmark.analysis.trials.trial_model import TrialOutcome
from io_benchmark.analysis.trials.trial_outcomes import outcomes
from io_benchmark.results import workloads

Compared = Mapping[Subject, Sequence[Run]]


class _Names(Struct, frozen=True):
    """What sentences call a worker, and the rest of its pool."""

    worker: str
    rest: str

    @classmethod
    def of(cls, machine: SingleMachine) -> "_Names":
        worker = machine.runs[0].worker
        name = worker.machine.rpartition("/")[2]
        if worker.machine == UNKNOWN:
            return cls(f"task {worker.task_id}", f"the rest of {machine.side}")
        return cls(f"worker {name}", f"the rest of {machine.side}")


def explain_single_workers(
    machines: Sequence[SingleMachine],
    compared: Compared,
    pairs: Mapping[Subject, Sequence[Pair]],
    *,
    margin: float,
    assumed: float,
) -> tuple[SingleWorker, ...]:
    """Describe the machines; each is explained on one measurement, the leading workload's.

    `pairs` are the sides that were compared, with all their machines.
    """
    explained = _leading(machines)
    return tuple(
        SingleWorker(
            subject=machine.subject,
            side=machine.side,
            machine=machine.runs[0].worker.machine,
            tasks=tuple(_task(run.worker) for run in machine.runs),
            instance_type=machine.runs[0].worker.result.task.instance_type,
            others=SideData.of(machine.others).count,
            ratio=machine.ratio,
            usual=machine.usual,
            division=_divide(machine),
            without=_without(
                machine,
                [each for each in machines if each.subject == machine.subject],
                compared[machine.subject],
                pairs[machine.subject],
                margin=margin,
            ),
            diagnosis=_diagnose(machine, compared, margin=margin, assumed=assumed)
            if machine in explained
            else None,
        )
        for machine in machines
        if machine.subject in pairs
    )


def _key(worker: Worker) -> tuple[str, str]:
    """Return what tells machines apart; a run whose machine is unknown is one by itself."""
    unknown = worker.machine == UNKNOWN
    return worker.side, f"{worker.task_id} {worker.source}" if unknown else worker.machine


def _task(worker: Worker) -> str:
    return worker.task_id if worker.run_id is None else f"{worker.task_id}.{worker.run_id}"


def _leading(machines: Sequence[SingleMachine]) -> list[SingleMachine]:
    """Return each machine once: of its first workload, where it differs most."""
    by_machine: dict[tuple[str, str], list[SingleMachine]] = {}
    for machine in machines:
        by_machine.setdefault(_key(machine.runs[0].worker), []).append(machine)
    return [
        max(
            (each for each in same if each.subject.workload == same[0].subject.workload),
            key=lambda each: abs(math.log(each.ratio)),
        )
        for same in by_machine.values()
    ]


def _divide(machine: SingleMachine) -> Division:
    names = _Names.of(machine)
    sides = {
        names.worker: SideData.of(machine.runs).runs,
        names.rest: SideData.of(machine.others).runs,
    }
    return Division.between(sides, names.worker, names.rest)


def _without(
    machine: SingleMachine,
    same_subject: Sequence[SingleMachine],
    runs: Sequence[Run],
    pairs: Sequence[Pair],
    *,
    margin: float,
) -> tuple[Comparison, ...]:
    """Return the comparisons of the machine's side without the machines named on this measurement."""
    left_out = {_key(each.runs[0].worker) for each in same_subject}
    sides = by_side(run for run in runs if _key(run.worker) not in left_out)
    data = {side: SideData.of(kept) for side, kept in sides.items()}
    rest = []
    for pair in pairs:
        candidate, baseline, _ = compared_samples(
            machine.subject,
            (data[pair.candidate], data[pair.baseline]),
            sides[pair.candidate],
            sides[pair.baseline],
        )
        # The same look: as strict as the comparison of all machines was.
        rest.append(replace(pair, candidate_side=candidate, baseline_side=baseline, earlier={}))
    again = compare_sides(machine.subject, rest, margin=margin, advised=False)
    return tuple(each for each in again if machine.side in (each.candidate, each.baseline))


def _diagnose(
    machine: SingleMachine, compared: Compared, *, margin: float, assumed: float
) -> Diagnosis:
    """Judge why the machine differs from the rest of its pool, and suggest what to try."""
    names = _Names.of(machine)
    measurements = _measurements(machine, names, compared, margin=margin, assumed=assumed)
    own, others = ([run.worker for run in runs] for runs in (machine.runs, machine.others))
    sides = (own, others) if machine.ratio > 1 else (others, own)
    trials = outcomes(machine.subject, *sides, assumed)
    baseline, candidate = (
        SideViews.of_workers(workers, machine.subject) for workers in (others, own)
    )
    case = Case.of(machine.subject, machine.ratio, baseline, candidate, measurements)
    causes = judge(case, trials)
    remedies = _remedies(machine, names, causes, measurements, trials)
    return Diagnosis(names.worker, causes, remedies, machine.subject, trials)


def _measurements(
    machine: SingleMachine, names: _Names, compared: Compared, *, margin: float, assumed: float
) -> tuple[OtherMeasurement, ...]:
    """Compare the machine with the rest of its pool on every measurement that both have."""
    key = _key(machine.runs[0].worker)
    measurements = []
    for subject, runs in compared.items():
        workload = workloads.of(subject.workload)
        of_side = [run for run in runs if run.worker.side == machine.side]
        own = [run for run in of_side if _key(run.worker) == key]
        others = [run for run in of_side if _key(run.worker) != key]
        if own and others:
            data = {names.worker: SideData.of(own), names.rest: SideData.of(others)}
            variation = WorkerVariation.given(assumed)
            pair = Pair(names.worker, names.rest, data[names.worker], data[names.rest], variation)
            (comparison,) = compare_sides(
                subject, [pair], margin=margin, advised=False, are_pools=False
            )
            both = (figures.summarize(data[name], workload) for name in (names.rest, names.worker))
            measurements.append(OtherMeasurement(comparison, *both))
    return tuple(measurements)


def _remedies(
    machine: SingleMachine,
    names: _Names,
    causes: Sequence[Cause],
    measurements: Sequence[OtherMeasurement],
    trials: Sequence[TrialOutcome],
) -> tuple[Remedy, ...]:
    """Return the remedies of the supported causes, else to replace a worker that is slow.

    What the whole pool shares is not a remedy for one of its workers.
    """
    measured = {
        names.worker: {each.subject: each.candidate.mean_ns for each in measurements},
        names.rest: {each.subject: each.baseline.mean_ns for each in measurements},
    }
    # All workers of a pool have its machine type, also where they do not name it.
    machine_type = machine.runs[0].worker.result.task.instance_type or machine.side
    remedies = suggest_remedies(
        [cause for cause in causes if not cause.is_shared],
        machine.subject,
        measured,
        names.worker,
        names.rest,
        machines=dict.fromkeys(measured, machine_type),
        trials=trials,
    )
    # Which of several causes it is does not matter to whoever replaces it.
    supported = [cause for cause in causes if cause.state.holds]
    possible = supported or [each for each in causes if each.state is State.NOT_SEPARABLE]
    if remedies or not possible or machine.ratio < 1:
        return remedies
    evidence = statement(
        "The other {others} workers of the pool take {then} instead of {now}.",
        others=count(SideData.of(machine.others).count),
        then=Quantity(measured[names.rest][machine.subject], Unit.NANOSECONDS),
        now=Quantity(measured[names.worker][machine.subject], Unit.NANOSECONDS),
    )
    action = statement("replace this worker, or set it up as the rest of its pool")
    return (Remedy(possible[0].name, action, machine.ratio, True, (evidence,)),)
