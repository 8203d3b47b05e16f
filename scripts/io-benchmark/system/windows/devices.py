# SPDX-License-Identifier: MPL-2.0
r"""Disks: which ones have a volume, what they are, and what they have done.

Disks and volumes are opened without any right, as normal users may; a question that a driver or a
policy refuses leaves its facts None. Names are those of \\.\PhysicalDriveN.
"""

import struct
from functools import lru_cache

from system.windows import calls
from system.windows.processes import output_of

MOST_DISKS = 64
# Control codes, and how long the longest answers are.
DISK_EXTENTS, EXTENT_BYTES = 0x560000, 24
DEVICE_NUMBER, NUMBER_BYTES, IS_DISK = 0x2D1080, 12, 7
STORAGE_PROPERTY, DESCRIPTOR_BYTES = 0x2D1400, 1024
DISK_GEOMETRY, GEOMETRY_BYTES = 0x700A0, 256
DISK_PERFORMANCE, PERFORMANCE_BYTES = 0x70020, 88
# Questions of STORAGE_PROPERTY: a property, and that its standard answer is wanted.
DESCRIPTOR, SEEK_PENALTY = struct.pack("<III", 0, 0, 0), struct.pack("<III", 7, 0, 0)
# Values of STORAGE_BUS_TYPE; a virtual disk may be backed by a file.
BUSES = {1: "scsi", 7: "usb", 10: "sas", 11: "sata", 14: "virtual", 15: "virtual"}
BUSES.update({16: "spaces", 17: "nvme"})
COLUMNS_OF_SPACE = "(Get-Disk -Number %d | Get-VirtualDisk).NumberOfColumns"
# What one device has done since the first program asked for it. Nothing counts flushes and merges.
COLUMNS = ("read_bytes", "written_bytes", "busy_ms", "reads", "writes", "merged_writes", "flushes")
WRITTEN, FLUSHES = COLUMNS.index("written_bytes"), COLUMNS.index("flushes")
UNSEEN = (None,) * len(COLUMNS)


def _ask(device, code, question, size, read):
    """Return what is read in a device's answer, or None where it does not answer."""
    try:
        with calls.opened(device) as handle:
            return read(calls.control(handle, code, question, size))
    except (OSError, struct.error, IndexError):
        return None


def _path_of(number):
    return r"\\.\PhysicalDrive%d" % number


def numbers_of(volume):
    r"""Return the numbers of the disks that have this volume, such as \\?\Volume{GUID}."""
    numbers = _ask(volume, DISK_EXTENTS, b"", 8 + MOST_DISKS * EXTENT_BYTES, read_extents)
    # A driver that knows no extents may know its only disk.
    return numbers or _ask(volume, DEVICE_NUMBER, b"", NUMBER_BYTES, read_device_number) or []


def read_extents(answer):
    """Read VOLUME_DISK_EXTENTS: a count, then number, start and length of each part."""
    (count,) = struct.unpack_from("<I", answer)
    starts = range(8, 8 + count * EXTENT_BYTES, EXTENT_BYTES)
    return sorted({struct.unpack_from("<I", answer, start)[0] for start in starts})


def read_device_number(answer):
    """Read STORAGE_DEVICE_NUMBER: the type of a device, its number, and a partition."""
    kind, number = struct.unpack_from("<II", answer)
    return [number] if kind == IS_DISK else []


def read_descriptor(answer):
    """Read STORAGE_DEVICE_DESCRIPTOR: model, bus, and whether the medium is removable."""
    vendor, product = struct.unpack_from("<II", answer, 12)
    (bus,) = struct.unpack_from("<I", answer, 28)
    words = [_text_at(answer, vendor), _text_at(answer, product)]
    return " ".join(filter(None, words)) or None, BUSES.get(bus, "unknown"), bool(answer[10])


def _text_at(answer, offset):
    """Return the text at an offset, which is 0 where there is none."""
    text = answer[offset:].partition(b"\0")[0] if offset else b""
    return text.decode("ascii", "replace").strip()


def read_size(answer):
    """Read the size in DISK_GEOMETRY_EX, after the geometry."""
    return struct.unpack_from("<q", answer, 24)[0]


def read_seek_penalty(answer):
    """Read DEVICE_SEEK_PENALTY_DESCRIPTOR: 1 for a disk that turns."""
    return int(bool(answer[8]))


def read_performance(answer):
    """Read the columns in DISK_PERFORMANCE, whose times count 100 ns.

    The disk was busy whenever it was not idle. Both times grow with the system's clock, so that
    only differences between two readings say something.
    """
    numbers = struct.unpack_from("<5q4Iq", answer)
    read, written, _read_time, _write_time, idle, reads, writes = numbers[:7]
    return read, written, (numbers[-1] - idle) // 10_000, reads, writes, None, None


def describe(number):
    path = _path_of(number)
    descriptor = _ask(path, STORAGE_PROPERTY, DESCRIPTOR, DESCRIPTOR_BYTES, read_descriptor)
    model, bus, is_removable = descriptor or (None, "unknown", None)
    rotational = _ask(path, STORAGE_PROPERTY, SEEK_PENALTY, DESCRIPTOR_BYTES, read_seek_penalty)
    return {
        "name": "PhysicalDrive%d" % number,
        "number": None,
        "kind": "spaces" if bus == "spaces" else "disk",
        "below": [],
        "size_bytes": _ask(path, DISK_GEOMETRY, b"", GEOMETRY_BYTES, read_size),
        "stripe_count": _columns_of_space(number) if bus == "spaces" else None,
        "minimum_io_bytes": None,
        "raid_level": None,
        "model": model,
        "scheduler": None,
        "scheduler_settings": {},
        "queue": {} if rotational is None else {"rotational": rotational},
        "write_cache": None,
        "bus": bus,
        "is_removable": is_removable,
    }


def _columns_of_space(number):
    """Return over how many disks Storage Spaces stripes; not every user may know."""
    columns = output_of([*calls.POWERSHELL, COLUMNS_OF_SPACE % number]).strip()
    return int(columns) if columns.isdecimal() else None


def _performance(number):
    # The first question makes the system count, until it is started again.
    return _ask(_path_of(number), DISK_PERFORMANCE, b"", PERFORMANCE_BYTES, read_performance)


@lru_cache(maxsize=None)
def _counted():
    """Return the numbers of the disks that answered at first: to try all takes milliseconds."""
    return [number for number in range(MOST_DISKS) if _performance(number) is not None]


def counters():
    """Return the columns of every disk that answers, by name."""
    totals = {"PhysicalDrive%d" % number: _performance(number) for number in _counted()}
    return {name: columns for name, columns in totals.items() if columns is not None}
