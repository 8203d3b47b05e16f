# SPDX-License-Identifier: MPL-2.0
"""What kind of disk a place is on, and how fast each disk writes."""

from functools import partial
from operator import attrgetter

from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.causes.io_limits import of_each_disk, reaches_limit
from io_benchmark.analysis.diagnosis.causes.run_conditions import slowed_down
from io_benchmark.analysis.diagnosis.evidence import span
from io_benchmark.analysis.diagnosis.measured_gains import other_pool
from io_benchmark.analysis.diagnosis.rules import (
    Effect,
    Proof,
    RankedFact,
    Ranking,
    SideEvidence,
    Size,
    cause,
)
from io_benchmark.analysis.observed.disks import PERSISTENT_DISK
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.parts.time_parts import Kind, in_copies
from io_benchmark.analysis.statements import Quantity, Unit, count, statement
from io_benchmark.results.trials import TrialKind

ORDER = 11
# A disk that writes at this part of the other's rate or more is as fast.
_AS_FAST_SHARE = 0.9
# Operations are judged by their reads where the disks read at least this many times what they write.
_MOSTLY = 2
# Copies do not wait for reads of fewer bytes than this part of the writes, whatever their rate is.
_FEWEST_READS_SHARE = 0.2
_PAST = {"read": "read", "write": "wrote"}


def _medium(view: View) -> RankedFact | None:
    medium = view.stack.medium if view.stack is not None else None
    if medium is None:
        return None
    # LVM may span both: then the slow part decides.
    return RankedFact(statement("on {medium}", medium=medium), float(PERSISTENT_DISK in medium))


def written_by_all_disks(view: View) -> float | None:
    """Return the rate of writes that the disks kept up together while copies waited."""
    return None if view.peak_bytes_per_s is None else view.peak_bytes_per_s[1]


_DISK_KIND = Ranking(
    name="disk-kind",
    read=_medium,
    supports="The slower side's place is on a persistent disk. This happens when the "
    "workers' start script does not find the local SSDs and uses the boot disk silently.",
    unseen="The disks do not report what they are.",
    same="Both sides have the same kind of disk, so neither fell back to its boot disk alone.",
    no_waits="The slower side's place is on a persistent disk, but it did not wait for it.",
)


@cause(
    "boot-disk-fallback",
    "The slower side works on its boot disk, the faster side on local SSDs.",
    workloads=frozenset(("cache-retrieve", "unpack", "random-io", "sync-write")),
    remedies={
        "fix the fallback: the workers' start script must find the local SSDs or fail": other_pool
    },
    acts_through=in_copies(Kind.BLOCKED),
    tried_by=TrialKind.PACE,
)
def _boot_disk_fallback(case: Case) -> Effect:
    effect = _DISK_KIND.judge(case)
    if not effect.is_slower:
        return effect
    factor = case.times_as_fast(written_by_all_disks)
    if case.subject.workload == "cache-retrieve" and factor is not None:
        effect = replace(effect, size=Size(case.ratio_by_bandwidth(factor)))
    expected = max((view.machine_type.disks or 0 for view in case.slower), default=0)
    if not expected:
        return effect
    template = "Its machine type has {disks} local SSD" + ("s." if expected > 1 else ".")
    return effect.also(template, disks=count(expected))


def _moved(way: int, view: View) -> float | None:
    return None if view.moved_bytes is None else float(view.moved_bytes[way])


def _moving_share(way: int, view: View) -> float | None:
    """Return the part of the run in which the disks read (0) or wrote (1), at the rate they kept up."""
    rates, peaks = view.moved_bytes_per_s, view.peak_bytes_per_s
    return (
        None if rates is None or peaks is None else rates[way] / peaks[way] if peaks[way] else 0.0
    )


_READ_BY_EACH_DISK, _WRITTEN_BY_EACH_DISK = (partial(of_each_disk, way) for way in (0, 1))
_READ, _WRITTEN = (partial(_moved, way) for way in (0, 1))
_READING_SHARE, _WRITING_SHARE = (partial(_moving_share, way) for way in (0, 1))


_IO_WAIT = span(
    "io-wait", attrgetter("io_wait_share"), Unit.SHARE, "waiting for I/O {value} of the time"
)


def mostly_reads(case: Case) -> bool:
    """Return whether the slower side's copies wait for reads, or the disks of both sides hardly write."""
    moved = [(side.mean(_READ), side.mean(_WRITTEN)) for side in (case.slower, case.faster)]
    if case.subject.workload == "cache-retrieve":
        (read, written), *_ = moved
        reading, writing = case.slower.mean(_READING_SHARE), case.slower.mean(_WRITING_SHARE)
        if not read or reading is None or writing is None:
            return False
        return reading > writing and read >= _FEWEST_READS_SHARE * (written or 0.0)
    return all(read and read > _MOSTLY * (written or 0.0) for read, written in moved)


@cause(
    "disk-speed",
    "Each disk of the slower side is slower.",
    workloads=frozenset(("cache-retrieve", "unpack")),
    acts_through=in_copies(Kind.BLOCKED),
    tried_by=TrialKind.PACE,
)
def _disk_speed(case: Case) -> Effect:
    rate, of_each, share_of_time = "write", _WRITTEN_BY_EACH_DISK, _WRITING_SHARE
    if mostly_reads(case):
        rate, of_each, share_of_time = "read", _READ_BY_EACH_DISK, _READING_SHARE
    template = f"{rate} rate per disk {{value}}"
    evidence = SideEvidence.of(
        case, span(f"{rate}-rate-per-disk", of_each, Unit.BYTES_PER_SECOND, template), _IO_WAIT
    )
    slower, faster = case.means(of_each)
    if slower is None or faster is None:
        return evidence.unseen("How much the disks wrote was not recorded.", workload="random-io")
    if slower >= _AS_FAST_SHARE * faster:
        return evidence.opposes(f"Each disk of the slower side {_PAST[rate]} as fast.")
    if case.slower_never_waits or not slower:
        return evidence.opposes("The slower side did not wait for its disks.")
    if reaches_limit(case.slower):
        return evidence.opposes("A cgroup limits what the slower side's disks may write or read.")
    if slowed_down(case):
        return evidence.opposes("The slower side's disks were as fast at the start of the run.")
    if all(view.waits_for_disks is None for view in case.slower):
        return evidence.unclear(
            f"Each disk of the slower side {_PAST[rate]} more slowly, but maybe it had less to "
            f"{rate}: no pressure was recorded and no cap is published.",
            workload="random-io",
        )
    moving_share = case.slower.mean(share_of_time)
    at_most = 1.0 if moving_share is None else moving_share
    return evidence.supports(
        f"Each disk of the slower side {_PAST[rate]} at {{ratio}} the rate of the faster side's "
        "disks, while copies waited for it.",
        Size(case.ratio_by_bandwidth(faster / slower, at_most)),
        # Whatever lies between a file and its disk makes the disk write less, too. Another model says
        # nothing: machine types name the same disk differently.
        Proof.LEFTOVER,
        ratio=Quantity(slower / faster, Unit.RATIO),
    )
