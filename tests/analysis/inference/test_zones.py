# SPDX-License-Identifier: MPL-2.0
"""The rule `zones`: a difference between zones is not one between pools."""

from collections.abc import Sequence

import numpy as np
import pytest
import seed_workers
from msgspec.structs import replace

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.pairs import Pair
from io_benchmark.analysis.inference.worker_variation import WorkerVariation
from io_benchmark.analysis.model import Problem, Severity, Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report
from io_benchmark.analysis.validity.workers import _within_zones
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.formats.output import rendered

SLOW_ZONE = 1.3


def workers(pool: str, zones: Sequence[str | None]) -> list[Worker]:
    """One worker in each of these zones; those in zone b are slow."""
    change = {
        f"{pool}/{at}": {
            "task.location": {"region": zone.rpartition("-")[0], "zone": zone} if zone else {}
        }
        for at, zone in enumerate(zones)
    }
    measured = seed_workers.workers(len(zones), between=0.02, pools=(pool,), change=change)
    slower = [SLOW_ZONE if zone == "b" else 1.0 for zone in zones]
    return [
        replace(worker, entries=(seed_workers.slowed(worker.entries[0], factor),))
        for worker, factor in zip(measured, slower, strict=True)
    ]


def made(intel: Sequence[str | None], amd: Sequence[str | None]) -> tuple[Report, list[Problem]]:
    measured = [*workers("intel", intel), *workers("amd-30", amd)]
    report = compare(Plan.of_pools(("intel", "amd-30"), "intel"), measured, Options())
    return report, [problem for problem in report.problems if problem.rule == "zones"]


@pytest.mark.parametrize(
    ("intel", "amd", "message", "explanation"),
    [
        pytest.param(
            "aaaaab",
            "abbbbb",
            "workers of intel: 5 in a, 1 in b; of amd-30: 1 in a, 5 in b",
            "Within the zones that both have, with 12 of 12 workers, the ratio is 1.02× (95 % interval "
            "0.78× to 1.33×).",
            id="unequal shares of zones that differ",
        ),
        pytest.param(
            "aaa",
            "bbb",
            "workers of intel: 3 in a; of amd-30: 3 in b",
            "They have no zone in common, so zone and pool cannot be told apart.",
            id="none in common",
        ),
        pytest.param(
            ["a", "a", "a", "west1-a", "west1-a"],
            ["a", "a", "a", "east1-b", "east1-b"],
            "workers of intel: 3 in a, 2 in west1-a; of amd-30: 3 in a, 2 in east1-b",
            "Within the zones that both have, with 6 of 10 workers, the ratio is 1.00× (95 % interval "
            "0.90× to 1.12×).",
            id="regions that one pool has, without an effect",
        ),
    ],
)
def test_the_answer_has_the_ratio_within_zones(
    intel: Sequence[str], amd: Sequence[str], message: str, explanation: str
) -> None:
    """The ratio over all of the first case is 1.22; within zones the pools are nearly equal."""
    report, (problem,) = made(intel, amd)
    assert (problem.severity, problem.sides) == (Severity.WARNING, ("intel", "amd-30"))
    assert text_of(problem.message) == message
    assert problem.explanation is not None
    assert text_of(problem.explanation) == explanation
    shown = " ".join(rendered(report, "text").split())
    assert explanation in shown.split("zones: ")[0]


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
    assert made(intel, amd)[1] == []


def test_the_ratio_within_zones_is_that_of_least_squares() -> None:
    """numpy fits the logarithms by zones and side, with unequal numbers of workers."""
    sides = [[(zone,) for zone in side] for side in ("aaaaabbc", "abbbbbccd")]
    logs = [
        tuple(0.3 * (zone == ("b",)) + 0.01 * (at % 3) for at, zone in enumerate(side))
        for side in sides
    ]
    ours, theirs = (SideData(each, ((),) * len(each)) for each in logs)
    variation = WorkerVariation.given(0.05)
    found = _within_zones(Pair("amd-30", "intel", ours, theirs, variation), *sides)
    design = [
        [*(zone == (kind,) for kind in "abcd"), is_ours]
        for is_ours, side in zip((True, False), sides, strict=True)
        for zone in side
    ]
    every_log = np.array([*logs[0], *logs[1]])
    (*_, log_ratio), *_ = np.linalg.lstsq(np.array(design, dtype=np.float64), every_log)
    assert found is not None
    # Of zone d only one side has a worker.
    assert found[0] == 16
    assert found[1].log_ratio == pytest.approx(log_ratio, rel=1e-9)
