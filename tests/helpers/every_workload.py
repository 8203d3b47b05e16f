# SPDX-License-Identifier: MPL-2.0
"""The seed's three pools with every workload: on amd-16 each seed's case is visible."""

from functools import cache

from seed_workers import measured, workers

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import SampledReport

SLOWER = {
    "random-io/read-depth-32": 2.0,
    "random-io/write-depth-32": 2.0,
    "spawn": 1.06,
    "sync-write/dsync-append": 5.0,
    "sync-write/append-fsync": 4.0,
    "metadata/stat/2": 1.8,
    "metadata/stat/4": 4.5,
    "metadata/visibility": 10.0,
    "exec/copies": 1.5,
    "upload/connection-each": 150.0,
}
OBSERVED = {
    "metadata/visibility": {"not_visible": 200, "longest_invisible_ns": 5_000_000},
    "upload/connection-each": {"expect_100_stalls": 50},
}


@cache
def report() -> SampledReport:
    """Compare the pools; amd-30 has a larger cache, hence a different binary and no verdict on exec."""
    change = {
        "intel": measured(seed=1),
        "amd-16": measured(SLOWER, observed=OBSERVED, seed=2),
        "amd-30": measured(seed=3, parameters={"exec": {"blob_bytes": 40_000_000}}),
    }
    plan = Plan(
        "amd-16, amd-30 against intel",
        "intel",
        "for the test",
        (("amd-16", "intel"), ("amd-30", "intel")),
    )
    return compare(plan, workers(pools=tuple(change), change=change), Options())
