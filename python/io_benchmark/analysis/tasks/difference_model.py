# SPDX-License-Identifier: MPL-2.0
"""The data of a comparison of phases: what each takes on two pools, and why it differs.

Differences are those of the candidate from the baseline, in seconds per task: above 0 is longer.
"""

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.phases.phase_model import PhaseName, Waits
from io_benchmark.analysis.tasks.both_sides import BothSides

_WITH_CPUS = (PhaseName.IMAGE_LOAD, PhaseName.UNPACK)


class Reason(StrEnum):
    """Why a phase takes another time per task."""

    PACE = "time of the same work"  # of as many bytes, where the logs have them
    TIME = "time"  # the logs do not say whether the work is the same
    SIZE = "bytes moved"
    SHARE = "how often it is done"  # in the other runs its product was there


class PhaseTimes(Struct, frozen=True):
    """What one phase takes per task in the common mix of labels, baseline first."""

    phase: PhaseName
    means_s: BothSides[float]
    shares: BothSides[float]  # of the runs, that do its work
    rates_bytes_per_s: BothSides[float]  # 0 where no log has bytes


class PhaseDifference(Struct, frozen=True, kw_only=True):
    """A part of the difference between two pools: one phase, for one reason."""

    phase: PhaseName
    reason: Reason
    difference_s: float
    interval_s: tuple[float, float]  # 95 %, corrected for all phases, reasons and pools
    ratio: float | None  # of times or bytes; None of how often it is done
    p_value: float  # corrected as the interval
    is_decided: bool  # it differs by more than chance, and by enough to matter
    waits: Waits


class PhasesOfPair(Struct, frozen=True, kw_only=True):
    """The phases of one pool's tasks compared with those of the baseline."""

    baseline: str
    candidate: str
    runs: BothSides[int]  # whose logs were read, of the labels that both have
    workers: BothSides[int]
    set_up_s: BothSides[float]  # per task: all phases before its own work
    phases: tuple[PhaseTimes, ...]  # in the order of a run
    # The decided ones first, by their size; then the others, by their evidence.
    differences: tuple[PhaseDifference, ...]

    @property
    def on_cpus(self) -> "PhasesOfPair":
        """Return it where CPUs are slower and disks are not: unpacking and loading need both."""
        rows = (
            replace(
                row,
                waits=Waits.CPUS
                if row.phase in _WITH_CPUS and row.waits is Waits.DISKS
                else row.waits,
            )
            for row in self.differences
        )
        return replace(self, differences=tuple(rows))


class ComparedPhases(Struct, frozen=True, kw_only=True):
    """What the logs of tasks say about where their time goes."""

    pairs: tuple[PhasesOfPair, ...]
    logs: int  # that were read
    notes: tuple[Statement, ...] = ()

    def pair_of(self, candidate: str, baseline: str) -> PhasesOfPair | None:
        for pair in self.pairs:
            if (pair.candidate, pair.baseline) == (candidate, baseline):
                return pair
        return None
