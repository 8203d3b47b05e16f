# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Whether a worker's copies waited for its disks, and how near the disks were to their cap.

A cap is published for a machine's local SSDs, or set by a cgroup for each disk of the place.
"""

from collections.abc import Sequence

from io_benchmark.analysis.observed import published_caps
from io_benchmark.analysis.observed.device_stack import stack_of
from io_benchmark.analysis.observed.worker_view import View

MIB = 1024 * 1024
# Below these shares nothing waits for a disk, whatever the disk could do.
HARDLY_MOVED_SHARE = 0.2
NEAR_CAP_SHARE = 0.5
WAITS_SHARE = 0.2


def caps_of(view: View, disks: int) -> published_caps.Caps | None:
    """Return the published limits of this many of the worker's disks."""
    stack = stack_of(view)
    if stack is None or not stack.googles_local:
        return None
    return published_caps.caps(view.instance_type, disks)


def published_write_cap(view: View) -> float | None:
    """Return the published limit of the place's disks in MiB/s."""
    stack = stack_of(view)
    caps = caps_of(view, stack.width) if stack is not None else None
    return float(caps.write_mib_per_s) if caps is not None else None


def cgroup_write_cap(view: View) -> float | None:
    """Return how many MiB/s cgroups let the disks write together; None unless all are limited."""
    stack = stack_of(view)
    if stack is None or view.limits is None:
        return None
    tightest: dict[str, int] = {}
    for limit in view.limits.io:
        if limit.kind == "write_bytes_per_s" and limit.device_name is not None:
            known = tightest.get(limit.device_name, limit.value)
            tightest[limit.device_name] = min(known, limit.value)
    values = [tightest.get(disk.name) for disk in stack.disks]
    known_values = [value for value in values if value is not None]
    if len(known_values) < len(values):
        return None
    return min(known_values) * stack.width / MIB


def write_cap(view: View) -> float | None:
    """Return the tighter known cap in MiB/s."""
    known = [cap for cap in (published_write_cap(view), cgroup_write_cap(view)) if cap is not None]
    return min(known, default=None)


def waits_for_disks(view: View) -> bool | None:
    """Return whether this worker's copies waited for its disks; None: nothing shows it."""
    if view.moved_bytes is not None and view.copied_bytes:
        if sum(view.moved_bytes) < HARDLY_MOVED_SHARE * view.copied_bytes:
            return False
        rate, cap = view.written_mib_per_s, write_cap(view)
        if rate is not None and cap is not None and rate >= NEAR_CAP_SHARE * cap:
            return True
    if view.io_wait_share is not None:
        return view.io_wait_share >= WAITS_SHARE
    return None


def do_not_wait(views: Sequence[View]) -> bool:
    """Return whether every worker that shows it did not wait for its disks."""
    known = [waits for waits in map(waits_for_disks, views) if waits is not None]
    return bool(known) and not any(known)
