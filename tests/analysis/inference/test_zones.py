# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The rule `zones`: a difference between zones is not one between pools."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
import seed_workers
from msgspec.structs import replace

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.inference.zones import _ratio_within_zones
from io_benchmark.analysis.model import Problem, Severity, Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.report.content.statement_text import text_of

SLOW_ZONE = 1.3


def workers(pool: str, zones: Sequence[str | None]) -> list[Worker]:
    """One worker in each of these zones; those in zone b are slow."""
    change = {
        f"{pool}/{at}": {"task.location": {"zone": zone} if zone else {}}
        for at, zone in enumerate(zones)
    }
    found = seed_workers.workers(len(zones), between=0.02, pools=(pool,), change=change)
    return [
        replace(
            worker,
            entries=tuple(
                seed_workers.slowed(entry, SLOW_ZONE) if zone == "b" else entry
                for entry in worker.entries
            ),
        )
        for worker, zone in zip(found, zones, strict=True)
    ]


def problems(intel: Sequence[str | None], amd: Sequence[str | None]) -> list[Problem]:
    found = [*workers("intel", intel), *workers("amd-30", amd)]
    report = compare(Plan.of_pools(("intel", "amd-30"), "intel"), found, Options())
    return [problem for problem in report.problems if problem.rule == "zones"]


def test_unequal_shares_of_zones_that_differ() -> None:
    """The ratio over all is 1.22; within zones the pools are nearly equal."""
    (problem,) = problems("aaaaab", "abbbbb")
    assert (problem.severity, problem.sides) == (Severity.WARNING, ("intel", "amd-30"))
    assert text_of(problem.message) == (
        "intel and amd-30 have different shares of zones; within zones the ratio is 1.02×"
    )
    assert problem.explanation is not None
    assert text_of(problem.explanation) == (
        "Workers of intel: 5 in a, 1 in b; of amd-30: 1 in a, 5 in b."
    )


def test_no_zone_in_common() -> None:
    """Nothing tells pools from zones."""
    (problem,) = problems("aaa", "bbb")
    assert text_of(problem.message) == (
        "intel and amd-30 have no zone in common: a difference may be that of the zones"
    )
    assert problem.explanation is not None
    assert text_of(problem.explanation) == "Workers of intel: 3 in a; of amd-30: 3 in b."


@pytest.mark.parametrize(
    ("intel", "amd"),
    [
        pytest.param("aaa", "aaa", id="one-zone"),
        pytest.param("aabb", "abab", id="equal-shares"),
        pytest.param("acca", "cccc", id="zones-do-not-differ"),
        pytest.param("a", "b", id="one-worker-each"),
        pytest.param("aab", ["b", "b", None], id="one-is-not-known"),
    ],
)
def test_no_problem(intel: Sequence[str | None], amd: Sequence[str | None]) -> None:
    """Zones that are not known, or do not differ, or are shared alike."""
    assert problems(intel, amd) == []


def test_the_ratio_within_zones_is_that_of_least_squares() -> None:
    """numpy fits the logarithms by zones and side, with unequal numbers of workers."""
    ours, theirs = "aaaaabbc", "abbbbbcc"
    zones = [(zone,) for zone in ours + theirs]
    logs = [0.3 * (zone == ("b",)) + 0.01 * (at % 3) for at, zone in enumerate(zones)]
    side = [at < len(ours) for at in range(len(zones))]
    design = [
        [*(zone == (kind,) for kind in "abc"), ours] for zone, ours in zip(zones, side, strict=True)
    ]
    (*_, log_ratio), *_ = np.linalg.lstsq(np.array(design, dtype=np.float64), np.array(logs))
    within = _ratio_within_zones(logs, zones, len(ours))
    assert within == pytest.approx(math.exp(log_ratio), rel=1e-12)
