# SPDX-License-Identifier: MPL-2.0
"""Memory, the CPU and the kernel: how much may be unwritten, and what the same work takes on both sides."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import starmap
from statistics import median

from msgspec.structs import replace

from io_benchmark.analysis.explaining.case import EVERY_WORKLOAD, Case
from io_benchmark.analysis.explaining.causes.io_limits import of_all_disks
from io_benchmark.analysis.explaining.causes.run_conditions import share_stolen
from io_benchmark.analysis.explaining.effects import (
    SLOWER_AT_RATIO,
    Effect,
    Fact,
    Proof,
    SideEvidence,
    as_share,
    is_enough,
    span,
)
from io_benchmark.analysis.explaining.measured_gains import Push, follows
from io_benchmark.analysis.explaining.rules import (
    RankedFact,
    Ranking,
    RemedyRule,
    cause,
    ranked_cause,
)
from io_benchmark.analysis.model.cause import Change, NewMachineType, NoChange, Resource, Target
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import MIB, Quantity, Unit, count, ratio_of, statement
from io_benchmark.analysis.model.time_parts import ON_CPU, Kind, in_all, in_copies, in_lookups
from io_benchmark.analysis.reading.capacity import fixed_work_rate
from io_benchmark.analysis.reading.counters import per_operation_ms, stolen_share
from io_benchmark.analysis.reading.disk_rates import moved_bytes
from io_benchmark.analysis.reading.disks import stack_of
from io_benchmark.analysis.reading.machines import dirty_room
from io_benchmark.number_text import plural
from io_benchmark.results import workloads
from io_benchmark.results.parts import NS_PER_S

# A page that costs at most this many times as much costs the same. Machines of one kind have slightly
# different amounts of free memory, too.
_ALIKE_RATIO = 1.25
# Room for this many of the largest file is enough where each copy replaces the last one.
_FILES_AT_ONCE = 2
_NOT_RECORDED = "How long the sides worked is not recorded."
_AS_MUCH_ROOM = "Both sides have as much room for data that is not written yet."
_LEAST_STOLEN_SHARE = 0.05
_FIXED_WORK = [
    partial(fixed_work_rate, work=work) for work in ("user", "kernel-copy", "kernel-calls")
]


def _own_ns(columns: tuple[str, ...], run: Run) -> float | None:
    """Return CPU time per retrieve or operation: the measuring process's and its children's."""
    value_ms = per_operation_ms(run, *columns)
    return None if value_ms is None else value_ms * 1e6


_OWN_CPU_NS = partial(_own_ns, ("own_user_ms", "own_system_ms"))
_OWN_SYSTEM_NS = partial(_own_ns, ("own_system_ms",))
_STOLEN_SHARE = stolen_share
_STOLEN = span(
    "stolen-time", _STOLEN_SHARE, Unit.SHARE, "other guests took {value} of the CPU time"
)


def _fixed_work(case: Case) -> Sequence[float]:
    """Return how many times as long the slower side's fixed work takes; nothing where one is unknown."""
    ratios = [case.times_as_fast(rate) for rate in _FIXED_WORK]
    return [ratio for ratio in ratios if ratio is not None] if None not in ratios else ()


def general_slowdown(case: Case) -> float:
    """Return how many times as long all work takes on the slower side; 1 where that is not known."""
    return max((1.0, *_fixed_work(case)[::2]))


def _room_bytes(run: Run) -> float | None:
    return dirty_room(run.worker)


def _room(run: Run) -> RankedFact | None:
    """Rank how early writers have to wait for the disks; not at all where all data has room."""
    room, retrieves, needed = _room_bytes(run), run.retrieves, run.copied_bytes
    if room is None or retrieves is None or needed is None:
        return None
    if run.subject.destination != "fresh":
        needed = min(needed, _FILES_AT_ONCE * max(retrieves.file_sizes_bytes))
    template, rank = "room for {room} of unwritten data", needed / max(room, 1.0)
    if room >= needed:
        template, rank = f"{template}: enough", 0.0
    return RankedFact(statement(template, room=Quantity(room, Unit.BYTES)), rank)


def _written_meanwhile(run: Run) -> float | None:
    """Return the bytes that the disks wrote per retrieve, without the final sync; None: not known."""
    retrieves, moved = run.retrieves, moved_bytes(run)
    synced = retrieves.final_sync_device_bytes if retrieves is not None else None
    # What syncs between the retrieves wrote is in the counters, too.
    if retrieves is None or moved is None or synced is None or retrieves.trims:
        return None
    written = max(0, moved[1] - sum(disk.written for disk in synced.values()))
    stack = stack_of(run)
    return written / (stack.copies if stack else 1) / len(run.total_ns)


