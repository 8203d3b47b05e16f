# SPDX-License-Identifier: MPL-2.0
"""Changes of a pool: which are found, when, of which machines, and by which facts."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
import simulated_fleet
from msgspec.structs import replace

from io_benchmark.analysis.fleet.changes import PoolChanges, changes_of, is_announced
from io_benchmark.analysis.fleet.figures import FIGURES
from io_benchmark.analysis.fleet.fleet_model import ChangedFact, FleetChange, WorkerReading
from io_benchmark.analysis.fleet.pool_readings import by_pool
from io_benchmark.analysis.reading.machines import MachineMarks
from io_benchmark.costs.worker_time import Price

MARGIN = 0.05
START = datetime(2026, 1, 5, 3, tzinfo=UTC)
# Workers of a push, which differ by 5 %, and the weeks by less.
WORKERS = (-0.05, 0.0, 0.05)
WEEKS = (0.0, 0.02, -0.01, 0.01, -0.02)
TWO_DISKS = {"disks": "2", "kernel": "6.8", "zone": "a"}


@dataclass
class Past:
    """A pool that measures every week; `slower` says how much slower a worker is in a week."""

    weeks: int = 20
    workers: int = 3
    figures: Mapping[str, float] = field(default_factory=lambda: {"write": 700.0})

    def __post_init__(self) -> None:
        self.slower: dict[tuple[int, int, str], float] = {}
        self.facts: dict[tuple[int, int], Mapping[str, str]] = {}
        self.work: dict[int, str] = {}
        self.missing: set[int] = set()
        self.price: dict[int, Price] = {}

    def change(
        self,
        start: int,
        ratio: float = 1.0,
        *,
        end: int = 1000,
        workers: Sequence[int] = range(9),
        figure: str = "write",
        facts: Mapping[str, str] | None = None,
    ) -> "Past":
        """Make these workers slower from one week until before another."""
        for week in range(start, min(end, self.weeks)):
            for worker in workers:
                self.slower[week, worker, figure] = ratio
                if facts is not None:
                    self.facts[week, worker] = facts
        return self

    def readings(self) -> list[WorkerReading]:
        return [
            self._reading(week, worker)
            for week in range(self.weeks)
            if week not in self.missing
            for worker in range(self.workers)
        ]

    def _reading(self, week: int, worker: int) -> WorkerReading:
        noise = WEEKS[week % 5] + WORKERS[worker % 3] * (-1) ** week
        values = {
            name: usual * math.exp(noise) / self.slower.get((week, worker, name), 1.0)
            for name, usual in self.figures.items()
        }
        facts = self.facts.get((week, worker), TWO_DISKS)
        return WorkerReading(
            pool="intel",
            time=START + timedelta(weeks=week),
            group=f"group-{week}",
            task_id=f"task-{week}-{worker}",
            marks=MachineMarks(f"worker-{week}-{worker}", pool="intel"),
            facts=tuple(facts.items()),
            values=values,
            work=dict.fromkeys(values, self.work.get(week, "1 GiB")),
            price=self.price.get(week),
        )


def found_in(past: Past | list[WorkerReading]) -> PoolChanges:
    readings = past.readings() if isinstance(past, Past) else past
    (pool,) = by_pool(readings)
    return changes_of(pool, FIGURES, MARGIN)


def day(week: int) -> date:
    return (START + timedelta(weeks=week)).date()


def test_steady() -> None:
    """A pool that only varies has no change, and its level begins with its first push."""
    changes = found_in(Past())
    assert changes.changes == ()
    assert changes.levels["write"] == ("1 GiB", START)


def test_slower() -> None:
    """A slower pool is found with the second push, with all that is known of the change."""
    changes = found_in(Past().change(15, 1.4))
    (change,) = changes.changes
    assert (change.figure, change.since, change.found) == ("write", day(15), day(16))
    assert change.key == "intel slower 2026-04-20"
    assert change.ratio == pytest.approx(1.4, rel=0.03)
    assert change.interval is not None
    assert change.interval.low_ratio < 1.4 < change.interval.high_ratio
    assert (change.machines, change.of_machines, change.facts) == (6, 6, ())
    assert change.is_alert
    assert changes.levels["write"].start == START + timedelta(weeks=15)


def test_faster() -> None:
    """A faster pool has a change that is no alert."""
    (change,) = found_in(Past().change(15, 1 / 1.4)).changes
    assert change.key == "intel faster 2026-04-20"
    assert change.ratio == pytest.approx(1 / 1.4, rel=0.03)
    assert not change.is_alert


@pytest.mark.parametrize(("ratio", "is_changed"), [(1.03, False), (1.2, True)])
def test_margin(ratio: float, is_changed: bool) -> None:
    """A difference below the margin is no change, however certain."""
    past = Past(weeks=40, workers=9)
    assert bool(found_in(past.change(20, ratio)).changes) is is_changed


@pytest.mark.parametrize(("start", "is_changed"), [(5, False), (6, True)])
def test_warm_up(start: int, is_changed: bool) -> None:
    """There is no change before a pool has six pushes."""
    assert bool(found_in(Past(weeks=start + 2).change(start, 1.6)).changes) is is_changed


def test_a_single_push() -> None:
    """All workers of one week are slow: no change, whatever the ratio."""
    assert found_in(Past().change(15, 3.0, end=16)).changes == ()


def test_a_noisy_neighbour() -> None:
    """One worker of a week is slow, and another one in the next week: no change."""
    past = Past().change(15, 2.0, end=16, workers=[1]).change(16, 2.0, end=17, workers=[2])
    assert found_in(past).changes == ()


def test_a_single_worker() -> None:
    """A pool of single workers needs two slow pushes, as others do."""
    assert found_in(Past(workers=1).change(15, 2.0, end=16)).changes == ()
    (change,) = found_in(Past(workers=1).change(15, 2.0)).changes
    assert (change.since, change.found) == (day(15), day(16))


def test_a_part_with_fewer_disks() -> None:
    """One of three machines lost a disk: found with its first push, as a part of the pool."""
    one_disk = {**TWO_DISKS, "disks": "1"}
    past = Past().change(15, 1.9, workers=[1], facts=one_disk)
    (change,) = found_in(past).changes
    assert (change.since, change.found) == (day(15), day(15))
    assert (change.machines, change.of_machines) == (1, 3)
    assert change.facts == (ChangedFact("disks", "2", "1"),)
    assert change.is_alert


def test_machines_of_two_kinds() -> None:
    """Machines of two kinds from the start are no change, and one more kind that is alike."""
    one_disk = {**TWO_DISKS, "disks": "1"}
    assert found_in(Past().change(0, 1.9, workers=[1], facts=one_disk)).changes == ()
    assert found_in(Past().change(15, 1.0, workers=[1], facts=one_disk)).changes == ()


@pytest.mark.parametrize(("start", "is_changed"), [(11, False), (12, True)])
def test_the_first_of_a_kind(start: int, is_changed: bool) -> None:
    """A kind of machine is new after twelve readings of others; before, it may just be rare."""
    past = Past(weeks=start + 1, workers=1)
    past.change(start, 1.9, facts={**TWO_DISKS, "disks": "1"})
    assert bool(found_in(past).changes) is is_changed


@pytest.mark.parametrize(("back", "is_new"), [(34, False), (36, True)])
def test_a_kind_that_returns(back: int, is_new: bool) -> None:
    """A kind of machine that 25 pushes did not have is new; one that they had is rare."""
    one_disk = {**TWO_DISKS, "disks": "1"}
    past = Past(weeks=back + 1).change(0, 1.9, end=10, facts=one_disk)
    changes = found_in(past.change(back, 1.9, facts=one_disk)).changes
    expected = [(day(back), True)] if is_new else []
    assert [(change.since, change.is_alert) for change in changes] == [
        *expected,
        (day(10), False),
    ]


def test_a_rare_kind_after_a_change() -> None:
    """A rare kind of machine is expected to have changed as the others did."""
    one_disk = {**TWO_DISKS, "disks": "1"}
    past = Past(weeks=30, workers=1).change(15, 1.6)
    for week, ratio in ((4, 1.9), (9, 1.9), (20, 1.9 * 1.6), (21, 1.9 * 1.6)):
        past.change(week, ratio, end=week + 1, facts=one_disk)
    assert [change.since for change in found_in(past).changes] == [day(15)]


def test_a_drift() -> None:
    """A pool that becomes slower little by little, from some week on, has no step."""
    past = Past(weeks=50, workers=9)
    for week in range(30, 50):
        past.change(week, 1.01 ** (week - 29), end=week + 1)
    assert found_in(past).changes == ()


def test_machines_that_stay() -> None:
    """Two weeks with a slow machine of a pool alone are no change: it was slow before."""
    readings = []
    for each in Past(weeks=17, workers=5).readings():
        week, worker = (int(number) for number in each.task_id.split("-")[1:])
        if week >= 15 and worker != 4:
            continue
        marks = MachineMarks(f"worker-{worker}", pool="intel")
        values = {"write": each.values["write"] / (1.5 if worker == 4 else 1.0)}
        readings.append(replace(each, marks=marks, values=values))
    assert found_in(readings).changes == ()
    new_machines = [
        replace(each, marks=MachineMarks(each.task_id, pool="intel")) for each in readings
    ]
    assert len(found_in(new_machines).changes) == 1


def test_a_fact_alone() -> None:
    """Another kernel that slows nothing is no change."""
    assert found_in(Past().change(15, 1.0, facts={**TWO_DISKS, "kernel": "6.9"})).changes == ()


def test_a_fact_with_it() -> None:
    """A fact that changed there is named; a fact that always varies is not."""
    past = Past()
    for week in range(20):
        kernel = "6.9" if week >= 15 else "6.8"
        for worker in range(3):
            facts = {"disks": "2", "kernel": kernel, "zone": f"{week}"}
            past.facts[week, worker] = facts
    (change,) = found_in(past.change(15, 1.3)).changes
    assert change.facts == (ChangedFact("kernel", "6.8", "6.9"),)


def test_a_fact_makes_less_enough() -> None:
    """A fact that changed in the same push makes a smaller slowdown certain."""
    small = 1.18
    without = Past(weeks=17, workers=2).change(15, small)
    with_fact = Past(weeks=17, workers=2).change(15, small, facts={**TWO_DISKS, "kernel": "6.9"})
    assert found_in(without).changes == ()
    assert len(found_in(with_fact).changes) == 1


def test_figures_that_change_together() -> None:
    """Several figures that change at one time are one change of what changed most."""
    past = Past(figures={"write": 700.0, "retrieve": 1 / 30, "unpack": 12e3})
    past.change(15, 1.3).change(15, 1.8, figure="unpack")
    changes = found_in(past)
    (change,) = changes.changes
    assert change.figure == "unpack"
    assert {name: level.start for name, level in changes.levels.items()} == {
        "write": START + timedelta(weeks=15),
        "unpack": START + timedelta(weeks=15),
        "retrieve": START,
    }


def test_slower_and_faster_at_once() -> None:
    """A figure that became faster does not hide one that became slower."""
    past = Past(figures={"write": 700.0, "unpack": 12e3})
    past.change(15, 1.3).change(15, 1 / 3, figure="unpack")
    assert {(change.figure, change.is_alert) for change in found_in(past).changes} == {
        ("write", True),
        ("unpack", False),
    }


def test_figures_of_the_kernel() -> None:
    """The kernel's figures together are certain before any of them is."""
    past = Past(weeks=17, workers=2, figures={"kernel": 2e6, "spawn": 900.0, "unpack": 12e3})
    for figure in past.figures:
        past.change(15, 1.14, figure=figure, facts={**TWO_DISKS, "kernel": "6.9"})
    generator = random.Random(4)
    together = [
        replace(
            reading,
            values={
                name: value * math.exp(generator.gauss(0, 0.05))
                for name, value in reading.values.items()
            },
        )
        for reading in past.readings()
    ]
    for figure in past.figures:
        alone = [replace(each, values={figure: each.values[figure]}) for each in together]
        assert found_in(alone).changes == ()
    assert [change.found for change in found_in(together).changes] == [day(16)]


