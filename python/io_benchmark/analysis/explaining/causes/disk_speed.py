# SPDX-License-Identifier: MPL-2.0
"""How fast each disk of a place is, by what it wrote or read while copies waited for it.

A disk that was asked for less moves fewer bytes and is no slower for that.
"""

import math
from operator import attrgetter

from msgspec.structs import replace

from io_benchmark.analysis.explaining.case import AS_FAST_SHARE, Case
from io_benchmark.analysis.explaining.causes.disks import ALIKE_RATIO, DISKS_AT_ONCE
from io_benchmark.analysis.explaining.effects import (
    Effect,
    Observe,
    Proof,
    SideEvidence,
    Size,
    as_share,
    is_enough,
    span,
)
from io_benchmark.analysis.explaining.facts.disks import READS, WRITES, DiskWay
from io_benchmark.analysis.explaining.facts.limits import LIMITED, reaches_limit
from io_benchmark.analysis.explaining.rules import NEEDS_BANDWIDTH, CauseRule, OtherCause
from io_benchmark.analysis.model.cause import NoChange
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Unit, ratio_of
from io_benchmark.analysis.reading.counters import busiest_share, disk_growths, io_wait_share
from io_benchmark.analysis.reading.disk_rates import idle_write_rate, moved_bytes, waits_for_disks
from io_benchmark.results.machine import WINDOWS
from io_benchmark.results.parts import NS_PER_S
from io_benchmark.results.workloads.cache_retrieve import TrialKind

_COPIED_BYTES = attrgetter("copied_bytes")
# Disks that are busy for less are not held up, or are held back before they count as busy.
_LEAST_BUSY, _MOSTLY_BUSY = 0.03, 0.8
_AS_FAST_WHILE_BUSY = 0.75  # single requests keep a disk busy for longer than many at once do
_MORE_READS_SHARE = 0.2  # more of the bytes copied than this were read again on one side


def _moved_per_s(run: Run) -> float:
    return sum(disk_growths(run, "read_bytes") + disk_growths(run, "written_bytes"))


def _moved_per_busy_s(run: Run) -> float | None:
    busy_share = busiest_share(run)
    return _moved_per_s(run) / busy_share if busy_share else None


def _read_more(case: Case) -> bool:
    """Return whether reads are what the slower side's disks write less for."""
    more, copied = case.more(READS.moved_bytes) or 0.0, case.slower.mean(_COPIED_BYTES) or math.inf
    per_s = case.times_as_fast(_moved_per_s) or math.inf
    return more >= _MORE_READS_SHARE * copied and per_s * AS_FAST_SHARE < 1


def _first_reads_ns(run: Run) -> float | None:
    """Return how much longer an average retrieve takes because files are read at first."""
    moved, rate = moved_bytes(run), run.first_read_bytes_per_s
    return moved[0] / rate * NS_PER_S / len(run.total_ns) if moved and rate else None


def _only_reads_are_slower(case: Case) -> bool:
    """Return whether idle disks wrote as fast on both sides, and first reads explain enough."""
    writes = case.times_as_fast(idle_write_rate) or math.inf
    return writes * AS_FAST_SHARE < 1 and is_enough(case.explained_share(_first_reads_ns) or 0.0)


def _had_less_to_do(case: Case) -> bool:
    """Return whether the slower side's disks are as fast while they are busy, and often were not.

    The kernel counts no disk as busy that a cgroup holds back.
    """
    slower, faster = (busy or 0.0 for busy in case.means(busiest_share))
    per_busy_s = case.times_as_fast(_moved_per_busy_s) or math.inf
    is_in_use = min(slower, faster) >= _LEAST_BUSY and slower < _MOSTLY_BUSY
    return is_in_use and per_busy_s * _AS_FAST_WHILE_BUSY < 1


_IO_WAIT = span("io-wait", io_wait_share, Unit.SHARE, "waiting for I/O {value} of the time")


