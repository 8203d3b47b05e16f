# SPDX-License-Identifier: MPL-2.0
"""The trials that a side's workers recorded, the gap between two sides, and which runs are missing.

To confirm a cause, the faster pool must run once more, at the pace of the slower pool's disks.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model.cause import Confirming, Pace
from io_benchmark.analysis.model.comparison import DIFFERENT, Comparison, Verdict
from io_benchmark.analysis.model.groups import by_machine
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.model.statements import Quantity, Statement, Unit, statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.results.parts import NS_PER_S
from io_benchmark.results.workloads.cache_retrieve import TrialKind, Trials

LEAST_REPETITIONS = 3  # two repetitions hardly show how far they differ
LEAST_GAP_RATIO = 1.1  # smaller gaps are not tried
CEILINGS_DIFFER_RATIO = 1.2  # nearer than this, two ceilings do not make copies differ
SAME_PACE_RATIO = 1.1  # nearer than this, a pace is the other side's ceiling
_NO_TRIALS = statement(
    "No result has trials: measure again with `trials: auto` or `always` in the kind."
)
_NOT_COMPARED = statement("No pools with trials are compared.")
_Times = Sequence[Sequence[float]]  # of each machine, the mean of a retrieve in each repetition


def _is_same_pace(bytes_per_s: float | None, wanted_bytes_per_s: float) -> bool:
    """Return whether copies limited to one rate show the same as copies limited to another."""
    pace = (bytes_per_s or 0.0) / wanted_bytes_per_s
    return 1 / SAME_PACE_RATIO <= pace <= SAME_PACE_RATIO


class TriedSide(Struct, frozen=True):
    """What the machines of one side recorded."""

    name: str
    machines: Sequence[Sequence[Trials]]  # the trials of each machine's runs

    @classmethod
    def of(cls, workers: Sequence[Worker], subject: Subject) -> "TriedSide":
        """Return the trials that these workers recorded in addition to samples of the subject."""
        machines = [
            [
                entry.trials
                for worker in runs
                for entry in worker.runs
                if entry.subject == subject and entry.trials is not None
            ]
            for runs in by_machine(workers, lambda worker: worker.machine)
        ]
        return cls(workers[0].side, [runs for runs in machines if runs])

    @property
    def runs(self) -> list[Trials]:
        return [run for machine in self.machines for run in machine]

    @property
    def ceiling_bytes_per_s(self) -> float | None:
        """Return the mean rate at which the disks wrote a file; None where no run measured it."""
        rates = [
            sum(ceiling.written_bytes for ceiling in run.ceilings)
            / (sum(ceiling.duration_ns for ceiling in run.ceilings) / NS_PER_S)
            for run in self.runs
            if run.ceilings
        ]
        return fmean(rates) if rates else None

    def only(self, is_kept: Callable[[Trials], bool]) -> "TriedSide":
        kept = ([run for run in machine if is_kept(run)] for machine in self.machines)
        return replace(self, machines=[machine for machine in kept if machine])

    def having(self, *kinds: TrialKind) -> "TriedSide":
        """Return the side with only the runs that have blocks of these kinds.

        Runs with a pace count only where there are no others: the blocks after a pace are too fast,
        because it leaves the disks idle.
        """
        having = self.only(lambda run: {*kinds} <= {block.trial for block in run.blocks})
        unpaced = having.only(lambda run: run.pace_bytes_per_s is None)
        return unpaced if unpaced.machines else having

    def paced_at(self, bytes_per_s: float) -> "TriedSide":
        """Return the side with only the runs whose copies were limited to about this rate."""
        return self.only(lambda run: _is_same_pace(run.pace_bytes_per_s, bytes_per_s))

    def times(self, kind: TrialKind, files: int) -> list[list[float]]:
        """Return the times of each machine in blocks of this kind, over the first files.

        Several runs of one machine are averaged, repetition by repetition.
        """
        by_machine = ([_repetitions(run, kind, files) for run in runs] for runs in self.machines)
        return [list(map(fmean, zip(*runs, strict=False))) for runs in by_machine]


def common_files(sides: Sequence[TriedSide]) -> int:
    """Return how many files, from the first on, all runs copied in the same order."""
    orders = [run.file_indexes for side in sides for run in side.runs]
    number = 0
    for indexes in zip(*orders, strict=False):
        if len(set(indexes)) > 1:
            break
        number += 1
    return number


def _repetitions(run: Trials, kind: TrialKind, files: int) -> list[float]:
    return [
        (math.fsum(block.lookup_ns[:files]) + math.fsum(block.copy_ns[:files])) / files
        for block in run.blocks
        if block.trial is kind
    ]


class Gap(Struct, frozen=True):
    """Both sides in blocks of one kind each."""

    slower: _Times
    faster: _Times

    @property
    def repetitions(self) -> int:
        return min(map(len, (*self.slower, *self.faster)), default=0)

    @property
    def times_as_long(self) -> float:
        faster_ns = _mean(self.faster)
        return _mean(self.slower) / faster_ns if faster_ns else 1.0

    @property
    def mean_ns(self) -> float:
        return _mean(self.slower) - _mean(self.faster)

    def gone_after(self, changed: "Gap") -> float:
        """Return the part of the gap that a change removes."""
        return 1 - changed.mean_ns / self.mean_ns

    def half_width(self, changed: "Gap", worker_variance: MeanVariance | None) -> float:
        """Return half the width of the interval of `gone_after`.

        It is over repetitions, or over machines where these differ more. If other machines of the
        faster side were changed, and the slower side was not, `worker_variance` says how far
        workers of a pool differ.
        """
        persists = changed.mean_ns / self.mean_ns
        # Residuals: the changed blocks less their share of the normal blocks; their mean is 0.
        over_repetitions = MeanVariance.of_mean(
            [
                after - persists * before
                for before, after in zip(self.by_repetition, changed.by_repetition, strict=False)
            ]
        )
        over_machines = (
            self._over_machines(changed, persists)
            if worker_variance is None
            else self._over_workers(changed, persists, worker_variance)
        )
        half_ns = max(variance.half_width(LEVEL) for variance in (over_repetitions, over_machines))
        return half_ns / abs(self.mean_ns)

    @property
    def by_repetition(self) -> list[float]:
        slower, faster = (
            list(map(fmean, zip(*times, strict=False))) for times in (self.slower, self.faster)
        )
        return [slow - fast for slow, fast in zip(slower, faster, strict=False)]

    def _over_machines(self, changed: "Gap", persists: float) -> MeanVariance:
        """Return the variance over machines that ran both; none where both sides have only one."""
        sides = [
            [fmean(after) - persists * fmean(before) for before, after in zip(*times, strict=True)]
            for times in ((self.slower, changed.slower), (self.faster, changed.faster))
        ]
        return MeanVariance.of_sum(
            [MeanVariance.of_mean(means) for means in sides if len(means) > 1]
        )

    def _over_workers(
        self, changed: "Gap", persists: float, worker_variance: MeanVariance
    ) -> MeanVariance:
        """Return the variance by how far workers differ in what a change does not set."""
        stays = max(0.0, persists)
        slower_ns, faster_ns = _mean(self.slower) * (1 - stays), _mean(self.faster) * stays
        factor = slower_ns**2 / len(self.slower)
        factor += faster_ns**2 * (1 / len(self.faster) + 1 / len(changed.faster))
        return replace(worker_variance, variance=factor * worker_variance.variance)


def _mean(times: _Times) -> float:
    return fmean(fmean(repetitions) for repetitions in times)


def pace_between(slower: TriedSide, faster: TriedSide) -> Pace | Statement:
    """Return the pace that shows what the slower side's disks cost; or why there is none."""
    low, high = slower.ceiling_bytes_per_s, faster.ceiling_bytes_per_s
    if low is None or high is None:
        return _not_measured(slower, faster)
    if high < CEILINGS_DIFFER_RATIO * low:
        return statement(
            "The disks of {slower} can write {low}, those of {faster} {high}: a pace is tried "
            "where they can write 1.2 times less.",
            slower=slower.name,
            low=Quantity(low, Unit.BYTES_PER_SECOND),
            faster=faster.name,
            high=Quantity(high, Unit.BYTES_PER_SECOND),
        )
    return Pace(faster.name, max(1, round(low)), slower.name)


