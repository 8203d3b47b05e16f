# SPDX-License-Identifier: MPL-2.0
"""What is not predicted, and the reason that is given: also the figures that are missing."""

import json
from typing import Any

import pytest
from predicted_tasks import (
    DISK,
    LIMITED_REQUESTS,
    MIB,
    SLOWING_DOWN,
    both_pools,
    pool_workers,
    profile,
    profile_document,
    result_documents,
    run_of,
    slower_syncs,
)
from seed_facts import cpu_limit
from seed_workers import worker, workers

from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.report.content import text_of
from io_benchmark.results.reader import parse_profile

WITHOUT_WAITING = {"waiting": 0.0}
MORE_CPUS = {"change": {"host.cpu_online_count": 32, "host.cpu_count": 32}}
ON_WINDOWS = {"change": {"host.system": "windows"}}
HALF_THE_CPUS = {"change": {"host.cpu_online_count": 8, "host.cpu_count": 8}}
NO_SPAWN, ONLY_SPAWN = {"only": ("sync-write/append-fsync",)}, {"only": ("spawn",)}
FAILED = {"code": 1, "signal": None, "error": None}
EMPTY = {"interval_s": 0.1, "columns": {}, "devices": {}}
NO_REQUESTS = (
    "intel has no random-io at workspace (requests per second); "
    "amd-16 has no random-io at workspace (requests per second); measure all"
)
UNCOVERED = "the profile's timeline is not of all its time; profile it again"
ON_AMD = "; profile the task on amd-16"
NO_FIGURES = "has no write ceiling of the place workspace"
NO_SYNCS = ", no append-fsync at workspace"
NO_RANDOM_IO = "no random-io at workspace (requests per second)"
MEASURE = "measure all that predictions use, in about a minute"
RUN, SUBMIT = "`python3 io-benchmark.pyz run --pool", "or on Taskcluster: `io-benchmark submit"


def refusal(
    text: str, target: Any = None, source: Any = None, *, more: Any = None, **profiled: Any
) -> Any:
    """Return a row: the beginning of the reason, or no text where there is none.

    `more` is of the document.
    """
    profiled |= {"change": more} if more else {}
    return profiled, target or {}, source or {}, text


