# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Columns as arrays of eight bytes per number; Python's integers take five times as much."""

from array import array
from collections.abc import Sequence
from typing import cast, overload

import msgspec

from io_benchmark.results.common_types import ResultPart
from io_benchmark.results.format import AnyEntry, RecordedTimeline

MISSING = -1  # no count is negative


class _Sparse(Sequence[int | None]):
    """Counts of which some are missing."""

    def __init__(self, values: Sequence[int | None]) -> None:
        self._values = array("q", [MISSING if value is None else value for value in values])

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, at: int) -> int | None: ...

    @overload
    def __getitem__(self, at: slice) -> list[int | None]: ...

    def __getitem__(self, at: int | slice) -> int | list[int | None] | None:
        if isinstance(at, slice):
            return [None if value == MISSING else value for value in self._values[at]]
        value = self._values[at]
        return None if value == MISSING else value


def entry(unpacked: AnyEntry) -> AnyEntry:
    """Return the entry with its samples as arrays."""
    samples: ResultPart = unpacked.samples
    columns = {name: array("q", getattr(samples, name)) for name in samples.__struct_fields__}
    return msgspec.structs.replace(unpacked, samples=type(samples)(**columns))


def timeline(unpacked: RecordedTimeline) -> RecordedTimeline:
    """Return the timeline with its columns as arrays."""
    return msgspec.structs.replace(
        unpacked,
        columns=_columns(unpacked.columns),
        devices={name: _columns(columns) for name, columns in unpacked.devices.items()},
    )


def _columns(unpacked: dict[str, Sequence[int | None]]) -> dict[str, Sequence[int | None]]:
    return {name: _column(values) for name, values in unpacked.items()}


def _column(values: Sequence[int | None]) -> Sequence[int | None]:
    return _Sparse(values) if None in values else array("q", cast("Sequence[int]", values))
