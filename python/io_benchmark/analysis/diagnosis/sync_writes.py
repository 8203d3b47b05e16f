# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Synchronous writes as the proof of what an I/O scheduler does to writers."""

from io_benchmark.analysis.diagnosis.case import Case, OtherMeasurement
from io_benchmark.analysis.diagnosis.cause_rule import (
    MAY_BE_CHANCE,
    Judgement,
    not_observable,
    ruled_out,
)
from io_benchmark.analysis.diagnosis.other_measurements import (
    SLOWER_AT_RATIO,
    decided,
    slowest,
    times_as_long,
)
from io_benchmark.analysis.statements import Quantity, Unit, Value

SYNC_WRITE = "sync-write"
TIMES = (
    "A synchronous write takes {slower} on the slower side and {faster} on the faster side "
    "(sync-write, {variant})."
)


def slowest_sync_write(case: Case) -> OtherMeasurement | None:
    """Return the synchronous writes that the slower side does worst at."""
    return slowest(case, case.measured(SYNC_WRITE))


def sync_write_times(case: Case, measurement: OtherMeasurement) -> dict[str, Value]:
    """Return the values of the sentence `TIMES`."""
    slower, faster = case.slower_first(measurement)
    return {
        "slower": Quantity(slower.mean_ns, Unit.NANOSECONDS),
        "faster": Quantity(faster.mean_ns, Unit.NANOSECONDS),
        "variant": measurement.subject.variant,
    }


def proved_by_sync_writes(case: Case, judgement: Judgement) -> Judgement:
    """Overrule a judgement that a scheduler makes writers wait, where synchronous writes do not wait."""
    slowest_write = slowest_sync_write(case)
    if slowest_write is None:
        return judgement
    times = sync_write_times(case, slowest_write)
    if times_as_long(case, slowest_write) < SLOWER_AT_RATIO:
        return ruled_out(
            judgement.evidence, "Synchronous writes are as fast on the slower side."
        ).also(TIMES, **times)
    if not decided(slowest_write):
        unclear = not_observable(
            judgement.evidence, "The slower side may be slower at synchronous writes."
        )
        return unclear.also(TIMES, **times).also(MAY_BE_CHANCE)
    return judgement
