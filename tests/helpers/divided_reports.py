# SPDX-License-Identifier: MPL-2.0
"""Reports about simulated machines, whose results record where the time went."""

from collections.abc import Mapping, Sequence
from functools import cache

import simulated_cases
from msgspec.structs import replace
from seed_workers import plan_of, worker
from simulated_cases import FAST, SLOW
from simulated_machine import Machine
from simulated_push import Measured, Pool, measure, measure_one

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.diagnosis_model import State
from io_benchmark.analysis.report_model import Report
from io_benchmark.analysis.side_times import Division, PartDifference
from io_benchmark.analysis.time_parts import Part

RETRIEVES = 120
TRIED_RETRIEVES = 100
MS = 1e6
# Of the baseline, of the candidate, and both ends of the interval of the difference.
Times = tuple[float, float, float | None, float | None]


def of_pools(
    *pools: Pool, destination: str = simulated_cases.DISK_BOUND, retrieves: int = RETRIEVES
) -> Report:
    """Compare the pools; the last one is the baseline."""
    measured = measure(pools, 1, destination=destination, retrieves=retrieves)
    return of_measured(measured, baseline=pools[-1].name)


def tried(slow: Machine, fast: Machine, seed: int = 1, workers: int = 3) -> Report:
    """Compare two pools that ran trials, and again with the run that confirms, on one more worker."""
    pools = {pool.name: pool for pool in (Pool(SLOW, slow, workers), Pool(FAST, fast, workers))}
    measured = measure([*pools.values()], seed, retrieves=TRIED_RETRIEVES, trials=True)
    report = of_measured(measured, FAST)
    for pace in report.confirming.paces:
        pool = pools[pace.pool]
        confirming = measure_one(
            pool,
            pool.workers,
            seed,
            retrieves=TRIED_RETRIEVES,
            pace_bytes_per_s=pace.bytes_per_s,
        )
        measured[pace.pool].append(confirming)
        report = of_measured(measured, FAST)
    return report


@cache
def tried_one_disk() -> Report:
    """One disk with bfq against two disks, tried, with the causes that are not ruled out."""
    case = simulated_cases.make(("one disk",), ("bfq",))
    report = tried(case.slow, case.fast)
    (diagnosis,) = report.diagnoses
    left = (State.RULED_OUT, State.NOT_OBSERVABLE)
    causes = tuple(cause for cause in diagnosis.causes if cause.state not in left)
    return replace(report, diagnoses=(replace(diagnosis, causes=causes),))


def of_measured(measured: Mapping[str, Sequence[Measured]], baseline: str) -> Report:
    """Compare what the pools measured."""
    workers = [worker(each.document) for runs in measured.values() for each in runs]
    return compare(plan_of(measured, baseline), workers, Options())


@cache
def one_bad_worker() -> Report:
    """One of the five workers of amd-16 has one disk; all others have two."""
    case = simulated_cases.make(("one disk",), bad_worker=2, workers=5)
    return of_pools(*case.pools(), destination=case.destination)


def with_parts(report: Report, parts: Mapping[Part, Times]) -> Report:
    """Give each comparison of the report's first measurement these parts, in milliseconds."""
    first, *others = report.subjects
    differences = tuple(
        PartDifference(
            *part,
            baseline_ns=baseline * MS,
            candidate_ns=candidate * MS,
            low_ns=None if low is None else low * MS,
            high_ns=None if high is None else high * MS,
        )
        for part, (baseline, candidate, low, high) in parts.items()
    )
    divisions = tuple(
        Division(comparison.baseline, comparison.candidate, differences)
        for comparison in first.comparisons
    )
    return replace(report, subjects=(replace(first, divisions=divisions), *others))
