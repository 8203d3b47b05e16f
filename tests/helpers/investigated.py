# SPDX-License-Identifier: MPL-2.0
"""A slow task on the loopback: its runs on two pools, its profile, and results of these pools.

The machines are simulated, and so is the task: it writes, computes, and waits for something else.
Its times follow from what its machines can do, so that a cause that is not there explains nothing.
"""

import itertools
import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from string import ascii_uppercase
from typing import Any

import real_tasks
import workload_entries
from loopback_deployment import PROFILE, Deployment
from predicted_tasks import profile_document
from simulated_machine import MIB, Machine
from simulated_results import Pool, measure_one
from situations import FAST, SLOW
from submitted_tasks import add_measured

from io_benchmark.sources.run_results import queue_time

GROUP, RESULTS = "Q0dZr3pPQ3m2cV9zqv1l9A", "Kb3vW0hXRf-8sD5tYq2mZA"
LABEL = "test-linux/opt-slow"
BEGIN = datetime(2026, 3, 2, 8, tzinfo=UTC)
HALF_SECONDS = 240
MINUTES = 30.0
VARIATION = (-0.02, 0.01, 0.02, -0.01, 0.015, -0.015)
# What workers of Google Cloud say: one with one local SSD, and one that may have any number.
TYPES = {SLOW: f"type-{SLOW}", FAST: f"type-{FAST}"}
MACHINE_TYPES = {SLOW: "c3d-standard-16-lssd", FAST: "c2-standard-16"}


@dataclass(frozen=True)
class Task:
    """What a task does: shares of its time on the fast machine.

    It waits for other things meanwhile.
    """

    writing: float = 0.0
    computing: float = 0.0
    waiting_factor: float = 1.0  # of what is neither, on the slow pool
    set_up_min: Mapping[str, float] = field(default_factory=dict)
    pending_min: Mapping[str, float] = field(default_factory=dict)
    # From this day on it takes so many times as long, on all pools.
    grows_on_day: int | None = None
    growth: float = 1.5
    days: int = 1

    def minutes(self, machine: Machine, fast: Machine, pool: str) -> float:
        """Return how long its own work takes on a machine."""
        writes = fast.write_bytes_per_s() / machine.write_bytes_per_s()
        computes = machine.user_factor / fast.user_factor / min(1.0, machine.quota_cpus or 1.0)
        other = 1 - self.writing - self.computing
        other *= self.waiting_factor if pool == SLOW else 1.0
        return MINUTES * (self.writing * writes + self.computing * computes + other)

    def run(self, pool: str, start: datetime, minutes: float) -> real_tasks.Row:
        """Return a run whose own work takes this long."""
        begin = start + timedelta(minutes=self.set_up_min.get(pool, 1.0))
        end = begin + timedelta(minutes=minutes)
        moments = {
            "scheduled": start - timedelta(minutes=self.pending_min.get(pool, 1.0)),
            "started": start,
            "resolved": end + timedelta(minutes=0.2),
            "own_started": begin,
            "own_ended": end,
        }
        row = {"label": LABEL, "kind": "test", "run_id": 0, "state": "completed"}
        row |= {"reason": "completed", "worker": f"us-central1-a/{pool}-{start:%d-%H}"}
        return row | {name: queue_time(moment) for name, moment in moments.items()}

    def profile(self, fast: Machine, worker_type: str) -> dict[str, Any]:
        """Return its profile on the fast machine."""
        rate = fast.write_bytes_per_s() / MIB / 2
        at_full = [
            int((at + 1) * self.writing) > int(at * self.writing) for at in range(HALF_SECONDS)
        ]
        document = profile_document(
            [rate if full else 0.0 for full in at_full],
            cpu_s=max(0.1, HALF_SECONDS / 2 * self.computing),
        )
        document["task"]["pool"] = worker_type
        timeline = document["timeline"]
        (disk,) = timeline["devices"].values()
        # Requests of 256 KiB, of which each of two striped disks does half.
        disk["writes"] = [size // (512 * 1024) for size in disk["written_bytes"]]
        idle = [0] * (HALF_SECONDS + 1)
        timeline["columns"] |= {
            "psi_io_some_us": _sums(490_000 * full for full in at_full),
            "cpu_user_ms": _sums(max(15.0, 500 * self.computing) for _ in at_full),
            **{f"cpu_{name}_ms": idle for name in ("nice", "system", "irq", "softirq")},
        }
        document["host"]["cpu_count"] = document["host"]["cpu_online_count"] = fast.cpus
        return document


def _sums(values: Iterable[float]) -> list[int]:
    return [round(total) for total in itertools.accumulate(values, initial=0.0)]


def add_task(
    deployment: Deployment,
    task: Task,
    machines: Mapping[str, Sequence[Machine]],
    fast: Machine,
    queues: Mapping[str, str] = TYPES,
) -> str:
    """Add a group with the task's runs, a worker per machine; return the address of a slow one."""
    first = ""
    for pool, of_pool in machines.items():
        for day, (number, machine) in itertools.product(range(task.days), enumerate(of_pool)):
            minutes = task.minutes(machine, fast, pool) * (1 + VARIATION[(number + day) % 6])
            if task.grows_on_day is not None and day >= task.grows_on_day:
                minutes *= task.growth
            start = BEGIN + timedelta(days=day, hours=number)
            name = f"{pool:A<7.7}{ascii_uppercase[number]}Q{ascii_uppercase[day]}"
            task_id = f"{name}C{'A' * 11}"
            row = task.run(pool, start, minutes) | {"pool": queues[pool], "task_id": task_id}
            real_tasks.add_rows(deployment, GROUP, [row])
            # Profiles of the faster pool alone: one tells what slower machines add.
            if pool == FAST and day == task.days - 1:
                times = {"started": row["own_started"], "ended": row["own_ended"]}
                profile = task.profile(fast, queues[pool])
                deployment.leave(task_id, {**profile, **times}, PROFILE)
            first = first or task_id
    return f"task:{first}"


def add_results(
    deployment: Deployment,
    pools: Sequence[Pool],
    queues: Mapping[str, str] = TYPES,
) -> str:
    """Add a push with the benchmark's results of these pools; return its address."""
    for pool in pools:
        for number in range(pool.workers):
            document = result(pool, number)
            add_measured(deployment, document, RESULTS, BEGIN, worker_type=queues[pool.name])
    return f"group:{RESULTS}"


def result(pool: Pool, number: int) -> dict[str, Any]:
    """Return what a worker of a pool measures."""
    machine = Pool(pool.name, pool.machine_of(number), pool.workers)
    document: dict[str, Any] = pickle.loads(_measured(machine, number))  # noqa: S301
    document["workloads"] += workload_entries.entries(only=("random-io", "spawn"))
    machine_type = f"projects/1/machineTypes/{MACHINE_TYPES[pool.name]}"
    document["task"]["instance_type"] = machine_type
    return document


@cache
def _measured(pool: Pool, number: int) -> bytes:
    """Return a document to copy: many tests have the same machines."""
    return pickle.dumps(measure_one(pool, number, 1, trials=True).document)


def machines_of(pool: Pool, workers: int) -> list[Machine]:
    """Return the machines that real tasks run on: as the benchmark's, over and over."""
    return [pool.machine_of(number % pool.workers) for number in range(workers)]
