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

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.causes.io_limits import (
    AS_FAST_SHARE,
    is_limited,
    of_all_disks,
    of_each_disk,
    reaches_limit,
)
from io_benchmark.analysis.diagnosis.causes.run_conditions import slowed_down
from io_benchmark.analysis.diagnosis.evidence import (
    WRITE_RATE,
    mostly_reads,
    moving_share,
    span,
    tally,
)
from io_benchmark.analysis.diagnosis.measured_gains import more_disks, other_pool, predicted
from io_benchmark.analysis.diagnosis.rules import (
    Effect,
    Proof,
    RankedFact,
    Ranking,
    ReadFact,
    SideEvidence,
    Size,
    cause,
)
from io_benchmark.analysis.observed.disks import PERSISTENT_DISK, Stack
from io_benchmark.analysis.observed.runs import Run
from io_benchmark.analysis.statements import Quantity, Statement, Unit, count, joined, statement
from io_benchmark.results.workloads.cache_retrieve import TrialKind

ORDER = 10
Answer = TypeVar("Answer")
_LIMITED = "A cgroup limits what the slower side's disks may write or read."
_UNSEEN = "The devices under the place could not be seen."
_PUBLISHED_CAP = attrgetter("published_write_cap")
_PAST = {"read": "read", "write": "wrote"}


def _of_stack(read: Callable[[Stack], Answer]) -> Callable[[Run], Answer | None]:
    return lambda run: None if run.stack is None else read(run.stack)


def _spread(stack: Stack) -> Statement:
    template = "{disks} disks, {width} at once"
    if len(stack.disks) == 1:
        template = "{disks} disk"
    elif stack.linear:
        template = "{disks} disks, linear: the bandwidth of {width}"
    elif stack.copies > 1:
        template = "{disks} disks, a mirror: the bandwidth of {width}"
    elif stack.width == len(stack.disks):
        template = "{disks} disks, striped"
    return statement(template, disks=count(len(stack.disks)), width=count(stack.width))


def _listed_models(stack: Stack) -> Statement:
    models = sorted({(disk.model or "", disk.size_bytes or 0) for disk in stack.disks})
    return joined(
        statement(
            "{model} {size}" if model else "{size}", model=model, size=Quantity(size, Unit.BYTES)
        )
        for model, size in models
    )


def _ranked_width(stack: Stack) -> RankedFact:
    return RankedFact(statement("{width}", width=count(stack.width)), -stack.width)


_SPREAD, _MODELS, _WIDTH = _of_stack(_spread), _of_stack(_listed_models), _of_stack(_ranked_width)
_DISKS_AT_ONCE = _of_stack(lambda stack: stack.width)
_LINEAR = _of_stack(lambda stack: RankedFact(_spread(stack), stack.linear))
_MIRRORED = _of_stack(lambda stack: RankedFact(_spread(stack), stack.copies))
_LAYOUT = _of_stack(lambda stack: (stack.linear, stack.copies))
_PLAIN = (False, 1)
# Disks whose volumes write as much as their number says, within this factor, are alike.
_ALIKE_RATIO = 1.25


def _machine_type(run: Run) -> Statement | None:
    if not run.machine_type.instance_type:
        return None
    return statement("machine type {value}", value=run.machine_type.name)


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
    no_waits="The number of disks differs, but the slower side did not wait for its disks.",
)


@cause(
    "device-count",
    "The slower side's writes are spread over fewer disks.",
    workloads=frozenset(("cache-retrieve", "unpack")),
    remedies={"use a machine type with more local SSDs, striped": more_disks},
    tried_by=TrialKind.PACE,
)
def _device_count(case: Case) -> Effect:
    evidence = SideEvidence.of(case, *_EVIDENCE)
    effect = _FEWER_DISKS.judge(case, evidence)
    if not effect.is_slower:
        return effect
    if case.slower.values(_LAYOUT) - case.faster.values(_LAYOUT) - {_PLAIN}:
        return evidence.opposes(
            "The slower side's volume does not spread its writes over its disks."
        )
    if _DISK_KIND.judge(case).is_slower:
        return evidence.opposes("The slower side's disks are of another kind, which explains more.")
    if is_limited(case) and reaches_limit(case.slower):
        return evidence.opposes(_LIMITED)
    more = case.more_bandwidth()
    if more is not None and more * AS_FAST_SHARE < 1 and case.both_sides is None:
        return evidence.opposes("The slower side has fewer disks, but they write as fast.")
    published, counted = case.times_as_fast(_PUBLISHED_CAP), case.times_as_fast(_DISKS_AT_ONCE)
    expected, source = published or counted or 1.0, "the known write caps"
    if published is None:
        source = "the number of disks, because the cap of a side is not known"
    doubt = _doubt_of_count(case, more, expected)
    if doubt:
        return replace(effect, proof=Proof.SETTING).also(doubt)
    if more is not None and more < AS_FAST_SHARE * expected:
        expected, source = more, "what the disks of both sides wrote"
    return replace(effect, size=Size(case.times_by_bandwidth(expected))).also(
        f"The prediction is from {source}."
    )


