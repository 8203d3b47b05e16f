# SPDX-License-Identifier: MPL-2.0
"""Read results of all pools: from a project's index, from addresses, or what a task kept."""

import math
import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.fleet.fleet_model import KeptReadings, WorkerReading
from io_benchmark.analysis.fleet.readings import reading_of
from io_benchmark.context import Context
from io_benchmark.errors import GaveUpError, MissingError, ResultError, UsageError
from io_benchmark.number_text import number_of
from io_benchmark.operations.fleets.kept_readings import (
    MAXIMUM_BYTES,
    merged,
    parse_kept,
    read_kept,
    write_kept,
)
from io_benchmark.report.content import text_of
from io_benchmark.sources.budget import READ_BYTES, Budget
from io_benchmark.sources.gather import gather
from io_benchmark.sources.protocol import FIRST, Reading
from io_benchmark.sources.run_results import RunResult
from io_benchmark.sources.taskcluster import addresses as forms
from io_benchmark.sources.taskcluster.addresses import IndexAddress, TaskAddress, default_hint
from io_benchmark.text import clean_name

if TYPE_CHECKING:  # the client takes 0.2 s to load
    from io_benchmark.sources.taskcluster.index_pushes import IndexedPushes
    from io_benchmark.sources.taskcluster.published_readings import PublishedReadings

# Imports within functions: folders need not wait for the client.
# ruff: noqa: PLC0415

DEFAULT_REQUESTS = 400
_LONGEST_S = 60.0  # with the default number of requests; more take longer
_YEAR = timedelta(days=366)
_REASONS = 5  # named


class Read(Struct):
    """What was read, and the messages about it."""

    place: str  # what the kept readings are of; empty: folders and other addresses
    title: str
    earlier: KeptReadings  # what the file or an earlier task kept
    readings: list[WorkerReading] = []
    pushes: AbstractSet[str] = frozenset()  # of the index that were read completely
    indexed: AbstractSet[str] | None = None  # pushes that the index has; None: not known
    problems: Sequence[str] = ()
    remarks: Sequence[str] = ()
    left_out: Counter[str] = Counter()  # reasons, by the number of results

    def take(self, measured: RunResult, times: Mapping[str, datetime]) -> None:
        """Keep what a fleet needs of a result; `times` are those of pushes by task group."""
        reading, left_out = reading_of(measured)
        if reading is not None:
            self.readings.append(replace(reading, time=times.get(reading.group, reading.time)))
        self.left_out.update({text_of(entry.reason) for entry in left_out})

    @property
    def kept(self) -> KeptReadings:
        newer = KeptReadings(self.place, tuple(self.readings), tuple(self.pushes))
        return merged(self.earlier, newer)

    def lines_about_left_out(self) -> list[str]:
        """Return the most frequent reasons why a part of a result is left out."""
        counts = sorted(self.left_out.items(), key=lambda item: (-item[1], item[0]))
        lines = [f"{number_of(count, 'result')}: {text}" for text, count in counts[:_REASONS]]
        if len(counts) > _REASONS:
            more = number_of(len(counts) - _REASONS, "reason")
            lines.append(f"parts of results are left out for {more} more")
        return lines


def read_fleet(
    context: Context,
    addresses: Sequence[str],
    *,
    path: Path | None,
    most_requests: int,
    as_of: date,
) -> Read:
    """Read what pools can do; `path` is of the file that keeps what was read."""
    meaning, title = _meaning(addresses, context.environment)
    if isinstance(meaning, IndexAddress) and meaning.route.endswith(forms.POOLS_BY_DATE):
        return _IndexReading(context, meaning, title, path).read(most_requests, as_of - _YEAR)
    if isinstance(meaning, IndexAddress | TaskAddress):
        published = _published(context, meaning)
        if published is not None:
            return _read_published(published, path)
    return _read_addresses(context, addresses, title, path)


def _meaning(
    addresses: Sequence[str], environment: Mapping[str, str]
) -> tuple[forms.TaskclusterAddress | None, str]:
    """Return what a single address or name of a project means, and a title for the table."""
    title = ", ".join(map(clean_name, addresses))
    if len(addresses) != 1:
        for address in addresses:
            if _is_project(address):
                problem = f"{clean_name(address)}: no such file or folder"
                raise UsageError(f"{problem}; the name of a project is the only address")
        return None, title
    (address,) = addresses
    meaning = forms.parse(address, environment)
    if meaning is None and _is_project(address):
        return IndexAddress.of_pools(address, environment), title
    if isinstance(meaning, IndexAddress) and meaning.route.endswith(forms.POOLS_BY_DATE):
        title = _project(meaning.route) or title
    return meaning, title


def _project(place: str) -> str:
    """Return the project of `…DOMAIN.v2.PROJECT.date.io-benchmark`; empty for another place."""
    return clean_name(place.removesuffix(forms.POOLS_BY_DATE).rpartition(".v2.")[2])


def _is_project(address: str) -> bool:
    return forms.is_project(address) and not os.path.lexists(address)


