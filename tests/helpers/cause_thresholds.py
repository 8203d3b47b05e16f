# SPDX-License-Identifier: MPL-2.0
"""Rows of tests that a cause is judged differently just below and just above a threshold.

Each row computes the value at which the threshold is met, so that a reader sees where it comes
from. The facts are those of seed 000's case, with the changes of the row.
"""

from collections.abc import Callable
from typing import Any

import pytest
import seed_case
from seed_facts import COPIED_BYTES, MIB, Facts
from seed_workers import SUBJECT, causes_of, explanation_text, measurement

from io_benchmark.analysis.explaining import effects
from io_benchmark.analysis.model.cause import Cause, State
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.measurement import OtherMeasurement
from io_benchmark.analysis.model.subject import Subject

Expected = State | str  # a state, or the beginning of the explanation
Values = tuple[float, float]  # one on each side of a threshold
Measure = Callable[[float], list[OtherMeasurement]]

# The slower side's retrieves take this much longer than the faster side's.
DIFFERENCE_MS = seed_case.AMD_16.average - seed_case.INTEL.average
ENOUGH_SHARE = effects._EXPLAINS_SHARE
# This time, of which the faster side has nothing, is just enough of the difference to be a cause.
ENOUGH_MS = ENOUGH_SHARE * DIFFERENCE_MS
TOO_SMALL = "The sides differ in this, but"
EQUAL_COSTS = "The sides differ in nothing that costs time here."


def around(value: float, margin: float = 0.01) -> Values:
    """Return a value just below and one just above; the facts vary by less than the margin."""
    return value * (1 - margin), value * (1 + margin)


def from_number(number: int) -> Values:
    """Return the last number below a threshold that is met by this whole number."""
    return number - 1, number


def enough_in_addition(difference_ms: float = DIFFERENCE_MS) -> float:
    """Return the milliseconds that are enough of a difference which they make longer themselves."""
    return difference_ms * ENOUGH_SHARE / (1 - ENOUGH_SHARE)


def written_per_s(pool: seed_case.Pool) -> float:
    """Return how many MiB all disks of a pool write per second."""
    run_s = seed_case.RETRIEVES * (pool.average + seed_case.PAUSE_MS) / 1000
    return COPIED_BYTES / MIB / run_s


def threshold(
    name: str,
    facts: Callable[[Any], Facts],
    values: Values,
    below: Expected,
    above: Expected,
    *,
    candidate: str = "amd-16",
    faster: Facts | None = None,
    **options: Any,
) -> Any:
    """Return a row: "cause: threshold", the slower side's facts, and what two values lead to."""

    def judge(value: Any) -> dict[str, Cause]:
        change = {"intel": faster or {}, candidate: facts(value)}
        return causes_of(change, candidate=candidate, **options)

    return pytest.param(name.partition(":")[0], judge, values, (below, above), id=name)


def measured_threshold(
    name: str,
    measure: Measure,
    values: Values,
    below: Expected,
    above: Expected,
    *,
    subject: Subject = SUBJECT,
    faster: Facts | None = None,
    slower: Facts | None = None,
) -> Any:
    """Return a row whose values are those of other measurements."""
    change = {"amd-16": slower or {}, "intel": faster or {}}

    def judge(value: float) -> dict[str, Cause]:
        return causes_of(change, subject=subject, measurements=measure(value))

    return pytest.param(name.partition(":")[0], judge, values, (below, above), id=name)


def assert_judged(cause: Cause, expected: Expected) -> None:
    if isinstance(expected, State):
        assert cause.state is expected
    else:
        assert explanation_text(cause)[: len(expected)] == expected


def assert_threshold(
    cause: str,
    judge: Callable[[Any], dict[str, Cause]],
    values: Values,
    expected: tuple[Expected, Expected],
) -> None:
    for value, state in zip(values, expected, strict=True):
        assert_judged(judge(value)[cause], state)


def with_facts(facts: Facts, of_value: Callable[[Any], Facts]) -> Callable[[Any], Facts]:
    """Return the facts of a value together with facts that do not change."""
    return lambda value: facts | of_value(value)


# --- what else was measured; the slower side takes this long, the faster one 1 ms ---


def measures(workload: str, variant: str = "", **options: Any) -> Measure:
    return lambda time_ms: [measurement(workload, variant, time_ms, **options)]


def by_chance(measure: Callable[..., list[OtherMeasurement]]) -> Measure:
    return lambda value: measure(value, verdict=Verdict.INCONCLUSIVE)


def sync_writes(appending_ms: float, in_place_ms: float = 1) -> list[OtherMeasurement]:
    times = {"dsync-overwrite": in_place_ms, "dsync-append": appending_ms}
    return [measurement("sync-write", variant, ms) for variant, ms in times.items()]


def appending(time_ms: float, **options: Any) -> list[OtherMeasurement]:
    return [measurement("sync-write", "dsync-append", time_ms, **options)]
