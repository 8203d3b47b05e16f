# SPDX-License-Identifier: MPL-2.0
"""Facts about the machine, the tools that workloads use, and the limits of cgroups, v1 and v2."""

import os
import re
from typing import Any

from system.linux import devices, storage
from system.linux.kernel import (
    first_int,
    first_match,
    is_folder,
    list_names,
    read_int,
    read_lines,
    read_text,
)
from system.linux.processes import output_of
from system.probes import tool_versions, touch_new_memory

# v1 also has a line for the group without those below it, first.
INACTIVE = r"(?s:.*)^(?:total_)?inactive_file (\d+)"
CPUS = "/sys/devices/system/cpu"
TOOLS = ("bash", "cp", "curl", "grep", "sed")
USED_MEMORY = ("memory.usage_in_bytes", "memory.current")  # of v1, of v2
VM_SETTINGS = (
    "dirty_background_bytes",
    "dirty_background_ratio",
    "dirty_bytes",
    "dirty_expire_centisecs",
    "dirty_ratio",
    "dirty_writeback_centisecs",
    "swappiness",
)

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


def observe(*, may_measure=True):
    """Describe the machine; without measuring, what takes time is left empty."""
    kernel = os.uname()
    free_bytes = available_bytes() or 0
    return {
        **_cpu_settings(),
        "kernel": kernel.release,
        "kernel_version": kernel.version,
        "architecture": kernel.machine,
        "distribution": first_match(r'^PRETTY_NAME="?([^"\n]+)', "/etc/os-release"),
        "cpu_model": first_match(r"^model name\s*:\s*(.+)", "/proc/cpuinfo"),
        "cpu_count": len(usable_cpus()),
        "cpu_online_count": os.cpu_count(),
        "memory_bytes": _memory_bytes("MemTotal"),
        "memory_available_bytes": _memory_bytes("MemAvailable"),
        "machine_vendor": read_text("/sys/class/dmi/id/sys_vendor"),
        "machine_product": read_text("/sys/class/dmi/id/product_name"),
        "boot_id": read_text("/proc/sys/kernel/random/boot_id"),
        "container": storage.container(storage.mount_table()),
        "user_id": os.geteuid(),
        "transparent_huge_pages": read_text("/sys/kernel/mm/transparent_hugepage/enabled"),
        "vm": {name: read_int("/proc/sys/vm/" + name) for name in VM_SETTINGS},
        "first_touch_ns_per_mib": touch_new_memory(free_bytes) if may_measure else [],
        "tools": tool_versions(TOOLS, _version_of) if may_measure else {},
    }


def _cpu_settings():
    """Return the firmware, and what slows CPUs down; nothing of what a machine does not show."""
    counts = [
        read_int("%s/%s/thermal_throttle/core_throttle_count" % (CPUS, name))
        for name in list_names(CPUS)
    ]
    throttled = [count for count in counts if count is not None]
    settings = {
        "firmware": read_text("/sys/class/dmi/id/bios_version"),
        "cpu_governor": read_text(CPUS + "/cpu0/cpufreq/scaling_governor"),
        "cpu_throttle_count": sum(throttled) if throttled else None,
    }
    return {name: value for name, value in settings.items() if value is not None}


def _memory_bytes(field):
    kib = first_int(r"^%s:\s+(\d+) kB" % field, "/proc/meminfo")
    return None if kib is None else kib * 1024


def usable_cpus():
    return sorted(os.sched_getaffinity(0))


def program_format():
    """Return which programs this machine runs."""
    return os.uname().machine


def unwritten_bytes():
    """Return how many bytes are dirty, and under writeback; None where that is not shown."""
    return _memory_bytes("Dirty"), _memory_bytes("Writeback")


def dirty_limit_bytes():
    """Return how much may be dirty before writers must wait, by about the kernel's rule."""
    limit_bytes = read_int("/proc/sys/vm/dirty_bytes")
    if limit_bytes:
        return limit_bytes
    ratio = read_int("/proc/sys/vm/dirty_ratio") or 20
    return (_memory_bytes("MemAvailable") or 0) * ratio // 100


def available_bytes():
    """Return the memory that is free on the machine and in each cgroup; None where it is not known.

    A cgroup's inactive page cache counts as free: the kernel takes it back first.
    """
    free = [_memory_bytes("MemAvailable")]
    for limit in observe_limits()["memory"]:
        group = limit["group"]
        used = [read_int(os.path.join(group, name)) or 0 for name in USED_MEMORY]
        cached = first_int(INACTIVE, os.path.join(group, "memory.stat")) or 0
        free.append(limit["bytes"] - max(used) + cached)
    return min((value for value in free if value is not None), default=None)


def _version_of(path):
    return output_of([path, "--version"])


def observe_limits():
    """Return the limits of I/O, memory and CPU, from the task's own cgroup up to the root."""
    observed: Any = {"cgroup_versions": [], "groups": {}, "io": [], "memory": [], "cpu": []}
    for version, controller, directories in _hierarchies():
        if controller in observed["groups"]:
            continue  # mounted again, such as for a chroot
        if version not in observed["cgroup_versions"]:
            observed["cgroup_versions"].append(version)
        # Controllers that are mounted together have the same directories.
        is_read = directories[0] in observed["groups"].values()
        observed["groups"][controller] = directories[0]
        for directory in [] if is_read else directories:
            for kind, read in READERS.items():
                observed[kind] += [{"group": directory, **limit} for limit in read(directory)]
    return observed


def _hierarchies():
    """Yield version, controller and directories of each of the task's cgroups that is mounted."""
    lines = re.findall(r"^\d+:([^:]*):(.*)", read_text("/proc/self/cgroup") or "", re.MULTILINE)
    # The task's own; the unified hierarchy has the controller "".
    groups = {name: group for names, group in lines for name in names.split(",")}
    for mount in storage.mount_table():
        if mount.filesystem == "cgroup2" and "" in groups:
            yield "v2", "unified", _levels(mount, groups[""])
        elif mount.filesystem == "cgroup":
            names = mount.super_options.split(",")
            for controller in V1_CONTROLLERS:
                if controller in names and controller in groups:
                    yield "v1", controller, _levels(mount, groups[controller])


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


def _io_limits(directory):
    kinds = {name: kind for kind, _, name in IO_LIMITS}
    limits = []
    for kind, name, _ in IO_LIMITS:
        path = os.path.join(directory, "blkio.throttle.%s_device" % name)
        lines = re.findall(r"^(\S+) (\d+)$", read_text(path) or "", re.MULTILINE)
        limits += [(device, kind, value) for device, value in lines]
    for line in read_lines(os.path.join(directory, "io.max")):
        device, _, values = line.partition(" ")
        # "max" is no limit.
        numbers = re.findall(r"(\w+)=(\d+)", values)
        limits += [(device, kinds[name], value) for name, value in numbers if name in kinds]
    for device, kind, value in limits:
        name = devices.name_of(device)
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