def test_a_second_change() -> None:
    """A later change is a second one, of the level since the first."""
    changes = found_in(Past(weeks=40).change(15, 1.4, end=28).change(28, 1.4 * 1.5)).changes
    assert [change.since for change in changes] == [day(28), day(15)]
    assert changes[0].ratio == pytest.approx(1.5, rel=0.05)


def test_another_work() -> None:
    """Another size of the workload begins a level without a change."""
    past = Past().change(12, 3.0)
    past.work = dict.fromkeys(range(12, 20), "4 GiB")
    changes = found_in(past)
    assert changes.changes == ()
    assert changes.levels["write"] == ("4 GiB", START + timedelta(weeks=12))


def test_works_that_alternate() -> None:
    """Two program versions in turn are two series, and a change is found in both as one."""
    past = Past(weeks=40)
    for week in range(40):
        past.work[week] = ("old", "new")[week % 2]
        for worker in range(3):
            past.slower[week, worker, "write"] = (1.0, 2.0)[week % 2] * (1.5 if week >= 30 else 1)
    (change,) = found_in(past).changes
    assert change.since == day(30)
    assert found_in(past).levels["write"] == ("new", START + timedelta(weeks=31))


def test_missing_weeks() -> None:
    """Weeks without results are no pushes."""
    past = Past().change(15, 1.4)
    past.missing = {8, 9, 10, 15}
    (change,) = found_in(past).changes
    assert (change.since, change.found) == (day(16), day(17))


