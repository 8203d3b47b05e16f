# SPDX-License-Identifier: MPL-2.0
"""The figures of one side on one subject."""

from collections.abc import Mapping

from msgspec import Struct


class Detail(Struct, frozen=True):
    """A figure that only one workload has, for one side."""

    name: str  # "scaling"
    label: str  # "scaling from 1 thread"
    value: float
    unit: str  # "×", or nothing for a count
    higher_is_better: bool


class Figures(Struct, frozen=True):
    """One side's times for one subject. Each figure is the mean over its workers."""

    workers: int
    samples: int
    operations: int  # a retrieve is one; a batch has as many as were timed together
    mean_ns: float  # of one operation, like all times here except the total
    value: float  # the mean in the workload's unit, which may be a rate
    percentiles_ns: Mapping[int, float]  # one for each of `workloads.PERCENTILES`
    total_ns: float
    lookup_mean_ns: float | None  # only cache-retrieve has lookups and copies
    copy_mean_ns: float | None
    # The largest standard error of a worker's own mean (moving blocks), as a part of the mean.
    within_worker_ratio: float
    # Standard deviation of the workers' log means; None with a single worker.
    between_workers_ratio: float | None
    details: tuple[Detail, ...] = ()

    def detail(self, name: str) -> float | None:
        return next((detail.value for detail in self.details if detail.name == name), None)
