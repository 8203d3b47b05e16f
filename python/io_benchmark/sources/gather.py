# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Every result that some addresses lead to, local and remote, in one account."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from io_benchmark.errors import ResultError
from io_benchmark.results.size import MAXIMUM_BYTES
from io_benchmark.sources import address, layout, local
from io_benchmark.sources.budget import SMALL_BYTES, Budget
from io_benchmark.sources.found import LAST, Found, Position
from io_benchmark.sources.progress import Progress
from io_benchmark.text import clean

if TYPE_CHECKING:
    from io_benchmark.sources.retrying import Policy

T = TypeVar("T")


@dataclass(frozen=True)
class GatheredAs(Generic[T]):
    """Results in the order of their addresses, by label and run within one."""

    measured: tuple[T, ...]
    unreadable: tuple[str, ...]  # a line for each result that could not be had
    remarks: tuple[str, ...]


Gathered = GatheredAs[layout.Measured]


def gather(
    addresses: Sequence[str],
    environment: Mapping[str, str],
    progress: Callable[[Progress], None],
    policy: "Policy | None" = None,
) -> Gathered:
    """Reads all of them. A mistake in an address is a UsageError, before anything is read."""
    return gather_as(addresses, environment, progress, lambda measured: measured, policy)


def gather_as(
    addresses: Sequence[str],
    environment: Mapping[str, str],
    progress: Callable[[Progress], None],
    convert: Callable[[layout.Measured], T],
    policy: "Policy | None" = None,
    budget: Budget | None = None,
) -> GatheredAs[T]:
    """As `gather`; each result is converted as it comes, so that the lists in it can be let go.

    Several readings for one command share a budget.
    """
    meanings = [address.parse(text, environment) for text in addresses]
    files = {
        at: local.find(meaning.path)
        for at, meaning in enumerate(meanings)
        if isinstance(meaning, address.FileAddress)
    }
    reading = _Reading(convert, budget or Budget())
    reading.files(files, progress)
    remote = [
        (at, meaning)
        for at, meaning in enumerate(meanings)
        if not isinstance(meaning, address.FileAddress)
    ]
    if remote:
        for at, text in remarks_on(addresses, meanings, environment):
            reading.remark((at, "", "", 0), text)
        reading.remote(remote, environment, progress, policy)
    return reading.account()


def remarks_on(
    addresses: Sequence[str],
    meanings: Sequence[address.Address],
    environment: Mapping[str, str],
) -> list[tuple[int, str]]:
    """What is said of the addresses themselves: which deployment was taken, what was left out."""
    remarks = [
        (at, f"{clean(text, 200)}: {meaning.remark}")
        for at, (text, meaning) in enumerate(zip(addresses, meanings, strict=True))
        if isinstance(meaning, address.TaskAddress) and meaning.remark
    ]
    if not environment.get(address.ROOT_VARIABLE):
        for at, (text, meaning) in enumerate(zip(addresses, meanings, strict=True)):
            if isinstance(meaning, address.FileAddress):
                continue
            if not text.strip().startswith(meaning.root_url):
                said = f"asked {meaning.root_url}, because {address.ROOT_VARIABLE} is not set"
                remarks.append((at, said))
                break
    return remarks


class _Reading(Generic[T]):
    """What has been read so far. A run counts once, by whichever way it came first."""

    def __init__(self, convert: Callable[[layout.Measured], T], budget: Budget) -> None:
        self._convert = convert
        self._budget = budget
        self._measured: list[tuple[Position, T]] = []
        self._problems: list[tuple[Position, str]] = []
        self._remarks: list[tuple[Position, str]] = []
        self._sources: dict[Hashable, str] = {}

    def remark(self, position: Position, text: str) -> None:
        self._remarks.append((position, text))

    def files(self, files: Mapping[int, list[Path]], progress: Callable[[Progress], None]) -> None:
        found = [
            ((at, "", "", number), path)
            for at, paths in files.items()
            for number, path in enumerate(paths)
        ]
        # In order, but large ones last: they must not take the place of all others.
        found.sort(key=lambda pair: local.size_bytes(pair[1]) > SMALL_BYTES)
        for done, (position, path) in enumerate(found):
            if self._budget.allows_reading(str(path), local.size_bytes(path)):
                self._file(position, path)
            progress(Progress("reading results", done + 1, len(found)))

    def _file(self, position: Position, path: Path) -> None:
        """What cannot be read is a problem and stops nothing."""
        try:
            measured = local.read(path)
        except ResultError as error:
            self._budget.spend(min(local.size_bytes(path), MAXIMUM_BYTES))
            self._problems.append((position, clean(str(error))))
        else:
            self._budget.spend(measured.size_bytes)
            self._take(position, measured)

    def remote(
        self,
        addresses: Sequence[tuple[int, address.RemoteAddress]],
        environment: Mapping[str, str],
        progress: Callable[[Progress], None],
        policy: "Policy | None",
    ) -> None:
        # Imported here: the client takes 0.2 s to load, which files need not wait for.
        from io_benchmark.sources import remote  # noqa: PLC0415
        from io_benchmark.sources.retrying import Policy  # noqa: PLC0415
        from io_benchmark.sources.running import run  # noqa: PLC0415

        async def accept(found: Found) -> None:
            self._take(found.position, found.measured)

        account = run(
            remote.collect(
                addresses,
                environment,
                policy or Policy(),
                accept=accept,
                progress=progress,
                budget=self._budget,
            )
        )
        self._problems += account.problems
        self._remarks += account.remarks

    def account(self) -> GatheredAs[T]:
        self._problems += [(LAST, text) for text in self._budget.take_left_out()]
        return GatheredAs(
            tuple(one for _, one in sorted(self._measured, key=lambda pair: pair[0])),
            tuple(text for _, text in sorted(self._problems)),
            tuple(text for _, text in sorted(self._remarks)),
        )

    def _take(self, position: Position, measured: layout.Measured) -> None:
        run, content = _identity(measured)
        seen = self._sources.get(run if run is not None else content)
        if seen is not None:
            text = f"{measured.source}: the same run as {seen}, and counted once"
            self.remark(position, clean(text))
            return
        if not self._budget.keep(measured):
            return
        for key in (run, content):
            if key is not None:
                self._sources[key] = measured.source
        self._measured.append((position, self._convert(measured)))


def _identity(measured: layout.Measured) -> tuple[Hashable, Hashable]:
    """The run by the queue's record, and by what a bare file says of itself."""
    task, result = measured.task, measured.result
    run = None if task is None else (task.task_id, task.run_id)
    own = result.task
    if own.task_id is None:
        return run, measured.source
    return run, (own.task_id, own.run_id, own.pool, result.started, result.duration_ns)
