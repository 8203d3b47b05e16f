# SPDX-License-Identifier: MPL-2.0
"""A limit that a cgroup sets on one side's I/O."""

from collections.abc import Sequence

from msgspec.structs import replace

from io_benchmark.analysis.explaining import rules
from io_benchmark.analysis.explaining.case import AS_FAST_SHARE, Case
from io_benchmark.analysis.explaining.causes import ranked_settings
from io_benchmark.analysis.explaining.effects import Effect, Proof, Size
from io_benchmark.analysis.explaining.facts.disks import READS, WRITES
from io_benchmark.analysis.explaining.facts.limits import (
    at_limit_share,
    binding,
    io_limits_of,
    is_of_bytes,
    limited,
    reaches_limit,
)
from io_benchmark.analysis.explaining.measured_gains import Push
from io_benchmark.analysis.model.cause import Change, Resource, Target
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Quantity, Statement, Unit, joined, statement
from io_benchmark.analysis.reading.disks import stack_of
from io_benchmark.results.machine import LINUX, IoLimit
from io_benchmark.results.workloads.cache_retrieve import TrialKind

_OPERATION_BYTES = 128 * 1024  # limits of operations are compared as if each had this size
_LIMITS_SHOWN = 4  # more do not fit into a line
_SAME_LIMITS = "Both sides have the same limits."


def _limit_values(run: Run) -> frozenset[tuple[str, int]]:
    return frozenset((limit.kind, limit.value) for limit in io_limits_of(run))


def _described(limit: IoLimit) -> Statement:
    unit = Unit.BYTES_PER_SECOND if is_of_bytes(limit) else Unit.OPERATIONS_PER_SECOND
    return statement(
        "{way} {amount} on {device}",
        way=limit.kind.partition("_")[0],
        amount=Quantity(limit.value, unit),
        device=limit.device_name or limit.device,
    )


def _listed(limits: Sequence[IoLimit]) -> Statement:
    distinct = [*dict.fromkeys(map(_described, limits))]
    more = [statement("…")] if len(distinct) > _LIMITS_SHOWN else []
    return joined(distinct[:_LIMITS_SHOWN] + more)


def _io(run: Run) -> rules.RankedFact | None:
    if not run.sees_cgroups:
        return None
    limits = sorted(io_limits_of(run), key=lambda limit: (limit.kind, limit.value, limit.device))
    if not limits:
        return rules.RankedFact(ranked_settings.NO_LIMIT)
    listed = _listed(limits)
    bytes_per_s = [
        limit.value * (1 if is_of_bytes(limit) else _OPERATION_BYTES) for limit in binding([run])
    ]
    if not bytes_per_s:
        return rules.RankedFact(
            statement("{limits}: not reached while copies waited", limits=listed)
        )
    return rules.RankedFact(listed, ranked_settings.FAR_ABOVE / max(1, min(bytes_per_s)))


def cgroup_io_limit(case: Case, effect: Effect) -> Effect:
    if case.slower.values(_limit_values) == case.faster.values(_limit_values):
        return effect.evidence.opposes(_SAME_LIMITS)
    factor = _possible_factor(case)
    if factor is not None and factor * AS_FAST_SHARE < 1:
        return effect.evidence.opposes(
            "A cgroup limits the slower side's I/O, but its disks move as many bytes per second as "
            "those of the faster side."
        )
    at_limit = case.slower.mean(_longest_at_limit) or 0.0
    # Where nothing shows how fast it would be without the limit, it explains at most what differs.
    saved = 1 - 1 / case.times if factor is None else 1 - 1 / factor
    is_certain = reaches_limit(case.slower)
    # How many bytes each request of a retrieve has is not recorded, so a limit of them has no size.
    is_sized = is_certain or case.subject.workload != "cache-retrieve"
    size = Size(case.times_without(at_limit * saved)) if is_sized else None
    return replace(effect, size=size, proof=Proof.COST if is_certain else Proof.SETTING)


CGROUP_IO_LIMIT = rules.CauseRule(
    name="cgroup-io-limit",
    only_on=LINUX,
    hypothesis="A cgroup limits the slower side's I/O.",
    fact=rules.RankedFactRule(
        name="io-limits",
        read=_io,
        supports="The slower side's cgroup limits its I/O more tightly.",
        unseen=ranked_settings.NO_HIERARCHY,
        same=_SAME_LIMITS,
        neither=ranked_settings.NEITHER,
    ).compare,
    cost=cgroup_io_limit,
    applies_to=rules.WAITS_FOR_DISKS,
    tried_by=TrialKind.PACE,
    change=Change(Resource.DISKS, Target.IMAGE),
    remedies=(rules.RemedyRule("lift the cgroup's I/O limit", Push.other_pool),),
)


def _longest_at_limit(run: Run) -> float:
    return max((at_limit_share(limit, run) for limit in io_limits_of(run)), default=0.0)


def _possible_factor(case: Case) -> float | None:
    """Return how much faster limited disks would be without the limit, as the faster side's.

    Unless the limit is surely reached, a disk that is as fast as one of the same model is not held
    back.
    """
    may_be_equal_disks = not reaches_limit(case.slower) and len(case.values(_models)) == 1
    known = []
    for way in {limited(limit, (READS, WRITES)) for limit in binding(case.slower)}:
        factors = [case.times_as_fast(way.rate_of_busy_disks)]
        if may_be_equal_disks:
            factors.append(case.times_as_fast(way.rate_per_disk))
        known_factors = [factor for factor in factors if factor]
        if known_factors:
            known.append(min(known_factors))
    return max(known, default=None)


def _models(run: Run) -> frozenset[str | None]:
    stack = stack_of(run)
    return frozenset(disk.model for disk in stack.disks) if stack else frozenset()
