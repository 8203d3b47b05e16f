# SPDX-License-Identifier: MPL-2.0
"""Items in groups, by a key or by the machine that measured them."""

from collections.abc import Callable, Hashable, Iterable
from operator import attrgetter
from typing import TypeVar

from io_benchmark.analysis.model.run import UNKNOWN

K = TypeVar("K", bound=Hashable)


T = TypeVar("T")


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


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
