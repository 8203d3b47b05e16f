# SPDX-License-Identifier: MPL-2.0
"""A figure of both sides of a comparison of tasks."""

from typing import Generic, TypeVar

from msgspec import Struct

Number = TypeVar("Number", int, float)


class BothSides(Struct, Generic[Number], frozen=True, array_like=True, forbid_unknown_fields=True):
    """A figure of the baseline, and the same of the candidate."""

    baseline: Number
    candidate: Number