def _read_addresses(
    context: Context, addresses: Sequence[str], title: str, path: Path | None
) -> Read:
    """Read the results of folders, tasks and groups."""
    earlier = KeptReadings("", ()) if path is None else read_kept(path, "")
    read = Read("", title, _announced(earlier))
    budget = Budget(kept_bytes=math.inf, most_subjects=math.inf)
    with context.progress() as progress:
        gathered = gather(
            addresses,
            context.environment,
            progress,
            lambda measured: read.take(measured, {}),
            budget,
        )
    read.problems, read.remarks = gathered.unreadable, gathered.remarks
    return read


def _published(context: Context, address: IndexAddress | TaskAddress) -> "PublishedReadings | None":
    """Return what a task of the fleet kept; None where the address means something else."""
    from io_benchmark.sources.taskcluster.deployment import Deployment
    from io_benchmark.sources.taskcluster.published_readings import may_be_fleet, published_readings

    if not may_be_fleet(address):
        return None

    async def ask(deployments: Mapping[str, Deployment]) -> "PublishedReadings | None":
        return await published_readings(deployments[address.root_url], address, MAXIMUM_BYTES)

    return Deployment.run([address.root_url], context.environment, ask)


def _read_published(published: "PublishedReadings", path: Path | None) -> Read:
    """Return the readings that a task of the fleet kept, so that its table is shown again."""
    if path is not None:
        raise UsageError(f"--readings {clean_name(str(path))}: this task has kept its readings")
    kept = _parse_published(published, None)
    return Read(kept.place, _project(kept.place), kept)


def _parse_published(published: "PublishedReadings", place: str | None) -> KeptReadings:
    if isinstance(published.content, ResultError):
        raise ResultError(f"{published.source}: {published.content}")
    return parse_kept(published.content, published.source, place)


class _IndexReading:
    """One reading of a project's index."""

    def __init__(
        self, context: Context, place: IndexAddress, title: str, path: Path | None
    ) -> None:
        self._context, self._place, self._path = context, place, path
        name = f"{place.root_url}/tasks/index/{place.route}"
        earlier = KeptReadings(name, ()) if path is None else read_kept(path, name)
        self._read = Read(name, title, _announced(earlier))

    def read(self, most_requests: int, since: date) -> Read:
        from io_benchmark.sources.taskcluster.index_pushes import (
            IndexedPushes,
            PushesQuery,
            read_index_pushes,
        )

        read, pushes, path = self._read, IndexedPushes(), self._path
        # More requests take longer, and read more.
        scale = max(1.0, most_requests / DEFAULT_REQUESTS)
        budget = Budget(
            read_bytes=scale * READ_BYTES,
            kept_bytes=math.inf,
            most_subjects=math.inf,
            ends_s=time.monotonic() + scale * _LONGEST_S,
        )
        request = Reading(self._context.environment, budget=budget)
        request.accept = lambda _position, run, _data: read.take(run, pushes.times)

        def take_kept(published: "PublishedReadings | None") -> AbstractSet[str]:
            return self._take_kept(published, request)

        query = PushesQuery(self._place, since, most_requests, MAXIMUM_BYTES, take_kept)
        try:
            with self._context.progress() as request.progress:
                read_index_pushes(query, request, pushes)
        except (GaveUpError, MissingError) as error:
            hint = default_hint(self._context.environment)
            raise type(error)(f"{read.title} was looked up as a project: {error}{hint}") from None
        finally:
            read.pushes = pushes.complete
            # A reading that is stopped resumes with what it has read.
            if path is not None and read.readings:
                write_kept(path, read.kept)
        if pushes.is_listed:
            read.indexed = pushes.times.keys()
        read.problems = request.take_problem_lines()
        read.remarks = (*_unread(pushes, is_kept=path is not None), *request.remark_lines())
        return read

    def _take_kept(
        self, published: "PublishedReadings | None", request: Reading
    ) -> AbstractSet[str]:
        """Take what the newest task of the fleet kept; return the pushes that need no reading."""
        read = self._read
        if published is not None and not isinstance(published.content, MissingError):
            try:
                kept = _parse_published(published, read.place)
            except ResultError as error:
                # What is kept now would lack them, and be the newest.
                if self._path is not None and not read.earlier.readings:
                    raise
                request.remark(FIRST, f"{error}; every push is read")
            else:
                read.earlier = merged(read.earlier, _announced(kept))
        runs = {(reading.task_id, reading.run_id) for reading in read.earlier.readings}
        request.has_run = lambda task_id, run_id: (task_id, run_id) in runs
        return {*read.earlier.pushes}


def _announced(kept: KeptReadings) -> KeptReadings:
    """Return kept readings for a newer table, which does not repeat the alerts of theirs."""
    return replace(kept, announced=tuple(sorted({*kept.announced, *kept.alerts})), alerts=())


def _unread(pushes: "IndexedPushes", *, is_kept: bool) -> Iterable[str]:
    """Say which pushes were not read, and how to go on."""
    days = sorted(pushes.times[group].date() for group in pushes.unread)
    if days:
        was = "was" if len(days) == 1 else "were"
        span = f"{days[0]}" if len(days) == 1 else f"{days[0]} to {days[-1]}"
        advice = "run it again" if is_kept else "add --readings FILE and run it again"
        yield (
            f"{len(days):,} of {number_of(len(pushes.times), 'push')} {was} not read completely: "
            f"{span}; {advice} to go on"
        )
