# SPDX-License-Identifier: MPL-2.0
"""The disks under a place: how many, how many work at once, and the limits that Google publishes.

Only limits of Google's local SSDs are known; others are not guessed. Source:
https://docs.cloud.google.com/compute/docs/disks/local-ssd (limits by number of disks) and
https://docs.cloud.google.com/compute/docs/general-purpose-machines (disks of c3d-…-lssd), as read
in 2026. A cap is an upper bound: one copy is a single reader and writer at queue depth 1, and what
the page cache absorbs is not limited by it.
"""

import re
from collections.abc import Mapping

from msgspec import Struct

from io_benchmark.results.machine import Device, StoragePlace

FAIR_QUEUEING = ("bfq", "cfq")
_DEEPEST = 16
LOCAL_SSD, PERSISTENT_DISK = "local SSD", "persistent disk"
# What the clouds' disks say of themselves: Google's local SSDs are nvme_card, nvme_card0, … (NVMe)
# or EphemeralDisk (SCSI), its persistent disks nvme_card-pd or PersistentDisk.
_LOCAL = re.compile(r"nvme_card[0-9]*|EphemeralDisk|Amazon EC2 NVMe Instance Storage")
_PERSISTENT = re.compile(r"nvme_card-pd|PersistentDisk|Amazon Elastic Block Store")
_GOOGLE = re.compile(r"nvme_card[0-9]*|EphemeralDisk")


class Stack(Struct, frozen=True):
    """The disks under one place."""

    disks: tuple[Device, ...]
    width: int  # disks that one sequential write is spread over
    linear: bool  # several disks, one after another
    copies: int = 1  # how often a mirror writes each byte

    @classmethod
    def under(cls, place: StoragePlace | None) -> "Stack | None":
        """Return the disks under a place; None where the devices could not be seen."""
        if place is None or not place.devices:
            return None
        devices = {device.name: device for device in place.devices}
        below = {name for device in place.devices for name in device.below}
        tops = [device for device in place.devices if device.name not in below]
        if not tops or not place.leaf_devices:
            return None
        width, linear = (
            _width(tops[0], devices, place, _DEEPEST)
            if len(tops) == 1
            else _width_of_several_tops(len(tops), place)
        )
        disks = tuple(place.leaf_devices)
        return cls(disks, max(1, min(width, len(disks))), linear, _copies(place))

    @property
    def writing(self) -> int:
        """Return how many disks write at once."""
        return min(len(self.disks), self.width * self.copies)

    @property
    def googles_local(self) -> bool:
        return all(_GOOGLE.fullmatch((disk.model or "").strip()) for disk in self.disks)

    @property
    def medium(self) -> str | None:
        """Return what kind of disk this is, by the disks' models; None where one does not say."""
        media = set()
        for disk in self.disks:
            model = (disk.model or "").strip()
            if _LOCAL.fullmatch(model):
                media.add(LOCAL_SSD)
            elif _PERSISTENT.search(model):
                media.add(PERSISTENT_DISK)
            else:
                return None
        return " and ".join(sorted(media))


def _copies(place: StoragePlace) -> int:
    """Return how often a place writes each byte, by its RAID levels and btrfs' profiles."""
    profiles = (place.filesystem and place.filesystem.btrfs_data_profiles) or []
    mirrors = [2 for profile in profiles if profile.startswith(("raid1", "dup"))]
    mirrors += [2 for device in place.devices if device.raid_level == "raid10"]
    mirrors += [len(device.below) for device in place.devices if device.raid_level == "raid1"]
    return max(mirrors, default=1)


def _width_of_several_tops(count: int, place: StoragePlace) -> tuple[int, bool]:
    """Return the width of btrfs, which joins disks itself; each disk that the probe wrote to is a member."""
    profiles = place.filesystem.btrfs_data_profiles if place.filesystem is not None else None
    if profiles is None or not {"raid0", "raid5", "raid6"}.isdisjoint(profiles):
        return count, False
    if "raid10" in profiles:
        return max(1, count // 2), False
    return 1, not any(profile.startswith("raid1") for profile in profiles)


def _width(
    device: Device, devices: Mapping[str, Device], place: StoragePlace, depth: int
) -> tuple[int, bool]:
    members = [devices[name] for name in device.below if name in devices]
    if depth == 0 or not members:
        return 1, False
    below = [_width(member, devices, place, depth - 1) for member in members]
    if len(members) == 1:
        return below[0]
    narrowest = min(width for width, _ in below)
    linear = any(is_linear for _, is_linear in below)
    if device.stripe_count is not None:
        return min(device.stripe_count, len(members)) * narrowest, linear
    if device.raid_level is not None and device.raid_level != "linear":
        parity = {"raid0": 0, "raid5": 1, "raid6": 2}.get(device.raid_level, len(members) - 1)
        data_disks = len(members) // 2 if device.raid_level == "raid10" else len(members) - parity
        return max(1, data_disks) * narrowest, linear
    if device.kind == "multipath":
        return narrowest, linear  # several ways to one disk
    # Only where the volume does not say: a single disk's hints can also cause a stripe=.
    if device.minimum_io_bytes is None and _filesystem_knows_a_stripe(place):
        return len(members) * narrowest, linear
    return narrowest, True


def _filesystem_knows_a_stripe(place: StoragePlace) -> bool:
    """Return whether ext4's stripe= or xfs's swidth= was read from the volume at formatting."""
    options = place.mount.super_options.split(",") if place.mount is not None else []
    values = dict(option.split("=", 1) for option in options if "=" in option)
    stripe = values.get("stripe", "0")
    has_stripes = "swidth" in values and values["swidth"] != values.get("sunit")
    return has_stripes or (stripe.isdigit() and stripe != "0")


# MiB per second that all local SSDs of a machine write together, by their number.
_STANDARD = {
    1: 350,
    2: 700,
    3: 1050,
    16: 3120,
    24: 4680,
    32: 6240,
    **dict.fromkeys(range(4, 9), 1400),
}
_TITANIUM_C4D = {1: 330, 2: 660, 4: 1320}
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

    def write_cap(self, disks: int) -> float | None:
        """Return how many bytes per second this many disks write; None: not published.

        Without a machine type the table of the standard disks applies: call it only where the disks
        are known to be Google's.
        """
        family = self.name.split("-", 1)[0]
        caps = _TITANIUM_C4D if family == "c4d" else {}
        if self.instance_type is None or family in _STANDARD_FAMILIES:
            caps = _STANDARD
        return caps[disks] * 2.0**20 if disks in caps else None

    @property
    def disks(self) -> int | None:
        """Return how many local SSDs it has, where that is fixed and published."""
        match = _C3D_LSSD.fullmatch(self.name)
        return _C3D_LSSD_DISKS_BY_CPUS.get(int(match[1])) if match else None

    @property
    def with_more_disks(self) -> "MachineType | None":
        """Return the smallest machine type of the same series with more local SSDs."""
        if self.disks is None:
            return None
        series, kind, *_ = self.name.split("-")
        larger = (cpus for cpus, disks in _C3D_LSSD_DISKS_BY_CPUS.items() if disks > self.disks)
        return next((MachineType(f"{series}-{kind}-{cpus}-lssd") for cpus in larger), None)
