# SPDX-License-Identifier: MPL-2.0
"""Whether more CPUs pay for a task, in one sentence."""

import math
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from statistics import fmean
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from io_benchmark.analysis.model.statements import (
    Quantity,
    Range,
    Statement,
    Unit,
    joined,
    ratio_of,
    share,
    statement,
)
from io_benchmark.analysis.prediction.cpu_range import CpuRange, ThreadLevels, busy_share
from io_benchmark.analysis.prediction.demand import Demand
from io_benchmark.analysis.prediction.pool_change import PoolChange
from io_benchmark.analysis.prediction.pool_storage import PoolStorage
from io_benchmark.analysis.prediction.prediction_model import PoolPrediction
from io_benchmark.analysis.statistics.levels import DEFAULT_MARGIN
from io_benchmark.costs.worker_time import Price

# With fewer threads or busy CPUs than this, one thread works, or none. Chosen.
_ONE_THREAD = 1.5
_HALF_A_THREAD = 0.5
_USED = 0.5  # CPUs on average; a task that uses less does not ask for more. Chosen.
# A smaller share of the time is not worth a machine.
_WORTH_IT = DEFAULT_MARGIN


class LargerMachine(NamedTuple):
    """A machine with more CPUs, and the share of the time that their number alone saves."""

    name: str
    cpus: float
    least: float
    most: float
    time_ns: float | None  # with all else that differs there
    price: Price | None

    @classmethod
    def of(
        cls, changes: Sequence[PoolChange], levels: ThreadLevels, prediction: PoolPrediction
    ) -> "LargerMachine":
        """Compare the predicted range with that of as many CPUs as the task had."""
        same = [replace(change, target=replace(change.target, cpus=None)) for change in changes]
        times, same_ns = CpuRange.of(changes, levels), CpuRange.of(same, levels).likely
        return cls(
            prediction.pool,
            prediction.cpus or 0.0,
            max(0.0, 1 - times.most / same_ns),
            max(0.0, 1 - times.least / same_ns),
            prediction.time_ns,
            prediction.price,
        )


def larger_machines(
    demands: Sequence[Demand],
    source: PoolStorage,
    predicted: Iterable[tuple[PoolStorage, PoolPrediction]],
    levels: ThreadLevels,
) -> Iterator[LargerMachine]:
    """Yield those machines that have more CPUs, and of which something is predicted."""
    for target, prediction in predicted:
        is_known = prediction.time_ns is not None or prediction.at_least_ns is not None
        if is_known and prediction.cpus is not None and prediction.cpus > demands[0].cpus:
            changes = [PoolChange.of(demand, source, target) for demand in demands]
            yield LargerMachine.of(changes, levels, prediction)


def assumption(demand: Demand, source: PoolStorage) -> Statement:
    """Return what is taken to be the same on the profiled machine with other CPUs."""
    same = "With another number of CPUs, the machine has the same CPUs, disks, memory and price per"
    is_known = all(math.isfinite(source.ceiling(place.name)) for place in demand.places)
    if is_known or not any(place.written_bytes.any() for place in demand.places):
        return statement(f"{same} CPU")
    return statement(
        f"{same} CPU; its disks are taken to keep up, because --on has no write ceiling of the "
        "profiled pool"
    )


def more_cpus(
    demands: Sequence[Demand],
    machines: Iterable[LargerMachine],
    price: Price | None,
    *,
    is_asked: bool,
) -> Statement | None:
    """Return whether more CPUs pay, from how many on, and why.

    None: no machine has more, or no profile shows when CPUs were busy, or more are not asked for
    and the task hardly uses one.
    """
    by_size = sorted(machines, key=attrgetter("cpus", "name"))
    if not by_size or demands[0].busy_ns is None:
        return None
    if demands[0].cpus_used < _USED and not is_asked:
        return None
    paying = next((machine for machine in by_size if machine.least >= _WORTH_IT), None)
    if paying is not None:
        named = paying
        template = "More CPUs pay from {cpus} on ({name}): their number saves {saved} of the time"
    else:
        named = max(by_size, key=attrgetter("most", "cpus", "name"))
        template = (
            "Whether more CPUs pay is not known: {cpus} of them ({name}) save {saved} of the time, "
            "by how many threads the task runs there"
        )
        if named.most < _WORTH_IT:
            template = "More CPUs do not pay: {cpus} of them ({name}) save {saved} of the time"
    answer = statement(
        template,
        cpus=number_of_cpus(named.cpus),
        name=named.name,
        saved=Range(named.least, named.most, Unit.SHARE),
    )
    return joined([answer, *_cost(demands, named, price), *_reasons(demands[0])], "; ")


def _cost(
    demands: Sequence[Demand], machine: LargerMachine, price: Price | None
) -> Iterator[Statement]:
    """Yield what a task costs there by what it costs here."""
    if price is None or machine.price is None or machine.time_ns is None:
        return
    if price.currency == machine.price.currency:
        here_ns = fmean(demand.wall_ns for demand in demands)
        times = machine.time_ns * machine.price.per_hour / (here_ns * price.per_hour)
        yield statement("a task costs {times} as much there", times=ratio_of(times))


def _reasons(demand: Demand) -> Iterator[Statement]:
    """Yield in which time CPUs were the limit, and in which time one thread was."""
    if demand.busy_ns is None:
        return
    if demand.threads is None:
        is_one = demand.busy_ns < _ONE_THREAD * demand.spans_ns
        one = float(np.sum(demand.spans_ns[is_one]) / np.sum(demand.spans_ns))
        template = "every CPU was busy for {busy} of the time, and at most one for {one}"
        yield statement(template, busy=share(busy_share(demand)), one=share(one))
        return
    counts = demand.threads.counts
    yield statement(
        "every CPU was busy for {busy} of the time, threads waited for one for {waiting}, and at "
        "most one thread ran for {one}",
        busy=share(busy_share(demand)),
        waiting=share(float(np.mean(counts >= demand.cpus + _HALF_A_THREAD))),
        one=share(float(np.mean(counts < _ONE_THREAD))),
    )


def number_of_cpus(cpus: float) -> Quantity:
    """Return a number of CPUs, of which a limit may allow a part."""
    return Quantity(cpus, Unit.COUNT if cpus.is_integer() else Unit.NUMBER)
