# SPDX-License-Identifier: MPL-2.0
"""From workers to a report: read, valid, compared, explained, in that order."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter

from msgspec import Struct

from io_benchmark.analysis.comparing.figures import with_workload_figures
from io_benchmark.analysis.comparing.pairs import EarlierPushes, Options, Results, compare_pairs
from io_benchmark.analysis.comparing.places import compare_places
from io_benchmark.analysis.comparing.remarks import (
    days_of,
    footnotes,
    named_as_rehearsal,
)
from io_benchmark.analysis.comparing.replication import (
    cost_of_deciding,
    count_workers,
    prices_of,
    worker_lines,
)
from io_benchmark.analysis.explaining.confirm import missing_runs
from io_benchmark.analysis.explaining.diagnoses import diagnoses
from io_benchmark.analysis.explaining.mixed_pools import (
    find_mixed_pools,
    with_obstacles,
    with_pool_remedies,
)
from io_benchmark.analysis.explaining.parts import with_divisions
from io_benchmark.analysis.explaining.single_workers import explain_single_workers
from io_benchmark.analysis.explaining.unlike_machines import SingleMachine
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.measurement import Measurement
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.report import SampledReport, SampleSeries
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.reading.machines import MachineMarks
from io_benchmark.analysis.statistics import variations
from io_benchmark.analysis.validity.checks import (
    check_workers,
    merge_repeated,
    valid_measurements,
)
from io_benchmark.analysis.validity.workers import mark
from io_benchmark.costs.worker_time import NO_PRICES, Price


class Compared(Struct, frozen=True, eq=False):
    """What the workers of a plan show, before it is explained and published."""

    plan: Plan
    options: Options
    read: Sequence[Worker]  # all, marked as they count
    counted: Sequence[Worker]
    everything: Sequence[Measurement]  # also without sides that may be compared
    lost: Counter[str]  # how many tasks of a side ended and left no result

    @classmethod
    def of(
        cls,
        plan: Plan,
        workers: Sequence[Worker],
        options: Options,
        *,
        earlier: EarlierPushes | None = None,
        lost: Sequence[str] = (),
    ) -> "Compared":
        """Compare the sides.

        `earlier` has how far earlier pushes vary, for a comparison of two pushes. `lost` has the
        side of each task that ended and left no result.
        """
        read = mark(MachineMarks.identify(workers))
        counted = [worker for worker in read if worker.is_counted]
        results = Results(grouped(counted, attrgetter("side")), Counter(lost), earlier)
        valid = valid_measurements(counted, options.allow)
        everything = [_with_pairs(measurement, plan, options, results) for measurement in valid]
        return cls(plan, options, read, counted, everything, results.lost)

    def explained(
        self,
        *,
        prices: Mapping[str, Price] = NO_PRICES,
        unreadable: Sequence[str] = (),
        remarks: Sequence[str] = (),
    ) -> SampledReport:
        """Return the report of the comparison, with what explains its differences."""
        plan, options, read, counted = self.plan, self.options, self.read, self.counted
        compared = [measurement for measurement in self.everything if measurement.sides]
        mixed = find_mixed_pools(compared, options.margin)
        variation = options.worker_variation or variations.DEFAULT
        single = SingleMachine.find_all(compared, variation.ratio)
        measurements = with_workload_figures([*with_obstacles(compared, mixed)], counted)
        explained = diagnoses(plan, measurements, counted, read)
        lines = worker_lines(read, compared)
        used = {
            (id(run.worker), run.subject)
            for measurement in compared
            for side in measurement.sides.values()
            for run in side
        }
        problems = [*check_workers(read)]
        for measurement in self.everything:
            problems += measurement.problems
        report = SampledReport(
            title=plan.title,
            baseline=plan.baseline,
            baseline_reason=plan.baseline_reason,
            margin_ratio=options.margin,
            subjects=tuple(measurement.published() for measurement in measurements),
            diagnoses=tuple(with_pool_remedies(explained, mixed)),
            problems=merge_repeated(problems, plan, measurements),
            workers=lines,
            unreadable=tuple(sorted(unreadable)),
            remarks=tuple(footnotes(remarks, measurements, read, counted)),
            series=tuple(
                series for worker in counted for series in SampleSeries.of_worker(worker, used)
            ),
            prices=prices_of(counted, prices),
            days=days_of(read),
            places=compare_places(plan, counted, self.everything, measurements),
            single_workers=explain_single_workers(
                single, compared, margin=options.margin, assumed=variation.ratio
            ),
            mixed_pools=mixed,
            confirming=missing_runs(
                chain.from_iterable(measurement.comparisons for measurement in measurements), read
            ),
            decision_cost=cost_of_deciding(measurements, counted, prices),
            replication=count_workers(measurements, lines),
            lost=self.lost,
        )
        return named_as_rehearsal(report, read)


def compare(
    plan: Plan,
    workers: Sequence[Worker],
    options: Options,
    *,
    prices: Mapping[str, Price] = NO_PRICES,
    earlier: EarlierPushes | None = None,
    unreadable: Sequence[str] = (),
    remarks: Sequence[str] = (),
    lost: Sequence[str] = (),
) -> SampledReport:
    """Compare the sides and explain their differences; `Compared.of` says what is given."""
    compared = Compared.of(plan, workers, options, earlier=earlier, lost=lost)
    return compared.explained(prices=prices, unreadable=unreadable, remarks=remarks)


def _with_pairs(
    measurement: Measurement, plan: Plan, options: Options, results: Results
) -> Measurement:
    """Return a measurement with its compared pairs, and what divides their differences."""
    if not measurement.sides:
        return measurement
    compared = compare_pairs(measurement, plan, options, results)
    return with_divisions(compared)
