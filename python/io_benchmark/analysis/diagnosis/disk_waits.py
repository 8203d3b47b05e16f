# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Did a worker's copies wait for its disks, and how near to their cap were these?

A cap is published for a machine's local SSDs, or decreed by a cgroup for each disk of the place.
"""

from collections.abc import Sequence

from io_benchmark.analysis.diagnosis.case import View
from io_benchmark.analysis.diagnosis.evidence import MIB, span
from io_benchmark.analysis.observed import published_caps
from io_benchmark.analysis.observed.device_stack import stack_of

# Below these parts nothing waits for a disk, whatever the disk could do.
HARDLY_MOVED_SHARE = 0.2
NEAR_CAP_SHARE = 0.5
WAITS_SHARE = 0.2


def caps_of(view: View, disks: int) -> published_caps.Caps | None:
    """Published limits for so many of this worker's disks."""
    stack = stack_of(view)
    if stack is None or not stack.googles_local:
        return None
    return published_caps.caps(view.instance_type, disks)


def published_write_cap(view: View) -> float | None:
    stack = stack_of(view)
    caps = caps_of(view, stack.width) if stack is not None else None
    return float(caps.write_mib_per_s) if caps is not None else None


def decreed_write_cap(view: View) -> float | None:
    """What cgroups let its disks write together; None where one of them is not limited."""
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
    """MiB/s; the tighter one where both are known."""
    known = [cap for cap in (published_write_cap(view), decreed_write_cap(view)) if cap is not None]
    return min(known, default=None)


def caps_text(views: Sequence[View]) -> str:
    """`published cap 350 MiB/s`, `cgroup's cap 40 MiB/s`, both, or that there is none."""
    found = [
        f"{name} {span(views, cap, 'MiB/s')}"
        for name, cap in (
            ("published cap", published_write_cap),
            ("cgroup's cap", decreed_write_cap),
        )
        if any(map(cap, views))
    ]
    return ", ".join(found) or "no published cap"


def waits_for_disks(view: View) -> bool | None:
    """Did this worker's copies wait for its disks? None: nothing tells."""
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
    """Every worker that tells says so."""
    told = [waits for waits in map(waits_for_disks, views) if waits is not None]
    return bool(told) and not any(told)


def rates(views: Sequence[View]) -> str:
    return span(views, lambda view: view.written_mib_per_s, "MiB/s")
