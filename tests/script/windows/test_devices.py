# SPDX-License-Identifier: MPL-2.0
"""Disks, from answers that are built field by field as Microsoft's headers declare them."""

import ctypes
import struct
from contextlib import nullcontext
from ctypes import Structure, c_int64, c_ubyte, c_uint16, c_uint32

import pytest
from system.windows import devices


class DiskPerformance(Structure):
    """DISK_PERFORMANCE."""

    _fields_ = (
        *((name, c_int64) for name in ("read", "written", "read_time", "write_time", "idle")),
        *((name, c_uint32) for name in ("reads", "writes", "queue", "splits")),
        ("query_time", c_int64),
        ("device", c_uint32),
        ("manager", c_uint16 * 8),
    )


class DeviceDescriptor(Structure):
    """STORAGE_DEVICE_DESCRIPTOR, whose texts are behind its fixed part."""

    _fields_ = (
        ("version", c_uint32),
        ("size", c_uint32),
        *((name, c_ubyte) for name in ("type", "modifier", "removable", "queueing")),
        *((name, c_uint32) for name in ("vendor", "product", "revision", "serial", "bus")),
        ("raw_length", c_uint32),
        ("raw", c_ubyte),
        ("texts", c_ubyte * 100),
    )


class Extent(Structure):
    """DISK_EXTENT."""

    _fields_ = (("disk", c_uint32), ("start", c_int64), ("length", c_int64))


class GeometryEx(Structure):
    """DISK_GEOMETRY_EX up to the partition information."""

    _fields_ = (
        ("cylinders", c_int64),
        *((name, c_uint32) for name in ("media", "tracks", "sectors", "sector_bytes")),
        ("size", c_int64),
    )


class SeekPenalty(Structure):
    """DEVICE_SEEK_PENALTY_DESCRIPTOR."""

    _fields_ = (("version", c_uint32), ("size", c_uint32), ("penalty", c_ubyte))


def descriptor(*, vendor=b"", product=b"", bus=17, removable=0):
    """The answer about a disk, with its texts behind the fixed part."""
    texts = vendor + b"\0" + product + b"\0" + b"serial\0"
    first = DeviceDescriptor.texts.offset
    return bytes(
        DeviceDescriptor(
            removable=removable,
            vendor=first if vendor else 0,
            product=first + len(vendor) + 1 if product else 0,
            serial=first + len(vendor) + len(product) + 2,
            bus=bus,
            texts=tuple(texts),
        )
    )


PERFORMANCE = DiskPerformance(
    read=2**40 + 1,
    written=4096,
    read_time=5,
    write_time=6,
    idle=13_000_000_000_020_000,
    reads=7,
    writes=2**32 - 1,
    queue=9,
    splits=10,
    query_time=13_000_000_000_520_000,
    device=1,
)
SIZE = GeometryEx(cylinders=1, media=12, tracks=255, sectors=63, sector_bytes=512, size=2**41)


def extents(*disks):
    """The answer about a volume that has a part on each of these disks."""
    parts = b"".join(bytes(Extent(disk=disk, start=2**20, length=2**30)) for disk in disks)
    return struct.pack("<II", len(disks), 0) + parts


@pytest.fixture
def answers(monkeypatch):
    """Answers by the device's path, code and question; all else is refused as Wine does it."""
    recorded: dict[tuple[str, int, bytes], bytes] = {}

    def control(handle, code, question=b"", _size=0):
        try:
            return recorded[handle, code, question]
        except KeyError:
            raise OSError(22, "Request not supported") from None

    monkeypatch.setattr(devices.calls, "opened", nullcontext)
    monkeypatch.setattr(devices.calls, "control", control)
    devices._counted.cache_clear()
    yield recorded
    devices._counted.cache_clear()


def test_counters_are_of_disks_that_answer(answers):
    """A disk is busy while it is not idle; flushes and merged writes are not counted."""
    assert ctypes.sizeof(DiskPerformance) == 88
    answers[r"\\.\PhysicalDrive2", 0x70020, b""] = bytes(PERFORMANCE)
    columns = dict(zip(devices.COLUMNS, devices.counters()["PhysicalDrive2"], strict=True))
    assert list(devices.counters()) == ["PhysicalDrive2"]
    assert columns == {
        "read_bytes": 2**40 + 1,
        "written_bytes": 4096,
        "busy_ms": 50,
        "reads": 7,
        "writes": 2**32 - 1,
        "merged_writes": None,
        "flushes": None,
    }


