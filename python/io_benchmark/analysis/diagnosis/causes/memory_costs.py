# SPDX-License-Identifier: MPL-2.0
"""Memory: how much may be unwritten, and what touching new memory costs."""

from functools import partial
from statistics import median

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.causes.cpu_and_software import general_slowdown
from io_benchmark.analysis.diagnosis.causes.io_limits import of_all_disks
from io_benchmark.analysis.diagnosis.effects import Effect, Proof, SideEvidence, span
from io_benchmark.analysis.diagnosis.measured_gains import follows
from io_benchmark.analysis.diagnosis.rules import RankedFact, Ranking, cause, ranked_cause
from io_benchmark.analysis.observed.runs import Run, dirty_room
from io_benchmark.analysis.statements import MIB, Quantity, Unit, statement
from io_benchmark.analysis.time_parts import Kind, in_copies
from io_benchmark.results.parts import NS_PER_S

ORDER = 70
# A page that costs at most this many times as much costs the same.
_SAME_COST_RATIO = 1.25
# Room for this many of the largest file is enough where each copy replaces the last one.
_FILES_AT_ONCE = 2
# Machines of one kind have slightly different amounts of free memory.
_AS_MUCH_ROOM_RATIO = 1.25
_AS_MUCH_ROOM = "Both sides have as much room for data that is not written yet."


def _room_bytes(run: Run) -> float | None:
    return dirty_room(run.worker)


def _room(run: Run) -> RankedFact | None:
    """Rank how early writers have to wait for the disks; not at all where all data has room."""
    room, retrieves = dirty_room(run.worker), run.entry.retrieves
    if room is None or retrieves is None or run.copied_bytes is None:
        return None
    needed = run.copied_bytes
    if run.subject.destination != "fresh":
        needed = min(needed, _FILES_AT_ONCE * max(retrieves.file_sizes_bytes))
    enough = ": enough" if room >= needed else ""
    template = "room for {room} of unwritten data" + enough
    fact = statement(template, room=Quantity(room, Unit.BYTES))
    return RankedFact(fact, 0.0 if enough else needed / max(room, 1.0))


def _written_meanwhile(run: Run) -> float | None:
    """Return the bytes that the disks wrote per retrieve, without the final sync; None: not known."""
    retrieves, moved = run.entry.retrieves, run.moved_bytes
    if retrieves is None or moved is None:
        return None
    # What syncs between the retrieves wrote is in the counters, too.
    if retrieves.trims or retrieves.final_sync_device_bytes is None:
        return None
    synced = sum(disk.written for disk in retrieves.final_sync_device_bytes.values())
    copies = run.stack.copies if run.stack is not None else 1
    return max(0, moved[1] - synced) / copies / len(run.entry.total_ns)


def _share_written_more(case: Case) -> float | None:
    """Return the share of the difference in which the slower side's disks wrote what the other's did not."""
    slower, faster = case.means(_written_meanwhile)
    rate = case.slower.mean(partial(of_all_disks, 1))
    if slower is None or faster is None or not rate:
        return None
    return case.share_of(max(0.0, slower - faster) / rate * NS_PER_S)


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
    remedies={
        "raise vm.dirty_ratio and vm.dirty_background_ratio, or use machines with more memory": follows(
            "The data is then written later, and what syncs it waits instead. This is not measured here."
        )
    },
    proof=Proof.SETTING,
)
def _dirty_limit(case: Case, effect: Effect) -> Effect:
    slower, faster = case.means(_room_bytes)
    if slower is not None and faster is not None and faster <= _AS_MUCH_ROOM_RATIO * slower:
        return effect.opposed(_AS_MUCH_ROOM)
    return effect.if_enough(
        case,
        _share_written_more(case),
        "The slower side has less room for unwritten data, but what its disks wrote more during the "
        "copies makes up {share} of the difference.",
    )


def _touch_ns(run: Run) -> float | None:
    costs = run.host.first_touch_ns_per_mib if run.host is not None else []
    return float(median(costs)) if costs else None


def _touch_per_retrieve_ns(run: Run) -> float | None:
    cost = _touch_ns(run)
    if cost is None or run.copied_bytes is None:
        return None
    return cost * run.copied_bytes / MIB / len(run.entry.total_ns)


@cause(
    "memory-first-touch",
    "Touching new memory costs more on the slower side's machine.",
    acts_through=in_copies(Kind.KERNEL),
)
def _memory_first_touch(case: Case) -> Effect:
    evidence = SideEvidence.of(
        case, span("first-touch-per-mib", _touch_ns, Unit.NANOSECONDS, "{value} per MiB")
    )
    slower, faster = case.slower.median(_touch_ns), case.faster.median(_touch_ns)
    if slower is None or faster is None:
        return evidence.unseen("The cost of touching new memory was not measured.")
    if slower <= _SAME_COST_RATIO * faster:
        return evidence.opposes("New memory costs the slower side no more.")
    if slower <= _SAME_COST_RATIO * general_slowdown(case) * faster:
        return evidence.opposes(
            "New memory costs the slower side more, but only as far as all of its work takes longer."
        )
    share = case.explained_share(_touch_per_retrieve_ns)
    if share is None:
        return evidence.unclear("The workload has no times to compare this cost with.")
    return evidence.supports("Each new page of memory costs the slower side more.").if_enough(
        case,
        share,
        "New memory costs the slower side more, but per file this makes up only {share} of the "
        "difference.",
    )
