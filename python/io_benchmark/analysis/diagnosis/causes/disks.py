# SPDX-License-Identifier: MPL-2.0
"""The disks of a place: what kind they are, how many work at once, and how fast each is.

What disks can do is measured, or published, or not known. Their number explains a difference in that; it is
not a cause by itself.
"""

import math
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import TypeVar

from msgspec.structs import replace

from io_benchmark.analysis.capacities import CapacityKind
from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.causes.io_limits import (
    AS_FAST_SHARE,
    of_each_disk,
    reaches_limit,
)
from io_benchmark.analysis.diagnosis.causes.run_conditions import slowed_down
from io_benchmark.analysis.diagnosis.evidence import WRITE_RATE, span, tally
from io_benchmark.analysis.diagnosis.measured_gains import more_disks, other_pool, predicted
from io_benchmark.analysis.diagnosis.rules import (
    Effect,
    Proof,
    RankedFact,
    Ranking,
    SideEvidence,
    Size,
    cause,
)
from io_benchmark.analysis.observed.disks import PERSISTENT_DISK, Stack
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.parts.time_parts import Kind, in_copies
from io_benchmark.analysis.statements import Quantity, Statement, Unit, Value, count, statement
from io_benchmark.results.trials import TrialKind

ORDER = 10
Answer = TypeVar("Answer")
_UNSEEN = "The devices under the place could not be seen."
_PUBLISHED_CAP, _WRITE_CAP = attrgetter("published_write_cap"), attrgetter("write_cap")
# Operations are judged by their reads where the disks read at least this many times what they write.
_MOSTLY = 2
# Copies do not wait for reads of fewer bytes than this part of the writes, whatever their rate is.
_FEWEST_READS_SHARE = 0.2
_PAST = {"read": "read", "write": "wrote"}


def _of_stack(read: Callable[[Stack], Answer]) -> Callable[[View], Answer | None]:
    return lambda view: None if view.stack is None else read(view.stack)


def _spread(stack: Stack) -> Statement:
    disks, width = count(len(stack.disks)), count(stack.width)
    if len(stack.disks) == 1:
        return statement("{disks} disk", disks=disks)
    if stack.linear:
        template = "{disks} disks, linear: the bandwidth of {width}"
        return statement(template, disks=disks, width=width)
    if stack.width == len(stack.disks):
        return statement("{disks} disks, striped", disks=disks)
    return statement("{disks} disks, {width} at once", disks=disks, width=width)


def _listed_models(stack: Stack) -> Statement:
    models = sorted({(disk.model or "", disk.size_bytes or 0) for disk in stack.disks})
    values: dict[str, Value] = {}
    templates = []
    for number, (model, size_bytes) in enumerate(models):
        values |= {f"model_{number}": model, f"size_{number}": Quantity(size_bytes, Unit.BYTES)}
        templates.append(f"{{model_{number}}} {{size_{number}}}" if model else f"{{size_{number}}}")
    return statement(", ".join(templates), **values)


def _ranked_width(stack: Stack) -> RankedFact:
    return RankedFact(statement("{width}", width=count(stack.width)), -stack.width)


_SPREAD, _MODELS, _WIDTH = _of_stack(_spread), _of_stack(_listed_models), _of_stack(_ranked_width)
_DISKS, _DISKS_AT_ONCE = (
    _of_stack(lambda stack: len(stack.disks)),
    _of_stack(lambda stack: stack.width),
)
_IS_LINEAR = _of_stack(lambda stack: stack.linear)
_LINEAR = _of_stack(lambda stack: RankedFact(_spread(stack), stack.linear))


def _machine_type(view: View) -> Statement | None:
    if not view.machine_type.instance_type:
        return None
    return statement("machine type {value}", value=view.machine_type.name)


_EVIDENCE = (
    tally("disks", _SPREAD),
    tally("models", _MODELS, "models {value}"),
    tally("machine-type", _machine_type, "machine type {value}"),
    WRITE_RATE,
    span(
        *("published-write-cap", _PUBLISHED_CAP, Unit.BYTES_PER_SECOND, "published cap {value}"),
        missing="no published cap",
    ),
)
_FEWER_DISKS = Ranking(
    name="disks",
    read=_WIDTH,
    supports="The slower side spreads its writes over fewer disks.",
    unseen=_UNSEEN,
    same="As many disks work at once on both sides.",
)


