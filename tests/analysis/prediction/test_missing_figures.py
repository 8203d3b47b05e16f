# SPDX-License-Identifier: MPL-2.0
"""Which figures a prediction lacks, and the command that measures them."""

from typing import Any

from predicted_tasks import (
    both_pools,
    pool_workers,
    profile,
    profile_document,
    run_of,
)
from seed_workers import workers

from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.report.content import text_of

NO_FIGURES = "has no write ceiling of the place workspace"
NO_SYNCS = ", no append-fsync at workspace"
NO_RANDOM_IO = "no random-io at workspace (requests per second)"
MEASURE = "measure all that predictions use, in about a minute"
RUN, SUBMIT = "`python3 io-benchmark.pyz run --pool", "or on Taskcluster: `io-benchmark submit"


def missing(*results: Any) -> str:
    """Return the reason that is given for amd-16."""
    profiled = profile((10,) * 4, syncs={"flushes": 2, "commits": 1})
    (task,) = predict([run_of(profiled)], results)
    (reason,) = [pool.reason for pool in task.pools if pool.pool == "amd-16"]
    assert reason is not None
    return text_of(reason)


def test_missing_figures() -> None:
    """One reason has all that is missing in both pools, and the command that measures all of it."""
    assert missing(*pool_workers("amd-16")) == (
        f"intel, where the task was profiled, has no results in --on; {MEASURE}: {RUN} intel "
        f"--capacities`, {SUBMIT} --capacities -j intel`"
    )
    assert missing(*pool_workers("intel"), *workers(pools=["amd-16"])) == (
        f"intel has {NO_RANDOM_IO}; amd-16 {NO_FIGURES}{NO_SYNCS}, {NO_RANDOM_IO}; "
        f"{MEASURE} per pool: {RUN} NAME --capacities`, {SUBMIT} --capacities -j intel,amd-16`"
    )
    assert missing(*workers(pools=["intel", "amd-16"])) == (
        f"intel {NO_FIGURES}{NO_SYNCS}, {NO_RANDOM_IO}; amd-16 {NO_FIGURES}{NO_SYNCS}, "
        f"{NO_RANDOM_IO}; {MEASURE} per pool: {RUN} NAME --capacities`, {SUBMIT} --capacities "
        "-j intel,amd-16`"
    )


def test_a_place_of_another_name() -> None:
    """The command measures the place that the profile names."""
    place = {**profile_document()["storage"]["places"][0], "name": "cache"}
    change = {"storage": {"places": [place]}, "syncs": {"cache": {"flushes": 0, "commits": 0}}}
    (task,) = predict([run_of(profile(change=change))], both_pools())
    reason = task.pools[0].reason
    assert reason is not None
    text = text_of(reason)
    assert "intel has no write ceiling of the place cache; amd-16 has no" in text
    assert "run --pool NAME --place cache=/PATH --capacities`, or" in text
