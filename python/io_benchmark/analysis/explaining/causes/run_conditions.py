# SPDX-License-Identifier: MPL-2.0
"""How the run went: whether it slowed down, and whether its machine had other load.

Where a CPU is shared, more work also waits longer, and long work longer than short work. So waiting
for others is compared where both sides have about the same work to do.
"""

import math
from collections.abc import Sequence
from functools import cache
from operator import attrgetter
from statistics import median
from typing import NamedTuple

from io_benchmark.analysis.explaining.case import EVERY_WORKLOAD, Case
from io_benchmark.analysis.explaining.causes.ranked_settings import memory_limit_bytes
from io_benchmark.analysis.explaining.effects import (
    WRITTEN_SHARE,
    Effect,
    Proof,
    SideEvidence,
    Size,
    as_share,
    is_enough,
    span,
)
from io_benchmark.analysis.explaining.rules import cause
from io_benchmark.analysis.model.cause import NoChange
from io_benchmark.analysis.model.figures import Division
from io_benchmark.analysis.model.once import once
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import Quantity, Unit, ratio_of
from io_benchmark.analysis.model.time_parts import ON_CPU, Kind, Phase, in_all, in_lookups
from io_benchmark.analysis.reading.counters import growth, stolen_share
from io_benchmark.analysis.reading.disk_rates import windows_around, written_share
from io_benchmark.analysis.reading.mounts import mount_options
from io_benchmark.analysis.reading.windows import Window
from io_benchmark.analysis.statistics.noise import FEWEST_TO_JUDGE, RelativeTimes, relative_times
from io_benchmark.results import workloads

# Competitors empty the caches, so that the same work takes up to this much longer.
_SAME_WORK_RATIO = 3.0
_SLOWS_RATIO = 1.10
# Disks that do so much less before the step are slower by themselves.
_SLOWER_AT_FIRST_RATIO = 1.25
# A window counts as blocked if the process is blocked for this share of it.
_BLOCKED_SHARE = 0.5
_WINDOWS_TO_JUDGE = 4
_PRESSED_SHARE = 0.10
_FOREIGN_SHARE = 0.25
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


def share_stolen(case: Case) -> float | None:
    """Return the part of the difference that other guests took, by the CPU time that was worked.

    None where a side did not record one of the two.
    """
    more, worked_ns = case.more(_stolen_per_work), case.slower.mean(_worked_ns)
    return None if more is None or worked_ns is None else case.share_of(worked_ns * more)


def _stolen_per_work(run: Run) -> float | None:
    stolen = stolen_share(run)
    return None if stolen is None or stolen >= 1 else stolen / (1 - stolen)


def _worked_ns(run: Run) -> float | None:
    times = [time_ns for part, time_ns in run.parts_ns.items() if part.kind in ON_CPU]
    return math.fsum(times) if times else None