def _doubt_of_count(case: Case, more: float | None, expected: float) -> str:
    """Return why a number of disks does not show what they can do, if so."""
    if is_limited(case):
        return "A cgroup may limit what they write."
    if more is not None:
        is_alike = 1 / _ALIKE_RATIO <= more / expected <= _ALIKE_RATIO
        return (
            "" if is_alike else "The disks are unlike: their number does not show what they write."
        )
    return "" if case.times_as_fast(_PUBLISHED_CAP) else "What the disks can write is not known."


def _gain_of_stripe(run: Run) -> float | None:
    """Return what the worker's disks would reach as a stripe, over what they reach."""
    if run.stack is None:
        return None
    published, cap = run.published_cap_of(len(run.stack.disks)), run.published_write_cap
    return published / cap if published and cap else len(run.stack.disks) / run.stack.width


def _judge_layout(case: Case, read: ReadFact, supports: str) -> Effect:
    """Judge how a volume uses its disks, by what they would write as a stripe."""
    layout = Ranking(
        name="disks",
        read=read,
        supports=supports,
        unseen=_UNSEEN,
        no_waits="The slower side's volume is laid out so, but it did not wait for its disks.",
    )
    effect, gain = layout.judge(case), case.slower.mean(_gain_of_stripe)
    if not effect.is_slower or gain is None:
        return effect
    if (case.more_bandwidth() or math.inf) * AS_FAST_SHARE < 1:
        return effect.evidence.opposes("The slower side's volume writes as fast.")
    return replace(effect, size=Size(case.times_by_bandwidth(gain)))


@cause(
    "linear-volume",
    "The slower side's volume is linear: several disks with the bandwidth of one.",
    workloads=frozenset(("cache-retrieve", "unpack")),
    remedies={"make the volume striped (lvcreate -i N) instead of linear": predicted},
    tried_by=TrialKind.PACE,
)
def _linear_volume(case: Case) -> Effect:
    supports = (
        "The slower side's volume joins its disks one after another, so a copy has the bandwidth "
        "of one disk."
    )
    return _judge_layout(case, _LINEAR, supports)


@cause(
    "mirrored-volume",
    "The slower side's volume is a mirror: several disks with the bandwidth of one.",
    workloads=frozenset(("cache-retrieve", "unpack")),
    remedies={
        "make the volume striped (RAID 0), where its files need not survive a disk": predicted
    },
    tried_by=TrialKind.PACE,
)
def _mirrored_volume(case: Case) -> Effect:
    supports = "The slower side's volume is a mirror: it writes each byte to several disks."
    return _judge_layout(case, _MIRRORED, supports)


def _medium(run: Run) -> RankedFact | None:
    medium = run.stack.medium if run.stack is not None else None
    if medium is None:
        return None
    # LVM may span both: then the slow part decides.
    return RankedFact(statement("on {medium}", medium=medium), float(PERSISTENT_DISK in medium))


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
    tried_by=TrialKind.PACE,
)
def _boot_disk_fallback(case: Case) -> Effect:
    effect = _DISK_KIND.judge(case)
    if not effect.is_slower:
        return effect
    factor = case.times_as_fast(partial(of_all_disks, 1))
    if case.subject.workload == "cache-retrieve" and factor is not None:
        return replace(effect, size=Size(case.times_by_bandwidth(factor)))
    return effect


_IO_WAIT = span(
    "io-wait", attrgetter("io_wait_share"), Unit.SHARE, "waiting for I/O {value} of the time"
)


@cause(
    "disk-speed",
    "Each disk of the slower side is slower.",
    workloads=frozenset(("cache-retrieve", "unpack")),
    tried_by=TrialKind.PACE,
)
def _disk_speed(case: Case) -> Effect:
    reads = mostly_reads(case)
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
        return evidence.opposes(f"The slower side's disks together {_PAST[rate]} as fast.")
    if each * least < 1 and each * _ALIKE_RATIO >= 1:
        return evidence.opposes(f"Each disk of the slower side {_PAST[rate]} as fast.")
    if reaches_limit(case.slower):
        return evidence.opposes(_LIMITED)
    if slowed_down(case):
        return evidence.opposes("The slower side's disks were as fast at the start of the run.")
    if all(run.waits_for_disks is None for run in case.slower):
        return evidence.unclear(
            f"Each disk of the slower side {_PAST[rate]} more slowly, but maybe it had less to "
            f"{rate}: no pressure was recorded and no cap is published.",
            workload="random-io",
        )
    if each < 1:
        return evidence.supports(
            "The slower side has fewer disks, and each is faster: disks that are unlike do not show what "
            "their number costs.",
            proof=Proof.SETTING,
        )
    at_most = case.slower.mean(partial(moving_share, way))
    return evidence.supports(
        f"Each disk of the slower side {_PAST[rate]} at {{ratio}} the rate of the faster side's "
        "disks, while copies waited for it.",
        Size(case.times_by_bandwidth(min(each, factor), 1.0 if at_most is None else at_most)),
        # Whatever lies between a file and its disk makes the disk write less, too. Another model says
        # nothing: machine types name the same disk differently.
        Proof.LEFTOVER,
        ratio=Quantity(1 / each, Unit.RATIO),
    )