@pytest.mark.parametrize(
    ("profiled", "target", "source", "text"),
    [
        refusal("the profiled command failed; profile it again", more={"ending": FAILED}),
        refusal("the profile has no CPU time of the command; profile", more={"usage": None}),
        refusal(UNCOVERED, more={"timeline": EMPTY}),
        refusal(UNCOVERED, more={"wall_ns": 20_000_000_000}),
        refusal(
            "the profile watched no disk; profile with --place", more={"storage": {"places": []}}
        ),
        refusal("the command took less than 1.00 s, which does not show", written_mib=(0,)),
        refusal("the profile does not name its pool; name it by --pool NAME", pool=None),
        refusal(
            "the task was profiled on Linux, and amd-16 is on Windows: the work is not the same; "
            "profile the task on amd-16",
            ON_WINDOWS,
        ),
        refusal(
            "the profile and the results of intel are of different systems; check --pool",
            ON_WINDOWS,
            ON_WINDOWS,
        ),
        # A disk that writes more than 1.5 ceilings has another one.
        refusal(
            "the profile's disks wrote more than those of intel can; check", written_mib=(76,) * 4
        ),
        refusal("", written_mib=(74,) * 4),
        # A disk with a burst: what only computes does not meet it.
        refusal("retrieves of amd-16 took 2.93× as long", SLOWING_DOWN, written_mib=(50,) * 4),
        refusal("", SLOWING_DOWN, cpu_s=1),
        # CPUs: how parallel work divides is not known, and what nothing compares neither.
        refusal(
            "the task used 6.00 CPUs on average, and amd-16 has 0.50× as many as the profiled "
            f"machine{ON_AMD}",
            HALF_THE_CPUS,
            cpu_s=12,
        ),
        refusal("", HALF_THE_CPUS, cpu_s=2),
        # Twice the CPUs may be used by a task that kept so many busy that it saves a third.
        refusal(
            "nothing shows how many threads it would run there; profile it on amd-16, or here with "
            "as many jobs as amd-16 has CPUs",
            MORE_CPUS,
            **WITHOUT_WAITING,
            cpu_s=17.2,
            busy_cpus=(8.6,) * 4,
        ),
        refusal("", MORE_CPUS, **WITHOUT_WAITING, cpu_s=16.6, busy_cpus=(8.3,) * 4),
        refusal("the task used 0.900 CPUs", {"change": cpu_limit(0.5)}, cpu_s=1.8),
        refusal(
            "intel has no fixed work or spawn that compares its CPUs; amd-16 has no",
            NO_SPAWN,
            cpu_s=0.21,
        ),
        refusal("", NO_SPAWN, cpu_s=0.19),
        refusal(
            "intel has no append-fsync at workspace; "
            "amd-16 has no append-fsync at workspace; measure",
            ONLY_SPAWN,
            ONLY_SPAWN,
            syncs={"flushes": 2, "commits": 1},
        ),
        # What is read in a tenth of the time may be neglected: 100 MiB/s in two seconds.
        refusal(
            "the task read 21 MiB from the disks of workspace", {"ceilings": (100,)}, read_mib=21
        ),
        refusal("", {"ceilings": (100,)}, read_mib=19),
        # How fast a disk of the profile at its ceiling could be, decides on one 20 times as fast.
        refusal("the task would take 20", {"ceilings": (2000,)}, written_mib=(50,) * 8),
        refusal("", {"ceilings": (108,)}, written_mib=(50,) * 8),
        # 800 requests in each half second; nothing but spawn was measured.
        refusal(NO_REQUESTS, ONLY_SPAWN, ONLY_SPAWN, written_mib=(50, 50)),
        # A cgroup counts requests before they are merged: 1,600 in each half second, or 160.
        refusal(
            "the task would take 1,000 ms to 13.9 s",
            LIMITED_REQUESTS,
            written_mib=(10, 10),
            merged=9,
        ),
        refusal("", LIMITED_REQUESTS, written_mib=(10, 10)),
        # Each synchronous write is a request, so that as many as the disk syncs are known.
        refusal(NO_REQUESTS, slower_syncs(10), written_mib=(50, 50)),
        refusal("", slower_syncs(0.5), written_mib=(50, 50)),
        # As many as before they are merged, which a limit may count.
        refusal(NO_REQUESTS, written_mib=(50, 50), merged=9),
    ],
)
def test_reasons(profiled, target, source, text):
    """The first reason counts; without one there is a prediction."""
    pools = [*pool_workers("intel", **source), *pool_workers("amd-16", **target)]
    (task,) = predict([run_of(profile(**profiled))], pools)
    (pool,) = [each for each in task.pools if each.pool == "amd-16"]
    assert (pool.time_ns is None) is (pool.reason is not None)
    known = "" if pool.reason is None else text_of(pool.reason)
    assert known.startswith(text) if text else known == ""


@pytest.mark.parametrize(("delayed", "is_refused"), [(0, False), (10, True)])
def test_a_disk_that_delays_some_requests(delayed: int, is_refused: bool) -> None:
    """The usual sync is fast on a disk that lets bursts pass; the mean bounds its requests."""
    documents = result_documents("amd-16")
    for document in documents:
        samples = document["workloads"][-1]["samples"]
        samples["duration_ns"] = [
            round(duration_ns * (100 if at % 10 < delayed / 10 else 0.5))
            for at, duration_ns in enumerate(samples["duration_ns"])
        ]
    pools = [*pool_workers("intel"), *map(worker, documents)]
    (task,) = predict([run_of(profile((50, 50)))], pools)
    reason = task.pools[0].reason
    assert (reason is not None and text_of(reason).startswith(NO_REQUESTS)) is is_refused


@pytest.mark.parametrize(("read_mib", "is_refused"), [((27,) * 4, False), ((28,) * 4, True)])
def test_reading_behind_the_cpu(read_mib: Any, is_refused: bool) -> None:
    """What is read ahead while the task computes must be there in time.

    25 MiB in half a second are 10 % late.
    """
    made = profile_document((0,) * 4, waiting=0, busy_cpus=(1,) * 4, cpu_s=2)
    read = [round(MIB * sum(read_mib[:row])) for row in range(5)]
    made["timeline"]["devices"][DISK]["read_bytes"] = read
    pools = [*pool_workers("intel"), *pool_workers("amd-16", (50,))]
    (task,) = predict([run_of(parse_profile(json.dumps(made).encode(), "profile"))], pools)
    reason = task.pools[0].reason
    assert (reason is not None and text_of(reason).startswith("the task read")) is is_refused


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
