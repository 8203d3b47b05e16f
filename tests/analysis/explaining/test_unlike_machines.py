# SPDX-License-Identifier: MPL-2.0
"""Machines that do not belong to their pool, each limit from both sides."""

import math

import numpy as np
import pytest
import simulation
from scipy import stats
from seed_workers import report_of, worker
from simulated_results import Pool, measure
from situations import BASE, ONE_DISK
from written import screen

from io_benchmark.analysis.explaining.mixed_pools import _MachineSplit
from io_benchmark.analysis.explaining.unlike_machines import _outside
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.report import SampledReport
from io_benchmark.analysis.model.side import Side
from io_benchmark.number_text import ratio

STEADY = simulation.entry(np.full(100, 1_000_000))


def side(*ratios: float) -> Side:
    return simulation.side_of_logs(map(math.log, ratios))


def named(data: dict[str, Side], *, assumed: float = 0.01, looked_at: int = 4) -> list[str]:
    level = 1 - 0.0125 / looked_at
    return [f"{found.side} {found.position}" for found in _outside(data, assumed, level)]


@pytest.mark.parametrize(
    ("machines", "assumed", "looked_at", "expected"),
    [
        # Nobody replaces a machine for less than 1.25×, in both directions, however alike the
        # others.
        ((1.24, 1.001, 1.0, 1.0, 0.999), 0.01, 4, []),
        ((1.26, 1.001, 1.0, 1.0, 0.999), 0.01, 4, ["a 0"]),
        ((1 / 1.24, 1.001, 1.0, 1.0, 0.999), 0.01, 4, []),
        ((1 / 1.26, 1.001, 1.0, 1.0, 0.999), 0.01, 4, ["a 0"]),
        # Two other machines do not show what is usual.
        ((2.0, 1.0, 1.0), 0.01, 4, []),
        ((2.0, 1.0, 1.0, 1.0), 0.01, 4, ["a 0"]),
        # Four machines hardly show how far machines differ, so they may vary as assumed.
        ((1.5, 1.0, 1.01, 0.99), 0.05, 4, ["a 0"]),
        ((1.5, 1.0, 1.01, 0.99), 0.10, 4, []),
        # The level is corrected for all machines that a report looks at.
        ((1.45, 1.0, 1.01, 0.99), 0.05, 4, ["a 0"]),
        ((1.45, 1.0, 1.01, 0.99), 0.05, 400, []),
        # Tails are heavy: many machines do not make it less strict than eight degrees of freedom
        # do.
        ((1.39, 1.0, *[0.935, 1.07] * 5), 0.05, 12, []),
        ((1.47, 1.0, *[0.935, 1.07] * 5), 0.05, 12, ["a 0"]),
        # Two of five: a mixed pool.
        ((1.0, 1.02, 0.97, 2.0, 2.02), 0.05, 8, []),
    ],
)
def test_one_machine_of_a_pool(machines, assumed, looked_at, expected):
    """Only a machine that is alone, and clearly so, is named."""
    assert named({"a": side(*machines)}, assumed=assumed, looked_at=looked_at) == expected


def test_how_far_one_more_machine_usually_is() -> None:
    """A prediction interval of Student's t, by other machines and the assumed variation."""
    logs, other = [0.7, 0.0, 0.02, -0.01], [0.05, -0.05]
    data = {
        name: side(*map(math.exp, side_logs)) for name, side_logs in (("a", logs), ("b", other))
    }
    (found,) = _outside(data, 0.1, 0.99)
    # The assumed variance counts twice, as that of seven machines.
    squares = 6 * 2 * 0.1**2 + 2 * np.var(logs[1:], ddof=1) + np.var(other, ddof=1)
    expected = stats.t.ppf(0.995, 8) * math.sqrt(squares / 9 * (1 + 1 / 3))
    assert (found.side, found.position) == ("a", 0)
    assert (found.log_ratio, found.width) == pytest.approx((0.7 - np.mean(logs[1:]), expected))


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
