# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The seed's figures: one set for each pool and each thing that was measured."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from io_benchmark.results import CacheRetrieve


@dataclass(frozen=True, order=True)
class Subject:
    """What was measured: only like is laid beside like."""

    workload: str
    place: str
    destination: str
    fidelity: str


@dataclass(frozen=True)
class Figures:
    """One pool's times for one subject: each figure is the mean over its workers."""

    workers: int
    retrieves: int
    mean_ns: float
    p50_ns: float
    p95_ns: float
    p99_ns: float
    total_ns: float
    lookup_mean_ns: float
    copy_mean_ns: float


@dataclass(frozen=True)
class Table:
    """One subject over all pools, in the order given."""

    subject: Subject
    baseline: str
    pools: dict[str, Figures]

    def ratio(self, pool: str) -> float:
        """Mean time over the baseline's: above 1 is slower."""
        return self.pools[pool].mean_ns / self.pools[self.baseline].mean_ns


def percentile(ordered: Sequence[int], percent: int) -> int:
    """The seed's definition, so that figures can be laid beside its own."""
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]


def subject_of(entry: CacheRetrieve) -> Subject:
    return Subject("cache-retrieve", entry.place, entry.destination, entry.fidelity)


def of_worker(entry: CacheRetrieve) -> Figures:
    samples = entry.samples
    totals = sorted(a + b for a, b in zip(samples.lookup_ns, samples.copy_ns, strict=True))
    return Figures(
        workers=1,
        retrieves=len(totals),
        mean_ns=fmean(totals),
        p50_ns=percentile(totals, 50),
        p95_ns=percentile(totals, 95),
        p99_ns=percentile(totals, 99),
        total_ns=sum(totals),
        lookup_mean_ns=fmean(samples.lookup_ns),
        copy_mean_ns=fmean(samples.copy_ns),
    )


def of_pool(workers: Sequence[Figures]) -> Figures:
    """The unit is the worker: a pool's figure is the mean of its workers' figures."""

    def mean(name: str) -> float:
        return fmean(getattr(worker, name) for worker in workers)

    return Figures(
        workers=len(workers),
        retrieves=sum(worker.retrieves for worker in workers),
        mean_ns=mean("mean_ns"),
        p50_ns=mean("p50_ns"),
        p95_ns=mean("p95_ns"),
        p99_ns=mean("p99_ns"),
        total_ns=mean("total_ns"),
        lookup_mean_ns=mean("lookup_mean_ns"),
        copy_mean_ns=mean("copy_mean_ns"),
    )


def tables(
    measured: Iterable[tuple[str, Sequence[CacheRetrieve]]], baseline: str
) -> tuple[Table, ...]:
    """A table a subject, from (pool, entries of one worker); entries without samples are left out."""
    workers: dict[Subject, dict[str, list[Figures]]] = {}
    for pool, entries in measured:
        for entry in entries:
            if entry.samples.copy_ns:
                pools = workers.setdefault(subject_of(entry), {})
                pools.setdefault(pool, []).append(of_worker(entry))
    return tuple(
        Table(
            subject,
            baseline,
            {pool: of_pool(pools[pool]) for pool in sorted(pools)},
        )
        for subject, pools in sorted(workers.items())
    )
