# SPDX-License-Identifier: MPL-2.0
"""The limits that Google publishes for its local SSDs; other limits are not guessed.

Source: https://docs.cloud.google.com/compute/docs/disks/local-ssd (limits by number of disks) and
https://docs.cloud.google.com/compute/docs/general-purpose-machines (disks of c3d-…-lssd), as read
in 2026. A cap is an upper bound: one copy is a single reader and writer at queue depth 1, and what
the page cache absorbs is not limited by it.
"""

import re

from msgspec import Struct


class Caps(Struct, frozen=True):
    """Limits of all local SSDs of a machine together."""

    write_mib_per_s: int
    read_iops: int | None = None  # None: not published
    write_iops: int | None = None

    @property
    def write_bytes_per_s(self) -> float:
        return self.write_mib_per_s * 2.0**20


_STANDARD: dict[int, Caps] = {
    1: Caps(350, 170_000, 90_000),
    2: Caps(700, 340_000, 180_000),
    3: Caps(1050, 510_000, 270_000),
    **dict.fromkeys(range(4, 9), Caps(1400, 680_000, 360_000)),
    16: Caps(3120, 1_600_000, 800_000),
    24: Caps(4680, 2_400_000, 1_200_000),
    32: Caps(6240, 3_200_000, 1_600_000),
}
_TITANIUM_C4D: dict[int, Caps] = {1: Caps(330), 2: Caps(660), 4: Caps(1320)}
_STANDARD_FAMILIES = ("n1", "n2", "n2d", "c2", "c2d", "c3", "c3d")
_C3D_LSSD_DISKS_BY_CPUS = {8: 1, 16: 1, 30: 2, 60: 4, 90: 8, 180: 16, 360: 32}

_C3D_LSSD = re.compile(r"c3d-[a-z]+-([0-9]{1,4})-lssd")


class MachineType(Struct, frozen=True):
    """A worker's machine type; its name is empty where it is not known."""

    instance_type: str | None

    @property
    def name(self) -> str:
        """Return the bare name of `projects/…/machineTypes/c2-standard-16`."""
        return (self.instance_type or "").rsplit("/", 1)[-1].strip().lower()

    def caps(self, disks: int) -> Caps | None:
        """Return the published limits of this many disks; None: not published.

        Without a machine type the table of the standard disks applies: call it only where the disks
        are known to be Google's.
        """
        family = self.name.split("-", 1)[0]
        if self.instance_type is None or family in _STANDARD_FAMILIES:
            return _STANDARD.get(disks)
        return _TITANIUM_C4D.get(disks) if family == "c4d" else None

    @property
    def disks(self) -> int | None:
        """Return how many local SSDs it has, where that is fixed and published."""
        match = _C3D_LSSD.fullmatch(self.name)
        return _C3D_LSSD_DISKS_BY_CPUS.get(int(match.group(1))) if match else None

    @property
    def with_more_disks(self) -> "MachineType | None":
        """Return the smallest machine type of the same series with more local SSDs."""
        if self.disks is None:
            return None
        series, kind, *_ = self.name.split("-")
        for cpus, disks in _C3D_LSSD_DISKS_BY_CPUS.items():
            if disks > self.disks:
                return MachineType(f"{series}-{kind}-{cpus}-lssd")
        return None
