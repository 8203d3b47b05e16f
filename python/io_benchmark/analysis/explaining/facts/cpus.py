# SPDX-License-Identifier: MPL-2.0
"""What shows that a CPU does less for others' sake or by itself: stolen time, and fixed work."""

import math
from functools import partial
from typing import NamedTuple

from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.time_parts import ON_CPU
from io_benchmark.analysis.reading.capacity import fixed_work_rate
from io_benchmark.analysis.reading.counters import stolen_share

NOT_RECORDED = "How long the sides worked is not recorded."
_IN_USER_MODE = partial(fixed_work_rate, work="user")
_COPYING = partial(fixed_work_rate, work="kernel-copy")
_CALLING = partial(fixed_work_rate, work="kernel-calls")


class FixedWork(NamedTuple):
    """How many times as long the slower side takes for the same work."""

    in_user_mode: float
    copying: float  # in the kernel
    calling: float  # the kernel

    @classmethod
    def of(cls, case: Case) -> "FixedWork | None":
        """Return the three ratios; None where one is not known."""
        in_user_mode = case.times_as_fast(_IN_USER_MODE)
        copying, calling = case.times_as_fast(_COPYING), case.times_as_fast(_CALLING)
        if in_user_mode is None or copying is None or calling is None:
            return None
        return cls(in_user_mode, copying, calling)


def general_slowdown(case: Case) -> float:
    """Return how many times as long all work takes on the slower side; 1 where that is not known.

    Slower copying may be slower memory, which does not make all work slower.
    """
    fixed = FixedWork.of(case)
    return 1.0 if fixed is None else max(1.0, fixed.in_user_mode, fixed.calling)


def share_stolen(case: Case) -> float | None:
    """Return the part of the difference that other guests took, by the CPU time that was worked.

    None where a side did not record one of the two.
    """
    more, worked_ns = case.more(_stolen_per_work), case.slower.mean(_worked_ns)
    return None if more is None or worked_ns is None else case.share_of(worked_ns * more)


def _stolen_per_work(run: Run) -> float | None:
    stolen = stolen_share(run)
    return None if stolen is None or stolen >= 1 else stolen / (1 - stolen)


def _worked_ns(run: Run) -> float | None:
    times = [time_ns for part, time_ns in run.parts_ns.items() if part.kind in ON_CPU]
    return math.fsum(times) if times else None