class _Course(NamedTuple):
    """What is read of a run around the step of its side, or around its middle."""

    step: int | None

    def _means(self, run: Run) -> tuple[float, float] | None:
        return relative_times(run).means_around(self.step) if run.is_measured else None

    def slows(self, run: Run) -> float | None:
        """Return how much longer later operations took; None where too few were measured."""
        means = self._means(run)
        return None if means is None else means[1] / means[0]

    def lost_ns(self, run: Run) -> float | None:
        """Return how much longer an operation took, on average, than before the step."""
        means = self._means(run)
        mean_ns = run.known_mean_ns
        return None if means is None or mean_ns is None else mean_ns * (1 - means[0])

    def step_bytes(self, run: Run) -> float | None:
        """Return what was copied until the step."""
        if self.step is None or run.retrieves is None:
            return None
        return float(sum(run.size_bytes[: self.step]))

    def _windows(self, run: Run) -> tuple[Sequence[Window], Sequence[Window]]:
        """Return the windows before the step and those after it."""
        starts_ns = run.start_ns
        if self.step is None or len(starts_ns) <= self.step:
            return (), ()
        return windows_around(run, starts_ns[self.step])

    def first_bytes_per_s(self, run: Run) -> float | None:
        """Return the rate at which the disks worked long before the step, in the first third until then."""
        early, _ = self._windows(run)
        return _moved_per_s(early[: max(_WINDOWS_TO_JUDGE, len(early) // 3)])

    def late_over_early(self, run: Run) -> float | None:
        """Return the rate at which the disks worked after the step, while copies waited, over that before it.

        Before it they may have done less than they can, because a cache took the copies.
        """
        early, late = self._windows(run)
        waited = [window for window in late if window.blocked_share >= _BLOCKED_SHARE]
        before, after = _moved_per_s(early), _moved_per_s(waited)
        return after / before if before and after is not None else None


# Sides keep what a function reads: the same step has the same functions.
_course = cache(_Course)


def _moved_per_s(windows: Sequence[Window]) -> float | None:
    """Return the rate of most windows; None where there are too few."""
    if len(windows) < _WINDOWS_TO_JUDGE:
        return None
    return median(window.read_bytes_per_s + window.written_bytes_per_s for window in windows)


@once
def _step_index(side: Side) -> int | None:
    """Return the first sample after the runs became slower or faster, if they agree on it."""
    step = RelativeTimes.step_of([relative_times(run) for run in side if run.is_measured])
    return None if step is None else step.index


@cause(
    "drift-over-time",
    "The slower side slowed down during the run.",
    change=NoChange("it shows when the side is slower, and not why"),
    workloads=EVERY_WORKLOAD,
    acts_through=in_all(*Kind),
)
def drift_over_time(case: Case) -> Effect:
    # A single worker is judged at the step of all of its side.
    sides = case.both_sides or case
    course = _course(_step_index(sides.slower))
    observe = span("course", course.slows, Unit.RATIO, "later operations over earlier ones {value}")
    evidence = SideEvidence.of(case, observe, has_summary=False)
    slower, faster = case.slower.median(course.slows), case.faster.median(course.slows)
    if slower is None or faster is None:
        samples = workloads.of(case.subject.workload).samples
        return evidence.unseen(f"This needs {FEWEST_TO_JUDGE} {samples} on both sides.")
    if slower < _SLOWS_RATIO:
        return evidence.opposes("The slower side was no slower at its end.")
    share = case.explained_share(course.lost_ns)
    if course.step is None and (share is None or is_enough(share)):
        return evidence.unclear(
            "Later operations took {times} as long, which may be chance: more {samples}, or more workers, "
            "would show it.",
            times=ratio_of(slower),
            samples=workloads.of(case.subject.workload).samples,
        )
    # Each side at its own time: with faster disks memory is full later.
    of_faster = _course(_step_index(sides.faster))
    faster = max(faster, case.faster.median(of_faster.slows) or 0.0)
    if faster >= _SLOWS_RATIO and faster >= slower / _SLOWS_RATIO:
        return evidence.opposes("Both sides slowed down by about the same factor.")
    kept, copied = case.slower.median(course.late_over_early), case.slower.median(course.step_bytes)
    if kept is not None and kept * _SLOWS_RATIO >= 1:
        return evidence.opposes(
            "The slower side slowed down, but its disks moved as many bytes per second afterwards: a cache "
            "or a burst was used up."
        )
    sentence = (
        "Only the slower side slowed down during the run, as when a burst allowance is used up."
    )
    if copied is not None:
        sentence = "After {copied} of copies the slower side took {times} as long for each copy."
        if kept is not None:
            sentence = "After {copied} of copies the slower side's disks moved {kept} times as many bytes per second."
    effect = evidence.supports(
        sentence,
        copied=Quantity(copied or 0.0, Unit.BYTES),
        times=ratio_of(slower),
        kept=Quantity(kept or 0.0, Unit.NUMBER),
        # It says when, and not why: a cause of the same part may be behind it.
        proof=Proof.SETTING,
    ).if_enough(
        case,
        share,
        "The slower side slowed down during the run, but without that it would be slower by "
        "nearly as much: this makes up {share} of the difference.",
    )
    from_the_start = case.times_as_fast(course.first_bytes_per_s)
    if not effect.is_slower or (from_the_start or 0.0) < _SLOWER_AT_FIRST_RATIO:
        return effect
    return evidence.opposes("The slower side's disks moved fewer bytes per second from the start.")


def _pressed(run: Run, resources: Sequence[str] = ("cpu", "memory")) -> float | None:
    """Return the part of the time in which something waited for a CPU or for memory."""
    growths = [growth(run, f"psi_{resource}_some_us") for resource in resources]
    return max((growth / 1e6 for growth in growths if growth is not None), default=None)


def _pressed_memory(run: Run) -> float | None:
    """Return the part of the time in which something waited for memory, without a limit on its own."""
    return None if memory_limit_bytes(run) is not None else _pressed(run, ["memory"])


def _own_amplification(run: Run) -> float:
    """Return how often the place writes each byte: into a journal, and to each disk of a mirror.

    A synchronous mount writes to the journal for each write, however small, and parity is written anew for
    each part of a stripe: that may be any number of bytes.
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


_PRESSURE = span(
    "pressure", _pressed, Unit.SHARE, "CPU or memory under pressure {value} of the time"
)


@cause(
    "other-load",
    "Something else loaded the slower side's machine.",
    change=NoChange("what else runs on the machine is not known"),
    # Several at once cause pressure on the CPU themselves.
    workloads=EVERY_WORKLOAD - {"metadata", "exec"},
    acts_through=in_all(Kind.WAITING, Kind.BLOCKED) | in_lookups(Kind.ELSEWHERE),
)
def _other_load(case: Case) -> Effect:
    evidence = SideEvidence.of(case, _PRESSURE, WRITTEN_SHARE)
    waiting = _share_for_others(case)
    # The benchmark's own waiting for a CPU tells more than that something waited.
    pressure = _pressed if waiting is None else _pressed_memory
    pressed = [side.median(pressure) for side in (case.slower, case.faster)]
    written = [side.median(written_share) for side in (case.slower, case.faster)]
    if waiting is None and None in pressed and None in written:
        return evidence.unseen("Neither pressure nor disk counters were recorded.")
    slower, faster = pressed
    limited = any(quota is not None and quota < 1 for quota in case.slower.values(_CPU_QUOTA))
    pressed_more = slower is not None and faster is not None and slower >= faster + _PRESSED_SHARE
    waits_more = waiting is not None and is_enough(waiting)
    if limited and (pressed_more or waits_more):
        return evidence.opposes("A quota of CPU time makes the slower side wait for its CPUs.")
    if waiting is not None and waits_more:
        return evidence.supports(
            "The slower side waited longer for a CPU for the same work, which makes up {share} of "
            "the difference.",
            share=as_share(waiting),
        )
    if slower is not None and pressed_more:
        return evidence.supports(
            "Something waited for CPU or memory during {share} of the slower side's time.",
            share=as_share(slower),
        )
    slower, faster = written
    if slower is not None and faster is not None:
        foreign = slower - max(1.0, faster, *map(_own_amplification, case.slower))
        if foreign >= _FOREIGN_SHARE:
            return SideEvidence.of(case, WRITTEN_SHARE, _PRESSURE).supports(
                "The slower side's disks wrote {share} more than the copies: something else used "
                "them, or something between files and disks writes more.",
                Size(case.times_by_bandwidth(slower / (slower - foreign))),
                share=as_share(foreign),
            )
    return evidence.opposes(
        "The slower side shows no other load: it did not wait longer for a CPU or for memory, and its disks did "
        "not write more than the copies."
    )