@ranked_cause(
    "dirty-limit",
    "The slower side may hold less unwritten data in memory.",
    Ranking(
        name="dirty-room",
        read=_room,
        supports="The slower side has less room for data that is not written yet, by its memory and "
        "the vm.dirty settings, so its copies have to wait for the disks earlier.",
        unseen="The memory or the kernel's limits of unwritten data were not recorded.",
        same=_AS_MUCH_ROOM,
        no_waits="The slower side has less room for unwritten data, but did not wait for its disks.",
    ),
    change=NoChange("what is written later makes the next sync wait instead"),
    remedies=(
        RemedyRule(
            "raise vm.dirty_ratio and vm.dirty_background_ratio, or use machines with more memory",
            follows(
                "The data is then written later, and what syncs it waits instead. This is not measured here."
            ),
        ),
    ),
    proof=Proof.SETTING,
)
def _dirty_limit(case: Case, effect: Effect) -> Effect:
    times = case.times_as_fast(_room_bytes)
    if times is not None and times <= _ALIKE_RATIO:
        return effect.opposed(_AS_MUCH_ROOM)
    # In this share of the difference the slower side's disks wrote what the other's did not.
    more, rate = case.more(_written_meanwhile), case.slower.mean(partial(of_all_disks, 1))
    share = case.share_of(max(0.0, more) / rate * NS_PER_S) if more is not None and rate else None
    return effect.if_enough(
        case,
        share,
        "The slower side has less room for unwritten data, but what its disks wrote more during the "
        "copies makes up {share} of the difference.",
    )


def _touch_ns(run: Run) -> float | None:
    costs = run.host.first_touch_ns_per_mib if run.host is not None else []
    return float(median(costs)) if costs else None


def _touch_per_retrieve_ns(run: Run) -> float | None:
    cost, copied = _touch_ns(run), run.copied_bytes
    return None if cost is None or copied is None else cost * copied / MIB / len(run.total_ns)


@cause(
    "memory-first-touch",
    "Touching new memory costs more on the slower side's machine.",
    change=NoChange("it has no remedy"),
    acts_through=in_copies(Kind.KERNEL),
)
def _memory_first_touch(case: Case) -> Effect:
    evidence = SideEvidence.of(
        case, span("first-touch-per-mib", _touch_ns, Unit.NANOSECONDS, "{value} per MiB")
    )
    slower, faster = case.slower.median(_touch_ns), case.faster.median(_touch_ns)
    if slower is None or faster is None:
        return evidence.unseen("The cost of touching new memory was not measured.")
    if slower <= _ALIKE_RATIO * faster:
        return evidence.opposes("New memory costs the slower side no more.")
    if not _fixed_work(case):
        return evidence.unclear("Fixed work would show whether all work takes longer.")
    if slower <= _ALIKE_RATIO * general_slowdown(case) * faster:
        return evidence.opposes(
            "New memory costs the slower side more, but only as far as all of its work takes longer."
        )
    effect = evidence.supports("Each new page of memory costs the slower side more.")
    too_little = "New memory costs the slower side more, but per file that makes up {share} of the difference."
    share = case.explained_share(_touch_per_retrieve_ns)
    return effect.if_enough(case, share, too_little, _NOT_RECORDED)


def _processor(run: Run) -> RankedFact | None:
    host = run.host
    if host is None or host.cpu_model is None:
        return None
    template = f"{{model}}, {{count}} {plural(host.cpu_count, 'CPU')}"
    cpus = count(host.cpu_count)
    return RankedFact(statement(template, model=host.cpu_model, count=cpus))


_MODEL = Ranking(
    name="cpu",
    read=_processor,
    unseen="The CPU's model could not be seen.",
    unranked="The CPUs differ.",
)


