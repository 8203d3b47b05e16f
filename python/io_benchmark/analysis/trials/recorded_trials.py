# SPDX-License-Identifier: MPL-2.0
"""The trials that the workers of a side recorded for one subject, and what its disks could write at most."""

import math
from collections.abc import Callable, Sequence
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model import Subject, Worker
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.results.trials import TrialKind, Trials
from io_benchmark.results.workload import NS_PER_S

# Smaller gaps are not tried.
LEAST_GAP_RATIO = 1.1
# Nearer than this, two ceilings do not make copies differ.
CEILINGS_DIFFER_RATIO = 1.2
# Nearer than this, a pace is the other side's ceiling.
SAME_PACE_RATIO = 1.1


def is_same_pace(bytes_per_s: float | None, wanted_bytes_per_s: float) -> bool:
    """Return whether copies limited to one rate show the same as copies limited to another."""
    if bytes_per_s is None:
        return False
    return 1 / SAME_PACE_RATIO <= bytes_per_s / wanted_bytes_per_s <= SAME_PACE_RATIO


class TriedSide(Struct, frozen=True):
    """What the machines of one side recorded."""

    name: str
    machines: Sequence[Sequence[Trials]]  # the trials of each machine's runs

    @classmethod
    def of(cls, workers: Sequence[Worker], subject: Subject) -> "TriedSide":
        """Return what these workers of one side recorded in addition to their samples of the subject."""
        machines = [
            [
                entry.trials
                for worker in runs
                for entry in worker.entries
                if entry.subject == subject and entry.trials is not None
            ]
            for runs in by_machine(workers, lambda worker: worker.machine)
        ]
        return cls(workers[0].side if workers else "", [runs for runs in machines if runs])

    @property
    def runs(self) -> list[Trials]:
        return [run for machine in self.machines for run in machine]

    @property
    def ceiling_bytes_per_s(self) -> float | None:
        """Return the mean over runs of the rate at which the disks wrote a file; None: not measured."""
        rates = [
            sum(ceiling.written_bytes for ceiling in run.ceilings)
            / (sum(ceiling.duration_ns for ceiling in run.ceilings) / NS_PER_S)
            for run in self.runs
            if run.ceilings
        ]
        return fmean(rates) if rates else None

    def only(self, is_kept: Callable[[Trials], bool]) -> "TriedSide":
        kept = ([run for run in machine if is_kept(run)] for machine in self.machines)
        return replace(self, machines=[machine for machine in kept if machine])

    def having(self, *kinds: TrialKind) -> "TriedSide":
        """Return the side with only the runs that have blocks of these kinds.

        Runs with a pace count only where there are no others: the blocks after a pace are too fast,
        because it leaves the disks idle.
        """
        having = self.only(lambda run: {*kinds} <= {block.trial for block in run.blocks})
        unpaced = having.only(lambda run: run.pace_bytes_per_s is None)
        return unpaced if unpaced.machines else having

    def paced_at(self, bytes_per_s: float) -> "TriedSide":
        """Return the side with only the runs whose copies were limited to about this rate."""
        return self.only(lambda run: is_same_pace(run.pace_bytes_per_s, bytes_per_s))

    def times(self, kind: TrialKind, files: int) -> list[list[float]]:
        """Return the times of each machine in blocks of this kind, over the first files of each.

        Several runs of one machine are averaged, repetition by repetition.
        """
        by_machine = [
            [times for run in runs if (times := _repetitions(run, kind, files))]
            for runs in self.machines
        ]
        return [
            [fmean(repetition) for repetition in zip(*runs, strict=False)]
            for runs in by_machine
            if runs
        ]


def _repetitions(run: Trials, kind: TrialKind, files: int) -> list[float]:
    return [
        (math.fsum(block.lookup_ns[:files]) + math.fsum(block.copy_ns[:files])) / files
        for block in run.blocks
        if block.trial is kind
    ]
