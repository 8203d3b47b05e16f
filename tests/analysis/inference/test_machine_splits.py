# SPDX-License-Identifier: MPL-2.0
"""Which fact splits a pool: each threshold from both sides."""

import math

import pytest
from scipy import stats

from io_benchmark.analysis.summary.unlike_machines import MachineSplit

NOISE = (0.01, -0.01, 0.02, -0.02, 0.0, 0.01, -0.01, 0.0)
DISKS = [{"disks": "1 disk"}] * 3 + [{"disks": "2 disks"}] * 5


def times(ratio: float, slow: int = 3) -> list[float]:
    return [noise + (math.log(ratio) if at < slow else 0.0) for at, noise in enumerate(NOISE)]


def test_slower_machines_and_their_p_value() -> None:
    """Student's t between both kinds, by scipy, times the number of splits; equal splits count once."""
    facts = [{**each, "disk size": f"of {each['disks']}"} for each in DISKS]
    facts = [{**each, "zone": "ab"[at % 2]} for at, each in enumerate(facts)]
    logs = times(1.5)
    split = MachineSplit.find(logs, facts)
    assert split is not None
    assert (split.slower, split.faster) == (frozenset(range(3)), frozenset(range(3, 8)))
    assert split.facts == ("disks", "disk size")
    assert split.p_value == pytest.approx(2 * stats.ttest_ind(logs[:3], logs[3:]).pvalue)
    expected = math.exp(sum(logs[:3]) / 3 - sum(logs[3:]) / 5)
    assert split.ratio == pytest.approx(expected)


@pytest.mark.parametrize(("ratio", "is_split"), [(1.085, False), (1.115, True)])
def test_a_small_difference_splits_nothing(ratio: float, is_split: bool) -> None:
    """Machines within 10 % of each other are one kind, however clear that is."""
    logs = [1e-3 * noise + math.log(ratio) * (at < 3) for at, noise in enumerate(NOISE)]
    assert (MachineSplit.find(logs, DISKS) is not None) is is_split


@pytest.mark.parametrize(("tests", "is_split"), [(1, True), (10**7, False)])
def test_more_tests_need_a_clearer_difference(tests: int, is_split: bool) -> None:
    """The level is for all tests of a side together."""
    assert (MachineSplit.find(times(1.5), DISKS, tests) is not None) is is_split


@pytest.mark.parametrize(("slow", "is_split"), [(1, False), (2, True), (6, True), (7, False)])
def test_one_machine_is_no_kind(slow: int, is_split: bool) -> None:
    """Both kinds have at least two machines."""
    facts = [{"disks": "1 disk" if at < slow else "2 disks"} for at in range(8)]
    assert (MachineSplit.find(times(2.0, slow), facts) is not None) is is_split


def test_a_fact_that_one_machine_does_not_show() -> None:
    """It splits nothing, because that machine may be of either kind."""
    assert MachineSplit.find(times(2.0), [*DISKS[:7], {}]) is None


def test_one_value_of_several() -> None:
    """Machines of the slow kind are compared with all others, whatever these have."""
    facts = [{"zone": "a"}] * 3 + [{"zone": zone} for zone in "bbccd"]
    split = MachineSplit.find(times(1.5), facts)
    assert split is not None
    assert split.slower == frozenset(range(3))
    assert MachineSplit.find([], []) is None