def test_a_price() -> None:
    """Another price is a change, and no alert; a small one, or another kind of price, is none."""
    past = Past(weeks=9)
    amounts = {1: 0.40, 2: 0.41, 3: 0.43, 4: 0.43}
    past.price = {week: Price(amount, "USD", "spot") for week, amount in amounts.items()}
    past.price |= {5: Price(0.60, "USD", "on-demand"), 6: Price(0.55, "EUR", "spot")}
    (change,) = found_in(past).changes
    assert change == FleetChange(
        "intel price 2026-01-26", "price", day(3), day(3), 0.43 / 0.40, None
    )


def test_prices_of_machine_types() -> None:
    """Two machine types with different prices in turn are no change of the price."""
    past = Past(weeks=9)
    for week in range(9):
        past.price[week] = Price((0.4, 0.8)[week % 2], "USD")
        for worker in range(3):
            past.facts[week, worker] = {"instance type": ("small", "large")[week % 2]}
    assert found_in(past).changes == ()


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan, 1e300, 5e-324])
def test_impossible_values(value: float) -> None:
    """A value that cannot be is left out."""
    readings = Past().readings()
    readings[40:] = [replace(each, values={"write": value}) for each in readings[40:]]
    assert found_in(readings).changes == ()


def test_extreme_ratio() -> None:
    """The largest possible ratio is finite, and so is its interval."""
    (change,) = found_in(Past(figures={"write": 1e17}).change(15, 1e28)).changes
    assert change.interval is not None
    assert math.isfinite(change.ratio)
    assert math.isfinite(change.interval.high_ratio)


