# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What makes a small synchronous write slow (seed 001): the disk itself, or the journal's commit."""

from io_benchmark.analysis.diagnosis.case import Case, Finding, Rule
from io_benchmark.analysis.diagnosis.causes.scheduler import counted_as
from io_benchmark.analysis.diagnosis.causes.volatile import volatile_overlay
from io_benchmark.analysis.diagnosis.judging import NOTHING_TO_EXPLAIN
from io_benchmark.analysis.diagnosis.other_measurements import (
    decided,
    known_to_be_slower,
    part_of,
    slower_by,
    texts,
)
from io_benchmark.analysis.model import State

NAME = "sync-write"
# Overwriting a file in place leaves its size as it is: nothing but data need reach the disk.
IN_PLACE = "dsync-overwrite"
GROWING = ("dsync-append", "append-fsync")
SLOWER_RATIO = 1.25
NEVER_ASKED = "the faster side's disk was never asked: its overlay is mounted volatile"


def slow_flush(case: Case) -> Finding:
    found = case.measured(NAME, IN_PLACE)
    evidence = texts(found)
    if not found:
        return _not_measured(evidence, IN_PLACE)
    if not case.differs:
        return Finding(State.RULED_OUT, *evidence, NOTHING_TO_EXPLAIN)
    if volatile_overlay(case).state is State.SUPPORTED:
        return Finding(State.RULED_OUT, *evidence, NEVER_ASKED)
    ratio = slower_by(case, found[0])
    if ratio < SLOWER_RATIO or not decided(found[0]):
        return Finding(
            State.RULED_OUT,
            *evidence,
            "a write in place, which needs no journal, is as fast on the slower side, or not known "
            "to be slower",
        )
    return Finding(
        State.SUPPORTED,
        *evidence,
        f"the slower side's disk takes {ratio:.2f}× as long to say that a write is safe, without any "
        "journal",
        predicted_ratio=part_of(case, ratio),
        is_part=True,
    )


def slow_journal(case: Case) -> Finding:
    in_place = case.measured(NAME, IN_PLACE)
    growing = [one for variant in GROWING for one in case.measured(NAME, variant)]
    worst = max(growing, key=lambda one: slower_by(case, one), default=None)
    evidence = texts([*in_place, *growing], worst)
    if not in_place or worst is None:
        return _not_measured(evidence, "dsync-overwrite and dsync-append")
    if not case.differs:
        return Finding(State.RULED_OUT, *evidence, NOTHING_TO_EXPLAIN)
    if volatile_overlay(case).state is State.SUPPORTED:
        return Finding(State.RULED_OUT, *evidence, NEVER_ASKED)
    counted = counted_as(case)
    if counted is not None:
        return Finding(
            State.RULED_OUT, *evidence, f"that writes wait for the journal counts as {counted}"
        )
    disk = known_to_be_slower(case, in_place[0])
    journal = slower_by(case, worst) / disk
    if journal < SLOWER_RATIO or not decided(worst):
        return Finding(
            State.RULED_OUT,
            *evidence,
            "appending, which commits the file's new size, is no slower than writing in place makes it",
        )
    return Finding(
        State.SUPPORTED,
        *evidence,
        f"appending is {journal:.2f}× slower than writing in place accounts for: the slower side "
        "waits for its journal's commits",
        predicted_ratio=part_of(case, journal),
        is_part=True,
    )


def _not_measured(evidence: tuple[str, str], variant: str) -> Finding:
    return Finding(
        State.NOT_OBSERVABLE,
        *evidence,
        f"needs the variants {variant} of workload sync-write on both sides",
        workload=NAME,
    )


RULES = (
    Rule(
        "slow-flush",
        "The slower side's disk takes longer to acknowledge a synchronous write.",
        slow_flush,
        frozenset((NAME,)),
    ),
    Rule(
        "slow-journal",
        "The slower side's file system takes longer to commit its journal.",
        slow_journal,
        frozenset((NAME,)),
    ),
)
