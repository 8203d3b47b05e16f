# SPDX-License-Identifier: MPL-2.0
"""The runs that are missing to confirm causes."""

from msgspec import Struct

from io_benchmark.analysis.model.statements import Statement


class Pace(Struct, frozen=True):
    """A pool whose copies must be limited to what another pool's disks can write."""

    pool: str
    bytes_per_s: int
    against: str  # the slower pool, whose ceiling this is


class Confirming(Struct, frozen=True):
    """The runs that are missing to confirm causes, and why the other comparisons need none."""

    paces: tuple[Pace, ...] = ()
    reasons: tuple[Statement, ...] = ()
