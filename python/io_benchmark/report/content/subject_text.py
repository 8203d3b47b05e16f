# SPDX-License-Identifier: MPL-2.0
"""Names of what was measured, as titles and labels have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from io_benchmark.analysis.model import Subject, Verdict
from io_benchmark.number_text import digits, times
from io_benchmark.results import workloads

if TYPE_CHECKING:
    from io_benchmark.analysis.history.history_model import Change, HistorySeries


def place_of(subject: Subject) -> str:
    """Return the place, or nothing where it makes no difference."""
    return subject.place if workloads.of(subject.workload).per_place else ""


def table_title(subject: Subject) -> str:
    """Return the name that measurements of one table share: 'metadata, place container'."""
    place = place_of(subject)
    return f"{subject.workload}, place {place}" if place else subject.workload


def unit_text(workload_name: str) -> str:
    """Return '(IOPS, higher is better)'."""
    workload = workloads.of(workload_name)
    return f"({workload.unit}, {'higher' if workload.higher_is_better else 'lower'} is better)"


def mean_texts(series: HistorySeries, means_ns: Sequence[float]) -> list[str]:
    """Write means of a history, all in one unit."""
    workload = workloads.of(series.subject.workload)
    if not workload.higher_is_better:
        return times(means_ns)
    return [f"{digits(workload.shown(mean_ns))} {workload.unit}" for mean_ns in means_ns]


def change_kind(change: Change) -> Verdict:
    return Verdict.SLOWER if change.ratio >= 1 else Verdict.FASTER


class Distinction(Struct, frozen=True):
    """Which properties distinguish one workload's measurements from each other."""

    label: bool
    fidelity: bool = False
    place: bool = False

    @classmethod
    def between(cls, subjects: Iterable[Subject]) -> Self:
        """Return what distinguishes measurements of one workload; at least one property does."""
        every = list(subjects)
        places = len({place_of(subject) for subject in every}) > 1
        fidelities = len({subject.fidelity for subject in every}) > 1
        labels = len({subject.label for subject in every}) > 1
        return cls(labels or fidelities or not places, fidelities, places)

    @staticmethod
    def of_all(subject: Subject, subjects: Sequence[Subject]) -> str:
        """Return 'on random-io, read-depth-32 in workspace' as far as a report's subjects differ."""
        if len(subjects) == 1:
            return ""
        several_workloads = len({each.workload for each in subjects}) > 1
        name = f"{subject.workload}, {subject.label}" if several_workloads else subject.label
        place = f" in {subject.place}" if len(set(map(place_of, subjects))) > 1 else ""
        return f"on {name}{place}"

    def short(self, subject: Subject) -> str:
        """Return 'stat, 2 at once in container'."""
        words = [subject.label] if self.label else []
        words += [f"fidelity {subject.fidelity}"] if self.fidelity and subject.fidelity else []
        place = f"in {subject.place}" if self.place else ""
        return " ".join(filter(None, (", ".join(words), place)))

    def phrase(self, subject: Subject) -> str:
        """Return 'on stat, 2 at once in container'."""
        return f"{'on ' if self.label else ''}{self.short(subject)}"
