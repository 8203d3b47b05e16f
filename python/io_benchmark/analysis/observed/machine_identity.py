# SPDX-License-Identifier: MPL-2.0
"""Which results come from one machine: the unit of replication, so that no machine counts twice.

A worker id identifies a machine, also after a reboot. So does the kernel's boot id: several workers on
one host share it, and a bare file has it although no queue names its worker. Two results with the same
worker id or boot id are from one machine, and so are all results that are connected in this way. A boot
id is ignored where it is not a random number, or where facts differ that cannot change within one boot:
copies of a running machine have the same boot id.

The machine id counts only for results without worker id and boot id. It is ignored where results with
different boot ids have it: then it came with an image, and machines that start from one image share it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import attrgetter, itemgetter
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model import UNKNOWN, Worker
from io_benchmark.results import Result

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

_BOOT_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
# A random number of 32 hexadecimal digits practically never has fewer different ones.
_DIFFERENT_DIGITS = 6
_PLACE = ("cloud", "region", "zone")


class MachineMarks(Struct, frozen=True):
    """The marks by which a result's machine is recognised."""

    worker_id: str = UNKNOWN
    boot: tuple[str, ...] = ()  # the boot id and what it cannot outlive; empty: not known
    place: tuple[str, ...] = ()  # where the machine is, as far as the worker says
    machine_id: str = ""  # a hash; empty: not known

    @classmethod
    def of(cls, worker_id: str, result: Result) -> "MachineMarks":
        location = result.task.location
        place = tuple(location.get(name, "") for name in _PLACE)
        machine_id = (result.host.machine_id or "") if result.host is not None else ""
        return cls(worker_id, _boot(result), place if any(place) else (), machine_id)

    @staticmethod
    def machine_names(marks: Sequence["MachineMarks"]) -> list[str]:
        """Return the name of each result's machine, the same for all results from one machine."""
        roots = _connected(_keys(marks))
        names: dict[int, str] = {}
        counts: Counter[str] = Counter()
        for root, members in grouped(zip(roots, marks, strict=True), itemgetter(0)).items():
            name = _name([mark for _, mark in members])
            counts[name] += 1
            # Several machines have copies of one boot id.
            is_first = counts[name] == 1 or name == UNKNOWN
            names[root] = name if is_first else f"{name}, {counts[name]}"
        return [names[root] for root in roots]


def _boot(result: Result) -> tuple[str, ...]:
    host = result.host
    boot_id = (host.boot_id or "").strip().lower() if host is not None else ""
    is_random = len(set(boot_id) - {"-"}) >= _DIFFERENT_DIGITS
    if host is None or not is_random or not _BOOT_ID.fullmatch(boot_id):
        return ()
    return boot_id, host.kernel, host.kernel_version, host.architecture


def _keys(marks: Sequence[MachineMarks]) -> list[list[Hashable]]:
    places: defaultdict[tuple[str, ...], set[tuple[str, ...]]] = defaultdict(set)
    boots: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for mark in marks:
        places[mark.boot].add(mark.place)
        boots[mark.machine_id].add(mark.boot)
    all_keys: list[list[Hashable]] = []
    for mark in marks:
        keys: list[Hashable] = []
        if mark.worker_id != UNKNOWN:
            keys.append(mark.worker_id)
        if mark.boot:
            # A machine is in one place: the same boot in several places was copied.
            copied = len(places[mark.boot] - {()}) > 1
            keys.append((mark.boot, mark.place if copied else ()))
        elif mark.machine_id and not keys and len(boots[mark.machine_id] - {()}) < 2:
            keys.append(("machine id", mark.machine_id, mark.place))
        all_keys.append(keys)
    return all_keys


def _connected(keys: Sequence[Sequence[Hashable]]) -> list[int]:
    """Return for each result the first one that it is connected with, by union and find."""
    roots = list(range(len(keys)))

    def root(result: int) -> int:
        while roots[result] != result:
            roots[result] = roots[roots[result]]
            result = roots[result]
        return result

    first: dict[Hashable, int] = {}
    for result, result_keys in enumerate(keys):
        for key in result_keys:
            earlier, later = sorted((root(first.setdefault(key, result)), root(result)))
            roots[later] = earlier
    return list(map(root, range(len(keys))))


def _name(marks: Sequence[MachineMarks]) -> str:
    worker_ids = sorted({mark.worker_id for mark in marks} - {UNKNOWN})
    if worker_ids:
        return worker_ids[0]
    boots = sorted({(mark.boot, mark.place) for mark in marks if mark.boot})
    if boots:
        return " ".join(("with boot id", boots[0][0][0], *filter(None, boots[0][1])))
    ids = sorted({mark.machine_id for mark in marks} - {""}) if len(marks) > 1 else ()
    return f"with machine id {ids[0]}" if ids else UNKNOWN


def identify_machines(workers: Iterable[Worker]) -> list[Worker]:
    """Return all results with their machines, in an order that does not depend on the input's."""
    ordered = sorted(workers, key=_order)
    marks = [MachineMarks.of(worker.worker_id, worker.result) for worker in ordered]
    names = zip(ordered, MachineMarks.machine_names(marks), strict=True)
    return [replace(worker, machine=name) for worker, name in names]


def _order(worker: Worker) -> tuple[object, ...]:
    result = worker.result
    return (
        worker.side,
        worker.task_id,
        -1 if worker.run_id is None else worker.run_id,
        worker.worker_id,
        result.started,
        worker.source,
        result.duration_ns,
        [(entry.subject, entry.total_ns.tobytes()) for entry in worker.entries],
    )


def by_machine(
    items: Iterable[T], machine: Callable[[T], str] = attrgetter("worker.machine")
) -> list[list[T]]:
    """Group what workers measured: machines are counted and averaged, not runs.

    An item whose machine is not known is a group by itself.
    """
    groups: dict[str, list[T]] = {}
    for number, item in enumerate(items):
        name = machine(item)
        groups.setdefault(name if name != UNKNOWN else f"#{number}", []).append(item)
    return list(groups.values())


def by_side(
    items: Iterable[T], side: Callable[[T], str] = attrgetter("worker.side")
) -> dict[str, list[T]]:
    return grouped(items, side)


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
