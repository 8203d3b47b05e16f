# SPDX-License-Identifier: MPL-2.0
"""Machines of a pool, whose truth is known: which are slow, since when, and what that costs."""

import math

import pytest
import sample_machines
from msgspec.structs import replace
from sample_machines import added, month, run, short_lived_runs, slowed_since
from simulated_nodes import DAY_MS, START_MS

from io_benchmark.analysis.statistics.levels import DEFAULT_MARGIN
from io_benchmark.analysis.tasks.machines.find_machines import find_machines
from io_benchmark.analysis.tasks.machines.machine_model import (
    MachineFigures,
    MachinePool,
    MachineReport,
    MachineState,
    PoolState,
)
from io_benchmark.costs.worker_time import Price
from io_benchmark.report.content import text_of
from io_benchmark.sources.run_results import TaskRun, parse_time

USUAL = {f"g/{number:02}": 1 + number % 3 / 100 for number in range(12)}


def found(runs: list[TaskRun], margin: float = DEFAULT_MARGIN) -> MachineReport:
    return find_machines(added(runs), margin=margin)


def only_pool(report: MachineReport) -> MachinePool:
    (pool,) = report.pools
    return pool


def slow_names(runs: list[TaskRun], margin: float = DEFAULT_MARGIN) -> list[str]:
    pool = only_pool(found(runs, margin))
    return [machine.machine for machine in pool.in_state(MachineState.SLOW)]


def machine_of(runs: list[TaskRun], name: str) -> MachineFigures:
    pool = only_pool(found(runs))
    return next(machine for machine in pool.machines if machine.machine == name)


def remarks(runs: list[TaskRun]) -> list[str]:
    return [text_of(remark) for remark in found(runs).remarks]


def test_a_slow_machine() -> None:
    """It has its ratio to usual machines, its load, and what a usual machine would not take."""
    pool = only_pool(found(month({**USUAL, "g/05": 1.4})))
    (slow,) = pool.in_state(MachineState.SLOW)
    assert (slow.machine, slow.since) == ("g/05", None)
    assert slow.ratio == pytest.approx(1.4 / 1.01, abs=0.02)
    assert slow.ratio is not None
    assert slow.interval is not None
    assert slow.interval.low_ratio < 1.4 / 1.01 < slow.interval.high_ratio
    assert slow.lost_hours_per_week == pytest.approx(
        slow.hours_per_week * (1 - 1 / slow.ratio), rel=0.02
    )
    assert pool.machines[0] == slow


def test_equal_machines() -> None:
    """None of them is slow, and how far they vary is known."""
    pool = only_pool(found(month(USUAL)))
    assert {machine.state for machine in pool.machines} == {MachineState.USUAL}
    assert pool.variation_ratio == pytest.approx(0.01, abs=0.005)


@pytest.mark.parametrize(("margin", "count"), [(0.3, 1), (0.45, 0)])
def test_the_margin(margin: float, count: int) -> None:
    """A machine that is slower by less is not named."""
    assert len(slow_names(month({**USUAL, "g/05": 1.4}), margin=margin)) == count


def test_a_machine_that_got_heavier_tasks_is_not_slow() -> None:
    """Half of the machines run a label that takes three times as long; both run a third one."""
    runs = []
    for place, run_of in enumerate(month(USUAL)):
        is_heavy = int(run_of.worker[-2:]) < 6 and place % 4 != 0
        label = "heavy" if is_heavy else run_of.label
        time_ms = run_of.resolved_ms - run_of.started_ms
        resolved_ms = run_of.started_ms + time_ms * (3 if is_heavy else 1)
        runs.append(replace(run_of, label=label, resolved_ms=resolved_ms))
    assert slow_names(runs) == []


def test_a_label_that_became_slower_does_not_make_machines_slow() -> None:
    """Machines that ran it only after that are as fast as those that ran it only before."""
    runs = []
    for run_of in month(USUAL):
        day = (run_of.started_ms - START_MS) / DAY_MS
        is_late = int(run_of.worker[-2:]) < 6
        if run_of.label == "build" and (day >= 14) != is_late:
            continue
        factor = 1.5 if day >= 14 and run_of.label == "build" else 1.0
        time_ms = run_of.resolved_ms - run_of.started_ms
        resolved_ms = run_of.started_ms + round(factor * time_ms)
        runs.append(replace(run_of, resolved_ms=resolved_ms))
    assert slow_names(runs) == []


def test_since_when() -> None:
    """A machine that changed is judged by what it is now, and what it was before is known."""
    runs = sample_machines.hardware()
    slow = only_pool(runs).in_state(MachineState.SLOW)[0]
    assert (slow.machine, slow.since) == ("mdc1/node-03", "2026-04-04")
    assert slow.ratio == pytest.approx(1.4, abs=0.03)
    assert slow.before_ratio == pytest.approx(1.0, abs=0.03)


