# SPDX-License-Identifier: MPL-2.0
"""Reports about simulated machines, whose results record where the time went."""

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from msgspec.structs import replace
from seed_workers import report_of, worker
from simulated_results import Measured, Pool, measure, measure_one
from situations import BASE, FAST, ONE_DISK, SLOW

from io_benchmark.analysis.model.cause import State
from io_benchmark.analysis.model.figures import Division, PartDifference
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.time_parts import Part

RETRIEVES = 120
TRIED_RETRIEVES = 100
MS = 1e6
# Several tests compare different pools with the same one.
_measured_once = lru_cache(maxsize=32)(measure_one)
# Of the baseline, of the candidate, and both ends of the interval of the difference.
Times = tuple[float, float, float | None, float | None]


def of_pools(*pools: Pool, baseline: str = FAST, seed: int = 1, **options: Any) -> Report:
    """Compare what the workers of these pools measure."""
    measured = measure(pools, seed, **{"retrieves": RETRIEVES, **options})
    return of_measured(measured, baseline)


def tried(*pools: Pool, baseline: str = FAST, seed: int = 1, **options: Any) -> Report:
    """Compare pools that ran trials, and again with the run that confirms, on one more worker."""
    options = {"retrieves": TRIED_RETRIEVES, "trials": True, **options}
    measured = {
        pool.name: [_measured_once(pool, number, seed, **options) for number in range(pool.workers)]
        for pool in pools
    }
    report = of_measured(measured, baseline)
    for pace in report.confirming.paces:
        (pool,) = (pool for pool in pools if pool.name == pace.pool)
        options["pace_bytes_per_s"] = pace.bytes_per_s
        measured[pool.name].append(measure_one(pool, pool.workers, seed, **options))
        report = of_measured(measured, baseline)
    return report


@cache
def to_be_confirmed() -> Report:
    """One disk against two, with trials, of which none was held to the other's pace."""
    report = of_pools(Pool(SLOW, ONE_DISK), Pool(FAST, BASE), trials=True)
    workers = tuple(replace(run, group_id="Fqm6GL_zRPurCmd1rRuTRQ") for run in report.workers)
    return replace(report, workers=workers)


@cache
def tried_one_disk() -> Report:
    """One disk with bfq against two disks, tried, with the causes that are not ruled out."""
    report = tried(Pool(SLOW, dataclasses.replace(ONE_DISK, scheduler="bfq")), Pool(FAST, BASE))
    (diagnosis,) = report.diagnoses
    left = (State.RULED_OUT, State.NOT_OBSERVABLE)
    causes = tuple(cause for cause in diagnosis.causes if cause.state not in left)
    return replace(report, diagnoses=(replace(diagnosis, causes=causes),))


def of_measured(measured: Mapping[str, Sequence[Measured]], baseline: str) -> Report:
    """Compare what the pools measured."""
    workers = [worker(each.document) for runs in measured.values() for each in runs]
    return report_of(workers, baseline)


@cache
def one_bad_worker() -> Report:
    """One of the five workers of amd-16 has one disk; all others have two."""
    return of_pools(Pool(SLOW, BASE, 5, {2: ONE_DISK}), Pool(FAST, BASE, 5))


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
