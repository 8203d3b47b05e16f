# SPDX-License-Identifier: MPL-2.0
"""What a reader must know of a pool: changes, mixed machines, age, one machine, new names."""

from datetime import date, timedelta

import pytest
from measured_pools import AS_OF, facts_with, reading, row, table, texts, weekly

from io_benchmark.analysis.fleet.flags import flags_of, mixed_machines
from io_benchmark.analysis.fleet.fleet_model import ChangedFact, FleetChange, WorkerReading
from io_benchmark.analysis.fleet.pool_readings import by_pool


def mixed(readings: list[WorkerReading]) -> list[str]:
    (pool,) = by_pool(readings)
    return texts(mixed_machines(pool.located))


def test_machines_without_a_local_ssd() -> None:
    """3 of 12 machines lack it; the facts that divide machines alike are not repeated."""
    without = facts_with(local_SSDs="none", disks="1", disk_models="pd", disk_sizes="100 GiB")
    readings = [
        reading("intel", week, f"{week} {number}", facts=without if number == 0 else facts_with())
        for week in range(3)
        for number in range(4)
    ]
    assert mixed(readings) == ["3 of 12 machines have no local SSD"]


def test_one_machine_of_another_kind() -> None:
    """Several facts that divide machines differently are flags of their own."""
    readings = [
        reading("intel", 0, "a", facts=facts_with(kernel="6.9.0")),
        reading("intel", 0, "b", facts=facts_with(local_SSDs="1")),
        reading("intel", 0, "c", facts=facts_with(instance_type="n2")),
        reading("intel", 0, "d"),
        reading("intel", 0, "e"),
    ]
    assert mixed(readings) == [
        "1 of 5 machines has 1 local SSD",
        "1 of 5 machines has the machine type n2",
        "1 of 5 machines has the kernel 6.9.0",
    ]


def test_a_fact_that_all_machines_change_is_not_mixed() -> None:
    """A new kernel on all machines from some push on leaves them alike; until all have it, not."""
    old, new = facts_with(kernel="6.8.0"), facts_with(kernel="6.9.0")

    def kernels(*weeks: tuple[bool, ...]) -> list[str]:
        return mixed(
            [
                reading("intel", week, f"{week} {number}", facts=new if is_new else old)
                for week, machines in enumerate(weeks)
                for number, is_new in enumerate(machines)
            ]
        )

    assert kernels((False, False), (False, False), (True, True), (True, True)) == []
    assert kernels((False,), (True,), (False,)) == ["1 of 3 machines has the kernel 6.9.0"]
    assert kernels((False, False), (True, False), (True, True)) == [
        "3 of 6 machines have the kernel 6.8.0"
    ]


def test_a_machine_has_its_newest_facts() -> None:
    """A machine that was updated is not two machines."""
    old, new = facts_with(kernel="6.8.0"), facts_with(kernel="6.9.0")
    assert mixed([reading("intel", 0, "a", facts=old), reading("intel", 1, "a", facts=new)]) == []


def test_zones_are_not_mixed_machines() -> None:
    """Pools have several zones."""
    readings = [reading("intel", 0, zone, facts=(("zone", zone),)) for zone in ("a", "b")]
    assert mixed(readings) == []


def test_machines_of_long_ago_do_not_count() -> None:
    """Only the last eight weeks do, or those since the last change."""
    without = facts_with(local_SSDs="none")
    with_disk = weekly("intel", [700.0] * 12)
    early = reading("intel", 2, "early", facts=without)
    late = reading("intel", 4, "late", facts=without)
    as_of = date(2026, 8, 20)
    assert texts(table([*with_disk, early], as_of=as_of).pools[0].flags) == []
    assert texts(table([*with_disk, late], as_of=as_of).pools[0].flags) == [
        "1 of 10 machines has no local SSD"
    ]
    (pool,) = by_pool([*with_disk, late])
    since = change(since=date(2026, 7, 6), ratio=0.5)
    assert texts(flags_of(pool, [since], as_of, [])) == []
    dearer = change(since=date(2026, 7, 6), ratio=0.5, figure="price")
    assert texts(flags_of(pool, [dearer], as_of, [])) == ["1 of 10 machines has no local SSD"]


