# SPDX-License-Identifier: MPL-2.0
"""Reports about machines, as the golden files have them, and runs on machines one by one."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
from msgspec.structs import replace
from simulated_nodes import DAY_MS, START_MS, SimulatedPool

from io_benchmark.analysis.tasks.machines.find_machines import find_machines
from io_benchmark.analysis.tasks.machines.machine_model import ExplainedMachines, MachineReport
from io_benchmark.analysis.tasks.machines.machine_runs import MachineRuns
from io_benchmark.costs.worker_time import Price
from io_benchmark.sources.run_results import TaskRun

HOUR_MS = 3_600_000
POOL = "hw/linux"
PRICES = {"linux": Price(0.4, "USD")}


def run(
    worker: str,
    day: float = 0.0,
    minutes: float = 30.0,
    label: str = "build",
    pool: str = POOL,
    state: str = "completed",
) -> TaskRun:
    """Return one run, which began so many days after the first."""
    started_ms = START_MS + round(day * DAY_MS)
    return TaskRun(
        label=label,
        pool=pool,
        task_id="",
        run_id=0,
        worker=worker,
        state=state,
        reason=state,
        started_ms=started_ms,
        resolved_ms=started_ms + round(minutes * 60_000),
    )


def added(runs: Sequence[TaskRun]) -> MachineRuns:
    """Return the runs as the command keeps them."""
    kept = MachineRuns()
    for each in runs:
        kept.add(each)
    return kept


def month(
    factors: Mapping[str, float],
    *,
    days: int = 28,
    per_day: int = 4,
    spread: float = 0.02,
    pool: str = POOL,
    failing: Mapping[str, float] | None = None,
) -> list[TaskRun]:
    """Return runs of two labels on machines with these factors; of some a share fails."""
    dice = np.random.default_rng(3)
    runs = []
    for worker, factor in factors.items():
        for day in range(days):
            for number in range(per_day):
                label, usual = (("build", 40.0), ("test", 15.0))[number % 2]
                minutes = usual * factor * float(np.exp(dice.normal(0, spread)))
                share = (failing or {}).get(worker, 0.01)
                state = "failed" if dice.random() < share else "completed"
                runs.append(run(worker, day + number / per_day, minutes, label, pool, state))
    return runs


def explained(report: MachineReport) -> ExplainedMachines:
    return ExplainedMachines(
        margin_ratio=report.margin_ratio,
        first_day=report.first_day,
        last_day=report.last_day,
        pools=report.pools,
        remarks=report.remarks,
        unreadable=report.unreadable,
        addresses=("runs.csv",),
    )


def hardware() -> ExplainedMachines:
    """Twenty machines: two are slow, of which one was not always, one fails, one is new."""
    factors = {f"mdc1/node-{number:02}": 1 + number % 5 / 100 for number in range(20)}
    factors["mdc1/node-07"] = 1.3
    failing = {"mdc1/node-12": 0.2}
    runs = month(factors, failing=failing)
    runs = slowed_since(runs, "mdc1/node-03", START_MS + 14 * DAY_MS, 1.4)
    runs.append(run("mdc1/node-20", 27.5))
    return explained(find_machines(added(runs), prices=PRICES))


def many() -> ExplainedMachines:
    """A pool of 120 machines, of which eight are slow, two pools without any, and instances."""
    dice = np.random.default_rng(1)
    slow = tuple(1.2 + number / 20 for number in range(8))
    pools = [SimulatedPool(nodes=120, slow=slow, days=14, runs_per_day=3).runs(dice).runs]
    runs = [
        TaskRun(
            label=made.labels[label],
            pool=made.pool,
            task_id="",
            run_id=0,
            worker=made.machines[machine],
            state="completed",
            reason="completed",
            started_ms=int(started_ms),
            resolved_ms=int(started_ms + time_ms),
        )
        for made in pools
        for label, machine, started_ms, time_ms in zip(
            made.label, made.machine, made.started_ms, made.time_ms, strict=True
        )
    ]
    usual = {f"mdc2/box-{number}": 1 + number % 3 / 100 for number in range(9)}
    runs += month(usual, pool="hw/mac")
    runs += month({"a/1": 1.0, "a/2": 1.5}, pool="hw/two")
    runs += short_lived_runs()
    return explained(find_machines(added(runs)))


def short_lived_runs() -> list[TaskRun]:
    """Instances of a cloud that live for an hour."""
    return [
        run(f"us-east1/{instance:05}", instance / 20 + number / 96, 12.0, pool="cloud/linux")
        for instance in range(200)
        for number in range(4)
    ]


def nothing() -> ExplainedMachines:
    """No run."""
    return explained(find_machines(MachineRuns()))


def hostile() -> ExplainedMachines:
    """Names that would end a line, color a terminal or become markup."""
    bad = "[x](javascript:1) | \x1b[31m `a`\u202e<b>" + "long " * 60
    factors = {f"g/{bad}{number}": 1 + number % 3 / 50 for number in range(12)}
    factors[f"g/{bad}5"] = 1.5
    runs = month(factors, pool=f"one {bad}")
    return explained(replace(find_machines(added(runs)), unreadable=(bad,)))


def table(runs: Iterable[TaskRun]) -> str:
    """Return the runs as CSV."""
    rows = ["label,pool,worker,state,started,resolved"]
    for run_of in runs:
        started, resolved = (
            datetime.fromtimestamp(moment_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            for moment_ms in (run_of.started_ms, run_of.resolved_ms)
        )
        names = (run_of.label, run_of.pool, run_of.worker, run_of.state)
        rows.append(",".join((*names, started, resolved)))
    return "\n".join(rows) + "\n"


def slowed_since(
    runs: Iterable[TaskRun], worker: str, since_ms: float, factor: float
) -> list[TaskRun]:
    """Return the runs, of which those of a worker from this moment on take longer."""
    return [
        replace(
            each, resolved_ms=each.started_ms + round(factor * (each.resolved_ms - each.started_ms))
        )
        if each.worker == worker and each.started_ms >= since_ms
        else each
        for each in runs
    ]


def example() -> str:
    """Return the documentation's table: ten machines, one is slow and one became slow."""
    usual = {f"mdc1/linux-hw-{number:02}": 1 + number % 4 / 100 for number in range(10)}
    runs = month({**usual, "mdc1/linux-hw-03": 1.3}, days=14, per_day=2, pool="hw/linux-hw")
    return table(slowed_since(runs, "mdc1/linux-hw-07", START_MS + 8 * DAY_MS, 1.4))
