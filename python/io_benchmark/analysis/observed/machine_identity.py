# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Which results come from one machine: the unit of replication, so that none counts twice.

A worker id names a machine, over reboots too. So does the kernel's boot id, which several workers on
one host share, and which a bare file has although no queue names its worker. Either joins two results,
and what is joined with a third is one machine with it. A boot id joins nothing where it is no random
number, or where what one boot cannot change differs: copies of a running machine have it in common.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TypeVar

from io_benchmark.analysis.model import UNKNOWN, Worker
from io_benchmark.results import Result

T = TypeVar("T")

BOOT_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
# A random number of 32 hexadecimal digits practically never has fewer different ones.
DIFFERENT_DIGITS = 6
PLACE = ("cloud", "region", "zone")


@dataclass(frozen=True)
class Marks:
    """By what a result's machine can be recognised."""

    worker_id: str = UNKNOWN
    boot: tuple[str, ...] = ()  # the boot id and what it cannot outlive; empty: not known
    place: tuple[str, ...] = ()  # where the machine is, as far as the worker says


def marks_of(worker_id: str, result: Result) -> Marks:
    location = result.task.location
    place = tuple(location.get(name, "") for name in PLACE)
    return Marks(worker_id, _boot(result), place if any(place) else ())


def _boot(result: Result) -> tuple[str, ...]:
    host = result.host
    boot_id = (host.boot_id or "").strip().lower() if host is not None else ""
    if host is None or not BOOT_ID.fullmatch(boot_id):
        return ()
    if len(set(boot_id.replace("-", ""))) < DIFFERENT_DIGITS:
        return ()
    return boot_id, host.kernel, host.kernel_version, host.architecture


def names(marks: Sequence[Marks]) -> list[str]:
    """A name for each one's machine: the same for all that were on the same one."""
    keys = _keys(marks)
    members: dict[int, list[Marks]] = {}
    roots = _joined(keys)
    for one, root in zip(marks, roots, strict=True):
        members.setdefault(root, []).append(one)
    name = {root: _name(some) for root, some in members.items()}
    alike: dict[str, int] = {}
    for root, text in name.items():
        # Copies of one boot id, which are not one machine.
        count = alike[text] = alike.get(text, 0) + 1
        if count > 1 and text != UNKNOWN:
            name[root] = f"{text}, {count}"
    return [name[root] for root in roots]


def _keys(marks: Sequence[Marks]) -> list[list[Hashable]]:
    places: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for one in marks:
        if one.boot and one.place:
            places.setdefault(one.boot, set()).add(one.place)
    found: list[list[Hashable]] = []
    for one in marks:
        keys: list[Hashable] = []
        if one.worker_id != UNKNOWN:
            keys.append(one.worker_id)
        if one.boot:
            # A machine is in one place: the same boot in several was copied.
            copied = len(places.get(one.boot, ())) > 1
            keys.append((one.boot, one.place if copied else ()))
        found.append(keys)
    return found


def _joined(keys: Sequence[Sequence[Hashable]]) -> list[int]:
    """For each the first that it is joined with, by union and find."""
    roots = list(range(len(keys)))

    def root_of(at: int) -> int:
        while roots[at] != at:
            roots[at] = roots[roots[at]]
            at = roots[at]
        return at

    first: dict[Hashable, int] = {}
    for at, some in enumerate(keys):
        for key in some:
            one, other = sorted((root_of(first.setdefault(key, at)), root_of(at)))
            roots[other] = one
    return [root_of(at) for at in range(len(keys))]


def _name(marks: Sequence[Marks]) -> str:
    known = sorted({one.worker_id for one in marks} - {UNKNOWN})
    if known:
        return known[0]
    boots = sorted({(one.boot, one.place) for one in marks if one.boot})
    return (
        " ".join(("with boot id", boots[0][0][0], *filter(None, boots[0][1]))) if boots else UNKNOWN
    )


def identified(workers: Iterable[Worker]) -> list[Worker]:
    """All results, each with its machine, in an order that does not depend on how they came."""
    ordered = sorted(workers, key=_order)
    found = names([marks_of(worker.worker_id, worker.result) for worker in ordered])
    return [
        replace(worker, machine=machine) for worker, machine in zip(ordered, found, strict=True)
    ]


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


def mean(values: Iterable[Sequence[float]]) -> float:
    """Over the machines, each with the mean of its runs."""
    return fmean(fmean(runs) for runs in values)


def grouped(items: Iterable[T], machine: Callable[[T], str]) -> dict[str, list[T]]:
    """By machine; one whose machine is not known stands for itself."""
    found: dict[str, list[T]] = {}
    for at, item in enumerate(items):
        name = machine(item)
        found.setdefault(name if name != UNKNOWN else f"#{at}", []).append(item)
    return found
