# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The I/O schedulers of the disks under a place, and their settings."""

from collections.abc import Sequence

from io_benchmark.analysis.observed.device_stack import stack_of
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.results.format import Device

FAIR_QUEUEING = ("bfq", "cfq")
# Each in ms and, on later kernels, in µs as well.
_IDLING = ("slice_idle", "group_idle")


def scheduled_disks(view: View) -> tuple[Device, ...] | None:
    """Return the place's disks, none for a place in memory; None where a scheduler is unseen."""
    if view.place is not None and view.place.kind == "memory":
        return ()
    stack = stack_of(view)
    if stack is None or any(disk.scheduler is None for disk in stack.disks):
        return None
    return stack.disks


def fair_disks(disks: Sequence[Device]) -> list[Device]:
    """Return the disks that are scheduled by fair queueing."""
    return [disk for disk in disks if disk.scheduler in FAIR_QUEUEING]


def idle_settings(disk: Device) -> dict[str, int]:
    """Return how long the scheduler idles; in µs only where that is under a millisecond."""
    settings = {}
    for name in _IDLING:
        ms, us = (disk.scheduler_settings.get(each) for each in (name, f"{name}_us"))
        if us is not None and not ms and us > 0:
            settings[f"{name}_us"] = us
        elif ms is not None or us is not None:
            settings[name] = ms if ms is not None else (us or 0) // 1000
    return settings


def described(disk: Device, settings: Sequence[tuple[str, int | None]]) -> str:
    """Return 'bfq slice_idle=8'."""
    known = [f"{name}={value}" for name, value in settings if value is not None]
    return " ".join([disk.scheduler or "", *known])