def _evidence_of_rate(way: DiskWay) -> Observe:
    template = f"{way.verb} rate per disk {{value}}"
    return span(f"{way.verb}-rate-per-disk", way.rate_per_disk, Unit.BYTES_PER_SECOND, template)


_RATE_OF_READS, _RATE_OF_WRITES = _evidence_of_rate(READS), _evidence_of_rate(WRITES)


def _way_that_copies_wait_for(case: Case) -> DiskWay:
    return READS if case.mostly_reads or _only_reads_are_slower(case) else WRITES


def _times_as_fast_together(case: Case, way: DiskWay) -> float | None:
    """Return how much faster the faster side's disks are together, at most what idle disks show."""
    factor = case.times_as_fast(way.rate_of_all_disks)
    if factor is None:
        return None
    return min(factor, case.more_bandwidth(of_reads=way is READS) or math.inf)


def _slower_disks(case: Case) -> Effect:
    if case.system == WINDOWS:
        return _slower_while_busy(case)
    way = _way_that_copies_wait_for(case)
    evidence = SideEvidence.of(case, _RATE_OF_READS if way is READS else _RATE_OF_WRITES, _IO_WAIT)
    if None in case.means(way.rate_per_disk):
        return evidence.unseen("How much the disks wrote was not recorded.", workload="random-io")
    each, together = case.times_as_fast(way.rate_per_disk), _times_as_fast_together(case, way)
    if case.slower_never_waits or each is None or together is None:
        return evidence.opposes("The slower side did not wait for its disks.")
    if case.is_as_fast(together):
        while_copying = case.times_as_fast(way.rate_of_all_disks) or 1.0
        idle = "" if case.is_as_fast(while_copying) else ", where copies do not hinder them,"
        return evidence.opposes(f"The slower side's disks together{idle} {way.past} as fast.")
    if way is WRITES and _read_more(case):
        return evidence.opposes(
            "The slower side's disks moved as many bytes per second, of which more were reads."
        )
    if _had_less_to_do(case):
        return evidence.unclear(
            "The slower side's disks were busy for {share} of the time only, and moved as many "
            "bytes in it: they had less to do, or something that is not seen holds them back.",
            share=as_share(case.slower.mean(busiest_share) or 0.0),
        )
    if case.is_as_fast(each) and each * ALIKE_RATIO >= 1:
        return evidence.opposes(f"Each disk of the slower side {way.past} as fast.")
    if reaches_limit(case.slower):
        return evidence.opposes(LIMITED)
    return evidence.supports(f"Each disk of the slower side {way.past} more slowly.")


def _cost_of_slower_disks(case: Case, effect: Effect) -> Effect:
    if case.system == WINDOWS:
        return _cost_of_busy_disks(case, effect)
    way = _way_that_copies_wait_for(case)
    # Both are known of sides that were compared by them.
    each = case.times_as_fast(way.rate_per_disk) or 1.0
    together = _times_as_fast_together(case, way) or 1.0
    if all(waits_for_disks(run) is None for run in case.slower):
        return effect.evidence.unclear(
            f"Each disk of the slower side {way.past} more slowly, but maybe it had less to "
            f"{way.verb}: no pressure was recorded.",
            workload="random-io",
        )
    if each < 1:
        return effect.evidence.supports(
            "The slower side has fewer disks, and each is faster: disks that are unlike do not "
            "show what their number costs.",
            proof=Proof.SETTING,
        )
    at_most = case.slower.mean(way.moving_share)
    return effect.evidence.supports(
        f"Each disk of the slower side {way.past} at {{ratio}} the rate of the faster side's "
        "disks, while copies waited for it.",
        Size(case.times_by_bandwidth(min(each, together), 1.0 if at_most is None else at_most)),
        # Whatever lies between a file and its disk makes the disk write less, too. Another model
        # says nothing: machine types name the same disk differently.
        Proof.LEFTOVER,
        ratio=ratio_of(1 / each),
    )


