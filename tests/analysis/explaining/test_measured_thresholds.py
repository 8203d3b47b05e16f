# SPDX-License-Identifier: MPL-2.0
"""At which values other measurements of the same pools make, or exclude, a cause."""

from typing import Any

import pytest
from cause_thresholds import (
    DIFFERENCE_MS,
    ENOUGH_SHARE,
    appending,
    around,
    assert_threshold,
    measured_threshold,
    measures,
    sync_writes,
)
from seed_facts import PLACE, filesystem, scheduler, slower_lookups
from seed_workers import SUBJECT, measurement

from io_benchmark.analysis.explaining import effects
from io_benchmark.analysis.explaining.causes import names, operation_costs, schedulers
from io_benchmark.analysis.model.cause import State
from io_benchmark.analysis.model.measurement import OtherMeasurement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.results.workloads import OVER_HARDLINKED, SCALING

SUPPORTED, RULED_OUT, NOT_SEPARABLE = State.SUPPORTED, State.RULED_OUT, State.NOT_SEPARABLE
NOT_OBSERVABLE = State.NOT_OBSERVABLE
SLOWER_AT_RATIO, SLOWER_RATIO = effects.SLOWER_AT_RATIO, operation_costs._SLOWER_RATIO
STARVES_MS = schedulers._STARVES_NS / 1e6
SYNC_WRITE = Subject("sync-write", SUBJECT.place, variant="dsync-append")
FOUR_AT_ONCE = Subject("metadata", SUBJECT.place, variant="stat", threads=4)
COPIES = Subject("exec", SUBJECT.place, variant="copies")
CONNECTION_EACH = Subject("upload", SUBJECT.place, variant="connection-each")
OVERLAY = {"lower_layers": 12, "upper_directory": "/var/lib/docker/x/diff", "volatile": False}
ON_OVERLAY = filesystem("overlay") | {f"{PLACE}.kind": "overlay", f"{PLACE}.overlay": OVERLAY}
# Lookups take 40 ms longer; a lookup starts one process.
LOOKUPS = slower_lookups(40)
ENOUGH_OF_LOOKUPS_MS = ENOUGH_SHARE * (DIFFERENCE_MS + 40)
FASTER_GAIN, FASTER_COST = 4.0, 4.0
SLOWER_UPLOAD_MS, FASTER_UPLOAD_MS = 11, 1


def in_place(time_ms: float) -> list[OtherMeasurement]:
    return sync_writes(time_ms, time_ms)


def scaling(gain: float, **options: Any) -> list[OtherMeasurement]:
    return [measurement("metadata", "stat", 4, SCALING, gain, 4, faster=FASTER_GAIN, **options)]


def copies(cost: float, **options: Any) -> list[OtherMeasurement]:
    return [measurement("exec", "copies", 2, OVER_HARDLINKED, cost, faster=FASTER_COST, **options)]


def uploads(kept_ms: float) -> list[OtherMeasurement]:
    times = {"connection-each": SLOWER_UPLOAD_MS, "keep-alive": kept_ms}
    return [measurement("upload", variant, ms) for variant, ms in times.items()]


def of_this_place(time_ms: float) -> list[OtherMeasurement]:
    """The measurement of another place comes first, and is three times as slow."""
    return [
        measurement("random-io", "write-depth-32", 3, place="memory"),
        measurement("random-io", "write-depth-32", time_ms),
    ]


THRESHOLDS = [
    measured_threshold(
        "spawn-cost: enough of the difference",
        measures("spawn"),
        around(1 + ENOUGH_OF_LOOKUPS_MS),
        RULED_OUT,
        NOT_SEPARABLE,
        slower=LOOKUPS,
    ),
    measured_threshold(
        "random-io: slower",
        measures("random-io", "write-depth-32"),
        around(SLOWER_RATIO),
        RULED_OUT,
        NOT_SEPARABLE,
    ),
    measured_threshold(
        "random-io: slower in the same place",
        of_this_place,
        around(SLOWER_RATIO),
        RULED_OUT,
        NOT_SEPARABLE,
    ),
    measured_threshold(
        "scheduler: slower",
        appending,
        around(SLOWER_AT_RATIO),
        RULED_OUT,
        NOT_OBSERVABLE,
        slower=scheduler("kyber"),
    ),
    measured_threshold(
        "scheduler: starves",
        appending,
        around(STARVES_MS),
        NOT_SEPARABLE,
        SUPPORTED,
        slower=scheduler("bfq", strict_guarantees=1, slice_idle=0),
    ),
    measured_threshold(
        "scheduler-idling: slower",
        appending,
        around(SLOWER_AT_RATIO),
        RULED_OUT,
        SUPPORTED,
        slower=scheduler("bfq", slice_idle=8, low_latency=1),
    ),
    measured_threshold(
        "slow-flush: slower in place",
        in_place,
        around(SLOWER_RATIO),
        RULED_OUT,
        SUPPORTED,
        subject=SYNC_WRITE,
    ),
    measured_threshold(
        "slow-journal: slower where a file grows",
        sync_writes,
        around(SLOWER_RATIO),
        RULED_OUT,
        SUPPORTED,
        subject=SYNC_WRITE,
    ),
    measured_threshold(
        "metadata-lock: gains less",
        scaling,
        around(names._SCALES_SHARE * FASTER_GAIN),
        SUPPORTED,
        RULED_OUT,
        subject=FOUR_AT_ONCE,
    ),
    measured_threshold(
        "overlay-layers: a missing name is slower",
        measures("metadata", "lookup-missing"),
        around(SLOWER_AT_RATIO),
        RULED_OUT,
        SUPPORTED,
        subject=FOUR_AT_ONCE,
        slower=ON_OVERLAY | {f"{PLACE}.overlay.lower_layers": 21},
        faster=ON_OVERLAY,
    ),
    measured_threshold(
        "per-builder-copies: cost more",
        copies,
        around(SLOWER_AT_RATIO * FASTER_COST),
        RULED_OUT,
        SUPPORTED,
        subject=COPIES,
    ),
    # A connection that is kept saves this much of the time.
    measured_threshold(
        "connection-each: enough of the difference",
        uploads,
        around(SLOWER_UPLOAD_MS - ENOUGH_SHARE * (SLOWER_UPLOAD_MS - FASTER_UPLOAD_MS)),
        SUPPORTED,
        RULED_OUT,
        subject=CONNECTION_EACH,
    ),
]


@pytest.mark.parametrize(("cause", "judge", "values", "expected"), THRESHOLDS)
def test_threshold(cause, judge, values, expected):
    """Just below and just above it are two states."""
    assert_threshold(cause, judge, values, expected)
