# SPDX-License-Identifier: MPL-2.0
"""Which workers of a pool are slow, by their facts and by their times alone."""

import math
from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from scipy import stats
from simulated_gates import worker_of_logs

from io_benchmark.analysis.gate.slow_workers import (
    SlowPart,
    _p_value,
    _slowest_part,
    find_slow_part,
)
from io_benchmark.analysis.model.side import Side

USUAL = (0.01, -0.01, 0.02, -0.02, 0.0, 0.0)


def side(logs: Sequence[float], on_boot_disk: Sequence[int] = (), name: str = "alpha") -> Side:
    workers = [
        worker_of_logs(name, number, [log], is_on_boot_disk=number in on_boot_disk)
        for number, log in enumerate(logs)
    ]
    return Side.of_workers(workers, workers[0].runs[0].subject)


def slow_part(side: Side, other: Side | None = None) -> SlowPart | None:
    other = other or OTHER
    return find_slow_part(side, other, other.log_means, 1)


OTHER = side(USUAL, name="production")


def slower(*numbers: int, by: float) -> list[float]:
    return [log + (math.log(by) if at in numbers else 0.0) for at, log in enumerate(USUAL)]


def test_usual_workers() -> None:
    """Chance is no part of a pool."""
    assert slow_part(side(USUAL)) is None


def test_workers_on_their_boot_disk() -> None:
    """The part, what it has, and what the others have."""
    found = slow_part(side(slower(1, 4, by=1.5), (1, 4)))
    assert found is not None
    assert found.members == {1, 4}
    assert (found.facts, found.facts_of_others) == (("no local SSD",), ("a local SSD",))
    assert (found.is_proven, found.is_new) == (True, True)
    assert math.exp(found.log_ratio) == pytest.approx(1.5, rel=0.02)


def test_the_fact_alone() -> None:
    """Without a local SSD it is suspicious, also where it is not slower; but that is not proven."""
    found = slow_part(side(USUAL, (2,)))
    assert found is not None
    assert (found.members, found.is_proven, found.facts) == (
        frozenset({2}),
        False,
        ("no local SSD",),
    )


def test_a_fact_that_the_other_pool_has() -> None:
    """It is not new: its workers are a part by their times, and not suspicious without them."""
    other = side(slower(0, by=1.5), (0,), "production")
    found = slow_part(side(slower(1, by=1.5), (1,)), other)
    assert found is not None
    assert (found.facts, found.is_proven, found.is_new) == (("no local SSD",), True, False)
    assert slow_part(side(USUAL, (1,)), other) is None


@pytest.mark.parametrize("number", [1, 3, 4])
def test_by_times_alone(number: int) -> None:
    """One, some or most workers are slow, and no fact says why."""
    found = slow_part(side(slower(*range(number), by=2.0)))
    assert found is not None
    assert (found.members, found.facts, found.is_new) == (frozenset(range(number)), (), False)


@pytest.mark.parametrize(("by", "is_found"), [(1.12, False), (1.4, True)])
def test_how_slow_is_more_than_chance(by: float, is_found: bool) -> None:
    """Six workers have many slowest parts, so that one must be far off."""
    assert (slow_part(side(slower(3, by=by))) is not None) is is_found


def test_the_level_is_shared_by_all_measurements() -> None:
    """What is proven on one of two measurements is chance on one of two hundred."""
    unlike = side(slower(2, by=1.12), (2,))
    found = [find_slow_part(unlike, OTHER, OTHER.log_means, tests) for tests in (2, 200)]
    assert [part is not None and part.is_proven for part in found] == [True, False]


def test_another_cpu() -> None:
    """It describes a slow worker, but a cloud gives it to any pool: it is not the image's."""
    workers = [
        worker_of_logs("alpha", number, [log], is_on_boot_disk=False)
        for number, log in enumerate(slower(0, by=2.0))
    ]
    host = workers[0].result.host
    assert host is not None
    result = replace(workers[0].result, host=replace(host, cpu_model="another"))
    workers[0] = replace(workers[0], result=result)
    found = slow_part(Side.of_workers(workers, workers[0].runs[0].subject))
    assert found is not None
    assert (found.members, found.facts) == (frozenset({0}), ("the CPU another",))
    assert not found.is_new


def test_a_worker_that_does_not_show_its_disks() -> None:
    """It may be like the ones or the others, so that no part is known by its facts."""
    workers = [
        worker_of_logs("alpha", number, [log], is_on_boot_disk=number == 0)
        for number, log in enumerate(USUAL)
    ]
    storage = replace(workers[1].result.storage, places=[])
    workers[1] = replace(workers[1], result=replace(workers[1].result, storage=storage))
    assert slow_part(Side.of_workers(workers, workers[0].runs[0].subject)) is None


def test_another_kernel() -> None:
    """It is suspicious only if it is slower: many facts are harmless."""
    workers = [
        worker_of_logs("alpha", number, [log], is_on_boot_disk=False)
        for number, log in enumerate(USUAL)
    ]
    host = workers[0].result.host
    assert host is not None
    result = replace(workers[0].result, host=replace(host, kernel="7.0"))
    workers[0] = replace(workers[0], result=result)
    assert slow_part(Side.of_workers(workers, workers[0].runs[0].subject)) is None


def test_the_chance_of_a_part() -> None:
    """Student's t against the rest, with the variation of all usual workers and the assumed one."""
    logs = slower(0, by=1.2)
    variance = (4 * stats.tvar(logs[1:]) + 5 * stats.tvar(USUAL) + 4 * 0.05**2) / 13
    distance = (logs[0] - sum(logs[1:]) / 5) / math.sqrt(variance * (1 + 1 / 5))
    expected = stats.t.sf(distance, 8)
    assert _p_value(frozenset({0}), logs, USUAL) == pytest.approx(expected)


def test_a_pool_of_two_thousand() -> None:
    """There are more ways to choose the slow ones than a float can hold."""
    logs = [*USUAL] * 350
    assert _slowest_part(logs, USUAL, 0.02) is None
    assert _slowest_part([1.0, *logs], USUAL, 0.02) == frozenset({0})
