# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How long a task may take at worst, so that none is made that its time budget cannot hold."""

import math
from dataclasses import dataclass

from io_benchmark_taskgraph.mistakes import BadKeyError, shown
from io_benchmark_taskgraph.stanza import Benchmark

# Stop before the limit: a task that is stopped at it gets no signal and uploads nothing.
MARGIN_S = 300
# The slowest pool to plan for; the slowest disk known here, one local SSD, writes 350 MiB/s.
SLOWEST_MIB_PER_S = 50
# What the workload cache-retrieve writes: its cache once a place, and an average file a retrieve.
# A test holds them against CACHE_SIZES_MIB in the script's workloads/cache_retrieve.py.
CACHE_MIB = 5_700
RETRIEVE_MIB = 57


# The other workloads have limits of their own: what they take at most, with what they write first
# at the slowest pool's speed. A test holds them against the script's limits.
ONCE_S = {"spawn": 30, "upload": 140}
EACH_PLACE_S = {"exec": 80, "metadata": 90, "random-io": 95, "sync-write": 130}


@dataclass(frozen=True)
class Written:
    """What a task writes at most."""

    once_mib: int
    each_retrieve_mib: int

    def seconds(self, retrieves: int) -> int:
        return math.ceil(
            (self.once_mib + retrieves * self.each_retrieve_mib) / SLOWEST_MIB_PER_S
        )

    def retrieves_within(self, budget_s: int) -> int:
        return (budget_s * SLOWEST_MIB_PER_S - self.once_mib) // self.each_retrieve_mib


def time_budget_s(max_run_time_s: object) -> int:
    """What the script may use of the task's time."""
    key = "worker.max-run-time"
    if isinstance(max_run_time_s, bool) or not isinstance(max_run_time_s, int):
        raise BadKeyError(
            key,
            f"{shown(max_run_time_s)} is not a number of seconds; write one such as 3600",
        )
    if max_run_time_s <= MARGIN_S:
        raise BadKeyError(
            key,
            f"{max_run_time_s} leaves no time to measure, since the script stops {MARGIN_S} s "
            "before it; write one such as 3600",
        )
    return max_run_time_s - MARGIN_S


def others_s(benchmark: Benchmark) -> int:
    """What the workloads other than cache-retrieve take at most."""
    places = len(benchmark.places)
    return sum(
        ONCE_S.get(workload, 0) + places * EACH_PLACE_S.get(workload, 0)
        for workload in benchmark.workloads
    )


def check(benchmark: Benchmark, budget_s: int) -> None:
    """Refuse what would not end in time on the slowest pool."""
    if "cache-retrieve" in benchmark.workloads:
        _check_retrieves(benchmark, budget_s)
        return
    estimate_s = others_s(benchmark)
    if estimate_s > budget_s:
        raise BadKeyError(
            "benchmark.workloads",
            f"{', '.join(benchmark.workloads)} x {len(benchmark.places)} place(s) may take "
            f"{estimate_s} s and the time budget is {budget_s} s; raise worker.max-run-time to "
            f"{estimate_s + MARGIN_S} or name fewer workloads",
        )


def _check_retrieves(benchmark: Benchmark, budget_s: int) -> None:
    places, destinations = len(benchmark.places), len(benchmark.destinations)
    written = Written(places * CACHE_MIB, places * destinations * RETRIEVE_MIB)
    beside_s = others_s(benchmark)
    retrieves_s = written.seconds(benchmark.retrieves)
    estimate_s = retrieves_s + beside_s
    if estimate_s <= budget_s:
        return
    remedy = f"raise worker.max-run-time to {estimate_s + MARGIN_S}"
    fitting = written.retrieves_within(budget_s - beside_s)
    if fitting > 0:
        remedy += f" or lower benchmark.retrieves to {fitting}"
    beside = f", the other workloads {beside_s} s," if beside_s else ""
    raise BadKeyError(
        "benchmark.retrieves",
        f"{benchmark.retrieves} retrieves x {places} place(s) x {destinations} destination(s) of "
        f"cache-retrieve take {retrieves_s} s at {SLOWEST_MIB_PER_S} MiB/s{beside} and the time "
        f"budget is {budget_s} s; {remedy}",
    )
