# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Did a worker's copies wait for its disks, and how near to their published cap were these?"""

from collections.abc import Sequence

from io_benchmark.analysis import published
from io_benchmark.analysis.causes.case import View
from io_benchmark.analysis.causes.evidence import span
from io_benchmark.analysis.causes.stack import stack_of

# Below these parts nothing waits for a disk, whatever the disk could do.
HARDLY_MOVED_SHARE = 0.2
NEAR_CAP_SHARE = 0.5
WAITS_SHARE = 0.2


def caps_of(view: View, disks: int) -> published.Caps | None:
    """Published limits for so many of this worker's disks."""
    stack = stack_of(view)
    if stack is None or not stack.googles_local:
        return None
    return published.caps(view.instance_type, disks)


def write_cap(view: View) -> float | None:
    stack = stack_of(view)
    caps = caps_of(view, stack.width) if stack is not None else None
    return float(caps.write_mib_per_s) if caps is not None else None


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
    return span([view.written_mib_per_s for view in views], "MiB/s")
