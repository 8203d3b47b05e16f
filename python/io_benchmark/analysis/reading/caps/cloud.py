# SPDX-License-Identifier: MPL-2.0
"""The record of one cloud: what its disks say of themselves, and what it publishes about them."""

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from io_benchmark.analysis.reading.caps.limits import MIB, LocalCap
from io_benchmark.analysis.reading.caps.network import NetworkDisks


class Series(Struct, frozen=True):
    """A series of machine types, whose size decides how many local SSDs a machine has."""

    # Its groups are what a name has before the size, the size, and what it has after.
    name_pattern: str
    disks_by_size: Mapping[str, int]  # the smallest size first

    def disks_of(self, machine_type: str) -> int | None:
        match = re.fullmatch(self.name_pattern, machine_type)
        return self.disks_by_size.get(match[2]) if match else None

    def with_more_disks(self, machine_type: str) -> str | None:
        """Return the smallest machine type with more local SSDs."""
        match, disks = re.fullmatch(self.name_pattern, machine_type), self.disks_of(machine_type)
        if match is None or disks is None:
            return None
        for size, more_disks in self.disks_by_size.items():
            if more_disks > disks:
                return match[1] + size + match[3]
        return None


class Cloud(Struct, frozen=True):
    """What is known of one cloud; caps are MiB per second that all local SSDs write together."""

    name: str
    local_ssd_models: str  # a pattern of the whole model
    persistent_disk_models: str  # a pattern of a part of the model
    # By the family of the machine type (`c3d`), then by the number of local SSDs.
    write_caps: Mapping[str, Mapping[int, float]] = {}
    # The same where the machine type is not known.
    usual_write_caps: Mapping[int, float] = {}
    series: tuple[Series, ...] = ()  # whose machine types have a fixed number of local SSDs
    network_disks: NetworkDisks | None = None  # None: nothing is known of them
    # By the machine type and the number of its own disks; None: those that it comes with.
    local_ssd_cap: Callable[[str, int | None], LocalCap | None] | None = None

    def is_local_ssd(self, model: str) -> bool:
        return re.fullmatch(self.local_ssd_models, model) is not None

    def is_persistent_disk(self, model: str) -> bool:
        return re.search(self.persistent_disk_models, model) is not None

    def write_cap(self, family: str | None, disks: int) -> float | None:
        """Return how many bytes per second this many local SSDs write; None: not published."""
        caps = self.usual_write_caps if family is None else self.write_caps.get(family, {})
        return caps[disks] * MIB if disks in caps else None
