# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Types and small parts that entries of every kind are made of."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

MAXIMUM_SAMPLES = 1_000_000

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Text = Annotated[str, Meta(max_length=10_000)]
Name = Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]
# Four months: what is beyond is no measurement.
Nanoseconds = Annotated[int, Meta(ge=0, le=10**16)]
FileSize = Annotated[int, Meta(ge=0, le=2**50)]
Column = Annotated[Sequence[Nanoseconds], Meta(max_length=MAXIMUM_SAMPLES)]
SparseColumn = Annotated[list[Count | None], Meta(max_length=MAXIMUM_SAMPLES)]


class Record(Struct, frozen=True, kw_only=True):
    """The base of every part of the file."""


class DeviceBytes(Record, frozen=True):
    read: Count
    written: Count