# --- Windows, which records neither pressure nor what a process waits for ---

_BUSY = span("busy", busiest_share, Unit.SHARE, "busy {value} of the time")
IDLE_RATE = span(
    "idle-write-rate", idle_write_rate, Unit.BYTES_PER_SECOND, "idle disks write {value}"
)
# Chosen: where writing all copied bytes takes longer by more than this, copies do not wait for it.
_MOST_OF_WRITING_SHARE = 1.25


def _busy_ns(run: Run) -> float | None:
    """Return for how long an operation keeps its disks busy."""
    share = busiest_share(run)
    return None if share is None or not run.is_measured else share * run.mean_ns


def _writing_ns(run: Run) -> float | None:
    """Return how long idle disks take to write what one copy writes."""
    rate, copied = idle_write_rate(run), run.copied_bytes
    return copied / len(run.total_ns) / rate * NS_PER_S if rate and copied else None


def more_in_either_way(case: Case) -> float | None:
    """Return how much more the faster side's disks write or read, whichever is more, if known."""
    factors = (case.more_bandwidth(), case.more_bandwidth(of_reads=True))
    return max((factor for factor in factors if factor is not None), default=None)


def _slower_while_busy(case: Case) -> Effect:
    evidence = SideEvidence.of(case, IDLE_RATE, _BUSY)
    more, disks = more_in_either_way(case), case.times_as_fast(DISKS_AT_ONCE)
    if more is None or disks is None:
        return evidence.unseen("How fast each disk is was not recorded.", workload="random-io")
    if case.slower_never_waits:
        return evidence.opposes("The slower side did not wait for its disks.")
    if case.is_as_fast(more):
        return evidence.opposes(
            "The slower side's disks move as many bytes in the time in which they are busy."
        )
    if case.is_as_fast(more / disks):
        return evidence.opposes("Each disk of the slower side is as fast.")
    return evidence.supports(
        "Each disk of the slower side moves bytes at {ratio} the rate of the faster side's disks.",
        proof=Proof.LEFTOVER,
        ratio=ratio_of(disks / more),
    )


def _cost_of_busy_disks(case: Case, effect: Effect) -> Effect:
    """Judge by how much sooner faster disks would have done what kept the slower side's busy."""
    saved, busy_ns = 1 - 1 / (more_in_either_way(case) or 1.0), case.slower.mean(_busy_ns)
    share = case.share_of(busy_ns and saved * busy_ns)
    if busy_ns is None:
        writing_ns = case.slower.mean(_writing_ns)
        share = case.share_of(writing_ns and saved * writing_ns)
        if share is not None and share > _MOST_OF_WRITING_SHARE:
            return effect.unclear("How much of the time copies waited for them is not recorded.")
    effect = effect.if_enough(
        case,
        share,
        "The slower side's disks are slower, but what that keeps them busy for longer makes up "
        "{share} of the difference.",
        "How long the disks were busy is not recorded.",
    )
    return replace(effect, proof=Proof.LEFTOVER)


DISK_SPEED = CauseRule(
    name="disk-speed",
    hypothesis="Each disk of the slower side is slower.",
    fact=_slower_disks,
    cost=_cost_of_slower_disks,
    applies_to=NEEDS_BANDWIDTH,
    excluded_by=(
        *(
            OtherCause(name, "The slower side's disks are of another kind, which explains more.")
            for name in ("network-disk", "os-disk", "disk-kind")
        ),
        OtherCause("disk-size", "The slower side's disk may do less, which explains more."),
        OtherCause("machine-limit", "The slower side's machine may do less, which explains more."),
        OtherCause(
            "drift-over-time", "The slower side's disks were as fast at the start of the run."
        ),
    ),
    tried_by=TrialKind.PACE,
    change=NoChange("which machine types have faster disks is not known"),
)