def missing_runs(comparisons: Iterable[Comparison], workers: Sequence[Worker]) -> Confirming:
    """Return the runs that are missing to confirm causes, and why other comparisons need none."""
    subjects = {entry.subject for worker in workers for entry in worker.runs if entry.trials}
    missing = [_missing(item, workers) for item in comparisons if item.subject in subjects]
    if not missing:
        return Confirming((), (_NOT_COMPARED if subjects else _NO_TRIALS,))
    paces: list[Pace] = []
    for pace in missing:
        if isinstance(pace, Pace) and not any(
            known.pool == pace.pool and _is_same_pace(known.bytes_per_s, pace.bytes_per_s)
            for known in paces
        ):
            paces.append(pace)
    reasons = dict.fromkeys(reason for reason in missing if isinstance(reason, Statement))
    return Confirming(tuple(paces), tuple(reasons))


def _missing(comparison: Comparison, workers: Sequence[Worker]) -> Pace | Statement:
    """Return the run that is missing, or why none is."""
    slower, faster = comparison.candidate, comparison.baseline
    if comparison.verdict is Verdict.INCONCLUSIVE:
        template = "{candidate} against {baseline} is inconclusive: measure more workers first."
        return statement(template, candidate=slower, baseline=faster)
    ratio = comparison.ratio
    if comparison.verdict not in DIFFERENT or max(ratio, 1 / ratio) < LEAST_GAP_RATIO:
        return statement(
            "{candidate} takes {ratio} the time of {baseline}: too little to find the cause of.",
            candidate=slower,
            ratio=Quantity(ratio, Unit.RATIO),
            baseline=faster,
        )
    if comparison.verdict is Verdict.FASTER:
        slower, faster = faster, slower
    sides = [
        TriedSide.of([worker for worker in workers if worker.side == side], comparison.subject)
        for side in (slower, faster)
    ]
    pace = pace_between(*sides)
    if isinstance(pace, Pace) and sides[1].paced_at(pace.bytes_per_s).runs:
        template = "{faster} was limited to the ceiling of {slower} already."
        return statement(template, faster=faster, slower=slower)
    return pace


def _not_measured(*both: TriedSide) -> Statement:
    sides = [side for side in both if not side.ceiling_bytes_per_s]
    recorded = (run for side in sides for run in side.runs)
    reasons = [run.reason.removesuffix(".") for run in recorded if run.reason and not run.ceilings]
    return statement(
        "What the disks of {sides} can write was not measured{why}.",
        sides=" and ".join(side.name for side in sides),
        why=statement(": {reason}", reason=reasons[0]) if reasons else "",
    )
