# SPDX-License-Identifier: MPL-2.0
"""Jobs whose time on any number of CPUs is known: a scheduler that shares CPUs fairly runs them.

A job is a list of sections, one after the other. A section has items, which take CPU time, wait
for something, and hold a lock, and so many of them are worked on at once. The time and the profile
of a run come from the same scheduler.
"""

import json
import math
import random
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

from msgspec.structs import replace
from predicted_tasks import profile_document, result_documents, run_of
from seed_workers import worker

from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.analysis.prediction.prediction_model import PoolPrediction
from io_benchmark.results.reader import parse_profile
from io_benchmark.sources.run_results import RunProfile

STEP_S = 0.1
FOLLOWS = 0  # as many items at once as there are CPUs


class Section(NamedTuple):
    """Items of one kind, and how many of them are worked on at once."""

    width: int
    items: int
    cpu_s: float
    wait_s: float = 0
    locked_s: float = 0  # CPU time with a lock that one item has at a time
    spread: float = 0.5  # how much the times of items differ
    chain: float = 0  # the share of items that need the one before them


class Moment(NamedTuple):
    """For so long, so many threads could run."""

    seconds: float
    runnable: int


class _Item:
    """What is left of an item: its parts, in turn."""

    def __init__(self, section: Section, chance: random.Random) -> None:
        factor = math.exp(chance.gauss(0, section.spread))
        parts = [("wait", section.wait_s), ("cpu", section.cpu_s), ("lock", section.locked_s)]
        self.parts = [(kind, seconds * factor) for kind, seconds in parts if seconds]
        self.needs_previous = chance.random() < section.chain
        self.is_done = False


def run_job(job: Sequence[Section], cpus: int, seed: int = 0) -> list[Moment]:
    """Run a job on so many CPUs."""
    chance = random.Random(seed)
    moments: list[Moment] = []
    for section in job:
        items = [_Item(section, chance) for _ in range(section.items)]
        moments += _run_section(items, section.width or cpus, cpus)
    return moments


def _run_section(items: list[_Item], width: int, cpus: int) -> list[Moment]:
    moments: list[Moment] = []
    waiting = list(enumerate(items))
    active: list[_Item] = []
    lock_of: _Item | None = None
    while waiting or active:
        while waiting and len(active) < width:
            number, item = waiting[0]
            if item.needs_previous and number and not items[number - 1].is_done:
                break
            active.append(waiting.pop(0)[1])
        if lock_of is None:
            lock_of = next((item for item in active if item.parts[0][0] == "lock"), None)
        on_cpu = [item for item in active if item.parts[0][0] == "cpu" or item is lock_of]
        rate = min(1.0, cpus / max(1, len(on_cpu)))
        rates = {id(item): rate for item in on_cpu}
        for item in active:
            if item.parts[0][0] == "wait":
                rates[id(item)] = 1.0
        seconds = min(item.parts[0][1] / rates[id(item)] for item in active if id(item) in rates)
        moments.append(Moment(seconds, len(on_cpu)))
        for item in list(active):
            if id(item) not in rates:
                continue
            (kind, left), *rest = item.parts
            left -= seconds * rates[id(item)]
            item.parts = [(kind, left), *rest] if left > 1e-9 else rest
            if left <= 1e-9 and item is lock_of:
                lock_of = None
            if not item.parts:
                item.is_done = True
                active.remove(item)
    return moments


def some_job(chance: random.Random, cpus: int, width: int) -> tuple[Section, ...]:
    """Return a job of a usual kind, for some seconds on so many CPUs."""
    cpu_s = chance.uniform(4, 10) * cpus
    start, end = Section(1, 1, 0.4), Section(1, 4, chance.uniform(0.05, 0.6))
    kind = chance.choice(("build", "plain", "rounds", "waiting", "locking", "serial", "chained"))

    def parallel(work_s: float, item_s: float, **more: float) -> Section:
        return Section(width, max(1, round(work_s / item_s)), item_s, **more)

    if kind == "plain":
        return (parallel(cpu_s, 0.2),)
    if kind == "rounds":
        return (start, parallel(cpu_s / 5, chance.uniform(0.05, 0.2))) * 5
    if kind == "waiting":
        return (parallel(cpu_s, 0.1, wait_s=chance.uniform(0.01, 0.1)), end)
    if kind == "locking":
        return (parallel(cpu_s, 0.1, locked_s=chance.uniform(0.002, 0.02)),)
    if kind == "serial":
        return (Section(1, 20, 0.3, wait_s=chance.choice((0, 0.1))),)
    if kind == "chained":
        return (parallel(cpu_s, 0.2, chain=chance.uniform(0, 0.3)), end)
    return (start, parallel(cpu_s, chance.uniform(0.05, 0.5)), end)


