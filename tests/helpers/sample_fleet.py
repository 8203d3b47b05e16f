# SPDX-License-Identifier: MPL-2.0
"""Tables of all pools, for tests of what formats show: few pools, many, hostile ones, none."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

from msgspec.structs import replace
from sample_report import HOSTILE_NAMES, rewritten, text

from io_benchmark.analysis.fleet.figures import FIGURES
from io_benchmark.analysis.fleet.fleet_model import (
    Cell,
    ChangedFact,
    Fleet,
    FleetChange,
    FleetPool,
    PoolPredicted,
    WeekPoint,
)
from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.model.statements import Statement, statement
from io_benchmark.costs.worker_time import Price

AS_OF = date(2026, 11, 29)
ROOT = "https://firefox-ci-tc.services.mozilla.com"
_PROFILED_HOURS = 0.25
# What the fastest pool does, by figure; a pool has a part of it.
_BEST = {
    "retrieve": 70.0,
    "write": 1200.0,
    "read": 1500.0,
    "random-read": 250_000.0,
    "random-write": 180_000.0,
    "flush": 35.0,
    "copy": 9000.0,
    "user": 5200.0,
    "kernel": 8_400_000.0,
    "cpus": 30.0,
    "spawn": 1900.0,
    "unpack": 21_000.0,
}


def _interval(value: float, ratio: float = 0.04) -> Interval:
    return Interval(value * (1 - ratio), value * (1 + ratio), 0.95)


def cells(speed: float, price: Price | None, ranks: tuple[int, int]) -> dict[str, Cell]:
    """What a pool of this speed can do, compared with the fastest pool."""
    made = {}
    for figure in FIGURES:
        value = _BEST[figure.name] * (speed if figure.higher_is_better else 1 / speed)
        made[figure.name] = Cell(
            value=value,
            interval=_interval(value),
            machines=8,
            best_rank=ranks[0],
            worst_rank=ranks[1],
            since=date(2026, 11, 2),
            work="of a test",
            cost=figure.cost_of(value, price),
        )
    return made


def points(value: float, *, change: float = 1.0, weeks: int = 52) -> tuple[WeekPoint, ...]:
    """A point per week, of which the last four are changed."""
    last = datetime(2026, 11, 22, 6, tzinfo=UTC)
    return tuple(
        WeekPoint(
            last - timedelta(weeks=week),
            value * (1 + 0.01 * (week % 3)) * (1 if week < 4 else change),
        )
        for week in reversed(range(weeks))
    )


def pool(name: str, speed: float, ranks: tuple[int, int], **changes: Any) -> FleetPool:
    """A pool that has a part of the fastest pool's speed."""
    price = Price(0.4 + speed, "USD", "spot", "2026-11-01")
    cost = price.per_hour * _PROFILED_HOURS / speed
    task_id = f"{sum(map(ord, name)):04d}aaaaQaaaaaaaaaaaaA"
    made = FleetPool(
        pool=name,
        queue=f"gecko-t/{name}",
        machine_types=("c3d-standard-16-lssd",),
        images=("ubuntu-2404-headless-2026-10",),
        disks=("1 × nvme_card, 375 GiB",),
        cells=cells(speed, price, ranks),
        price=price,
        machines=12,
        pushes=52,
        last=date(2026, 11, 22),
        points=points(_BEST["write"] * speed),
        changes=(),
        flags=(),
        predicted=PoolPredicted(15 / speed, 13 / speed, 17 / speed, cost),
        address=f"{ROOT}/tasks/{task_id}/runs/0",
    )
    return replace(made, **changes)


SLOWER = FleetChange(
    key="kernel",
    figure="write",
    since=date(2026, 11, 2),
    found=date(2026, 11, 9),
    ratio=1.25,
    interval=Interval(1.18, 1.33, 0.95),
    facts=(ChangedFact("kernel", "6.8.0-1017-gcp", "6.11.0-1002-gcp"),),
    machines=12,
    of_machines=12,
    is_alert=True,
)
PART = replace(
    SLOWER,
    key="disks",
    since=date(2026, 10, 26),
    ratio=1.9,
    interval=Interval(1.6, 2.2, 0.95),
    facts=(ChangedFact("local SSDs", "1", "none"),),
    machines=3,
    is_alert=False,
)
FASTER = replace(
    SLOWER,
    key="faster",
    figure="unpack",
    since=date(2026, 3, 2),
    ratio=0.8,
    interval=Interval(0.75, 0.86, 0.95),
    facts=(),
    is_alert=False,
)
DEARER = FleetChange(
    key="price",
    figure="price",
    since=date(2026, 9, 7),
    found=date(2026, 9, 7),
    ratio=1.1,
    interval=None,
)
_NOT_MEASURED = statement("not measured for {days} days", days="40")


