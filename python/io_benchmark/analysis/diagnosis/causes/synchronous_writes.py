# SPDX-License-Identifier: MPL-2.0
"""What makes a small synchronous write slow: the disk, or the journal's commit.

Both are measured times. A limit or a scheduler that makes writes wait is seen in the same times: next
to such a cause these are not separable.
"""

from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.cause_rule import CauseJudgement, CauseRule
from io_benchmark.analysis.diagnosis.causes.mount_costs import volatile_overlay
from io_benchmark.analysis.diagnosis.causes.scheduler_waits import SYNC_WRITE, counted_as
from io_benchmark.analysis.diagnosis.evidence import figures
from io_benchmark.analysis.diagnosis.measured_gains import as_other_pool
from io_benchmark.analysis.model import State
from io_benchmark.analysis.parts.time_parts import Kind, in_copies
from io_benchmark.analysis.statements import Quantity, Unit

ORDER = 110
# Overwriting a file in place leaves its size as it is: only data must reach the disk.
_IN_PLACE = "dsync-overwrite"
_GROWING = ("dsync-append", "append-fsync")
_SLOWER_RATIO = 1.25
_NOT_USED = "The faster side's writes do not wait for its disk: its overlay is mounted volatile."
_NEEDS = "This needs the variants {variants} of sync-write on both sides."


def _slow_flush(case: Case) -> CauseJudgement:
    in_place = case.measured(SYNC_WRITE, _IN_PLACE)
    evidence = figures(in_place)
    if not in_place:
        return evidence.not_observable(_NEEDS, workload=SYNC_WRITE, variants=_IN_PLACE)
    if not case.differs:
        return evidence.nothing_to_explain()
    if volatile_overlay(case).state is State.SUPPORTED:
        return evidence.ruled_out(_NOT_USED)
    ratio = case.times_as_long(in_place[0])
    if ratio < _SLOWER_RATIO or not in_place[0].is_decided:
        return evidence.ruled_out(
            "A write in place, which needs no journal, is as fast on the slower side, or not known "
            "to be slower.",
        )
    supported = evidence.supported(
        "The slower side's disk takes {ratio} as long to confirm a write, without any journal.",
        predicted_ratio=case.part_of(ratio),
        is_part=True,
        ratio=Quantity(ratio, Unit.RATIO),
    )
    return replace(supported, is_leftover=True)


def _slow_journal(case: Case) -> CauseJudgement:
    in_place = case.measured(SYNC_WRITE, _IN_PLACE)
    growing = [each for variant in _GROWING for each in case.measured(SYNC_WRITE, variant)]
    slowest_growing = case.slowest(growing)
    evidence = figures([*in_place, *growing], slowest_growing)
    if not in_place or slowest_growing is None:
        variants = f"{_IN_PLACE} and {_GROWING[0]}"
        return evidence.not_observable(_NEEDS, workload=SYNC_WRITE, variants=variants)
    if not case.differs:
        return evidence.nothing_to_explain()
    if volatile_overlay(case).state is State.SUPPORTED:
        return evidence.ruled_out(_NOT_USED)
    counted = counted_as(case)
    if counted is not None:
        return evidence.ruled_out(f"That writes wait for the journal counts as {counted}.")
    journal = case.times_as_long(slowest_growing) / case.known_times_as_long(in_place[0])
    if journal < _SLOWER_RATIO or not slowest_growing.is_decided:
        return evidence.ruled_out(
            "Appending, which commits the file's new size, is slower only as far as writing in place "
            "is.",
        )
    supported = evidence.supported(
        "Appending is {ratio} slower than writing in place accounts for: the slower side waits for "
        "its journal's commits.",
        predicted_ratio=case.part_of(journal),
        is_part=True,
        ratio=Quantity(journal, Unit.RATIO),
    )
    return replace(supported, is_leftover=True)


RULES = (
    CauseRule(
        "slow-flush",
        "The slower side's disk takes longer to confirm a synchronous write.",
        _slow_flush,
        frozenset((SYNC_WRITE,)),
        {"use the faster side's disks, or make fewer writes wait": as_other_pool},
        acts_through=in_copies(Kind.BLOCKED),
    ),
    CauseRule(
        "slow-journal",
        "The slower side's file system takes longer to commit its journal.",
        _slow_journal,
        frozenset((SYNC_WRITE,)),
        {"use the faster side's file system and its options": as_other_pool},
        acts_through=in_copies(Kind.BLOCKED),
    ),
)
