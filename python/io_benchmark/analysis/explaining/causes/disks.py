# SPDX-License-Identifier: MPL-2.0
"""The disks of a place: what kind they are, how many work at once, and how fast each is.

What disks can do is measured, or published, or not known. Their number explains a difference in
that; it is not a cause by itself.
"""

import math
from collections.abc import Callable
from operator import attrgetter
from typing import TypeVar

from msgspec.structs import replace

from io_benchmark.analysis.explaining import rules
from io_benchmark.analysis.explaining.case import AS_FAST_SHARE, Case
from io_benchmark.analysis.explaining.effects import WRITE_RATE, Effect, Proof, Size, span, tally
from io_benchmark.analysis.explaining.facts.limits import LIMITED, reaches_limit
from io_benchmark.analysis.explaining.measured_gains import Push
from io_benchmark.analysis.model.cause import Change, NewMachineType, Resource, Target
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import (
    Quantity,
    Statement,
    Unit,
    count,
    joined,
    statement,
)
from io_benchmark.analysis.reading.capacity import published_cap_of, published_write_cap
from io_benchmark.analysis.reading.disks import Stack, machine_type, stack_of
from io_benchmark.results.machine import LINUX
from io_benchmark.results.workloads.cache_retrieve import TrialKind

Answer = TypeVar("Answer")
_UNSEEN = "The devices under the place could not be seen."
_ANOTHER_KIND = "The slower side's disks are of another kind, which explains more."


def _of_stack(read: Callable[[Stack], Answer]) -> Callable[[Run], Answer | None]:
    def read_run(run: Run) -> Answer | None:
        stack = stack_of(run)
        return None if stack is None else read(stack)

    return read_run


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


DISKS_AT_ONCE, _LAYOUT = _of_stack(attrgetter("width")), _of_stack(attrgetter("linear", "copies"))
_PLAIN = (False, 1)
ALIKE_RATIO = 1.25  # disks are alike whose volumes write, within this, what their number says


def _machine_type(run: Run) -> Statement | None:
    machine = machine_type(run)
    return statement("machine type {value}", value=machine.name) if machine.instance_type else None


_WIDTH = rules.RankedFactRule(
    name="disks",
    read=_of_stack(
        lambda stack: rules.RankedFact(statement("{width}", width=count(stack.width)), -stack.width)
    ),
    supports="The slower side spreads its writes over fewer disks.",
    unseen=_UNSEEN,
    same="As many disks work at once on both sides.",
    no_waits="The number of disks differs, but the slower side did not wait for its disks.",
    observe=(
        tally("disks", _of_stack(_spread)),
        tally("models", _of_stack(_listed_models), "models {value}"),
        tally("machine-type", _machine_type, "machine type {value}"),
        WRITE_RATE,
        span(
            "published-write-cap",
            published_write_cap,
            Unit.BYTES_PER_SECOND,
            "published cap {value}",
            "no published cap",
        ),
    ),
)


def _fewer_disks(case: Case) -> Effect:
    effect = _WIDTH.compare(case)
    layouts_of_slower_alone = case.slower.values(_LAYOUT) - case.faster.values(_LAYOUT)
    if effect.is_slower and layouts_of_slower_alone - {_PLAIN}:
        return effect.evidence.opposes(
            "The slower side's volume does not spread its writes over its disks."
        )
    return effect


def _write_as_fast(case: Case) -> bool:
    more = case.more_bandwidth()
    return more is not None and more * AS_FAST_SHARE < 1


def _cost_of_fewer_disks(case: Case, effect: Effect) -> Effect:
    """Predict by what the disks can write: by their caps, their number, or what they wrote."""
    if effect.proof is Proof.SETTING:
        return effect
    more = case.more_bandwidth()
    published, counted = case.times_as_fast(published_write_cap), case.times_as_fast(DISKS_AT_ONCE)
    expected, source = published or counted or 1.0, "the disks' write caps"
    if published is None:
        source = "the numbers of disks, because the write caps of one side are not known"
    doubt = ""
    if more is None and not published:
        doubt = "What the disks can write is not known."
    elif more is not None and not 1 / ALIKE_RATIO <= more / expected <= ALIKE_RATIO:
        doubt = "The disks are unlike: their number does not show what they write."
    if doubt:
        return replace(effect, proof=Proof.SETTING).also(doubt)
    if more is not None and more < AS_FAST_SHARE * expected:
        expected, source = more, "what the disks of both sides wrote"
    return replace(effect, size=Size(case.times_by_bandwidth(expected))).also(
        f"The predicted ratio is that of {source}."
    )


