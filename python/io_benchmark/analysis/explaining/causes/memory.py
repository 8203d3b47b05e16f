# SPDX-License-Identifier: MPL-2.0
"""Memory: how much data may be unwritten, and what touching a new page costs."""

from statistics import median

from io_benchmark.analysis.explaining import rules
from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.effects import Effect, Proof, SideEvidence, span
from io_benchmark.analysis.explaining.facts.cpus import NOT_RECORDED, FixedWork, general_slowdown
from io_benchmark.analysis.explaining.facts.disks import WRITES
from io_benchmark.analysis.explaining.measured_gains import follows
from io_benchmark.analysis.model.cause import NoChange
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import MIB, Quantity, Unit, statement
from io_benchmark.analysis.model.time_parts import Kind, in_copies
from io_benchmark.analysis.reading.disk_rates import moved_bytes
from io_benchmark.analysis.reading.disks import stack_of
from io_benchmark.analysis.reading.machines import dirty_room
from io_benchmark.results.machine import LINUX
from io_benchmark.results.parts import NS_PER_S

_ALIKE_RATIO = 1.25  # machines of one kind differ by less in free memory and a page's cost
_FILES_AT_ONCE = 2  # of the largest file, for which room is enough if each copy replaces the last
_AS_MUCH_ROOM = "Both sides have as much room for data that is not written yet."


def _room_bytes(run: Run) -> float | None:
    return dirty_room(run.worker)


def _room(run: Run) -> rules.RankedFact | None:
    """Rank how early writers have to wait for the disks; not at all where all data has room."""
    room, retrieves, needed = _room_bytes(run), run.retrieves, run.copied_bytes
    if room is None or retrieves is None or needed is None:
        return None
    if run.subject.destination != "fresh":
        needed = min(needed, _FILES_AT_ONCE * max(retrieves.file_sizes_bytes))
    template, rank = "room for {room} of unwritten data", needed / max(room, 1.0)
    if room >= needed:
        template, rank = f"{template}: enough", 0.0
    return rules.RankedFact(statement(template, room=Quantity(room, Unit.BYTES)), rank)


def _written_meanwhile(run: Run) -> float | None:
    """Return the bytes that the disks wrote per retrieve, without the final sync."""
    retrieves, moved = run.retrieves, moved_bytes(run)
    synced = retrieves.final_sync_device_bytes if retrieves is not None else None
    # What syncs between the retrieves wrote is in the counters, too.
    if retrieves is None or moved is None or synced is None or retrieves.trims:
        return None
    written = max(0, moved[1] - sum(disk.written for disk in synced.values()))
    stack = stack_of(run)
    return written / (stack.copies if stack else 1) / len(run.total_ns)


def _dirty_limit(case: Case, effect: Effect) -> Effect:
    times = case.times_as_fast(_room_bytes)
    if times is not None and times <= _ALIKE_RATIO:
        return effect.evidence.opposes(_AS_MUCH_ROOM)
    # In this share of the difference the slower side's disks wrote what the other's did not.
    more, rate = case.more(_written_meanwhile), case.slower.mean(WRITES.rate_of_all_disks)
    share = case.share_of(max(0.0, more) / rate * NS_PER_S) if more is not None and rate else None
    return effect.if_enough(
        case,
        share,
        "The slower side has less room for unwritten data, but what its disks wrote more during "
        "the copies makes up {share} of the difference.",
    )


DIRTY_LIMIT = rules.CauseRule(
    name="dirty-limit",
    only_on=LINUX,
    hypothesis="The slower side may hold less unwritten data in memory.",
    fact=rules.RankedFactRule(
        name="dirty-room",
        read=_room,
        supports="The slower side has less room for data that is not written yet, by its memory "
        "and the vm.dirty settings, so its copies have to wait for the disks earlier.",
        unseen="The memory or the kernel's limits of unwritten data were not recorded.",
        same=_AS_MUCH_ROOM,
        no_waits="The slower side has less room for unwritten data, but did not wait for its "
        "disks.",
    ).compare,
    cost=_dirty_limit,
    applies_to=rules.Only(("cache-retrieve",), "the bytes that need room are those of retrieves"),
    proof=Proof.SETTING,
    change=NoChange("what is written later makes the next sync wait instead"),
    remedies=(
        rules.RemedyRule(
            "raise vm.dirty_ratio and vm.dirty_background_ratio, or use machines with more memory",
            follows(
                "The data is then written later, and what syncs it waits instead. This is not "
                "measured here."
            ),
        ),
    ),
)


def _touch_ns(run: Run) -> float | None:
    costs = run.host.first_touch_ns_per_mib if run.host is not None else []
    return float(median(costs)) if costs else None


def _touch_per_retrieve_ns(run: Run) -> float | None:
    cost, copied = _touch_ns(run), run.copied_bytes
    return None if cost is None or copied is None else cost * copied / MIB / len(run.total_ns)


def _memory_first_touch(case: Case) -> Effect:
    evidence = SideEvidence.of(
        case, span("first-touch-per-mib", _touch_ns, Unit.NANOSECONDS, "{value} per MiB")
    )
    slower, faster = case.slower.median(_touch_ns), case.faster.median(_touch_ns)
    if slower is None or faster is None:
        return evidence.unseen("The cost of touching new memory was not measured.")
    if slower <= _ALIKE_RATIO * faster:
        return evidence.opposes("New memory costs the slower side no more.")
    if FixedWork.of(case) is None:
        return evidence.unclear("Fixed work would show whether all work takes longer.")
    if slower <= _ALIKE_RATIO * general_slowdown(case) * faster:
        return evidence.opposes(
            "New memory costs the slower side more, but only as far as all of its work takes "
            "longer."
        )
    effect = evidence.supports("Each new page of memory costs the slower side more.")
    too_little = (
        "New memory costs the slower side more, but per file that makes up {share} of the "
        "difference."
    )
    share = case.explained_share(_touch_per_retrieve_ns)
    return effect.if_enough(case, share, too_little, NOT_RECORDED)


MEMORY_FIRST_TOUCH = rules.CauseRule(
    name="memory-first-touch",
    hypothesis="Touching new memory costs more on the slower side's machine.",
    fact=_memory_first_touch,
    applies_to=rules.Only(
        ("cache-retrieve",), "the bytes that new memory is touched for are those of retrieves"
    ),
    acts_through=in_copies(Kind.KERNEL),
    change=NoChange("it has no remedy"),
)