def change(**changes: object) -> FleetChange:
    usual: dict[str, object] = {
        "key": "intel slower 2026-06-15",
        "figure": "write",
        "since": date(2026, 6, 15),
        "found": date(2026, 6, 22),
        "ratio": 1.3,
        "interval": None,
    }
    return FleetChange(**usual | changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "flags"),
    [
        ([change()], ["slower since 2026-06-15"]),
        (
            [change(facts=(ChangedFact("kernel", "6.8", "6.9"), ChangedFact("image", "a", "b")))],
            ["slower since 2026-06-15: kernel, image"],
        ),
        (
            [change(machines=3, of_machines=12, facts=(ChangedFact("local SSDs", "2", "none"),))],
            ["slower since 2026-06-15, 3 of 12 machines: local SSDs"],
        ),
        ([change(machines=12, of_machines=12)], ["slower since 2026-06-15"]),
        ([change(figure="price")], ["dearer since 2026-06-15"]),
        ([change(ratio=0.8)], []),
        ([change(ratio=0.8, since=date(2026, 6, 29)), change()], []),
        (
            [change(ratio=0.8, figure="flush"), change()],
            ["slower since 2026-06-15"],
        ),
    ],
    ids=["slower", "facts", "part", "all", "dearer", "faster", "recovered", "another figure"],
)
def test_changes(changes, flags):
    """A slowdown that no later change of the same figure followed, with what changed."""
    (pool,) = by_pool(weekly("intel", [700.0] * 8))
    assert texts(flags_of(pool, changes, AS_OF, [])) == flags


def test_a_pool_that_was_not_measured_for_long() -> None:
    """After three weeks."""
    made = weekly("intel", [700.0, 700.0])
    last = made[-1].time.date()
    assert table(made, as_of=last + timedelta(days=21)).pools[0].flags == ()
    assert texts(table(made, as_of=last + timedelta(days=22)).pools[0].flags) == [
        "not measured for 22 days"
    ]


def test_one_machine_only() -> None:
    """However often it was measured."""
    made = table(weekly("intel", [700.0] * 8, machine="the only one"))
    assert texts(made.pools[0].flags) == ["one machine only"]
    assert (made.pools[0].machines, made.pools[0].pushes) == (1, 8)
    assert made.pools[0].cells["write"].is_assumed


def test_a_renamed_pool() -> None:
    """A pool with the worker type of one that ended before: both rows say so, and stay apart."""
    former = weekly("intel", [700.0] * 4, queue="releng/b-linux")
    later = [reading("intel-16", week, queue="releng/b-linux") for week in range(4, 8)]
    made = table([*former, *later])
    assert texts(row(made, "intel").flags) == [
        "probably intel-16 since 2026-06-29: the same worker type",
        "not measured for 40 days",
    ]
    assert texts(row(made, "intel-16").flags) == [
        "probably intel until 2026-06-22: the same worker type"
    ]
    assert [len(pool.points) for pool in made.pools] == [4, 4]


@pytest.mark.parametrize(
    ("queue", "start"),
    [("releng/b-linux", 3), ("releng/b-linux-2", 4), ("", 4)],
    ids=["at the same time", "another worker type", "no worker type"],
)
def test_pools_that_were_not_renamed(queue, start):
    """Two pools with one worker type at the same time are two pools, and so are different types."""
    former = weekly("intel", [700.0] * 4, queue="releng/b-linux" if queue else "")
    later = [reading("intel-16", week, queue=queue) for week in range(start, 8)]
    flags = [flag for pool in table([*former, *later]).pools for flag in texts(pool.flags)]
    assert flags == ["not measured for 40 days"]