DEVICE_COUNT = rules.CauseRule(
    name="device-count",
    hypothesis="The slower side's writes are spread over fewer disks.",
    fact=_fewer_disks,
    cost=_cost_of_fewer_disks,
    applies_to=rules.NEEDS_BANDWIDTH,
    excluded_by=(
        rules.OtherCause("network-disk", _ANOTHER_KIND),
        rules.OtherCause("boot-disk-fallback", _ANOTHER_KIND),
        rules.OtherCause("os-disk", _ANOTHER_KIND),
        rules.OtherCause("disk-kind", _ANOTHER_KIND),
        rules.OtherCause("cgroup-io-limit", LIMITED, where=lambda case: reaches_limit(case.slower)),
    ),
    doubted_by=(rules.OtherCause("cgroup-io-limit", "A cgroup may limit what they write."),),
    objections=(
        rules.Objection(_write_as_fast, "The slower side has fewer disks, but they write as fast."),
    ),
    tried_by=TrialKind.PACE,
    change=Change(Resource.DISKS, Target.POOL, NewMachineType.MORE_DISKS),
    remedies=(
        rules.RemedyRule(
            "use a machine type with more local SSDs, striped",
            Push.more_disks,
            useless_next_to=("linear-volume", "network-disk", "boot-disk-fallback"),
        ),
    ),
)


def _gain_of_stripe(run: Run) -> float | None:
    """Return what the worker's disks would reach as a stripe, over what they reach."""
    stack = stack_of(run)
    if stack is None:
        return None
    published, cap = published_cap_of(run, len(stack.disks)), published_write_cap(run)
    return published / cap if published and cap else len(stack.disks) / stack.width


_NOT_WAITED_FOR = "The slower side's volume is laid out so, but it did not wait for its disks."


def _cost_of_layout(case: Case, effect: Effect) -> Effect:
    """Predict by what the volume would write as a stripe."""
    gain = case.slower.mean(_gain_of_stripe) or 1.0  # known where the layout is
    if (case.more_bandwidth() or math.inf) * AS_FAST_SHARE < 1:
        return effect.evidence.opposes("The slower side's volume writes as fast.")
    return replace(effect, size=Size(case.times_by_bandwidth(gain)))


LINEAR_VOLUME = rules.CauseRule(
    name="linear-volume",
    only_on=LINUX,
    hypothesis="The slower side's volume is linear: several disks with the bandwidth of one.",
    fact=rules.RankedFactRule(
        name="disks",
        read=_of_stack(lambda stack: rules.RankedFact(_spread(stack), float(stack.linear))),
        supports="The slower side's volume joins its disks one after another, so a copy has the "
        "bandwidth of one disk.",
        unseen=_UNSEEN,
        no_waits=_NOT_WAITED_FOR,
    ).compare,
    cost=_cost_of_layout,
    applies_to=rules.NEEDS_BANDWIDTH,
    tried_by=TrialKind.PACE,
    change=Change(Resource.DISKS, Target.IMAGE),
    remedies=(
        rules.RemedyRule("make the volume striped (lvcreate -i N) instead of linear", Push.predict),
    ),
)
MIRRORED_VOLUME = rules.CauseRule(
    name="mirrored-volume",
    only_on=LINUX,
    hypothesis="The slower side's volume is a mirror: several disks with the bandwidth of one.",
    fact=rules.RankedFactRule(
        name="disks",
        read=_of_stack(lambda stack: rules.RankedFact(_spread(stack), float(stack.copies))),
        supports="The slower side's volume is a mirror: it writes each byte to several disks.",
        unseen=_UNSEEN,
        no_waits=_NOT_WAITED_FOR,
    ).compare,
    cost=_cost_of_layout,
    applies_to=rules.NEEDS_BANDWIDTH,
    tried_by=TrialKind.PACE,
    change=Change(Resource.DISKS, Target.IMAGE),
    remedies=(
        rules.RemedyRule(
            "make the volume striped (RAID 0), where its files need not survive a disk",
            Push.predict,
        ),
    ),
)
