# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The two ways to weigh a fact: does it lie in the measured direction, and does it cost enough?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from io_benchmark.analysis import words
from io_benchmark.analysis.diagnosis.case import EXPLAINS_SHARE, Case, Finding, View, mean_of
from io_benchmark.analysis.diagnosis.evidence import plain, tally
from io_benchmark.analysis.model import State

NOTHING_TO_EXPLAIN = "there is no difference in time for it to explain"


@dataclass(frozen=True)
class Reading:
    """A fact of one worker; the rank says which of two facts is the slower one."""

    text: str
    rank: float = 0.0


@dataclass(frozen=True)
class Words:
    """What a rule says of each outcome."""

    supported: str
    missing: str  # what the file would have to tell
    same: str = "the same on both sides"
    # The facts differ, but nothing says which is the slower one. None: it does not matter.
    undecided: str | None = None
    workload: str | None = None


Look = Callable[[View], Reading | None]


def sides(case: Case, look: Look) -> tuple[str, str]:
    """Both sides' evidence, baseline first."""
    return _evidence(case.baseline, look), _evidence(case.candidate, look)


def by_rank(case: Case, look: Look, words: Words, predicted: float | None = None) -> Finding:
    """Supported where the slower side has the slower fact."""
    evidence = sides(case, look)
    baseline, candidate = (
        mean_of(views, lambda view: None if (one := look(view)) is None else one.rank)
        for views in (case.baseline, case.candidate)
    )
    if baseline is None or candidate is None:
        return Finding(State.NOT_OBSERVABLE, *evidence, words.missing, workload=words.workload)
    alike = abs(baseline - candidate) <= 1e-9 * max(1.0, abs(baseline), abs(candidate))
    if alike and _texts(case.baseline, look) == _texts(case.candidate, look):
        return Finding(State.RULED_OUT, *evidence, words.same)
    if not case.differs:
        return Finding(State.RULED_OUT, *evidence, NOTHING_TO_EXPLAIN)
    if alike and words.undecided is not None:
        return Finding(State.NOT_OBSERVABLE, *evidence, words.undecided, workload=words.workload)
    if alike:
        return Finding(State.RULED_OUT, *evidence, "they differ in nothing that costs time here")
    if (candidate > baseline) != case.candidate_is_slower:
        return Finding(
            State.RULED_OUT, *evidence, "it lies the other way: the faster side has the worse of it"
        )
    return Finding(State.SUPPORTED, *evidence, words.supported, predicted_ratio=predicted)


def _evidence(views: Sequence[View], look: Look) -> str:
    return tally(views, lambda view: None if (one := look(view)) is None else one.text)


def _texts(views: Sequence[View], look: Look) -> set[str]:
    return {reading.text for reading in map(look, views) if reading is not None}


def explained_share(case: Case, cost_ns: Callable[[View], float | None]) -> float | None:
    """The part of the difference in time that a cost within each retrieve makes up."""
    candidate, baseline = mean_of(case.candidate, cost_ns), mean_of(case.baseline, cost_ns)
    difference_ns = case.difference_ns
    if candidate is None or baseline is None or not difference_ns or not case.differs:
        return None
    return (candidate - baseline) / difference_ns


def explains(share: float) -> bool:
    return share >= EXPLAINS_SHARE


def percent(share: float) -> str:
    """A part of the difference; below nothing is nothing."""
    return words.percent(max(share, 0.0))


def note(text: str, limit: int = 400) -> str:
    """An explanation that quotes facts."""
    return plain(text, limit)
