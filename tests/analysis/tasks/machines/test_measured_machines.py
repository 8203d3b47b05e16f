# SPDX-License-Identifier: MPL-2.0
"""What results of the benchmark say about a machine: times and facts of others of its pool."""

from collections.abc import Sequence
from typing import Any

import pytest
import seed_workers
from msgspec.structs import replace

from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.tasks.machines.machine_model import MeasuredMachine
from io_benchmark.analysis.tasks.machines.measured_machines import machines_of, measured_machine
from io_benchmark.report.content import text_of

POOL = "amd-16"


def workers(count: int = 6, first: dict[str, Any] | None = None, **others: Any) -> list[Worker]:
    """Return results of machines, of which the first has other facts."""
    change = {POOL: {"host.firmware": "2.0", **others}, f"{POOL}/0": first or {}}
    return seed_workers.workers(count, 0, 0.02, pools=(POOL,), change=change)


def slowed(made: Sequence[Worker], factor: float) -> list[Worker]:
    first, *rest = made
    runs = tuple(seed_workers.slowed(run, factor) for run in first.runs)
    return [replace(first, runs=runs), *rest]


def of_first(made: Sequence[Worker]) -> MeasuredMachine:
    measured = measured_machine(made[0].worker_id, machines_of(made))
    assert measured is not None
    return measured


@pytest.mark.parametrize(("factor", "is_unusual"), [(1.0, False), (1.5, True)])
def test_times(factor: float, is_unusual: bool) -> None:
    """They are divided by those of the others, and unusual where one more would not be so."""
    measured = of_first(slowed(workers(), factor))
    (row,) = measured.measurements
    assert (measured.results, measured.other_machines, row.is_unusual) == (1, 5, is_unusual)
    assert row.ratio == pytest.approx(factor, rel=0.1)
    assert row.usual.low_ratio < 1 < row.usual.high_ratio


@pytest.mark.parametrize(("count", "rows"), [(3, 0), (4, 1)])
def test_few_others(count: int, rows: int) -> None:
    """Two other machines do not show which is usual."""
    measured = of_first(workers(count, {"host.firmware": "1.2"}))
    assert (len(measured.measurements), len(measured.differences)) == (rows, rows)


def test_facts() -> None:
    """Those that differ have the usual value; those of all machines are not named."""
    first = {"host.firmware": "1.2", "host.kernel": "5.4.0", "host.cpu_throttle_count": 12345}
    everyone = {"host.cpu_throttle_count": 3, "host.cpu_governor": "performance"}
    lines = [text_of(fact) for fact in of_first(workers(6, first, **everyone)).differences]
    assert "firmware: 1.2 (usual: 2.0, on 5 of 5)" in lines
    assert (
        "CPU throttled since its boot: 1,000 times or more (usual: less than 1,000 times, on 5 of "
        "5)"
    ) in lines
    assert [line.split(":")[0] for line in lines] == [
        "kernel",
        "firmware",
        "CPU throttled since its boot",
    ]


def test_names() -> None:
    """A machine is found by its id alone where only one has it, not where two groups do."""
    made = workers()
    machines = machines_of(made)
    name = made[0].worker_id.rpartition("/")[2]
    assert measured_machine(name, machines) == measured_machine(made[0].worker_id, machines)
    assert measured_machine("no/such", machines) is None
    twin = replace(made[1], worker_id=f"other/{name}")
    assert measured_machine(name, machines_of([made[0], twin, *made[2:]])) is None


def test_several_results_of_a_machine() -> None:
    """They count as one machine."""
    first, second, *rest = workers()
    again = replace(second, worker_id=first.worker_id)
    measured = of_first([first, again, *rest])
    assert (measured.results, measured.other_machines) == (2, 4)