@cache
def ordinary() -> Fleet:
    """Six pools, with changes, prices and flags; two of them share ranks."""
    slow = pool("amd-16", 0.5, (4, 5), changes=(SLOWER, FASTER))
    slow = replace(slow, points=points(600.0, change=1.25))
    slow = replace(slow, flags=(statement("slower since {since}: kernel", since="2026-11-02"),))
    mixed = pool("amd-16-spot", 0.48, (4, 5), changes=(PART,), flags=(_lost_disks(),))
    pools = (
        pool("intel-30", 1.0, (1, 2), machine_types=("n2-standard-32", "n2-standard-16")),
        pool("amd-30", 0.97, (1, 2), changes=(DEARER,)),
        pool("intel-16", 0.7, (3, 3), disks=("2 × nvme_card, 375 GiB",)),
        slow,
        mixed,
        _unlike(),
    )
    return Fleet(
        title="Pools of gecko",
        as_of=AS_OF,
        ordered_by="write",
        drawn="write",
        figures=FIGURES,
        pools=pools,
        margin_ratio=0.05,
        notes=(statement("{count} results are from the future: left out", count="2"),),
        unreadable=("task Fqm6GL_zRPurCmd1rRuTRQ: its artifact expired",),
    )


def _lost_disks() -> Statement:
    return statement("{part} of {all} machines have no local SSD", part="3", all="12")


def _unlike() -> FleetPool:
    """A pool with one machine, no price, few figures, and other work."""
    made = pool("hardware", 0.3, (6, 6), price=None, machines=1, pushes=1, address="past/hardware")
    write = replace(
        made.cells["write"],
        best_rank=None,
        worst_rank=None,
        is_assumed=True,
        cost=None,
        machines=1,
    )
    return replace(
        made,
        machine_types=(),
        images=(),
        disks=(),
        cells={"write": write},
        points=points(360.0, weeks=1),
        last=date(2026, 10, 20),
        flags=(_NOT_MEASURED, statement("one machine only")),
        predicted=PoolPredicted(reason=statement("it has no result that a prediction can use")),
    )


@cache
def predicted() -> Fleet:
    """The same pools for a profiled task, the fastest first."""
    return replace(ordinary(), ordered_by="minutes", program="build-linux64/opt")


@cache
def nothing() -> Fleet:
    """Nothing could be read."""
    fleet = replace(ordinary(), pools=(), figures=(), drawn="", notes=())
    return replace(fleet, unreadable=("index io-benchmark: HTTP 503",))


@cache
def many(pools: int = 60) -> Fleet:
    """As many pools as a project has."""
    return replace(ordinary(), pools=tuple(_many(pools)))


def _many(pools: int) -> Iterator[FleetPool]:
    for number in range(pools):
        name = f"releng-hardware-{number:02d}-linux-vm-gcp"
        ranks = (max(number - 1, 1), min(number + 3, pools))
        changes = (replace(SLOWER, key=str(number), is_alert=False),) if number % 5 == 0 else ()
        flags = (_lost_disks(), _NOT_MEASURED) if number % 7 == 0 else ()
        yield pool(name, 1 - number / 80, ranks, changes=changes, flags=flags)


@cache
def hostile() -> Fleet:
    """An attack in every text that comes from a file or an index."""
    kept: Mapping[str, str] = {
        word: word for figure in FIGURES for word in (figure.name, figure.label, figure.unit)
    }

    def attack(word: str) -> str:
        if word in kept or not word:
            return word
        return HOSTILE_NAMES[len(word) % len(HOSTILE_NAMES)]

    fleet: Fleet = replace(ordinary(), figures=(), program="x")
    attacked: Fleet = rewritten(fleet, attack)
    pools = tuple(
        replace(row, pool=name, address="=cmd|' /C calc'!A0")
        for row, name in zip(attacked.pools, (*HOSTILE_NAMES, "=1+1"), strict=False)
    )
    return replace(
        attacked,
        figures=FIGURES,
        ordered_by="write",
        drawn="write",
        pools=pools,
        notes=tuple(map(text, HOSTILE_NAMES)),
        unreadable=HOSTILE_NAMES,
        remarks=HOSTILE_NAMES,
    )
