# SPDX-License-Identifier: MPL-2.0
"""How fast each disk of a place is, by what it wrote or read while copies waited for it.

A disk that was asked for less moves fewer bytes and is no slower for that.
"""

import math
from functools import partial
from operator import attrgetter

from io_benchmark.analysis.explaining.case import IDLE_WRITES, MOVED, MOVING_SHARES, Case
from io_benchmark.analysis.explaining.causes import run_conditions
from io_benchmark.analysis.explaining.causes.disks import ALIKE_RATIO, LIMITED, WRITING
from io_benchmark.analysis.explaining.causes.io_limits import (
    AS_FAST_SHARE,
    of_all_disks,
    of_each_disk,
    reaches_limit,
)
from io_benchmark.analysis.explaining.effects import (
    Effect,
    Proof,
    SideEvidence,
    Size,
    as_share,
    is_enough,
    span,
)
from io_benchmark.analysis.explaining.rules import cause
from io_benchmark.analysis.model.cause import NoChange
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Unit, ratio_of
from io_benchmark.analysis.reading.counters import busiest_share, disk_growths, io_wait_share
from io_benchmark.analysis.reading.disk_rates import moved_bytes, waits_for_disks
from io_benchmark.results.parts import NS_PER_S
from io_benchmark.results.workloads.cache_retrieve import TrialKind

_PAST = {"read": "read", "write": "wrote"}
_COPIED_BYTES, _BUSY = attrgetter("copied_bytes"), busiest_share
# Disks that are busy for less of the time are not held up, or are held back before they count as busy.
_LEAST_BUSY, _MOSTLY_BUSY = 0.03, 0.8
# Single requests keep a disk busy for longer than many at once do.
_AS_FAST_WHILE_BUSY = 0.75
# More of the bytes copied than this were read again on one side.
_MORE_READS_SHARE = 0.2


def _moved_per_s(run: Run) -> float:
    return sum(disk_growths(run, "read_bytes") + disk_growths(run, "written_bytes"))


def _moved_per_busy_s(run: Run) -> float | None:
    busy_share = busiest_share(run)
    return _moved_per_s(run) / busy_share if busy_share else None


def _read_more(case: Case) -> bool:
    """Return whether reads are what the slower side's disks write less for."""
    more, copied = case.more(MOVED[0]) or 0.0, case.slower.mean(_COPIED_BYTES) or math.inf
    per_s = case.times_as_fast(_moved_per_s) or math.inf
    return more >= _MORE_READS_SHARE * copied and per_s * AS_FAST_SHARE < 1


def _first_reads_ns(run: Run) -> float | None:
    """Return how much longer a retrieve takes on average, because files are read for the first time."""
    moved, rate = moved_bytes(run), run.first_read_bytes_per_s
    return moved[0] / rate * NS_PER_S / len(run.total_ns) if moved and rate else None


def _only_reads_are_slower(case: Case) -> bool:
    """Return whether idle disks wrote as fast on both sides, and first reads explain enough."""
    writes = case.times_as_fast(IDLE_WRITES) or math.inf
    return writes * AS_FAST_SHARE < 1 and is_enough(case.explained_share(_first_reads_ns) or 0.0)


def _had_less_to_do(case: Case) -> bool:
    """Return whether the slower side's disks are as fast while they are busy, and often were not.

    The kernel counts no disk as busy that a cgroup holds back.
    """
    slower, faster = (busy or 0.0 for busy in case.means(_BUSY))
    per_busy_s = case.times_as_fast(_moved_per_busy_s) or math.inf
    is_in_use = min(slower, faster) >= _LEAST_BUSY and slower < _MOSTLY_BUSY
    return is_in_use and per_busy_s * _AS_FAST_WHILE_BUSY < 1


_IO_WAIT = span("io-wait", io_wait_share, Unit.SHARE, "waiting for I/O {value} of the time")


@cause(
    "disk-speed",
    "Each disk of the slower side is slower.",
    change=NoChange("which machine types have faster disks is not known"),
    workloads=WRITING,
    tried_by=TrialKind.PACE,
)
def _disk_speed(case: Case) -> Effect:
    reads = case.mostly_reads or _only_reads_are_slower(case)
    way, rate = (0, "read") if reads else (1, "write")
    of_each, of_all = partial(of_each_disk, way), partial(of_all_disks, way)
    template = f"{rate} rate per disk {{value}}"
    evidence = SideEvidence.of(
        case, span(f"{rate}-rate-per-disk", of_each, Unit.BYTES_PER_SECOND, template), _IO_WAIT
    )
    each, of_volume = case.times_as_fast(of_each), case.times_as_fast(of_all)
    if None in case.means(of_each):
        return evidence.unseen("How much the disks wrote was not recorded.", workload="random-io")
    if case.slower_never_waits or each is None or of_volume is None:
        return evidence.opposes("The slower side did not wait for its disks.")
    factor = min(of_volume, case.more_bandwidth(of_reads=reads) or math.inf)
    least = AS_FAST_SHARE if case.both_sides is None else 1.0
    if factor * least < 1:
        idle = "" if of_volume * least < 1 else ", where copies do not hinder them,"
        return evidence.opposes(f"The slower side's disks together{idle} {_PAST[rate]} as fast.")
    if way and _read_more(case):
        return evidence.opposes(
            "The slower side's disks moved as many bytes per second, of which more were reads."
        )
    if _had_less_to_do(case):
        return evidence.unclear(
            "The slower side's disks were busy for {share} of the time only, and moved as many bytes in it: "
            "they had less to do, or something that is not seen holds them back.",
            share=as_share(case.slower.mean(_BUSY) or 0.0),
        )
    if each * least < 1 and each * ALIKE_RATIO >= 1:
        return evidence.opposes(f"Each disk of the slower side {_PAST[rate]} as fast.")
    if reaches_limit(case.slower):
        return evidence.opposes(LIMITED)
    if run_conditions.drift_over_time.judge(case).is_slower:
        return evidence.opposes("The slower side's disks were as fast at the start of the run.")
    if all(waits_for_disks(run) is None for run in case.slower):
        return evidence.unclear(
            f"Each disk of the slower side {_PAST[rate]} more slowly, but maybe it had less to "
            f"{rate}: no pressure was recorded.",
            workload="random-io",
        )
    if each < 1:
        return evidence.supports(
            "The slower side has fewer disks, and each is faster: disks that are unlike do not show what "
            "their number costs.",
            proof=Proof.SETTING,
        )
    at_most = case.slower.mean(MOVING_SHARES[way])
    return evidence.supports(
        f"Each disk of the slower side {_PAST[rate]} at {{ratio}} the rate of the faster side's "
        "disks, while copies waited for it.",
        Size(case.times_by_bandwidth(min(each, factor), 1.0 if at_most is None else at_most)),
        # Whatever lies between a file and its disk makes the disk write less, too. Another model says
        # nothing: machine types name the same disk differently.
        Proof.LEFTOVER,
        ratio=ratio_of(1 / each),
    )