def test_week_by_week() -> None:
    """Each week's changes are those of the weeks before, unchanged, and what this week shows."""
    generator = np.random.default_rng(7)
    planted = simulated_fleet.planted_changes(generator, 15)
    fleet = simulated_fleet.simulated_fleet(generator, planted=planted, pools=4)
    for readings in fleet.readings.values():
        at_once = found_in(readings).changes
        for time in sorted({reading.time for reading in readings})[::7]:
            until = [reading for reading in readings if reading.time <= time]
            known = [change for change in at_once if change.found <= time.date()]
            assert list(found_in(until).changes) == known


def test_order_of_readings() -> None:
    """The order in which readings are given changes nothing."""
    readings = Past().change(15, 1.4).readings()
    shuffled = random.Random(1).sample(readings, len(readings))
    assert found_in(shuffled) == found_in(readings)


@pytest.mark.parametrize(
    ("key", "is_same"),
    [
        ("intel slower 2026-04-20", True),
        ("intel slower 2026-05-11", True),
        ("intel slower 2026-05-12", False),
        ("intel faster 2026-04-20", False),
        ("amd slower 2026-04-20", False),
        ("intel slower soon", False),
        ("", False),
    ],
)
def test_announced(key: str, is_same: bool) -> None:
    """A change that late results moved by a few weeks is the one that was announced."""
    (change,) = found_in(Past().change(15, 1.4)).changes
    assert is_announced(change, ["", key]) is is_same
