# SPDX-License-Identifier: MPL-2.0
"""Pools of two kinds of machines, each limit from both sides."""

import math

import pytest
from scipy import stats
from seed_workers import report_of, worker
from simulated_results import Pool, measure
from situations import BASE, ONE_DISK
from written import screen

from io_benchmark.analysis.explaining.mixed_pools import _MachineSplit
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.report import SampledReport
from io_benchmark.number_text import ratio

NOISE = (0.01, -0.01, 0.02, -0.02, 0.0, 0.01, -0.01, 0.0)
DISKS = [{"disks": "1 disk"}] * 3 + [{"disks": "2 disks"}] * 5


def times(factor: float, slow: int = 3) -> list[float]:
    return [noise + (math.log(factor) if at < slow else 0.0) for at, noise in enumerate(NOISE)]


def test_slower_machines_and_their_p_value() -> None:
    """Student's t between both kinds, by scipy, times the number of different splits."""
    facts = [{**each, "disk size": f"of {each['disks']}"} for each in DISKS]
    facts = [{**each, "zone": "ab"[at % 2]} for at, each in enumerate(facts)]
    logs = times(1.5)
    split = _MachineSplit.find(logs, facts)
    assert split is not None
    assert (split.slower, split.faster) == (frozenset(range(3)), frozenset(range(3, 8)))
    assert split.facts == ("disks", "disk size")
    assert split.p_value == pytest.approx(2 * stats.ttest_ind(logs[:3], logs[3:]).pvalue)
    expected = math.exp(sum(logs[:3]) / 3 - sum(logs[3:]) / 5)
    assert split.ratio == pytest.approx(expected)


@pytest.mark.parametrize(("factor", "is_split"), [(1.085, False), (1.115, True)])
def test_a_small_difference_splits_nothing(factor: float, is_split: bool) -> None:
    """Machines within 10 % of each other are one kind, however clear that is."""
    logs = [1e-3 * noise + math.log(factor) * (at < 3) for at, noise in enumerate(NOISE)]
    assert (_MachineSplit.find(logs, DISKS) is not None) is is_split


@pytest.mark.parametrize(("slow", "is_split"), [(1, False), (2, True), (6, True), (7, False)])
def test_one_machine_is_no_kind(slow: int, is_split: bool) -> None:
    """Both kinds have at least two machines."""
    facts = [{"disks": "1 disk" if at < slow else "2 disks"} for at in range(8)]
    assert (_MachineSplit.find(times(2.0, slow), facts) is not None) is is_split


def test_one_value_of_several() -> None:
    """Machines of the slow kind are compared with all others, whatever these have."""
    facts = [{"zone": zone} for zone in "cccabbdd"]
    split = _MachineSplit.find(times(1.5), facts)
    assert split is not None
    assert split.slower == frozenset(range(3))


def report(slow: int) -> SampledReport:
    """Compare two pools of ten; this many workers of amd-16 have one disk, and all others two."""
    pools = (
        Pool("amd-16", BASE, 10, dict.fromkeys(range(slow), ONE_DISK)),
        Pool("intel", BASE, 10),
    )
    sides = measure(pools, 1, retrieves=120)
    return report_of([worker(run.document) for runs in sides.values() for run in runs])


def test_some_slower_machines() -> None:
    """The answer has their number, their facts and the others' ratio, and wants no workers."""
    found = report(3)
    (pool,) = found.mixed_pools
    assert (len(pool.slower), len(pool.faster)) == (3, 7)
    assert (pool.facts_of_slower, pool.facts_of_faster) == (("1 disk",), ("2 disks",))
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
