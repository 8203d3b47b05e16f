# SPDX-License-Identifier: MPL-2.0
"""Check the `benchmark` stanza, and that the task has enough time for it.

From here on the stanza is a `Benchmark`.
"""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph.mistakes import BadKeyError, in_task, quoted
from io_benchmark_taskgraph.parameters import PERFHERDER, override
from io_benchmark_taskgraph.stanza import Benchmark
from io_benchmark_taskgraph.transforms import Tasks
from io_benchmark_taskgraph.worker_program import maximum_time_s

# The script stops this long before the limit: a task that reaches it gets no signal and uploads nothing.
MARGIN_S = 300
# The slowest pool to plan for; the slowest disk known here, one local SSD, writes 350 MiB/s.
SLOWEST_MIB_PER_S = 50
# What the workload cache-retrieve writes: its cache once per place, and an average file per retrieve.
# A test compares them with CACHE_SIZES_MIB in the script's workloads/cache_retrieve.py.
CACHE_MIB = 5_700
RETRIEVE_MIB = 57
# The time of trials, as a share of the time of the retrieves before them.
TRIALS_PERCENT = 15
# The workload whose time follows from its sizes; each other workload has a maximum time.
CACHE_RETRIEVE = "cache-retrieve"


def time_budget_s(limit_s: Any) -> int:
    """Return how much of the task's time the script may use."""
    if type(limit_s) is int and limit_s > MARGIN_S:
        return limit_s - MARGIN_S
    problem = f"is not a number of seconds above {MARGIN_S}; write one such as 3600"
    raise BadKeyError("worker.max-run-time", f"{quoted(limit_s)} {problem}")


def check_duration(benchmark: Benchmark, budget_s: int) -> None:
    """Refuse a task that would not end in time on the slowest pool."""
    places, destinations = len(benchmark.places), len(benchmark.destinations)
    others = [name for name in benchmark.workloads if name != CACHE_RETRIEVE]
    others_s = maximum_time_s(others, places)
    if CACHE_RETRIEVE not in benchmark.workloads:
        if others_s > budget_s:
            raise BadKeyError(
                "benchmark.workloads",
                f"{', '.join(benchmark.workloads)} x {places} place(s) may take {others_s} s and "
                f"the time budget is {budget_s} s; raise worker.max-run-time to "
                f"{others_s + MARGIN_S} or name fewer workloads",
            )
        return
    # Trials follow the retrieves that overwrite, as the script decides.
    is_overwriting = "overwrite" in benchmark.destinations and benchmark.fidelity == "seed"
    has_trials = is_overwriting and benchmark.trials != "never"
    percent = 100 * destinations + (TRIALS_PERCENT if has_trials else 0)
    cache_mib = places * CACHE_MIB
    retrieve_mib = Fraction(places * RETRIEVE_MIB * percent, 100)
    retrieves_s = math.ceil((cache_mib + benchmark.retrieves * retrieve_mib) / SLOWEST_MIB_PER_S)
    if retrieves_s + others_s <= budget_s:
        return
    remedy = f"raise worker.max-run-time to {retrieves_s + others_s + MARGIN_S}"
    fitting = ((budget_s - others_s) * SLOWEST_MIB_PER_S - cache_mib) // retrieve_mib
    if fitting > 0:
        remedy += f" or lower benchmark.retrieves to {fitting}"
    trials = " with trials" if has_trials else ""
    other_times = f", the other workloads {others_s} s," if others_s else ""
    raise BadKeyError(
        "benchmark.retrieves",
        f"{benchmark.retrieves} retrieves x {places} place(s) x {destinations} destination(s) of "
        f"cache-retrieve{trials} take {retrieves_s} s at {SLOWEST_MIB_PER_S} MiB/s{other_times} "
        f"and the time budget is {budget_s} s; {remedy}",
    )


def _check_stanza(config: Any, tasks: Tasks) -> Tasks:
    perfherder = override(config.params, PERFHERDER)
    for task in tasks:
        with in_task(config, task):
            benchmark = Benchmark.parse(task.get("benchmark"))
            budget_s = time_budget_s(task.get("worker", {}).get("max-run-time"))
            check_duration(benchmark, budget_s)
        if perfherder:
            benchmark = replace(benchmark, perfherder=perfherder)
        task["benchmark"] = benchmark
        yield task


transforms = TransformSequence()
transforms.add(_check_stanza)