def seconds_of(moments: Sequence[Moment]) -> float:
    return sum(moment.seconds for moment in moments)


def profile_of(
    job: Sequence[Section], cpus: int, *, seed: int = 0, has_threads: bool = True
) -> RunProfile:
    """Return the profile of a run, as `measure` writes it."""
    document = document_of(job, cpus, seed=seed, has_threads=has_threads)
    return run_of(parse_profile(json.dumps(document).encode(), "profile"))


def document_of(
    job: Sequence[Section], cpus: int, *, seed: int = 0, has_threads: bool = True
) -> dict[str, Any]:
    """Return the same as the document of its file."""
    moments = run_job(job, cpus, seed)
    ends = list(accumulate((moment.seconds for moment in moments), initial=0.0))
    busy = [min(moment.runnable, cpus) for moment in moments]
    worked = list(
        accumulate((each * m.seconds for each, m in zip(busy, moments, strict=True)), initial=0.0)
    )
    times_s = [STEP_S * row for row in range(int(ends[-1] / STEP_S) + 1)] + [ends[-1] + 1e-3]
    busy_s, threads, position = [], [], 0
    for time_s in times_s:
        while position < len(moments) - 1 and ends[position + 1] <= time_s:
            position += 1
        within_s = min(moments[position].seconds, time_s - ends[position])
        busy_s.append(worked[position] + busy[position] * within_s)
        threads.append(moments[position].runnable)
    rows = len(times_s)
    idle = ("cpu_nice_ms", "cpu_system_ms", "cpu_irq_ms", "cpu_softirq_ms", "dirty_bytes")
    columns: dict[str, Any] = {
        **dict.fromkeys((*idle, "writeback_bytes", "psi_io_some_us"), [0] * rows),
        "time_ns": [round(1e9 * time_s) for time_s in times_s],
        "cpu_user_ms": [round(1e3 * each) for each in busy_s],
    }
    if has_threads:
        columns["runnable_threads"] = threads
    document = profile_document((0,), cpu_s=worked[-1])
    document["task"]["pool"] = f"cpus-{cpus}"
    document["host"] |= {"cpu_count": cpus, "cpu_online_count": cpus}
    document["limits"]["cpu"] = []
    for table in document["timeline"]["devices"].values():
        table |= {name: [0] * rows for name in table}
    document["timeline"]["columns"] = columns
    document["wall_ns"] = columns["time_ns"][-1]
    return document


@cache
def workers_with(cpus: int) -> tuple[Worker, ...]:
    """Return workers of a pool with so many CPUs; the disks and CPUs of all of them are alike."""
    documents = result_documents("intel", (100,) * 3)
    for number, document in enumerate(documents):
        document["host"] |= {
            "cpu_count": cpus,
            "cpu_online_count": cpus,
            "boot_id": f"{cpus}-{number}",
        }
    return tuple(replace(worker(document), pool=f"cpus-{cpus}") for document in documents)


def predicted_with(cpus: int, *profiles: RunProfile) -> PoolPrediction:
    """Return the prediction on so many CPUs."""
    pools = {f"{run.pool}" for run in profiles} | {f"cpus-{cpus}"}
    sizes = [int(pool.removeprefix("cpus-")) for pool in sorted(pools)]
    workers = [worker for size in sizes for worker in workers_with(size)]
    (task,) = predict(profiles, workers)
    return next(each for each in task.pools if each.pool == f"cpus-{cpus}")
