# SPDX-License-Identifier: MPL-2.0
"""Whether a side slowed down during its runs."""

from collections.abc import Sequence
from functools import cache
from statistics import median
from typing import NamedTuple

from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.effects import Effect, Proof, SideEvidence, is_enough, span
from io_benchmark.analysis.explaining.facts.network_disks import end_of_credits
from io_benchmark.analysis.explaining.rules import CauseRule
from io_benchmark.analysis.model.cause import NoChange
from io_benchmark.analysis.model.once import once
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import Quantity, Unit, ratio_of
from io_benchmark.analysis.model.time_parts import Kind, in_all
from io_benchmark.analysis.reading.disk_rates import windows_around
from io_benchmark.analysis.reading.windows import Window
from io_benchmark.analysis.statistics.noise import FEWEST_TO_JUDGE, RelativeTimes, relative_times
from io_benchmark.results import workloads
from io_benchmark.results.machine import WINDOWS

_SLOWS_RATIO = 1.10  # chosen: later operations that take this many times as long are slower
_SLOWER_AT_FIRST_RATIO = 1.25  # disks that do so much less before the step are slower by themselves
_BLOCKED_SHARE = 0.5  # a window counts as blocked if the process is blocked for this share of it
_WINDOWS_TO_JUDGE = 4  # a median of fewer windows may be one burst


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
        """Return the rate of the disks in the first third of the time until the step."""
        early, _ = self._windows(run)
        return _moved_per_s(early[: max(_WINDOWS_TO_JUDGE, len(early) // 3)])

    def late_over_early(self, run: Run) -> float | None:
        """Return the rate of the disks after the step, while copies waited, over that before it.

        Before it they may have done less than they can, because a cache took the copies.
        """
        early, late = self._windows(run)
        if run.system == WINDOWS:  # does not record what copies waited for: only writes are alike
            early = [window for window in early if window.hardly_reads]
            late = [window for window in late if window.hardly_reads]
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


def drift_over_time(case: Case) -> Effect:
    # A single worker is judged at the step of all of its side.
    course = _course(_step_index(case.whole_slower))
    observe = span("course", course.slows, Unit.RATIO, "later operations over earlier ones {value}")
    evidence = SideEvidence.of(case, observe, has_summary=False)
    slower, faster = case.slower.median(course.slows), case.faster.median(course.slows)
    samples = workloads.of(case.subject.workload).samples
    if slower is None or faster is None:
        return evidence.unseen(f"This needs {FEWEST_TO_JUDGE} {samples} on both sides.")
    if slower < _SLOWS_RATIO:
        return evidence.opposes("The slower side was no slower at its end.")
    share = case.explained_share(course.lost_ns)
    if course.step is None and (share is None or is_enough(share)):
        return evidence.unclear(
            "Later operations took {times} as long, which may be chance: more {samples}, or more "
            "workers, would show it.",
            times=ratio_of(slower),
            samples=samples,
        )
    # Each side at its own time: with faster disks memory is full later.
    of_faster = _course(_step_index(case.whole_faster))
    faster = max(faster, case.faster.median(of_faster.slows) or 0.0)
    if faster >= _SLOWS_RATIO and faster >= slower / _SLOWS_RATIO:
        return evidence.opposes("Both sides slowed down by about the same factor.")
    kept, copied = case.slower.median(course.late_over_early), case.slower.median(course.step_bytes)
    if kept is not None and kept * _SLOWS_RATIO >= 1:
        return evidence.opposes(
            "The slower side slowed down, but its disks moved as many bytes per second afterwards: "
            "a cache or a burst was used up."
        )
    if kept is None and case.system == WINDOWS and copied is not None:
        return evidence.unclear(
            "Later copies took {times} as long, and whether the disks became slower or a cache was "
            "full is not recorded.",
            times=ratio_of(slower),
        )
    effect = evidence.supports(
        _sentence(copied, kept),
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
    spent = end_of_credits(case.whole_slower, kept)
    if effect.is_slower and spent is not None:
        effect = effect.also("{spent}", spent=spent)
    from_the_start = case.times_as_fast(course.first_bytes_per_s)
    if not effect.is_slower or (from_the_start or 0.0) < _SLOWER_AT_FIRST_RATIO:
        return effect
    return evidence.opposes("The slower side's disks moved fewer bytes per second from the start.")


def _sentence(copied: float | None, kept: float | None) -> str:
    if copied is None:
        return (
            "Only the slower side slowed down during the run, as when a burst allowance is used up."
        )
    if kept is None:
        return "After {copied} of copies the slower side took {times} as long for each copy."
    return (
        "After {copied} of copies the slower side's disks moved {kept} times as many bytes per "
        "second."
    )


DRIFT_OVER_TIME = CauseRule(
    name="drift-over-time",
    hypothesis="The slower side slowed down during the run.",
    fact=drift_over_time,
    acts_through=in_all(*Kind),
    change=NoChange("it shows when the side is slower, and not why"),
)
