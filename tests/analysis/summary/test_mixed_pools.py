# SPDX-License-Identifier: MPL-2.0
"""Pools of unlike machines: what the report says of their parts, and what it no longer advises."""

from collections.abc import Mapping

import pytest
from seed_workers import worker
from simulated_cases import BASE, TRUTHS
from simulated_machine import Machine
from simulated_push import Pool, measure
from written import screen

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.model import Verdict, Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import SampledReport
from io_benchmark.number_text import ratio

ONE_DISK = TRUTHS["one disk"].change(BASE)
PLAN = Plan("", "intel", "", (("amd-16", "intel"),))


def workers(slow: int, count: int = 10) -> list[Worker]:
    """Two pools; this many workers of amd-16 have one disk, and all others two."""
    exceptions: Mapping[int, Machine] = dict.fromkeys(range(slow), ONE_DISK)
    pools = (Pool("amd-16", BASE, count, exceptions), Pool("intel", BASE, count))
    sides = measure(pools, 1, retrieves=120)
    return [worker(run.document) for runs in sides.values() for run in runs]


def report(slow: int) -> SampledReport:
    return compare(PLAN, workers(slow), Options())


def test_some_slower_machines() -> None:
    """The answer has their number, what they have and how the others compare; no workers are asked for."""
    found = report(3)
    (pool,) = found.mixed_pools
    assert (len(pool.slower), len(pool.faster)) == (3, 7)
    assert pool.facts_of_slower == ("1 disk",)
    assert pool.facts_of_faster == ("2 disks",)
    assert pool.ratio == pytest.approx(1.9, abs=0.15)
    assert [pair.verdict for pair in pool.of_the_faster] == [Verdict.EQUIVALENT]
    assert found.decision_cost is None
    text = " ".join(" ".join(screen(found)).split())
    assert f"3 of 10 workers of amd-16 have 1 disk and take {ratio(pool.ratio)} the time" in text
    assert "Try: give all workers of amd-16 2 disks, by the pool's definition." in text
    assert "More workers are not expected to settle amd-16: its machines are of two kinds." in text


def test_a_slower_pool() -> None:
    """Its remedy is its definition, once, and not another machine type for all."""
    found = report(6)
    (pool,) = found.mixed_pools
    (diagnosis,) = found.diagnoses
    assert found.subjects[0].comparisons[0].verdict is Verdict.SLOWER
    assert diagnosis.remedies == (pool.remedy,)
    assert pool.remedy.gain_ratio == pytest.approx(pool.ratio**0.6)
    assert " ".join(screen(found)).count("Try:") == 1
