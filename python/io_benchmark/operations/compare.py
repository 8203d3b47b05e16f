# SPDX-License-Identifier: MPL-2.0
"""Compare the results at some addresses: read them, plan the pairs of sides, analyse."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis import compare as analysis
from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.analysis.levels import DEFAULT_MARGIN
from io_benchmark.analysis.model import Worker
from io_benchmark.analysis.plan import AFTER, BEFORE, Plan
from io_benchmark.analysis.report_model import Report
from io_benchmark.context import Context
from io_benchmark.costs.worker_time import Price
from io_benchmark.operations.reading import read_workers
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.gather import Gathered, wait_for
from io_benchmark.sources.run_results import RunResult

if TYPE_CHECKING:
    from io_benchmark.analysis.history.readings import PastWorkers

# Half of what the kind of the report leaves for reading, comparing, drawing and uploading.
_READING_AFTER_WAITING_S = 300
_NO_PAST = "none"


class ComparisonOptions(Struct, frozen=True, kw_only=True):
    """What is compared with what, and how it is judged."""

    against: Sequence[str] = ()  # addresses of the results before a change
    baseline: str | None = None  # None: the last pool by name
    wait: float | None = None  # minutes, at most, for the tasks to end
    partial: bool = False  # a result may be missing, also all of the baseline
    margin: float = DEFAULT_MARGIN
    worker_variation: float | None = None
    variation_from: str | None = None  # where past results are; None: where their tasks are indexed
    looks: Schedule = field(default_factory=Schedule)
    allow: Sequence[str] = ()
    prices: Mapping[str, Price] = field(default_factory=dict)


def compare(addresses: Sequence[str], options: ComparisonOptions, context: Context) -> Report:
    """Compare the pools with one of them, or each with itself before a change."""
    # With --wait, reading ends early enough to write the report before a deadline.
    budget = Budget()
    if options.wait is not None:
        every_address = [*addresses, *options.against]
        wait_for(every_address, context.environment, options.wait * 60, context.tell)
        budget = Budget(ends_s=time.monotonic() + _READING_AFTER_WAITING_S)
    sides = {BEFORE: options.against, AFTER: addresses} if options.against else {"": addresses}
    readings = [_read_sides(group, when, context, budget) for when, group in sides.items()]
    workers = [worker for reading in readings for worker in reading.results]
    unreadable = [line for reading in readings for line in reading.unreadable]
    remarks = [line for reading in readings for line in reading.remarks]
    plan = _plan(options, readings, has_gaps=options.partial or bool(unreadable))
    past, message = _read_past(options, readings, context, budget)
    remarks += [message] if message else []
    return analysis.compare(
        plan,
        _in_order(workers),
        analysis.Options(
            options.margin,
            options.worker_variation,
            frozenset(options.allow),
            options.looks,
            past,
            options.prices,
        ),
        unreadable=unreadable,
        remarks=remarks,
        lost=[side for reading in readings for side in reading.lost],
    )


def _read_past(
    options: ComparisonOptions,
    readings: Sequence[Gathered[Worker]],
    context: Context,
    budget: Budget,
) -> "tuple[PastWorkers | None, str]":
    """Read earlier results of the compared pools: from where the user says, else from their index."""
    places = {pool: place for reading in readings for pool, place in reading.pasts.items()}
    if options.variation_from == _NO_PAST or (options.variation_from is None and not places):
        return None, ""
    # Imported here: folders have no earlier results, whose analysis loads numpy.
    from io_benchmark.operations.history import read_past_workers  # noqa: PLC0415

    workers = [worker for reading in readings for worker in reading.results]
    return read_past_workers(options.variation_from, places, workers, context, budget)


def compare_pools(workers: Sequence[Worker], baseline: str | None) -> Report:
    """Compare workers that were read before, with the default options."""
    plan = Plan.of_pools({worker.pool for worker in workers}, baseline)
    return analysis.compare(plan, _in_order(workers), analysis.Options())


def _in_order(workers: Iterable[Worker]) -> list[Worker]:
    """Return workers in the order of a report, however their results were read."""
    return sorted(workers, key=lambda worker: (worker.side, worker.task_id, worker.run_id or 0))


def _read_sides(
    addresses: Sequence[str], when: str, context: Context, budget: Budget
) -> Gathered[Worker]:
    """Read workers under their pool's name, with before or after where pushes are compared."""

    def side(measured: RunResult) -> str:
        return f"{measured.pool} {when}".strip()

    reading = read_workers(addresses, context, side, budget)
    return replace(reading, lost=tuple(f"{pool} {when}".strip() for pool in reading.lost))


def _plan(
    options: ComparisonOptions, readings: Sequence[Gathered[Worker]], *, has_gaps: bool
) -> Plan:
    pools = {worker.pool for reading in readings for worker in reading.results}
    if options.against:
        return Plan.before_and_after(pools)
    missing = [pool for reading in readings for pool in reading.missing]
    # The baseline may be among what is missing; the others can still be compared.
    if options.baseline is not None and has_gaps:
        missing.append(options.baseline)
    return Plan.of_pools(pools, options.baseline, missing)
