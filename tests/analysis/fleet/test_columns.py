# SPDX-License-Identifier: MPL-2.0
"""Which work of a figure is compared, and the cells of all pools."""

from datetime import UTC, date, datetime

import pytest
from measured_pools import START, facts_with, reading, row, table, weekly

from io_benchmark.analysis.fleet.columns import LevelStart, cells_of
from io_benchmark.analysis.fleet.figures import BY_NAME
from io_benchmark.analysis.fleet.fleet_model import FleetPool
from io_benchmark.analysis.fleet.pool_readings import by_pool

SMALL, LARGE = {"write": "1 GiB"}, {"write": "4 GiB"}


def ranks_of(pool: FleetPool) -> tuple[int | None, int | None]:
    cell = pool.cells["write"]
    return cell.best_rank, cell.worst_rank


def test_ranks_of_pools() -> None:
    """The one that is certainly better is first; two whose intervals overlap share two ranks."""
    made = table(
        [
            *weekly("fast", [1400.0, 1410.0, 1405.0, 1395.0]),
            *weekly("one", [700.0, 710.0, 705.0, 695.0]),
            *weekly("two", [702.0, 712.0, 707.0, 697.0]),
        ]
    )
    assert [pool.pool for pool in made.pools] == ["fast", "two", "one"]
    assert [ranks_of(pool) for pool in made.pools] == [(1, 1), (2, 3), (2, 3)]


def test_ranks_of_two_systems() -> None:
    """Each system has its own best pool, and its own usual work."""
    windows = facts_with(system="windows")
    made = table(
        [
            *weekly("a", [700.0, 710.0, 705.0, 695.0], work=LARGE),
            *weekly("b", [400.0, 410.0, 405.0, 395.0], work=LARGE),
            *weekly("c", [500.0, 510.0, 505.0, 495.0], work=LARGE),
            *weekly("win-a", [900.0, 910.0, 905.0, 895.0], work=SMALL, facts=windows),
            *weekly("win-b", [600.0, 610.0, 605.0, 595.0], work=SMALL, facts=windows),
        ]
    )
    assert [pool.pool for pool in made.pools] == ["a", "c", "b", "win-a", "win-b"]
    assert [ranks_of(pool)[0] for pool in made.pools] == [1, 2, 3, 1, 2]
    assert [pool.system or "" for pool in made.pools] == ["", "", "", "windows", "windows"]


def test_less_time_is_better() -> None:
    """Of times the shortest is the first."""
    slow, fast = (
        weekly(pool, [time, time + 1, time + 2], "flush")
        for pool, time in (("slow", 500.0), ("fast", 200.0))
    )
    made = table([*slow, *fast], by="flush")
    assert [(pool.pool, pool.cells["flush"].best_rank) for pool in made.pools] == [
        ("fast", 1),
        ("slow", 2),
    ]


def test_the_newest_work_that_most_pools_have() -> None:
    """A new size is ranked once most pools have it; a pool without it keeps an unranked cell."""
    begin = [reading(pool, 0, values={"write": 700.0}, work=SMALL) for pool in ("a", "b", "c")]
    first = reading("a", 1, values={"write": 900.0}, work=LARGE)
    second = reading("b", 2, values={"write": 800.0}, work=LARGE)
    before = table([*begin, first])
    assert {pool.pool: pool.cells["write"].work for pool in before.pools} == dict.fromkeys(
        "abc", "1 GiB"
    )
    after = table([*begin, first, second])
    assert [pool.pool for pool in after.pools] == ["a", "b", "c"]
    values = [pool.cells["write"].value for pool in after.pools]
    assert values == pytest.approx([900, 800, 700])
    assert ranks_of(row(after, "c")) == (None, None)
    assert row(after, "c").cells["write"].work == "1 GiB"


def test_half_of_the_pools_are_not_most() -> None:
    """Of two works that all, and half of the pools have, the one that all have is ranked."""
    readings = [reading(pool, 0, values={"write": 700.0}, work=SMALL) for pool in "abcd"]
    readings += [reading(pool, 1, values={"write": 900.0}, work=LARGE) for pool in "ab"]
    assert {pool.cells["write"].work for pool in table(readings).pools} == {"1 GiB"}


def test_the_newest_work_is_that_which_began_last() -> None:
    """A pool that is measured for the first time with an old program does not renew its work."""
    readings = [
        reading(pool, week, values={"write": 700.0}, work=work)
        for pool in "ab"
        for week, work in enumerate((SMALL, LARGE))
    ]
    made = table([*readings, reading("c", 3, values={"write": 900.0}, work=SMALL)])
    assert [pool.cells["write"].work for pool in made.pools] == ["4 GiB", "4 GiB", "1 GiB"]


def test_what_most_pools_have_without_a_majority() -> None:
    """Of works that no majority of the pools has, the most frequent is ranked, else the newest."""
    readings = [
        reading(pool, week, values={"write": 700.0}, work={"write": work})
        for week, (pool, work) in enumerate(
            zip("abcde", ("v1", "v1", "v2", "v2", "v3"), strict=True)
        )
    ]
    made = table(readings)
    ranked = {pool.pool for pool in made.pools if pool.cells["write"].best_rank is not None}
    assert ranked == {"c", "d"}


def test_an_unranked_pool_is_behind_those_with_a_rank() -> None:
    """However good the value of other work is."""
    readings = [reading(pool, 0, values={"write": 700.0}, work=SMALL) for pool in ("a", "b")]
    made = table([*readings, reading("c", 0, values={"write": 9000.0}, work=LARGE)])
    assert [pool.pool for pool in made.pools] == ["a", "b", "c"]


def test_readings_since_the_level_began() -> None:
    """The cell is of the current level alone, if that is of the work that is compared."""
    pools = by_pool(weekly("intel", [700.0, 700.0, 350.0, 350.0]))
    start = datetime(2026, 6, 15, 3, tzinfo=UTC)
    levels = {"intel": {"write": LevelStart("", start)}}
    cell = cells_of(pools, [BY_NAME["write"]], levels)["intel"]["write"]
    assert cell.value == pytest.approx(350)
    assert cell.since == date(2026, 6, 15)
    levels = {"intel": {"write": LevelStart("1 GiB", start)}}
    cell = cells_of(pools, [BY_NAME["write"]], levels)["intel"]["write"]
    assert cell.value == pytest.approx(700 / 2**0.5)
    assert cell.since == START.date()


def test_points() -> None:
    """A point per push, of the cell's work: the geometric mean of machines, which count once."""
    made = table(
        [
            reading("intel", 0, values={"write": 9.0}, work=SMALL),
            reading("intel", 1, "a", values={"write": 100.0}, work=LARGE),
            reading("intel", 1, "b", values={"write": 400.0}, work=LARGE),
            reading("intel", 1, "b", values={"write": 400.0}, work=LARGE, task_id="again"),
            reading("intel", 2, values={"write": 300.0}, work=LARGE),
        ]
    )
    (pool,) = made.pools
    times = [reading("intel", week).time for week in (1, 2)]
    assert made.drawn == "write"
    assert [point.time for point in pool.points] == times
    assert [point.value for point in pool.points] == pytest.approx([200, 300])


def test_a_pool_without_the_figure_has_no_cell() -> None:
    """It is the last, and has no points; a figure that no pool has is not in the table."""
    made = table([*weekly("a", [2.0], "flush"), *weekly("b", [700.0])])
    assert [(pool.pool, sorted(pool.cells), len(pool.points)) for pool in made.pools] == [
        ("b", ["write"], 1),
        ("a", ["flush"], 0),
    ]
    assert [figure.name for figure in made.figures] == ["write", "flush"]