def test_a_machine_that_was_slow_is_not_slow() -> None:
    """After a repair it is as usual."""
    runs = []
    for run_of in month(USUAL):
        is_slow = run_of.worker == "g/05" and run_of.started_ms < (START_MS + 14 * DAY_MS)
        time_ms = run_of.resolved_ms - run_of.started_ms
        resolved_ms = run_of.started_ms + round(time_ms * (1.5 if is_slow else 1))
        runs.append(replace(run_of, resolved_ms=resolved_ms))
    assert slow_names(runs) == []
    assert machine_of(runs, "g/05").since == "2026-04-03"


def test_few_runs() -> None:
    """A new machine is not judged, however slow its runs are."""
    runs = [*month(USUAL), run("g/new", 27, 400), run("g/new", 27.5, 400)]
    assert machine_of(runs, "g/new").state is MachineState.UNKNOWN
    assert slow_names(runs) == []


def test_a_label_that_no_other_machine_runs() -> None:
    """Nothing shows whether its machine is slow."""
    runs = month(USUAL) + [run("g/alone", day, 90, "own") for day in range(28)]
    assert machine_of(runs, "g/alone").state is MachineState.UNKNOWN


@pytest.mark.parametrize(("machines", "state"), [(3, PoolState.FEW), (5, PoolState.JUDGED)])
def test_few_machines(machines: int, state: PoolState) -> None:
    """Two or three do not show which of them is usual."""
    runs = month({f"g/{number}": 1.0 for number in range(machines)})
    assert only_pool(found(runs)).state is state


def test_instances_of_a_cloud_are_not_named() -> None:
    """Their names mean nothing the next day."""
    pool = only_pool(found(short_lived_runs()))
    assert (pool.state, pool.machines, pool.workers) == (PoolState.SHORT_LIVED, (), 200)
    assert 0.5 < pool.lifetime_hours < 1.5


def test_machines_that_fail() -> None:
    """One that fails more often is named; one bad day is not enough."""
    runs = month(USUAL, failing={"g/03": 0.3})
    bad_day = [run("g/04", 5 + number / 100, state="failed") for number in range(20)]
    pool = only_pool(found(runs + bad_day))
    assert [machine.machine for machine in pool.machines if machine.fails_more] == ["g/03"]


def test_two_machines_with_one_name() -> None:
    """Runs at the same time show it; the name is marked, and nothing is merged silently."""
    runs = month(USUAL)
    runs += [run("g/05", day + 0.001, 15, "test") for day in range(28)]
    (remark,) = remarks(runs)
    assert remark == (
        "g/05 of hw/linux ran several tasks at the same time: that may be several machines with "
        "one name"
    )
    assert machine_of(runs, "g/05").may_be_several
    assert not machine_of(runs, "g/04").may_be_several


def test_workers_that_run_several_tasks_at_once() -> None:
    """Where all do, that is said once, and no name is in doubt."""
    runs = month(USUAL)
    runs += [run(name, day + 0.001, 15, "test") for day in range(28) for name in USUAL]
    (remark,) = remarks(runs)
    assert remark.startswith("workers of hw/linux run several tasks at the same time")
    assert not machine_of(runs, "g/05").may_be_several


def test_one_id_in_two_groups_and_one_name_in_two_pools() -> None:
    """They are judged separately, and named."""
    runs = month({**USUAL, "other/05": 1.0}) + month(USUAL, pool="hw/mac")
    lines = remarks(runs)
    assert lines[0] == (
        "05 of hw/linux: the same id in several worker groups, each of which is judged as a "
        "separate machine"
    )
    assert lines[1].startswith("g/00, g/01, g/02 and 9 more are in several pools")


def test_runs_that_do_not_count() -> None:
    """Without a worker's name, or with times that contradict each other, they are counted."""
    backwards = replace(run("g/01"), resolved_ms=START_MS - 1)
    runs = [*month(USUAL), run(""), backwards, run("g/01", 3), run("g/01", 3)]
    assert remarks(runs) == [
        "runs whose times contradict each other: 1; they are left out",
        "runs without the name of a worker: 1; they are left out",
    ]


@pytest.mark.parametrize("source", ["prices", "costs"])
def test_money(source: str) -> None:
    """Lost hours cost what a pool's price is, given or by its runs."""
    runs = month({**USUAL, "g/05": 1.4})
    prices = {"linux": Price(0.5, "USD")}
    if source == "costs":
        prices = {}
        runs = [
            replace(each, cost=(each.resolved_ms - each.started_ms) / 7_200_000, currency="USD")
            for each in runs
        ]
    pool = only_pool(find_machines(added(runs), prices=prices))
    (slow,) = pool.in_state(MachineState.SLOW)
    assert pool.currency == "USD"
    assert slow.lost_money_per_week is not None
    assert math.isclose(slow.lost_money_per_week, slow.lost_hours_per_week / 2, rel_tol=1e-6)


def test_a_single_day() -> None:
    """Blocks are hours then, and a change has its hour."""
    runs = month(USUAL, days=1, per_day=48)
    midnight = parse_time("2026-03-21")
    assert midnight is not None
    runs = slowed_since(runs, "g/05", midnight.timestamp() * 1000, 2)
    (slow,) = only_pool(found(runs)).in_state(MachineState.SLOW)
    assert (slow.machine, slow.since) == ("g/05", "2026-03-21 00:00")
