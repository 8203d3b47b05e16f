# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How long a task may take at worst, so that none is made that its time budget cannot hold."""

import math
from typing import Any

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


def time_budget_s(limit_s: Any) -> int:
    """What the script may use of the task's time."""
    if type(limit_s) is int and limit_s > MARGIN_S:
        return limit_s - MARGIN_S
    text = f"{shown(limit_s)} is not a number of seconds above {MARGIN_S}"
    raise BadKeyError("worker.max-run-time", f"{text}; write one such as 3600")


def others_s(benchmark: Benchmark) -> int:
    """What the workloads other than cache-retrieve take at most."""
    places = len(benchmark.places)
    return sum(
        ONCE_S.get(workload, 0) + places * EACH_PLACE_S.get(workload, 0)
        for workload in benchmark.workloads
    )


def check_duration(benchmark: Benchmark, budget_s: int) -> None:
    """Refuse what would not end in time on the slowest pool."""
    places, destinations = len(benchmark.places), len(benchmark.destinations)
    beside_s = others_s(benchmark)
    if "cache-retrieve" not in benchmark.workloads:
        if beside_s > budget_s:
            raise BadKeyError(
                "benchmark.workloads",
                f"{', '.join(benchmark.workloads)} x {places} place(s) may take {beside_s} s and "
                f"the time budget is {budget_s} s; raise worker.max-run-time to "
                f"{beside_s + MARGIN_S} or name fewer workloads",
            )
        return
    once_mib = places * CACHE_MIB
    each_mib = places * destinations * RETRIEVE_MIB
    retrieves_s = math.ceil(
        (once_mib + benchmark.retrieves * each_mib) / SLOWEST_MIB_PER_S
    )
    if retrieves_s + beside_s <= budget_s:
        return
    remedy = f"raise worker.max-run-time to {retrieves_s + beside_s + MARGIN_S}"
    fitting = ((budget_s - beside_s) * SLOWEST_MIB_PER_S - once_mib) // each_mib
    if fitting > 0:
        remedy += f" or lower benchmark.retrieves to {fitting}"
    beside = f", the other workloads {beside_s} s," if beside_s else ""
    raise BadKeyError(
        "benchmark.retrieves",
        f"{benchmark.retrieves} retrieves x {places} place(s) x {destinations} destination(s) of "
        f"cache-retrieve take {retrieves_s} s at {SLOWEST_MIB_PER_S} MiB/s{beside} and the time "
        f"budget is {budget_s} s; {remedy}",
    )
