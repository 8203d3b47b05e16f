# SPDX-License-Identifier: MPL-2.0
"""Find slow machines of pools by the runs of real tasks: read them and judge each pool."""

import re
from collections.abc import Mapping, Sequence
from datetime import date

from msgspec import field
from msgspec.structs import replace

from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.model.statements import statement
from io_benchmark.analysis.tasks.machines.find_machines import find_machines
from io_benchmark.analysis.tasks.machines.machine_model import (
    ExplainedMachines,
    MachinePool,
    MachineReport,
    MachineState,
)
from io_benchmark.analysis.tasks.machines.machine_runs import MachineRuns
from io_benchmark.analysis.tasks.machines.measured_machines import machines_of, measured_machine
from io_benchmark.context import Context
from io_benchmark.costs.worker_time import Price
from io_benchmark.operations.compare import read_workers
from io_benchmark.operations.tasks import pool_of, pools_by_queue
from io_benchmark.sources.gather import gather_task_runs
from io_benchmark.sources.protocol import RunQuery
from io_benchmark.sources.run_results import TaskRun

_TOLD_EACH = 1000  # runs


class _MachinesQuery(RunQuery, kw_only=True):
    """Keeps columns of the runs alone, so that a million of them has room."""

    machine_runs: MachineRuns = field(default_factory=MachineRuns)

    def keep(self, run: TaskRun, address: int) -> None:  # noqa: ARG002
        self.machine_runs.add(run)
        count = len(self.machine_runs.seen)
        if count % _TOLD_EACH == 0:
            self.progress("reading runs", count, None)


def judge_task_machines(
    context: Context,
    addresses: Sequence[str],
    *,
    label: re.Pattern[str] | None,
    pools: Sequence[str],
    since: date | None,
    margin: float,
    prices: Mapping[str, Price],
    on: Sequence[str] = (),
) -> ExplainedMachines:
    """Judge the machines of each pool; results at `on` show what differs on slow ones."""
    with context.progress() as progress:
        query = _MachinesQuery(
            context.environment, progress, label=label, pools=tuple(pools), since=since
        )
        reading = gather_task_runs(addresses, query)
    report = find_machines(query.machine_runs, margin=margin, prices=prices)
    workers = read_workers(on, context).results if on else ()
    remarks = [statement("{remark}", remark=remark) for remark in reading.remarks]
    report = replace(
        report,
        pools=tuple(_measured(pool, workers) for pool in report.pools),
        remarks=(*report.remarks, *remarks),
        unreadable=reading.unreadable,
    )
    return ExplainedMachines(
        **{name: getattr(report, name) for name in MachineReport.__struct_fields__},
        addresses=tuple(addresses),
    )


def _measured(pool: MachinePool, workers: Sequence[Worker]) -> MachinePool:
    """Add what results of the benchmark say about the pool's slow machines."""
    name = pool_of(pool.pool, pools_by_queue(workers))
    machines = machines_of([worker for worker in workers if worker.pool == name])
    if not machines:
        return pool
    return replace(
        pool,
        machines=tuple(
            replace(machine, measured=measured_machine(machine.machine, machines))
            if machine.state is MachineState.SLOW
            else machine
            for machine in pool.machines
        ),
    )
