# SPDX-License-Identifier: MPL-2.0
"""From workers to a report: validity, figures, verdicts, causes and remedies, in that order."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from pathlib import PurePath
from typing import TYPE_CHECKING

from msgspec import Struct, convert, field
from msgspec.structs import replace

from io_benchmark.analysis.explaining import diagnoses, unlike_machines
from io_benchmark.analysis.explaining.confirm import missing_runs
from io_benchmark.analysis.explaining.parts import divide, storage_of
from io_benchmark.analysis.explaining.single_workers import explain_single_workers
from io_benchmark.analysis.model.comparison import WorkerVariation
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.problem import Problem, Severity
from io_benchmark.analysis.model.report import SampledReport, SampleSeries, SubjectReport
from io_benchmark.analysis.model.run import UNKNOWN, Run, Worker, WorkerLine
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import Statement, count, joined, statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.reading.machines import MachineMarks
from io_benchmark.analysis.statistics import levels, variations
from io_benchmark.analysis.statistics.looks import Schedule
from io_benchmark.analysis.statistics.pairs import Pair
from io_benchmark.analysis.statistics.pushes import PushVariation
from io_benchmark.analysis.statistics.verdicts import compare_sides
from io_benchmark.analysis.summary import figures, place_rows, replication
from io_benchmark.analysis.validity import checks
from io_benchmark.analysis.validity import workers as rules_of_workers
from io_benchmark.costs.worker_time import Price
from io_benchmark.results import workloads

if TYPE_CHECKING:  # few comparisons have earlier pushes
    from io_benchmark.analysis.history.readings import EarlierPushes

# From this many measurements on, a difference by chance is likely enough for a remark.
_MANY_SUBJECTS = 5


class Options(Struct, frozen=True):
    margin: float = levels.DEFAULT_MARGIN
    worker_variation: float | None = None  # None: as far as the results show it
    allow: frozenset[str] = field(default_factory=frozenset)
    looks: Schedule = field(default_factory=Schedule)
    earlier: "EarlierPushes | None" = None  # of these pools, where two pushes are compared
    prices: Mapping[str, Price] = field(default_factory=dict)  # of a worker's hour, by name


def compare(
    plan: Plan,
    workers: Sequence[Worker],
    options: Options,
    *,
    unreadable: Sequence[str] = (),
    remarks: Sequence[str] = (),
    lost: Sequence[str] = (),
) -> SampledReport:
    """Compare the sides; `lost` has the side of each task that ended and left no result."""
    read = _marked(MachineMarks.identify(workers))
    counted = [worker for worker in read if worker.is_counted]
    results, lost_by_side = grouped(counted, attrgetter("side")), Counter(lost)
    problems = checks.check_workers(read)
    compared: dict[Subject, dict[str, Side]] = {}
    pairs: dict[Subject, list[Pair]] = {}
    plain = []
    for subject, runs in _runs_by_subject(counted).items():
        comparable, broken_rules = checks.comparable_runs(runs, options.allow)
        sides = compared[subject] = Side.by_name(comparable)
        problems += broken_rules
        if comparable:
            pairs[subject], broken_rules = _pairs(sides, plan, options, results, lost_by_side)
            problems += broken_rules
            plain.append(_compare_subject(subject, sides, pairs[subject], plan, options.margin))
            problems += rules_of_workers.single_workers(plain[-1].comparisons, sides)
    mixed = unlike_machines.find_mixed_pools(compared, pairs, options.margin)
    variation = options.worker_variation or levels.DEFAULT_WORKER_VARIATION
    single = unlike_machines.SingleMachine.find_all(compared, variation)
    reports = figures.with_workload_figures(
        [*unlike_machines.with_obstacles(plain, mixed)], counted
    )
    lines = _lines(read, compared)
    report = SampledReport(
        title=plan.title,
        baseline=plan.baseline,
        baseline_reason=plan.baseline_reason,
        margin_ratio=options.margin,
        subjects=tuple(reports),
        diagnoses=tuple(
            unlike_machines.with_pool_remedies(
                diagnoses.diagnoses(plan, reports, counted, read), mixed
            )
        ),
        problems=checks.merge_repeated(problems, plan, reports),
        workers=lines,
        unreadable=tuple(sorted(unreadable)),
        remarks=tuple(_footnotes(remarks, reports, read, counted)),
        series=tuple(chain.from_iterable(map(SampleSeries.of_worker, counted))),
        places=place_rows.compare_places(plan, counted, compared, reports),
        single_workers=explain_single_workers(
            single, compared, pairs, margin=options.margin, assumed=variation
        ),
        mixed_pools=mixed,
        confirming=missing_runs(chain(*(part.comparisons for part in reports)), read),
        decision_cost=replication.cost_of_deciding(reports, counted, options.prices),
        replication=replication.count_workers(reports, lines),
    )
    return _named_as_rehearsal(report, read)


def _named_as_rehearsal(report: SampledReport, workers: Sequence[Worker]) -> SampledReport:
    """Say so first if one machine rehearsed all runs; no queue names such a worker group.

    Then only its folders differ, or nothing does.
    """
    machines = {worker.worker_id for worker in workers}
    if len(machines) != 1 or not machines.pop().startswith("rehearsal/"):
        return report
    folders = {
        worker.side: str(PurePath(worker.result.config.places[0].path).parent) for worker in workers
    }
    is_only_noise = len(set(folders.values())) == 1
    title, remark = "Rehearsal on one machine", "Only the folders differ: {places}"
    if is_only_noise:
        title += ", where all differences are noise"
        remark = "What differs shows how far apart equal pools may look on this machine."
    places = (
        statement("{side} in {folder}", side=side, folder=folder)
        for side, folder in sorted(folders.items())
    )
    return replace(
        report,
        title=f"{title}: {report.title}",
        remarks=(statement(remark, places=joined(places)), *report.remarks),
        is_only_noise=is_only_noise,
    )


def _marked(workers: Sequence[Worker]) -> list[Worker]:
    """Mark the runs that are counted, and those whose machine ran others at the same time.

    Runs that confirm a cause are not counted, except on a side that has no others: they were asked for
    because of what the others showed, and only of one side.
    """
    sides = {worker.side for worker in workers if not worker.confirms}
    busy = rules_of_workers.machines_used_at_once(workers)
    return [
        replace(
            worker,
            is_counted=not worker.confirms or worker.side not in sides,
            at_once=worker.machine in busy,
        )
        for worker in workers
    ]


def _lines(
    workers: Sequence[Worker], compared: Mapping[Subject, Mapping[str, Side]]
) -> tuple[WorkerLine, ...]:
    """Return the line of each run, with how many of its measurements no validity rule left out."""
    used = Counter(
        id(run.worker) for sides in compared.values() for side in sides.values() for run in side
    )
    return tuple(
        replace(
            convert(worker, WorkerLine, from_attributes=True),
            measurements=sum(len(entry.total_ns) > 0 for entry in worker.runs),
            measurements_used=used[id(worker)],
        )
        for worker in workers
    )


def _runs_by_subject(workers: Sequence[Worker]) -> dict[Subject, list[Run]]:
    """Return runs by subject: workload by workload, each in the order of the first worker."""
    runs = (run for worker in workers for run in worker.runs)
    by_subject = grouped(runs, attrgetter("subject")).items()
    order = [*workloads.WORKLOADS]
    return dict(sorted(by_subject, key=lambda item: order.index(item[0].workload)))


def _compare_subject(
    subject: Subject, sides: Mapping[str, Side], pairs: Sequence[Pair], plan: Plan, margin: float
) -> SubjectReport:
    workload = workloads.of(subject.workload)
    in_order = {side: sides[side] for side in plan.order(sides)}
    # Only cache-retrieve tells where its bytes went.
    stored = in_order if subject.workload == "cache-retrieve" else {}
    return SubjectReport(
        subject,
        {name: figures.summarize(side) for name, side in in_order.items()},
        compare_sides(subject, pairs, margin=margin),
        {name: storage_of(side) for name, side in stored.items()},
        tuple(divide(sides[pair.candidate], sides[pair.baseline]) for pair in pairs),
        operation=workload.operation,
        unit=workload.unit,
        higher_is_better=workload.higher_is_better,
    )


def _pairs(
    sides: Mapping[str, Side],
    plan: Plan,
    options: Options,
    results: Mapping[str, Sequence[Worker]],
    lost_by_side: Counter[str],
) -> tuple[list[Pair], list[Problem]]:
    """Return the planned pairs of sides that may be compared, and what the reader should know."""
    pairs, problems = [], [*chain(*map(rules_of_workers.repeated_workers, sides.values()))]
    for names in plan.pairs:
        if not all(name in sides for name in names):
            continue
        candidate, baseline = (sides[name] for name in names)
        broken = checks.check_sides(candidate, baseline, options.allow)
        problems += broken
        if any(problem.severity is Severity.REFUSED for problem in broken):
            continue
        candidate_data, baseline_data, length = Pair.compared_samples(candidate, baseline)
        side_results = [results[name] for name in names]
        lost = lost_by_side[names[0]], lost_by_side[names[1]]
        schedule = options.looks.of_sides(side_results)
        machines = {run.worker.machine for run in (*candidate, *baseline)}
        earlier = options.earlier and options.earlier.variance(next(iter(candidate)))
        pushes, variance = earlier or (0, None)
        pair = Pair(
            *names,
            candidate_data,
            baseline_data,
            _variation(names, sides, options),
            schedule.look_of_sides((candidate_data.count, baseline_data.count), side_results, lost),
            schedule,
            is_one_machine=len(machines) == 1 and UNKNOWN not in machines,
            push_variation=PushVariation.between(
                candidate, baseline, variance, pushes, is_change=plan.is_change
            ),
        )
        problems += rules_of_workers.check_pair(candidate, baseline, length, pair.push_variation)
        pairs.append(pair.with_earlier_looks(candidate, baseline, lost))
    return pairs, problems


def _variation(
    pair: tuple[str, str], sides: Mapping[str, Side], options: Options
) -> WorkerVariation:
    """Return how far workers are assumed to differ where a side of the pair has too few."""
    logs = {name: side.data.log_means for name, side in sides.items()}
    if options.worker_variation is not None:
        variation = variations.given(options.worker_variation)
    else:
        variation = variations.of_pair(pair, logs)
    has_single = any(len(logs[name]) == 1 for name in pair)
    return variations.of_single_worker(variation) if has_single else variation


def _footnotes(
    remarks: Sequence[str],
    reports: Sequence[SubjectReport],
    read: Sequence[Worker],
    counted: Sequence[Worker],
) -> Iterator[Statement]:
    yield from (statement("{remark}", remark=remark) for remark in remarks)
    yield from figures.side_findings(reports, counted)
    compared = sum(bool(report.comparisons) for report in reports)
    # The tests are adjusted for several candidates, but not for several measurements.
    if compared >= _MANY_SUBJECTS:
        yield statement(
            "{measurements} measurements are compared, each by itself: where sides do not differ, "
            "about 1 in {chance} is called slower or faster by chance",
            measurements=count(compared),
            chance=count(round(1 / (1 - levels.LEVEL))),
        )
    runs = Counter(worker.side for worker in read)
    for side, number in sorted((runs - Counter(worker.side for worker in counted)).items()):
        yield statement(
            f"{{side}}: {{left_out}} of {{runs}} runs {'was' if number == 1 else 'were'} made to "
            "confirm a cause; only the trials count",
            side=side,
            left_out=count(number),
            runs=count(runs[side]),
        )
