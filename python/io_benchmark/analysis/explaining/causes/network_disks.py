# SPDX-License-Identifier: MPL-2.0
"""Disks of the cloud's network: their kind and size, their machine's limit, and none that is local.

What such a disk may do is published by its kind and size, and for all of a machine's by its type.
The tighter of the two holds copies back, so at most one of them is a cause. A cap counts only where
the slower side's disk was seen to reach it, and not to exceed it.
"""

from functools import partial

from msgspec.structs import replace

from io_benchmark.analysis.explaining import rules
from io_benchmark.analysis.explaining.case import AS_FAST_SHARE, Case
from io_benchmark.analysis.explaining.effects import Effect, SideEvidence, Size, span, tally
from io_benchmark.analysis.explaining.facts.disks import WRITES
from io_benchmark.analysis.explaining.facts.limits import LIMITED, reaches_limit
from io_benchmark.analysis.explaining.facts.network_disks import (
    SideDisk,
    cap_way,
    may_do,
)
from io_benchmark.analysis.explaining.measured_gains import Push
from io_benchmark.analysis.model.cause import Change, NewMachineType, Resource, Target
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Statement, ratio_of, statement
from io_benchmark.analysis.reading.cap_ways import OPERATIONS, READING, WAYS
from io_benchmark.analysis.reading.disks import PERSISTENT_DISK
from io_benchmark.analysis.reading.network_disks import has_local_ssds, medium_of, place_disk
from io_benchmark.results.machine import LINUX, WINDOWS
from io_benchmark.results.workloads.cache_retrieve import TrialKind

_APPLIES_TO = rules.WAITS_FOR_DISKS | rules.all_but(
    "sync-write", because="its writes wait for each other, whatever the disk may do at once"
)
_NAMELESS = statement("network disk of unknown kind")


def _disk_name(run: Run) -> Statement | None:
    disk, medium = place_disk(run), medium_of(run)
    if disk is not None:
        return disk.name if disk.caps else _NAMELESS
    return None if medium is None else statement("{medium}", medium=medium)


_DISK = tally("network-disk", _disk_name, "disk {value}")
_EVIDENCE = {
    way: (
        _DISK,
        span(
            f"{way.name}-cap", may_do(way), way.unit, "may do {value}", "what it may do is unknown"
        ),
        span(f"{way.name}-rate", way.measured, way.unit, "did {value}", "what it did is unknown"),
    )
    for way in WAYS
}


def _lower_cap(case: Case, *, of_machine: bool) -> Effect:
    """Support the cause of the slower side's lower cap: its disk's, or that of its machine."""
    way, media = cap_way(case), case.values(medium_of)
    evidence = SideEvidence.of(case, _DISK)
    if None in media:
        return evidence.unseen("The disks do not report what they are.")
    if media != {PERSISTENT_DISK}:
        return evidence.opposes("Not both sides' places are on network disks.")
    evidence = SideEvidence.of(case, *_EVIDENCE[way])
    slower, faster = SideDisk.of(case.slower, way), SideDisk.of(case.faster, way)
    if isinstance(slower, Statement):
        return evidence.unseen("{problem}", problem=slower)
    if isinstance(faster, Statement):
        return evidence.unseen("{problem}", problem=faster)
    return _if_it_holds(case, evidence, slower, faster, of_machine=of_machine)


def _if_it_holds(
    case: Case, evidence: SideEvidence, slower: SideDisk, faster: SideDisk, *, of_machine: bool
) -> Effect:
    """Return the effect of caps that are known, by what the disks were seen to do."""
    for disk in (slower, faster):
        if disk.measured is not None and disk.limits.are_exceeded(disk.measured):
            return evidence.unseen(
                "A disk did {measured}, more than {disk} may: it is another one.",
                measured=disk.amount(disk.measured),
                disk=disk.name,
            )
    if slower.is_like(faster):
        return _alike(evidence, slower, faster)
    if slower.rate > faster.rate:
        return evidence.opposes("The slower side's disk may do more.")
    if case.slower_never_waits:
        return evidence.opposes("The slower side did not wait for its disk.")
    if reaches_limit(case.slower):
        return evidence.opposes(LIMITED)
    if slower.measured is None and case.system == WINDOWS:
        return evidence.unclear("What its disk does while it is busy was not measured.")
    if slower.measured is None and not slower.is_certain:
        return evidence.unclear("What its disk may do is not certain, and was not measured.")
    if slower.measured is not None and not slower.limits.hold(slower.measured):
        return _not_reached(case, evidence, slower, slower.measured)
    if slower.is_held_by_machine is not of_machine:
        holds = "disk" if of_machine else "machine"
        return evidence.opposes(f"The slower side's {holds} allows less, and holds it back.")
    return _supported(evidence, slower, faster)


