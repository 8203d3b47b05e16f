# SPDX-License-Identifier: MPL-2.0
"""The table of all pools: rows, prices, and the same table for any order of the readings."""

import random
from datetime import date, timedelta

import msgspec
import pytest
from measured_pools import AS_OF, START, facts_with, reading, row, table, texts, weekly

from io_benchmark.analysis.fleet.fleet_model import Fleet, WorkerReading
from io_benchmark.costs.worker_time import Price

HOSTILE = "<script>alert(1)</script>{pool}{0}%s"


def test_a_row() -> None:
    """What people know of a pool, by its machines of the last weeks; what most have is first."""
    boot = facts_with(disk_models="pd", disks="1", disk_sizes="100 GiB", instance_type="n2")
    mixed = facts_with(disk_models="nvme_card, pd", image="")
    readings = [
        reading("intel", 0, "a", source="index:old"),
        reading("intel", 1, "b"),
        reading("intel", 2, "c", facts=boot),
        reading("intel", 3, "d", facts=mixed, source="index:new"),
    ]
    pool = table(readings).pools[0]
    assert (pool.pool, pool.queue, pool.address) == ("intel", "releng/intel", "index:new")
    assert pool.machine_types == ("c2-standard-16", "n2")
    assert pool.images == ("linux",)
    assert pool.disks == ("2 × nvme_card, 375 GiB", "1 × pd, 100 GiB", "nvme_card, pd, 375 GiB")
    assert (pool.machines, pool.pushes) == (4, 4)
    assert (pool.last, pool.cells["write"].since) == (readings[-1].time.date(), START.date())


def test_what_a_pool_had_long_ago() -> None:
    """Machine types of more than eight weeks ago are gone."""
    readings = weekly("intel", [700.0] * 12)
    readings[0] = reading("intel", 0, facts=facts_with(instance_type="old"))
    made = table(readings, as_of=date(2026, 8, 20))
    assert made.pools[0].machine_types == ("c2-standard-16",)


@pytest.mark.parametrize(("days", "is_alert"), [(0, True), (28, True), (29, False)])
def test_alerts_are_new(days: int, is_alert: bool) -> None:
    """The first table of a year shows old changes, and has no alert about them."""
    readings = [
        reading("intel", week, f"{machine} {week}", values={"write": write + machine})
        for week, write in enumerate([700.0] * 10 + [350.0] * 3)
        for machine in range(3)
    ]
    (change,) = table(readings, as_of=readings[-1].time.date()).pools[0].changes
    later = table(readings, as_of=change.found + timedelta(days=days)).pools[0].changes
    assert [each.is_alert for each in later] == [is_alert]


@pytest.mark.parametrize(
    ("prices", "per_hour"),
    [
        ({"intel": 1.0, "releng/intel": 2.0}, 1.0),
        ({"releng/intel": 2.0, "c2-standard-16": 3.0}, 2.0),
        ({"c2-standard-16": 3.0}, 3.0),
        ({"other": 3.0}, None),
    ],
)
def test_prices(prices, per_hour):
    """Of the pool, else of the worker pool, else of the machine type."""
    of_names = {name: Price(amount, "USD") for name, amount in prices.items()}
    pool = table([reading("intel")], prices=of_names).pools[0]
    assert (pool.price and pool.price.per_hour) == per_hour
    cost = pool.cells["write"].cost
    assert cost == (per_hour and pytest.approx(per_hour / 700 / 3600 * 2**20))


def test_machine_types_with_different_prices() -> None:
    """A pool of two types has a price only if both cost the same."""
    readings = [
        reading("intel", 0, "a"),
        reading("intel", 0, "b", facts=facts_with(instance_type="n2")),
    ]
    prices = {"c2-standard-16": Price(1.0, "USD"), "n2": Price(2.0, "USD")}
    assert table(readings, prices=prices).pools[0].price is None
    prices["n2"] = prices["c2-standard-16"]
    assert table(readings, prices=prices).pools[0].price == prices["n2"]


def many() -> list[WorkerReading]:
    generator = random.Random(1)
    return [
        reading(
            f"pool {pool}",
            week,
            f"{week % 5} {number}",
            values={"write": generator.gauss(700, 50), "flush": generator.gauss(200, 9)},
            facts=facts_with(kernel=generator.choice(["6.8", "6.9"])),
            work={"write": generator.choice(["v1", "v2"])},
        )
        for pool in range(5)
        for week in range(8)
        for number in range(3)
    ]


def test_the_order_of_readings_changes_nothing() -> None:
    """The same bytes for any order."""
    readings = many()
    expected = msgspec.json.encode(dump(table(readings)))
    for seed in range(5):
        random.Random(seed).shuffle(readings)
        assert msgspec.json.encode(dump(table(readings))) == expected


def dump(made: Fleet) -> object:
    """Return a table as data, statements as texts."""
    return msgspec.to_builtins(made, enc_hook=repr)


def test_hostile_names() -> None:
    """A name is data: it is no template, wherever it is."""
    readings = [
        reading(HOSTILE, 0, "a", facts=facts_with(kernel=HOSTILE, instance_type=HOSTILE)),
        reading(HOSTILE, 0, "b"),
        reading("later " + HOSTILE, 9, queue="releng/" + HOSTILE),
        reading("future " + HOSTILE, 500),
    ]
    made = table(readings, as_of=START.date().replace(month=9))
    assert [pool.pool for pool in made.pools] == [HOSTILE, "later " + HOSTILE]
    assert texts(row(made, HOSTILE).flags) == [
        f"1 of 2 machines has the machine type {HOSTILE}",
        f"probably later {HOSTILE} since 2026-08-03: the same worker type",
        "not measured for 92 days",
    ]
    assert texts(made.notes) == [
        f"future {HOSTILE}: 1 result dated in the future left out, up to 2035-12-31"
    ]


def test_what_the_command_says_is_kept() -> None:
    """The title, what could not be read, and the remarks."""
    made = table([], title="fleet of gecko", unreadable=["b", "a"], remarks=["half"])
    assert (made.title, made.as_of, made.pools) == ("fleet of gecko", AS_OF, ())
    assert (made.unreadable, made.remarks) == (("a", "b"), ("half",))
    assert (made.margin_ratio, made.notes, made.figures) == (0.05, (), ())
