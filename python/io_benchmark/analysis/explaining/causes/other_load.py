# SPDX-License-Identifier: MPL-2.0
"""Whether a side's machine had other load.

Where a CPU is shared, more work also waits longer, and long work longer than short work. So waiting
for others is compared where both sides have about the same work to do.
"""

import math
from collections.abc import Sequence
from operator import attrgetter

from msgspec.structs import replace

from io_benchmark.analysis.explaining import effects
from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.causes.ranked_settings import memory_limit_bytes
from io_benchmark.analysis.explaining.facts.cpus import share_stolen
from io_benchmark.analysis.explaining.parts import MUCH_WAITING, others_are_busier
from io_benchmark.analysis.explaining.rules import CauseRule, all_but
from io_benchmark.analysis.model.cause import NoChange
from io_benchmark.analysis.model.figures import Division
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Unit
from io_benchmark.analysis.model.time_parts import ON_CPU, Kind, Phase, in_all, in_lookups
from io_benchmark.analysis.reading.capacity import waiting_per_work
from io_benchmark.analysis.reading.counters import growth, others_busy_share
from io_benchmark.analysis.reading.disk_rates import written_share
from io_benchmark.analysis.reading.mounts import mount_options
from io_benchmark.results.machine import LINUX, WINDOWS

_SAME_WORK_RATIO = 3.0  # competitors empty the caches: the same work takes up to so much longer
_PRESSED_SHARE = 0.10  # chosen: so much more of the time under pressure is a load
_FOREIGN_SHARE = 0.25  # chosen: so many more writes of the bytes copied are somebody else's
_CPU_QUOTA = attrgetter("worker.cpu_quota")


def _share_for_others(case: Case) -> float | None:
    """Return the part of the difference in which the slower side waits for others of its machine.

    None where a side did not record for how long it waited.
    """
    division = case.division
    if division is None or not division.difference_ns:
        return None
    phases = {part.phase for part in division.parts if part.kind is Kind.WAITING}
    if not phases:
        return None
    longer_ns = math.fsum(_waits_longer_ns(division, phase) for phase in phases)
    return longer_ns / abs(division.difference_ns) - max(0.0, share_stolen(case) or 0.0)


def _waits_longer_ns(division: Division, phase: Phase) -> float:
    """Return how much longer the slower side waits in a phase, for the same work."""
    times = {
        part.kind: (part.candidate_ns, part.baseline_ns)
        for part in division.parts
        if part.phase is phase
    }
    worked = [math.fsum(times[kind][side] for kind in ON_CPU if kind in times) for side in (0, 1)]
    waited = times[Kind.WAITING]
    if not all(worked) or worked[0] >= _SAME_WORK_RATIO * worked[1]:
        return 0.0
    return waited[0] - waited[1] * worked[0] / worked[1]


def _pressed(run: Run, resources: Sequence[str] = ("cpu", "memory")) -> float | None:
    """Return the part of the time in which something waited for a CPU or for memory."""
    growths = [growth(run, f"psi_{resource}_some_us") for resource in resources]
    return max((growth / 1e6 for growth in growths if growth is not None), default=None)


def _pressed_memory(run: Run) -> float | None:
    """Return the part of the time in which something waited for memory that has no limit."""
    return None if memory_limit_bytes(run) is not None else _pressed(run, ["memory"])


def _own_amplification(run: Run) -> float:
    """Return how often the place writes each byte: into a journal, and to each disk of a mirror.

    A synchronous mount writes to the journal for each write, however small, and parity is written
    anew for each part of a stripe: that may be any number of bytes.
    """
    if run.place is None:
        return 1.0
    details = run.place.filesystem
    levels = [device.raid_level or "" for device in run.place.devices]
    levels += (details.btrfs_data_profiles or []) if details is not None else []
    is_synced = not mount_options(run).keys().isdisjoint(("sync", "dirsync"))
    if is_synced or any(level.startswith(("raid4", "raid5", "raid6")) for level in levels):
        return math.inf
    is_mirrored = any(level.startswith(("raid1", "dup")) for level in levels)
    is_journalled = mount_options(run).get("data") == "journal"
    return (2.0 if is_mirrored else 1.0) * (2.0 if is_journalled else 1.0)


_PRESSURE = effects.span(
    "pressure", _pressed, Unit.SHARE, "CPU or memory under pressure {value} of the time"
)


_WAITS = effects.span(
    "waiting",
    waiting_per_work,
    Unit.SHARE,
    "fixed work waited for a CPU {value} of the time that it worked",
)


_TOO_LITTLE = "Others kept the slower side's CPUs busier, which makes up {share} of the difference."
_OTHERS = effects.span(
    "others", others_busy_share, Unit.SHARE, "CPUs worked {value} of the time for others"
)


