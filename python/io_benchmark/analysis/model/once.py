# SPDX-License-Identifier: MPL-2.0
"""What is read of a record is kept with the record, and read once."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Record = TypeVar("Record", bound=Any)
Reading = TypeVar("Reading")


def once(read: Callable[[Record], Reading]) -> Callable[[Record], Reading]:
    """Keep what a function reads of a record; the record needs a `__dict__`."""
    name = f"{read.__module__}.{read.__qualname__}"

    @wraps(read)
    def kept(record: Record) -> Reading:
        readings: dict[str, Reading] = record.__dict__
        if name not in readings:
            readings[name] = read(record)
        return readings[name]

    return kept