@cause(
    "cpu",
    "The slower side's CPU is slower, or shared with others.",
    change=Change(Resource.CPU, Target.POOL, NewMachineType.AS_REFERENCE),
    workloads=EVERY_WORKLOAD,
    acts_through=in_all(*ON_CPU, Kind.WAITING),
)
def _cpu(case: Case) -> Effect:
    operation = workloads.of(case.subject.workload).operation
    observe = (
        _MODEL.tally,
        span("cpu-time", _OWN_CPU_NS, Unit.NANOSECONDS, f"CPU time per {operation} {{value}}"),
    )
    # The CPUs' models may differ as well, which is not the reason.
    stolen = _stolen(case, SideEvidence.of(case, _STOLEN, *observe))
    if stolen is not None:
        return stolen
    evidence, fixed = SideEvidence.of(case, *observe), _fixed_work(case)
    if not fixed:
        effect = replace(_MODEL.judge(case), evidence=evidence)
        return _without_fixed_work(case, effect, _OWN_CPU_NS)
    # The same work on both sides decides, whatever their models are.
    in_user_mode = fixed[0]
    if in_user_mode < SLOWER_AT_RATIO:
        return evidence.opposes("Fixed work in user mode takes as long on the CPUs of both sides.")
    supported = evidence.supports(
        "Fixed work in user mode takes {ratio} as long on the slower side's CPU.",
        ratio=ratio_of(in_user_mode),
    )
    share = case.share_of_work(in_user_mode, in_all(*ON_CPU))
    too_little = "Fixed work takes longer on the slower side's CPU, but that makes up {share} of the difference."
    return supported.if_enough(case, share, too_little, _NOT_RECORDED)


def _stolen(case: Case, evidence: SideEvidence) -> Effect | None:
    """Support that other guests took more of the slower side's CPU time, where that costs enough."""
    slower, faster = case.means(_STOLEN_SHARE)
    if not case.differs or slower is None or faster is None:
        return None
    if slower - faster < _LEAST_STOLEN_SHARE:
        return None
    effect = evidence.supports(
        "Other guests took {stolen} of the slower side's CPU time, and {others} of the faster side's.",
        stolen=as_share(slower),
        others=as_share(faster),
    ).if_enough(case, share_stolen(case), "")
    return effect if effect.is_slower else None


def _without_fixed_work(
    case: Case, effect: Effect, own_ns: Callable[[Run], float | None]
) -> Effect:
    """Rule out that work is slower where it takes too little time; more is not known."""
    share = case.explained_share(own_ns)
    takes_enough = share is not None and is_enough(share)
    if effect.fact is Fact.UNSEEN or (effect.fact is Fact.SAME and not takes_enough):
        return effect
    if share is not None and not takes_enough:
        return effect.opposed(
            "The sides differ in this, but the time of its work makes up {share} of the difference.",
            share=as_share(share),
        )
    return effect.unclear(
        "Fixed work on both sides would show which is slower. These results do not have it."
    )


def _kernel_version(run: Run) -> RankedFact | None:
    host = run.host
    if host is None:
        return None
    template = "{release} {version}"
    return RankedFact(statement(template, release=host.kernel, version=host.kernel_version))


@ranked_cause(
    "kernel",
    "The slower side's kernel is slower.",
    Ranking(
        name="kernel",
        read=_kernel_version,
        unseen="The kernel could not be seen.",
        unranked="The kernels differ.",
    ),
    change=Change(Resource.CPU, Target.IMAGE),
    refined={Fact.UNCLEAR},
    workloads=EVERY_WORKLOAD,
    remedies=(RemedyRule("run the faster side's kernel on both sides", Push.other_pool),),
    acts_through=in_all(Kind.KERNEL),
)
def _kernel(case: Case, effect: Effect) -> Effect:
    """Judge a kernel by what the same work in it takes longer than the CPU accounts for."""
    fixed = _fixed_work(case)
    if not fixed:
        return _without_fixed_work(case, effect, _OWN_SYSTEM_NS)
    in_user_mode, *in_kernel = fixed
    copying, calling = (max(1.0, ratio / in_user_mode) for ratio in in_kernel)
    if calling < SLOWER_AT_RATIO <= copying:
        # Memory that is slower, which nothing names, costs the same.
        return effect.evidence.supports(
            "The kernels differ, and only copying takes longer, as with slower memory.",
            proof=Proof.SETTING,
        )
    supported = effect.evidence.supports(
        "The kernels differ. With the CPUs' speeds taken out, fixed copying in the kernel takes {copying} "
        "as long, and system calls take {calling}.",
        copying=ratio_of(copying),
        calling=ratio_of(calling),
    )
    works = (copying, in_copies(Kind.KERNEL)), (calling, in_lookups(Kind.KERNEL))
    known = [part for part in starmap(case.share_of_work, works) if part is not None]
    too_little = (
        "The kernels differ, but what they do more slowly makes up {share} of the difference."
    )
    share = math.fsum(known) if known else None
    return supported.if_enough(case, share, too_little, _NOT_RECORDED)