@cause(
    "device-count",
    "The slower side's writes are spread over fewer disks.",
    workloads=frozenset(("cache-retrieve", "unpack")),
    remedies={"use a machine type with more local SSDs, striped": more_disks},
    acts_through=in_copies(Kind.BLOCKED),
    tried_by=TrialKind.PACE,
)
def _device_count(case: Case) -> Effect:
    evidence = SideEvidence.of(case, *_EVIDENCE)
    effect = _FEWER_DISKS.judge(case, evidence)
    if not effect.is_slower:
        return effect
    if True in case.slower.values(_IS_LINEAR) - case.faster.values(_IS_LINEAR):
        return evidence.opposes("A volume joins the disks of the slower side one after another.")
    if _DISK_KIND.judge(case).is_slower:
        return evidence.opposes("The slower side's disks are of another kind, which explains more.")
    if case.slower_never_waits:
        return evidence.opposes(
            "The number of disks differs, but the slower side did not wait for its disks."
        )
    more = case.more_bandwidth(CapacityKind.WRITES)
    if more is not None and more * AS_FAST_SHARE < 1 and case.both_sides is None:
        return evidence.opposes("The slower side has fewer disks, but they write as fast.")
    published, counted = case.times_as_fast(_WRITE_CAP), case.times_as_fast(_DISKS_AT_ONCE)
    if more is None and published is None:
        # A number of disks does not show what they can do.
        return replace(effect, proof=Proof.SETTING).also("What the disks can write is not known.")
    predicted_factor, source = published or counted or 1.0, "the known write caps"
    if more is not None and more < AS_FAST_SHARE * predicted_factor:
        predicted_factor, source = more, "what the disks of both sides wrote"
    elif published is None:
        source = "the number of disks, because the cap of a side is not known"
    return replace(effect, size=Size(case.ratio_by_bandwidth(predicted_factor))).also(
        f"The prediction is from {source}."
    )


def _gain_of_stripe(view: View) -> float | None:
    """Return what the worker's disks would reach as a stripe, over what they reach."""
    if view.stack is None:
        return None
    published, cap = view.published_cap_of(len(view.stack.disks)), view.write_cap
    if published is not None and cap:
        return published / cap
    return len(view.stack.disks) / view.stack.width


_LINEAR_VOLUME = Ranking(
    name="disks",
    read=_LINEAR,
    supports="The slower side's volume joins its disks one after another, so a copy has "
    "the bandwidth of one disk.",
    unseen=_UNSEEN,
    same="The volumes of both sides are linear.",
    no_waits="The slower side's volume is linear, but it did not wait for its disks.",
)


@cause(
    "linear-volume",
    "The slower side's volume is linear: several disks with the bandwidth of one.",
    workloads=frozenset(("cache-retrieve", "unpack")),
    remedies={"make the volume striped (lvcreate -i N) instead of linear": predicted},
    acts_through=in_copies(Kind.BLOCKED),
    tried_by=TrialKind.PACE,
)
def _linear_volume(case: Case) -> Effect:
    effect = _LINEAR_VOLUME.judge(case)
    is_known = all(side.values(_IS_LINEAR) - {None} for side in (case.baseline, case.candidate))
    if is_known and True not in case.values(_IS_LINEAR):
        # One disk against two striped ones is another cause.
        return effect.evidence.same("No volume joins several disks one after another.")
    gain, more = case.slower.mean(_gain_of_stripe), case.more_bandwidth(CapacityKind.WRITES)
    if not effect.is_slower or gain is None:
        return effect
    if more is not None and more * AS_FAST_SHARE < 1:
        return effect.evidence.opposes("The slower side's volume is linear, but writes as fast.")
    return replace(effect, size=Size(case.ratio_by_bandwidth(gain)))


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
        return replace(effect, size=Size(case.ratio_by_bandwidth(factor)))
    return effect


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
    if slower >= AS_FAST_SHARE * faster:
        return evidence.opposes(f"Each disk of the slower side {_PAST[rate]} as fast.")
    if case.slower_never_waits or not slower:
        return evidence.opposes("The slower side did not wait for its disks.")
    kind = CapacityKind.READS if rate == "read" else CapacityKind.WRITES
    if (case.more_bandwidth(kind) or math.inf) * AS_FAST_SHARE < 1:
        return evidence.opposes("Idle disks of the slower side write as fast.")
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
