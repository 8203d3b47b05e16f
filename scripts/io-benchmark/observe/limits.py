# SPDX-License-Identifier: MPL-2.0
"""Limits set for the task: cgroup limits of I/O, memory and CPU, v1 and v2.

Limits are inherited, so every level from the task's own cgroup up to the mounted root is read.
"""

import os

from observe import devices, storage
from reading import is_folder, read_int, read_lines, read_text

# (kind, NAME in v1's file blkio.throttle.NAME_device, field of v2's io.max)
IO_LIMITS = (
    ("read_bytes_per_s", "read_bps", "rbps"),
    ("write_bytes_per_s", "write_bps", "wbps"),
    ("read_operations_per_s", "read_iops", "riops"),
    ("write_operations_per_s", "write_iops", "wiops"),
)
MEMORY_LIMITS = ("memory.limit_in_bytes", "memory.max", "memory.high")
UNLIMITED_BYTES = 1 << 62  # from here on v1 means no limit; v2 writes "max"
V1_CONTROLLERS = ("blkio", "memory", "cpu")


def observe():
    table = storage.mount_table()
    groups = _own_groups()
    observed = {"cgroup_versions": [], "groups": {}}
    observed.update(io=[], memory=[], cpu=[])
    for mount in table:
        if mount.filesystem == "cgroup2" and "" in groups:
            _note(observed, "v2", "unified", _levels(mount, groups[""]))
        elif mount.filesystem == "cgroup":
            names = mount.super_options.split(",")
            for controller in V1_CONTROLLERS:
                if controller in names and controller in groups:
                    levels = _levels(mount, groups[controller])
                    _note(observed, "v1", controller, levels)
    return observed


def _own_groups():
    """Return the task's cgroups by controller; the unified hierarchy has the controller ''."""
    groups = {}
    for line in read_lines("/proc/self/cgroup"):
        fields = line.split(":", 2)
        if len(fields) == 3:
            for controller in fields[1].split(","):
                groups[controller] = fields[2]
    return groups


def _levels(mount, group):
    """Return the directories from the task's cgroup up to the mount point.

    The path in /proc/self/cgroup is relative to the hierarchy's root, but the mount may show only a
    part of it. In another namespace the path begins with '/..'.
    """
    inside = os.path.relpath(group, mount.root) if group.startswith("/") else "."
    if inside.startswith(".."):
        inside = "."
    directory = os.path.normpath(os.path.join(mount.point, inside))
    if not is_folder(directory):
        directory = mount.point
    directories, start = [directory], mount.point.rstrip("/") + "/"
    while directory != mount.point and directory.startswith(start):
        directory = os.path.dirname(directory)
        directories.append(directory)
    return directories


def _note(observed, version, controller, directories):
    if controller in observed["groups"]:
        return  # mounted again, such as for a chroot
    if version not in observed["cgroup_versions"]:
        observed["cgroup_versions"].append(version)
    # Controllers that are mounted together have the same directories.
    is_read = directories[0] in observed["groups"].values()
    observed["groups"][controller] = directories[0]
    for directory in [] if is_read else directories:
        for kind, read in READERS.items():
            observed[kind] += [{"group": directory, **limit} for limit in read(directory)]


def _io_limits(directory):
    kinds = {name: kind for kind, _, name in IO_LIMITS}
    limits = []
    for kind, name, _ in IO_LIMITS:
        path = os.path.join(directory, "blkio.throttle.%s_device" % name)
        lines = [line.split() for line in read_lines(path)]
        limits += [(line[0], kind, line[1]) for line in lines if len(line) == 2]
    for line in read_lines(os.path.join(directory, "io.max")):
        device, _, rest = line.partition(" ")
        for name, _, value in (field.partition("=") for field in rest.split()):
            limits.append((device, kinds.get(name, ""), value))
    for device, kind, value in limits:
        if kind and value.isdigit():
            name = devices.name_of_number(device)
            yield {"device": device, "kind": kind, "value": int(value), "device_name": name}


def _memory_limits(directory):
    # None for "max": no limit.
    values = {name: read_int(os.path.join(directory, name)) for name in MEMORY_LIMITS}
    return [
        {"file": name, "bytes": value}
        for name, value in values.items()
        if value is not None and value < UNLIMITED_BYTES
    ]


def _cpu_limits(directory):
    quota = read_int(os.path.join(directory, "cpu.cfs_quota_us"))
    period = read_int(os.path.join(directory, "cpu.cfs_period_us"))
    fields = (read_text(os.path.join(directory, "cpu.max")) or "max").split()
    if len(fields) == 2 and fields[0].isdigit():
        quota, period = map(int, fields)
    is_limited = quota and period and quota > 0
    return [{"quota_us": quota, "period_us": period}] if is_limited else []


READERS = {"io": _io_limits, "memory": _memory_limits, "cpu": _cpu_limits}
