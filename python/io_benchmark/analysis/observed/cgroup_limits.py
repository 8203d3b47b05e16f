# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Limits that a worker's cgroups set, and the group that its I/O counts for."""

from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.results.format import IoLimit, Limits


def hierarchy_seen(view: View) -> bool:
    """Return whether the worker could read a cgroup hierarchy."""
    return view.limits is not None and bool(view.limits.cgroup_versions)


def io_limits(view: View) -> list[IoLimit]:
    """Return the limits on the place's devices, and those on devices that are not known."""
    if view.limits is None:
        return []
    devices = view.place.devices if view.place is not None else []
    numbers = {device.number for device in devices}
    names = {device.name for device in devices}
    return [
        limit
        for limit in view.limits.io
        if not devices
        or limit.device in numbers
        or limit.device_name in names
        or limit.device_name is None
    ]


def memory_limit_bytes(view: View) -> int | None:
    """Return the tightest limit of memory that is below the machine's memory."""
    if view.limits is None:
        return None
    tightest = min((limit.bytes for limit in view.limits.memory if limit.bytes >= 0), default=None)
    machine = view.host.memory_bytes if view.host is not None else None
    return None if tightest is None or (machine is not None and tightest >= machine) else tightest


def cpu_quota(limits: Limits) -> float | None:
    """Return how many CPUs may be used at once; None without a quota."""
    quotas = [limit.quota_us / limit.period_us for limit in limits.cpu if limit.period_us]
    return min(quotas) if quotas else None


def io_group(view: View) -> str | None:
    """Return the cgroup that its I/O counts for: blkio where that is mounted, else the unified one."""
    groups = view.limits.groups if view.limits is not None else {}
    return groups.get("blkio", groups.get("unified"))
