# SPDX-License-Identifier: MPL-2.0
"""Block devices: from the device of a mount down to the leaves that store the bytes.

Only the leaves have a model and a scheduler; device mapper, md and btrfs do not. In a container
/sys/dev/block may be empty, so devices are found by /sys/class/block/*/dev.
"""

import os

from system.linux import kernel
from system.linux.kernel import is_folder, list_names, read_int, read_lines, read_text

CLASS = "/sys/class/block"
QUEUE_NUMBERS = ["nr_requests", "read_ahead_kb", "max_sectors_kb", "rotational"]
QUEUE_NUMBERS += ["wbt_lat_usec", "logical_block_size", "physical_block_size"]
SECTOR_BYTES = 512
# What one device has done since the boot. Flushes are requests to write the device's own cache; the
# kernel counts them from 5.5 on. A limit of a cgroup counts requests before they are merged.
COLUMNS = ("read_bytes", "written_bytes", "busy_ms", "reads", "writes", "merged_writes", "flushes")
WRITTEN, FLUSHES = COLUMNS.index("written_bytes"), COLUMNS.index("flushes")
UNSEEN = (None,) * len(COLUMNS)


def name_of(content, file="dev"):
    """Return the device whose file in /sys has this content, as 'nvme0n1' for '259:1', or None."""
    names = list_names(CLASS)
    return next((n for n in names if read_text(os.path.join(CLASS, n, file)) == content), None)


def name_of_node(node):
    """Return 'dm-0' for '/dev/mapper/vg-lv': by its link, or device mapper's name."""
    name = os.path.basename(os.path.realpath(node))
    is_known = is_folder(os.path.join(CLASS, name))
    return name if is_known else name_of(os.path.basename(node), "dm/name")


def _is_partition(name):
    return read_int(os.path.join(CLASS, name, "partition")) is not None


def below(name):
    """Return the devices below: a partition's disk, a volume's members; [] for a leaf."""
    path = os.path.join(CLASS, name)
    if _is_partition(name):
        return [os.path.basename(os.path.dirname(os.path.realpath(kernel.ROOT + path)))]
    return list_names(os.path.join(path, "slaves"))


def _kind_of(name):
    path = os.path.join(CLASS, name)
    if _is_partition(name):
        return "partition"
    if is_folder(os.path.join(path, "dm")):
        prefix = (read_text(os.path.join(path, "dm", "uuid")) or "").split("-", 1)[0]
        return {"LVM": "lvm", "CRYPT": "crypt", "mpath": "multipath"}.get(prefix, "dm")
    return next((kind for kind in ("md", "loop") if is_folder(os.path.join(path, kind))), "disk")


def _stripes_of(name, kind):
    """Return over how many members a stripe goes, by the queue's hints; needs no privileges.

    A striped volume announces its chunk as minimum_io_size and the whole stripe as optimal_io_size.
    A linear volume over two disks has no such hint, or the hint of its members: some NVMe disks
    announce 4 and 128 KiB.
    """
    queue = os.path.join(CLASS, name, "queue")
    minimum = read_int(os.path.join(queue, "minimum_io_size"))
    optimal = read_int(os.path.join(queue, "optimal_io_size"))
    if kind not in ("lvm", "dm", "md") or not minimum or not optimal:
        return None
    # A partition uses its disk's queue.
    disks = (below(member)[0] if _is_partition(member) else member for member in below(name))
    files = (os.path.join(CLASS, disk, "queue", "minimum_io_size") for disk in disks)
    if minimum <= max([SECTOR_BYTES, *(read_int(file) or 0 for file in files)]):
        return None
    return optimal // minimum if optimal > minimum else None


def _describe(name):
    path = os.path.join(CLASS, name)
    queue = os.path.join(path, "queue")
    kind = _kind_of(name)
    sectors = read_int(os.path.join(path, "size"))
    device = {
        "name": name,
        "number": read_text(os.path.join(path, "dev")),
        "kind": kind,
        "below": below(name),
        "size_bytes": None if sectors is None else sectors * SECTOR_BYTES,
        "stripe_count": _stripes_of(name, kind),
        "minimum_io_bytes": read_int(os.path.join(queue, "minimum_io_size")),
        "raid_level": read_text(os.path.join(path, "md", "level")),
    }
    if device["below"]:
        return device
    schedulers = read_text(os.path.join(queue, "scheduler")) or ""
    chosen = [word[1:-1] for word in schedulers.split() if word.startswith("[")]
    settings = os.path.join(queue, "iosched")
    return {
        **device,
        "model": read_text(os.path.join(path, "device", "model")),
        "scheduler": chosen[0] if chosen else (schedulers or None),
        "scheduler_settings": _read_ints(settings, list_names(settings)),
        "queue": _read_ints(queue, QUEUE_NUMBERS),
        "write_cache": read_text(os.path.join(queue, "write_cache")),
    }


def _read_ints(folder, names):
    """Return the numbers in these files of a folder, by name, where there is a number."""
    numbers = {name: read_int(os.path.join(folder, name)) for name in names}
    return {name: number for name, number in numbers.items() if number is not None}


def chain(top_names):
    """Return every device from these down to the leaves, each once, from the top."""
    names, waiting = [], list(top_names)
    while waiting:
        name = waiting.pop(0)
        if name not in names and is_folder(os.path.join(CLASS, name)):
            names.append(name)
            waiting += below(name)
    return [_describe(name) for name in names]


def counters():
    """Return the columns of every block device, by name."""
    totals = {}
    for fields in map(str.split, read_lines("/proc/diskstats")):
        read, written = int(fields[5]) * SECTOR_BYTES, int(fields[9]) * SECTOR_BYTES
        rest = (int(fields[index]) for index in (12, 3, 7, 8))
        totals[fields[2]] = (read, written, *rest, int(fields[18]) if len(fields) >= 20 else None)
    return totals
