# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Synchronous writes as the proof of what an I/O scheduler does to writers."""

from io_benchmark.analysis.diagnosis.case import Case, OtherMeasurement
from io_benchmark.analysis.diagnosis.cause_rule import CauseJudgement
from io_benchmark.analysis.diagnosis.other_measurements import (
    SLOWER_AT_RATIO,
    is_decided,
    slowest,
    times_as_long,
)
from io_benchmark.analysis.statements import Quantity, Unit

SYNC_WRITE = "sync-write"


def slowest_sync_write(case: Case) -> OtherMeasurement | None:
    """Return the synchronous writes that the slower side does worst at."""
    return slowest(case, case.measured(SYNC_WRITE))


def with_times(
    case: Case, judgement: CauseJudgement, measurement: OtherMeasurement
) -> CauseJudgement:
    """Add both sides' times of a synchronous write."""
    slower, faster = case.slower_first(measurement)
    return judgement.also(
        "A synchronous write takes {slower} on the slower side and {faster} on the faster side "
        "(sync-write, {variant}).",
        slower=Quantity(slower.mean_ns, Unit.NANOSECONDS),
        faster=Quantity(faster.mean_ns, Unit.NANOSECONDS),
        variant=measurement.subject.variant,
    )


def proved_by_sync_writes(
    case: Case, judgement: CauseJudgement, measurement: OtherMeasurement
) -> CauseJudgement:
    """Return the judgement that a scheduler makes writers wait only if synchronous writes do wait."""
    evidence = judgement.evidence
    if times_as_long(case, measurement) < SLOWER_AT_RATIO:
        as_fast = evidence.ruled_out("Synchronous writes are as fast on the slower side.")
        return with_times(case, as_fast, measurement)
    if not is_decided(measurement):
        unclear = evidence.not_observable("The slower side may be slower at synchronous writes.")
        return with_times(case, unclear, measurement).may_be_chance()
    return with_times(case, judgement, measurement)