def _crowded(case: Case) -> effects.Effect | None:
    """Judge other load by what CPUs did for others, and by what fixed work waits for one.

    Fixed work runs before the workloads and after them. None where neither shows any load.
    """
    are_busier, more = others_are_busier(case.slower, case.faster), case.more(waiting_per_work)
    is_of_sides = case.slower is case.whole_slower and case.faster is case.whole_faster
    least = MUCH_WAITING if are_busier is False else _PRESSED_SHARE
    waits_more = more is not None and more >= least
    if is_of_sides and not are_busier and not waits_more:
        return None
    evidence = effects.SideEvidence.of(case, _WAITS, _OTHERS, effects.WRITTEN_SHARE)
    effect = evidence.supports("Others kept the slower side's CPUs busier.")
    if not is_of_sides:
        # How long a few bursts on one worker waited is mostly chance.
        of_sides = case.of_worker(case.whole_slower, case.whole_faster).more(waiting_per_work)
        is_half = more is not None and more >= max(least, (of_sides or 0.0) / 2)
        unclear = evidence.unclear("Few bursts on one worker may have met no other load.")
        return effect if are_busier or is_half else unclear
    about, at_most = map(case.share_of, case.waits_longer_ns(in_all(*ON_CPU)))
    if waits_more:
        sized = effect.also("Fixed work waited longer for one.").if_enough(case, about, _TOO_LITTLE)
        if sized.is_slower:
            return sized
    effect = effect.also("How long its operations waited for one is not recorded.")
    sized = effect.if_enough(case, at_most, _TOO_LITTLE)
    if are_busier:
        return replace(sized, proof=effects.Proof.LEFTOVER)
    return replace(sized, proof=effects.Proof.SETTING, size=None)


def _other_load(case: Case) -> effects.Effect:
    pressed_by = _PRESSURE if case.system == LINUX else _WAITS
    evidence = effects.SideEvidence.of(case, pressed_by, effects.WRITTEN_SHARE)
    waiting = _share_for_others(case)
    # The benchmark's own waiting for a CPU tells more than that something waited.
    pressure = _pressed if waiting is None else _pressed_memory
    pressed = [side.median(pressure) for side in (case.slower, case.faster)]
    written = [side.median(written_share) for side in (case.slower, case.faster)]
    crowded = _crowded(case)
    if crowded is not None and crowded.fact is not effects.Fact.OPPOSITE:
        return crowded
    if waiting is None and None in pressed and None in written:
        return evidence.unseen("Neither pressure nor disk counters were recorded.")
    slower, faster = pressed
    limited = any(quota is not None and quota < 1 for quota in case.slower.values(_CPU_QUOTA))
    pressed_more = slower is not None and faster is not None and slower >= faster + _PRESSED_SHARE
    waits_more = waiting is not None and effects.is_enough(waiting)
    if limited and (pressed_more or waits_more):
        return evidence.opposes("A quota of CPU time makes the slower side wait for its CPUs.")
    if waiting is not None and waits_more:
        return evidence.supports(
            "The slower side waited longer for a CPU for the same work, which makes up {share} of "
            "the difference.",
            share=effects.as_share(waiting),
        )
    if slower is not None and pressed_more:
        return evidence.supports(
            "Something waited for CPU or memory during {share} of the slower side's time.",
            share=effects.as_share(slower),
        )
    slower, faster = written
    if slower is not None and faster is not None:
        foreign = slower - max(1.0, faster, *map(_own_amplification, case.slower))
        if foreign >= _FOREIGN_SHARE:
            return effects.SideEvidence.of(case, effects.WRITTEN_SHARE, pressed_by).supports(
                "The slower side's disks wrote {share} more than the copies: something else used "
                "them, or something between files and disks writes more.",
                effects.Size(case.times_by_bandwidth(slower / (slower - foreign))),
                share=effects.as_share(foreign),
            )
        if case.system == WINDOWS and slower - faster >= _FOREIGN_SHARE:
            return evidence.unclear(
                "The slower side's disks wrote more of what was copied: for something else, or "
                "earlier."
            )
    return crowded or evidence.opposes(
        "The slower side shows no other load: it did not wait longer for a CPU or for memory, and "
        "its disks did not write more than the copies."
    )


OTHER_LOAD = CauseRule(
    name="other-load",
    hypothesis="Something else loaded the slower side's machine.",
    fact=_other_load,
    applies_to=all_but(
        "metadata", "exec", because="several at once cause pressure on the CPU themselves"
    ),
    acts_through=in_all(Kind.WAITING, Kind.BLOCKED) | in_lookups(Kind.ELSEWHERE),
    change=NoChange("what else runs on the machine is not known"),
)
