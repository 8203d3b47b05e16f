# SPDX-License-Identifier: MPL-2.0
"""The disks under a place: how many, how many work at once, and of which kind they are."""

import re
from collections.abc import Mapping

from msgspec import Struct

from io_benchmark.analysis.model.once import once
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.reading.caps import CLOUDS
from io_benchmark.analysis.reading.caps.cloud import Cloud, Series
from io_benchmark.results.machine import Device, StoragePlace

FAIR_QUEUEING = ("bfq", "cfq")
_DEEPEST = 16
STORAGE_SPACES = "spaces"  # a kind of device
_MOST_COLUMNS = 64  # a damaged result may have any number
LOCAL_SSD, PERSISTENT_DISK = "local SSD", "persistent disk"


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
        if tops[0].kind == STORAGE_SPACES:
            # Windows shows the volume, whose columns are disks, and not the disks below it.
            columns = tops[0].stripe_count or 0
            is_known = 0 < columns <= _MOST_COLUMNS
            return cls((tops[0],) * columns, columns, linear=False) if is_known else None
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
    def cloud_of_local_ssds(self) -> Cloud | None:
        """Return the cloud whose local SSDs all disks are, by their models."""
        for cloud in CLOUDS:
            if all(cloud.is_local_ssd(_model(disk)) for disk in self.disks):
                return cloud
        return None

    @property
    def medium(self) -> str | None:
        """Return what kind of disk this is, by the disks' models; None where one does not say."""
        media = set(map(_medium, self.disks))
        return None if None in media else " and ".join(sorted(filter(None, media)))

    @property
    def local_ssds(self) -> int | None:
        """Return how many disks are local SSDs; None where a disk's model does not say."""
        media = list(map(_medium, self.disks))
        return None if None in media else media.count(LOCAL_SSD)


def _model(disk: Device) -> str:
    return (disk.model or "").strip()


def _medium(disk: Device) -> str | None:
    """Return what kind of disk this is, by its model; None where that does not say."""
    model = _model(disk)
    if any(cloud.is_local_ssd(model) for cloud in CLOUDS):
        return LOCAL_SSD
    return PERSISTENT_DISK if any(cloud.is_persistent_disk(model) for cloud in CLOUDS) else None


def _copies(place: StoragePlace) -> int:
    """Return how often a place writes each byte, by its RAID levels and btrfs' profiles."""
    profiles = (place.filesystem and place.filesystem.btrfs_data_profiles) or []
    mirrors = [2 for profile in profiles if profile.startswith(("raid1", "dup"))]
    mirrors += [2 for device in place.devices if device.raid_level == "raid10"]
    mirrors += [len(device.below) for device in place.devices if device.raid_level == "raid1"]
    return max(mirrors, default=1)


def _width_of_several_tops(count: int, place: StoragePlace) -> tuple[int, bool]:
    """Return the width of btrfs, which joins disks itself: those that the probe wrote to."""
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


class MachineType(Struct, frozen=True):
    """A worker's machine type; its name is empty where it is not known."""

    instance_type: str | None

    @property
    def name(self) -> str:
        """Return the bare name of `projects/…/machineTypes/c2-standard-16`."""
        name = (self.instance_type or "").rsplit("/", 1)[-1].strip().lower()
        return name.removeprefix("standard_")  # of Azure

    @property
    def family(self) -> str | None:
        """Return `c2` of `c2-standard-16`; None where the machine type is not known."""
        return None if self.instance_type is None else re.split("[-.]", self.name)[0]

    @property
    def disks(self) -> int | None:
        """Return how many local SSDs it has, where that is fixed and published."""
        series = self._series
        return None if series is None else series.disks_of(self.name)

    @property
    def with_more_disks(self) -> "MachineType | None":
        """Return the smallest machine type of the same series with more local SSDs."""
        larger = None if self._series is None else self._series.with_more_disks(self.name)
        return None if larger is None else MachineType(larger)

    @property
    def _series(self) -> Series | None:
        for cloud in CLOUDS:
            for series in cloud.series:
                if series.disks_of(self.name) is not None:
                    return series
        return None


@once
def stack_of(run: Run) -> Stack | None:
    """Return the disks under a run's place; None where the devices could not be seen."""
    return Stack.under(run.place)


def machine_type(run: Run) -> MachineType:
    return MachineType(run.worker.instance_type)
