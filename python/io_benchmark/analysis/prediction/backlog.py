# SPDX-License-Identifier: MPL-2.0
"""Bytes that are not written yet: how long a task waits for them, and whether it may have to."""

import numpy as np

from io_benchmark.analysis.prediction.demand import Demand, Numbers, PlaceDemand
from io_benchmark.results.parts import NS_PER_S

# The kernel looks for files of a certain age as often as this (dirty_writeback_centisecs).
_SOON_NS = 5 * NS_PER_S
# Memory that has less than this share of its room unwritten demands no writing: the kernel writes
# from half of the limit on (dirty_background_ratio is half of dirty_ratio, as usual).
_FEW_UNWRITTEN = 0.5


def backlog_waits(late_ns: Numbers, over_ns: Numbers) -> Numbers:
    """Return how long each window waits for late bytes, beyond what may be left unwritten."""
    waits, backlog_ns = [], 0.0
    for late, over in zip(late_ns.tolist(), over_ns.tolist(), strict=True):
        backlog_ns = max(0.0, backlog_ns + late)
        wait_ns = min(backlog_ns, max(0.0, over + backlog_ns))
        waits.append(wait_ns)
        backlog_ns -= wait_ns
    return np.array(waits, dtype=np.float64)


def is_written_at_once(demand: Demand, place: PlaceDemand, room_bytes: float) -> bool:
    """Return whether files were written although neither memory nor their age demanded it.

    ext4 does this with a file that replaces another one, when it is renamed or closed. The profile
    of a whole machine does not show it.
    """
    if not place.is_alone:
        return False
    is_free = ~place.is_synced
    written_bytes = float(np.sum(place.written_bytes[is_free]))
    kept_byte_ns = float(np.sum((demand.unwritten_bytes * demand.spans_ns)[is_free]))
    has_room = demand.unwritten_bytes.max(initial=0.0) < _FEW_UNWRITTEN * room_bytes
    return has_room and kept_byte_ns < _SOON_NS * written_bytes