def _alike(evidence: SideEvidence, slower: SideDisk, faster: SideDisk) -> Effect:
    """Return that neither disk is the slower one, unless one of them has spent its credits."""
    effect = evidence.same("The disks of both sides may do as much.")
    if slower.measured is None or faster.has_spent_credits or not slower.has_spent_credits:
        return effect
    return effect.also(
        "The slower side's did {measured}, as {disk} does once its credits are spent.",
        measured=slower.amount(slower.measured),
        disk=slower.name,
    )


def _not_reached(case: Case, evidence: SideEvidence, disk: SideDisk, measured: float) -> Effect:
    """Return that a cap does not hold a disk back, unless small files reach that of operations."""
    effect = evidence.opposes(
        "The slower side's disk did {measured}, less than the {rate} that it may do: something "
        "else holds it back.",
        measured=disk.amount(measured),
        rate=disk.amount(disk.rate),
    )
    if case.subject.workload == "unpack":
        return effect.unclear("How many operations per second it did is not recorded.")
    return effect


def _supported(evidence: SideEvidence, slower: SideDisk, faster: SideDisk) -> Effect:
    machine = " on {machine}" if slower.is_held_by_machine else ""
    template = f"{{slower}}{machine} may do {{slower_rate}}, and {{faster}} {{faster_rate}}."
    if not (slower.is_defined and faster.is_defined):
        template = (
            f"{{slower_rate}} is what {{slower}}{machine} has, and {{faster_rate}} what {{faster}} "
            "has, by what they kept up: the pools' definition is not given."
        )
    effect = evidence.supports(
        template,
        slower=slower.name,
        machine=slower.machine_type,
        slower_rate=slower.amount(slower.rate),
        faster=faster.name,
        faster_rate=faster.amount(faster.rate),
    )
    if not slower.is_certain:
        effect = effect.also("What is published of the slower one is not certain.")
    if slower.after_credits is not None and not slower.has_spent_credits:
        effect = effect.also(
            "Its credits were not spent: afterwards it may do {least}, and the faster side {times} "
            "as much.",
            least=slower.amount(slower.after_credits),
            times=ratio_of((faster.after_credits or faster.rate) / slower.after_credits),
        )
    return effect


def _cost_of_cap(case: Case, effect: Effect) -> Effect:
    """Predict by the caps, at most by what the disks of both sides were seen to do."""
    way = cap_way(case)
    expected = case.times_as_fast(may_do(way)) or 1.0
    seen = case.more_bandwidth(of_reads=way is READING)
    if way in OPERATIONS.values():
        seen = case.times_as_fast(way.measured)
    if seen is not None and seen < AS_FAST_SHARE * expected:
        size = Size(case.times_by_bandwidth(seen))
        return replace(effect, size=size).also("The predicted ratio is that of what they did.")
    return replace(effect, size=Size(case.times_by_bandwidth(expected)))