def test_disk_that_stops_answering_is_left_out(answers):
    """A drive that disappears during the run is not in the counters, and no error."""
    path = r"\\.\PhysicalDrive0"
    answers[path, 0x70020, b""] = bytes(PERFORMANCE)
    assert list(devices.counters()) == ["PhysicalDrive0"]
    del answers[path, 0x70020, b""]
    assert devices.counters() == {}


def test_short_answer_is_no_answer(answers):
    """What is not as long as the structure is not read."""
    answers[r"\\.\PhysicalDrive0", 0x70020, b""] = bytes(PERFORMANCE)[:60]
    assert devices.counters() == {}


def test_disks_of_a_volume(answers):
    """A volume over several disks has each once; one that does not answer has none."""
    volume = r"\\?\Volume{0a1b}"
    answers[volume, 0x560000, b""] = extents(3, 1, 3)
    assert devices.numbers_of(volume) == [1, 3]
    assert devices.numbers_of(r"\\?\Volume{2c3d}") == []


@pytest.mark.parametrize(("kind", "numbers"), [(7, [4]), (2, [])])
def test_disk_of_a_volume_without_extents(answers, kind, numbers):
    """A driver that knows no extents names its device, which counts if it is a disk."""
    volume = r"\\?\Volume{0a1b}"
    answers[volume, 0x560000, b""] = extents()
    answers[volume, 0x2D1080, b""] = struct.pack("<3I", kind, 4, 1)
    assert devices.numbers_of(volume) == numbers


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        pytest.param(
            descriptor(vendor=b"NVMe    ", product=b"Microsoft NVMe Direct Disk"),
            ("NVMe Microsoft NVMe Direct Disk", "nvme", False),
            id="local-nvme",
        ),
        pytest.param(
            descriptor(vendor=b"Msft    ", product=b"Virtual Disk    ", bus=10),
            ("Msft Virtual Disk", "sas", False),
            id="azure",
        ),
        pytest.param(
            descriptor(product=b"Ultra", bus=7, removable=1), ("Ultra", "usb", True), id="stick"
        ),
        pytest.param(descriptor(bus=8), (None, "unknown", False), id="raid-without-texts"),
        pytest.param(descriptor(bus=15), (None, "virtual", False), id="vhd"),
    ],
)
def test_model_and_bus(answer, facts):
    """The model is vendor and product; a bus that no rule knows is unknown."""
    assert devices.read_descriptor(answer) == facts


def test_disk_with_all_answers(answers):
    """All that a disk tells."""
    path = r"\\.\PhysicalDrive1"
    answers[path, 0x2D1400, bytes(12)] = descriptor(product=b"Fast", bus=11)
    answers[path, 0x2D1400, struct.pack("<III", 7, 0, 0)] = bytes(SeekPenalty(penalty=1))
    answers[path, 0x700A0, b""] = bytes(SIZE)
    assert devices.describe(1) == {
        "name": "PhysicalDrive1",
        "number": None,
        "kind": "disk",
        "below": [],
        "size_bytes": 2**41,
        "stripe_count": None,
        "minimum_io_bytes": None,
        "raid_level": None,
        "model": "Fast",
        "scheduler": None,
        "scheduler_settings": {},
        "queue": {"rotational": 1},
        "write_cache": None,
        "bus": "sata",
        "is_removable": False,
    }


def test_disk_without_answers(answers):
    """Nothing is guessed of a disk that refuses every question."""
    assert not answers
    disk = devices.describe(0)
    facts = (disk["size_bytes"], disk["model"], disk["bus"], disk["is_removable"], disk["queue"])
    assert facts == (None, None, "unknown", None, {})


@pytest.mark.parametrize(
    ("printed", "columns"),
    [("4\r\n", 4), ("", None), ("Get-VirtualDisk : Access denied\r\n", None), ("1\r\n2\r\n", None)],
)
def test_columns_of_storage_spaces(answers, monkeypatch, printed, columns):
    """Only a number is taken from what PowerShell prints, and only Storage Spaces are asked for."""
    asked = []

    def output_of(command):
        asked.append(command)
        return printed

    monkeypatch.setattr(devices, "output_of", output_of)
    answers[r"\\.\PhysicalDrive3", 0x2D1400, bytes(12)] = descriptor(bus=16)
    space = devices.describe(3)
    assert (space["kind"], space["bus"], space["stripe_count"]) == ("spaces", "spaces", columns)
    (command,) = asked
    assert command[-1] == "(Get-Disk -Number 3 | Get-VirtualDisk).NumberOfColumns"
