# SPDX-License-Identifier: MPL-2.0
"""The sources of results; read all results that some addresses lead to, from any source.

Each function raises a UsageError for a mistake in an address before anything is read or requested.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import itemgetter
from typing import Any, Generic, Self, TypeVar

from msgspec import Struct

from io_benchmark.errors import UsageError
from io_benchmark.sources import protocol
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.folder_source import FolderSource
from io_benchmark.sources.run_results import RunProfile, RunResult, TaskRun
from io_benchmark.sources.taskcluster.addresses import IndexAddress
from io_benchmark.sources.taskcluster.source import TaskclusterSource
from io_benchmark.text import clean_name

T = TypeVar("T")

# The first that knows an address reads it. A folder may have any name, so it comes last.
SOURCES: tuple[protocol.Source, ...] = (TaskclusterSource(), FolderSource())

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Gathered(Struct, Generic[T], frozen=True):
    """Results in the order of their addresses, within one by label and run."""

    results: tuple[T, ...]
    unreadable: tuple[str, ...]  # a line for each result that could not be read
    remarks: tuple[str, ...]
    lost: tuple[str, ...]  # the pool of each task that ended and left no result
    missing: tuple[str, ...]  # pools of tasks without a result that could be read
    # By pool, where its earlier results are, as its tasks name it
    pasts: Mapping[str, AbstractSet[IndexAddress]]
    first: tuple[str, ...] = ()  # pools at the first of several addresses
    has_unknown_pools: bool = False  # of some results that could not be read

    @classmethod
    def of(cls, results: Iterable[T], reading: protocol.Reading, first: Iterable[str] = ()) -> Self:
        lost = {record.task_id: record.pool for record in reading.without_result if record.is_lost}
        unreadable = reading.take_problem_lines()
        return cls(
            tuple(results),
            unreadable=unreadable,
            remarks=reading.remark_lines(),
            lost=tuple(lost.values()),
            missing=tuple(sorted(reading.missing)),
            pasts=reading.pasts,
            first=tuple(sorted(first)),
            # The budget leaves results out before their pools are known.
            has_unknown_pools=len(unreadable) > reading.problems_of_pools,
        )


def parse_addresses(
    addresses: Sequence[str], environment: protocol.Environment
) -> dict[protocol.Source, list[protocol.SourceAddress]]:
    """Return the addresses by their source, local ones first, to show mistakes before requests."""
    by_source = {source: list[protocol.SourceAddress]() for source in reversed(SOURCES)}
    for number, address in enumerate(addresses):
        source, meaning = _parse(address, environment)
        by_source[source].append(protocol.SourceAddress(number, address, meaning))
    return {source: parsed for source, parsed in by_source.items() if parsed}


def address_forms(*, local: bool = True) -> str:
    """List the forms of address that exist, for messages."""
    sources = [source for source in reversed(SOURCES) if local or not source.is_local]
    *forms, last = [form for source in sources for form in source.forms]
    return f"{', '.join(forms)} or {last}"


def _parse(address: str, environment: protocol.Environment) -> tuple[protocol.Source, Any]:
    if not address.strip():
        raise UsageError(f"an address is empty; give {address_forms()}")
    label = clean_name(address)
    if _CONTROL.search(address.strip()):
        raise UsageError(f"{label}: contains control characters; type the address again")
    for source in SOURCES:
        meaning = source.parse(address, environment)
        if meaning is not None:
            return source, meaning
    raise UsageError(f"{label}: this form of address is not supported; give {address_forms()}")


def gather(
    addresses: Sequence[str],
    environment: protocol.Environment,
    progress: protocol.Progress,
    convert: Callable[[RunResult], T],
    budget: Budget | None = None,
) -> Gathered[T]:
    """Read the results at all addresses; convert each as it comes, so that its lists can be freed.

    Several readings of one command share a budget.
    """
    results: list[tuple[protocol.Position, T]] = []
    sources: dict[Hashable, str] = {}
    without_record: dict[Hashable, int] = {}  # which of the results
    first_pools: set[str] = set()

    def accept(position: protocol.Position, run_result: RunResult, _data: bytes) -> None:
        """Count a run once: with its task record, else from its first source."""
        record, content = run_result.task, run_result.result.identity
        # By the queue's record, and by what the result records about itself.
        run = content if record is None else (record.task_id, record.run_id)
        source = run_result.source
        if position.address == 0 and len(addresses) > 1:
            first_pools.add(run_result.pool)
        if run in sources:
            request.remark(position, _repeated(source, sources[run]))
            return
        replaced = None if record is None else without_record.pop(content, None)
        if replaced is not None:
            request.remark(results[replaced][0], _repeated(sources[content], source))
            results[replaced] = position, convert(run_result)
        elif request.budget.keep(run_result):
            if record is None:
                without_record[content] = len(results)
            results.append((position, convert(run_result)))
        else:
            return
        sources.update({content: source, run: source})

    request = protocol.Reading(environment, progress, budget or Budget(), accept=accept)
    for source, source_addresses in parse_addresses(addresses, environment).items():
        source.read(source_addresses, request)
    results.sort(key=itemgetter(0))
    return Gathered.of((result for _, result in results), request, first_pools)


def gather_task_runs(addresses: Sequence[str], query: protocol.RunQuery) -> Gathered[TaskRun]:
    """Read the runs of tasks at all addresses; each run once, in order."""
    for source, source_addresses in parse_addresses(addresses, query.environment).items():
        source.read_runs(source_addresses, query)
    query.remark_on_pools()
    runs: dict[Hashable, TaskRun] = {}
    # The most complete record of a run first: it has costs, or the times of the task's own work.
    read = [run for _, run in query.runs]
    for run in sorted(read, reverse=True, key=lambda run: (run.cost, run.own_ended_ms, run)):
        runs.setdefault(run.identity, run)
    repeated = len(query.runs) - len(runs)
    if repeated:
        query.remark(
            protocol.LAST, f"runs that were read more than once: {repeated:,}; each counts once"
        )
    first_pools = query.first_pools if len(addresses) > 1 else ()
    return Gathered.of(sorted(runs.values()), query, first_pools)


def gather_profiles(addresses: Sequence[str], query: protocol.Reading) -> Gathered[RunProfile]:
    for source, source_addresses in parse_addresses(addresses, query.environment).items():
        source.read_profiles(source_addresses, query)
    profiles = sorted(query.profiles, key=itemgetter(0))
    return Gathered.of((profile for _, profile in profiles), query)


def gather_phases(addresses: Sequence[str], query: protocol.LogQuery) -> None:
    """Read the phases of the runs at all addresses, by their logs."""
    for source, source_addresses in parse_addresses(addresses, query.environment).items():
        source.read_logs(source_addresses, query)


def wait_for(
    addresses: Sequence[str], environment: protocol.Environment, limit_s: float, tell: protocol.Tell
) -> None:
    for source, source_addresses in parse_addresses(addresses, environment).items():
        source.wait(source_addresses, environment, limit_s, tell)


def _repeated(source: str, first: str) -> str:
    return f"{source}: the same run as {first}, and counted once"