_LARGER_DISK = rules.RemedyRule(
    "use a larger or faster network disk", Push.larger_disk, useless_next_to=("machine-limit",)
)
DISK_SIZE = rules.CauseRule(
    name="disk-size",
    hypothesis="The slower side's network disk may do less, by its kind or size.",
    fact=partial(_lower_cap, of_machine=False),
    cost=_cost_of_cap,
    applies_to=_APPLIES_TO,
    tried_by=TrialKind.PACE,
    change=Change(Resource.DISKS, Target.POOL, NewMachineType.LARGER_DISK),
    remedies=(_LARGER_DISK,),
)
MACHINE_LIMIT = rules.CauseRule(
    name="machine-limit",
    hypothesis="The slower side's machine lets its network disks do less than they may.",
    fact=partial(_lower_cap, of_machine=True),
    cost=_cost_of_cap,
    applies_to=_APPLIES_TO,
    tried_by=TrialKind.PACE,
    change=Change(Resource.DISKS, Target.POOL, NewMachineType.AS_REFERENCE),
    remedies=(
        rules.RemedyRule("use a machine type that lets network disks do more", Push.other_machine),
    ),
)


# --- network disks against local SSDs ---


def _medium(run: Run) -> rules.RankedFact | None:
    medium = medium_of(run)
    if medium is None:
        return None
    # LVM may span both: then the slow part decides.
    return rules.RankedFact(
        statement("on {medium}", medium=medium), float(PERSISTENT_DISK in medium)
    )


_MEDIUM = rules.RankedFactRule(
    name="disk-kind",
    read=_medium,
    supports="The slower side's place is on a network disk, although its machines have local SSDs. "
    "This happens when the workers' start script does not find them and uses the boot disk "
    "silently.",
    unseen="The disks do not report what they are.",
    same="Both sides have the same kind of disk.",
    no_waits="The slower side's place is on a network disk, but it did not wait for it.",
)


def _fell_back(case: Case) -> Effect:
    effect = _MEDIUM.compare(case)
    have_local_ssds = case.slower.values(has_local_ssds)
    if not effect.is_slower or have_local_ssds == {True}:
        return effect
    if None in have_local_ssds:
        return effect.evidence.unseen(
            "Nothing shows whether the slower side's machines have local SSDs: give the pools' "
            "definition by --pools-file FILE."
        )
    return effect.evidence.opposes("The slower side's machines have no local SSDs.")


def _has_no_local_ssds(case: Case) -> Effect:
    effect = _MEDIUM.compare(case)
    have_local_ssds = case.slower.values(has_local_ssds)
    if not effect.is_slower:
        return effect
    if have_local_ssds == {True}:
        return effect.evidence.opposes(
            "The slower side's machines have local SSDs, which its place is not on."
        )
    why = "Its machines have no local SSDs."
    if None in have_local_ssds:
        why = (
            "Nothing shows whether its machines have any: give the pools' definition by "
            "--pools-file FILE."
        )
    return effect.evidence.supports(f"The slower side's place is on a network disk. {why}")


def _cost_of_medium(case: Case, effect: Effect) -> Effect:
    factor = case.times_as_fast(WRITES.rate_of_all_disks)
    if case.subject.workload != "cache-retrieve" or factor is None:
        return effect
    return replace(effect, size=Size(case.times_by_bandwidth(factor)))


NETWORK_DISK = rules.CauseRule(
    name="network-disk",
    hypothesis="The slower side works on a network disk, the faster side on local SSDs.",
    fact=_has_no_local_ssds,
    cost=_cost_of_medium,
    applies_to=rules.WAITS_FOR_DISKS,
    excluded_by=(
        rules.OtherCause("cgroup-io-limit", LIMITED, where=lambda case: reaches_limit(case.slower)),
    ),
    tried_by=TrialKind.PACE,
    change=Change(Resource.DISKS, Target.POOL, NewMachineType.LARGER_DISK),
    remedies=(rules.RemedyRule("use a machine with local SSDs", Push.other_pool), _LARGER_DISK),
)
BOOT_DISK_FALLBACK = rules.CauseRule(
    name="boot-disk-fallback",
    only_on=LINUX,
    hypothesis="The slower side does not use its local SSDs, the faster side does.",
    fact=_fell_back,
    cost=_cost_of_medium,
    applies_to=rules.WAITS_FOR_DISKS,
    tried_by=TrialKind.PACE,
    change=Change(Resource.DISKS, Target.IMAGE),
    remedies=(
        rules.RemedyRule(
            "fix the fallback: the workers' start script must find the local SSDs or fail",
            Push.other_pool,
        ),
    ),
)
