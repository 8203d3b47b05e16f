# SPDX-License-Identifier: MPL-2.0
"""Read the workers at some addresses, and compare them: plan the pairs of sides, analyse."""

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from io_benchmark.analysis import compare as analysis
from io_benchmark.analysis.comparing.pairs import EarlierPushes, Options
from io_benchmark.analysis.model.cause import Pace
from io_benchmark.analysis.model.plan import AFTER, BEFORE, Plan
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.reading.intake import worker_of
from io_benchmark.context import Context
from io_benchmark.costs.worker_time import NO_PRICES, Price
from io_benchmark.report.content import pace_text, text_of
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.gather import Gathered, gather, wait_for
from io_benchmark.sources.taskcluster.addresses import IndexAddress

if TYPE_CHECKING:
    from io_benchmark.adopt.pools.workers import DefinedMachines

# Half of what the kind of the report leaves for reading, comparing, drawing and uploading.
_READING_AFTER_WAITING_S = 300
_DEFAULT_OPTIONS = Options()


class ReadSides(NamedTuple):
    """What was read at all addresses, and how far earlier pushes of a change vary."""

    readings: Sequence[Gathered[Worker]]  # of a change: before, then after
    is_change: bool
    earlier: EarlierPushes | None
    remarks: Sequence[str]

    @property
    def workers(self) -> list[Worker]:
        return [worker for reading in self.readings for worker in reading.results]

    @property
    def unreadable(self) -> list[str]:
        return [line for reading in self.readings for line in reading.unreadable]

    @property
    def lost(self) -> list[str]:
        return [side for reading in self.readings for side in reading.lost]


def compare(
    context: Context,
    addresses: Sequence[str],
    *,
    against: Sequence[str] = (),
    baseline: str | None = None,
    wait_minutes: float | None = None,
    partial: bool = False,
    options: Options = _DEFAULT_OPTIONS,
    prices: Mapping[str, Price] = NO_PRICES,
    pools_file: Path | None = None,
) -> Report:
    """Compare the pools with one of them, or each with itself at the addresses of `against`.

    Wait at most `wait_minutes` for the tasks to end. With `partial` a result may be missing, also
    all of the baseline. With `against`, earlier pushes are read where their tasks are indexed: they
    show how far pushes vary. `pools_file` defines the workers' machines.
    """
    read = read_sides(context, addresses, against, wait_minutes, pools_file)
    if read.is_change:
        plan = Plan.before_and_after(worker.pool for worker in read.workers)
    else:
        plan = _plan_of_pools(read.readings[0], baseline, partial=partial)
    return analysis.compare(
        plan,
        in_order(read.workers),
        options,
        prices=prices,
        earlier=read.earlier,
        unreadable=read.unreadable,
        remarks=read.remarks,
        lost=read.lost,
    )


def read_sides(
    context: Context,
    addresses: Sequence[str],
    against: Sequence[str],
    wait_minutes: float | None,
    pools_file: Path | None = None,
) -> ReadSides:
    """Read the results at the addresses, after waiting for them, and those of `against`."""
    # First: a mistake in it must not end hours of waiting.
    definitions = _definitions(pools_file)
    # With --wait, reading ends early enough to write the report before a deadline.
    budget = Budget()
    if wait_minutes is not None:
        wait_for([*addresses, *against], context.environment, wait_minutes * 60, context.tell)
        budget = Budget(ends_s=time.monotonic() + _READING_AFTER_WAITING_S)
    sides = {BEFORE: against, AFTER: addresses} if against else {"": addresses}
    readings = [read_workers(group, context, when, budget) for when, group in sides.items()]
    remarks = [line for reading in readings for line in reading.remarks]
    if definitions is not None:
        readings = [
            replace(reading, results=tuple(map(definitions.define, reading.results)))
            for reading in readings
        ]
        remarks += definitions.remarks
    workers = [worker for reading in readings for worker in reading.results]
    places = _histories(readings)
    earlier: EarlierPushes | None = None
    if against and places:
        # Imported here: folders have no earlier pushes, whose analysis loads numpy.
        from io_benchmark.operations.history import read_earlier_pushes  # noqa: PLC0415

        pushes, message = read_earlier_pushes(places, workers, context, budget)
        remarks.append(message)
        earlier = pushes.variance
    return ReadSides(readings, bool(against), earlier, remarks)


def _definitions(pools_file: Path | None) -> "DefinedMachines | None":
    """Return the machines that a file of pools' definitions has, if one was given."""
    if pools_file is None:
        return None
    # Imported here: most comparisons need no YAML.
    from io_benchmark.adopt.pools.definitions import PoolDefinitions  # noqa: PLC0415

    return PoolDefinitions.read(pools_file).machines()


def _histories(readings: Iterable[Gathered[Worker]]) -> dict[str, IndexAddress]:
    """Return where the earlier results of each pool are: by the last reading, after a change."""
    return {
        pool: min(places, key=str) for reading in readings for pool, places in reading.pasts.items()
    }


def _plan_of_pools(reading: Gathered[Worker], baseline: str | None, *, partial: bool) -> Plan:
    missing = [*reading.missing]
    # The baseline may be among what is missing; the others can still be compared.
    if baseline is not None and (partial or reading.unreadable):
        missing.append(baseline)
    return Plan.of_pools(
        (worker.pool for worker in reading.results),
        baseline,
        missing,
        first=reading.first,
        named=(worker.named_baseline for worker in reading.results),
    )


def read_workers(
    addresses: Sequence[str], context: Context, when: str = "", budget: Budget | None = None
) -> Gathered[Worker]:
    """Read the workers at all addresses; a side is named after its pool, and `when` if given."""
    end = f" {when}" if when else ""
    with context.progress() as progress:
        reading = gather(
            addresses,
            context.environment,
            progress,
            lambda measured: worker_of(measured, measured.pool + end),
            budget,
        )
    return replace(
        reading,
        lost=tuple(pool + end for pool in reading.lost),
        missing=tuple(pool + end for pool in reading.missing),
    )


def compare_pools(workers: Sequence[Worker], baseline: str | None) -> Report:
    """Compare workers that were read before, with the default options."""
    named = {worker.named_baseline for worker in workers}
    plan = Plan.of_pools({worker.pool for worker in workers}, baseline, named=named)
    return analysis.compare(plan, in_order(workers), _DEFAULT_OPTIONS)


def find_paces(
    workers: Sequence[Worker], baseline: str | None, context: Context, place: str = ""
) -> Sequence[Pace]:
    """Return the paces at which pools confirm causes; tell them, or why there are none."""
    confirming = compare_pools(workers, baseline).confirming
    if not confirming.paces:
        reasons = " ".join(map(text_of, confirming.reasons))
        context.tell(f"Nothing to confirm{place}: {reasons}")
    for pace in confirming.paces:
        context.tell(f"To confirm: {pace_text(pace)}")
    return confirming.paces


def in_order(workers: Iterable[Worker]) -> list[Worker]:
    """Return workers in the order of a report, however their results were read."""
    return sorted(workers, key=lambda worker: (worker.side, worker.task_id, worker.run_id or 0))
