# SPDX-License-Identifier: MPL-2.0
"""What a task may take at worst, compared with its time."""

import importlib
import math
from statistics import mean
from types import SimpleNamespace

import pytest
import settings as script_settings
from measuring import trials
from user_mistakes import mistake
from workloads.cache_retrieve import CACHE_SIZES_MIB

from io_benchmark_taskgraph import stanza
from io_benchmark_taskgraph.transforms import benchmark as module
from io_benchmark_taskgraph.worker_program import WorkerProgram

SMALLEST = {"workloads": ["cache-retrieve"], "retrieves": 2000}
TWO_PLACES = {"places": ["workspace", {"name": "other", "path": "/builds/worker/io-benchmark"}]}
THREE_DESTINATIONS = {"destination": ["overwrite", "unlink", "fresh"]}


def check(budget_s, **changes):
    benchmark = stanza.Benchmark.parse({**SMALLEST, **changes})
    module._check_duration(benchmark, budget_s)


@pytest.mark.parametrize(
    ("changes", "needed_s", "text"),
    [
        # (5,700 + 2,000 x 57) / 50 = 2,394, and with trials x 1.15.
        ({}, 2394, "2000 retrieves x 1 place(s) x 1 destination(s) take 2394 s at 50 MiB/s, and"),
        # Trials follow the destination overwrite alone.
        ({"trials": "always", **THREE_DESTINATIONS}, 7296, " with trials take 7296 s"),
        ({"trials": "auto", "destination": "fresh"}, 2394, "destination(s) take 2394 s"),
        (
            {**TWO_PLACES, **THREE_DESTINATIONS},
            13_908,
            "2 place(s) x 3 destination(s) take 13908 s",
        ),
        ({"retrieves": 1}, 116, "take 116 s"),  # 115.14
        # Whatever else is given.
        (
            {"capacities": True, **TWO_PLACES},
            600,
            (
                "capacities x 2 place(s) may take 600 s, and the time budget is 599 s; raise "
                "worker.max"
            ),
        ),
        # Each other workload has a limit per task or per place; retrieves get what they leave.
        (
            {"workloads": ["spawn", "upload", "metadata", "sync-write"], **TWO_PLACES},
            30 + 140 + 2 * (90 + 130),
            "the time budget is 609 s; raise worker.max-run-time to 910 or name fewer workloads",
        ),
        (
            {"workloads": ["cache-retrieve", "random-io"]},
            2394 + 95,
            "may take 95 s, and the time budget is 2488 s; raise worker.max-run-time to 2789",
        ),
    ],
)
def test_exactly_enough(changes, needed_s, text):
    """A budget of the estimate is enough, one second less is not."""
    check(needed_s, **changes)
    assert text in mistake(check, needed_s - 1, **changes)


def test_remedies():
    """Both remedies are numbers that work; where not even the cache fits, only more time helps."""
    assert mistake(check, 3300, **TWO_PLACES).endswith(
        "; raise worker.max-run-time to 5088 or lower benchmark.retrieves to 1347"
    )
    check(5088 - module.MARGIN_S, **TWO_PLACES)
    check(3300, **TWO_PLACES, retrieves=1347)
    mistake(check, 3300, **TWO_PLACES, retrieves=1348)
    assert "retrieves to" not in mistake(check, 115)
    assert mistake(check, 116).endswith(" to 2694 or lower benchmark.retrieves to 1")


@pytest.mark.parametrize("value", [300, None, True, 3600.0])
def test_no_time(value):
    """The script stops 300 s before its task would be stopped; less than that is refused."""

    def task(limit_s):
        return {"benchmark": SMALLEST, "worker": {"max-run-time": limit_s}}

    assert module.checked_benchmark(task(3600))[1] == 3300
    assert "the time budget is 1 s" in mistake(module.checked_benchmark, task(301))
    text = f"{value!r} is not a number of seconds above 300; write one such as 3600"
    assert mistake(module.checked_benchmark, task(value)) == f"worker.max-run-time: {text}"


# What comes before and after the limited part: files that are made, processes that start. Of
# unpack: the archive, and of each variant the warm-up and the last sample: 50 MiB/s, cold and
# synced.
USUALLY_BESIDE_S = 10
BESIDE_S = {"exec": 20, "metadata": 30, "random-io": 35, "unpack": 40, "upload": 20}
IN_BATCHES = sorted({*WorkerProgram.read().workload_names()} - {"cache-retrieve"})


@pytest.mark.parametrize("name", IN_BATCHES)
def test_limits_are_the_scripts(name, monkeypatch):
    """All variants at their limits, with eight CPUs, fit what is planned for the workload."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: set(range(8)))
    workload = importlib.import_module("workloads." + name.replace("-", "_")).WORKLOAD
    given = ["--pool", "p", "--workload", "w", "--place", "a=/a", "--output", "/x"]
    given += ["--profile", "full", "--upload-url", "https://host.example/"]
    # As much of the script's bench as a plan needs.
    bench = SimpleNamespace(settings=script_settings.parse(given, ["w"]))
    measuring, limits_s = workload(bench, bench.settings.places[0], "/a"), []
    for variant in measuring.variants():
        parameters = measuring.plan(variant)["parameters"]
        windows_s = parameters["samples_planned"] * (parameters.get("window_ns") or 0) / 10**9
        limits_s.append(min(windows_s or math.inf, parameters["time_limit_s"]))
    beside_s = BESIDE_S.get(name, USUALLY_BESIDE_S)
    assert sum(limits_s) + beside_s <= workload.maximum_s
    planned_s = WorkerProgram.read().maximum_time_s([name], places=3)
    assert planned_s == workload.maximum_s * (3 if workload.per_place else 1)


def test_constants_are_the_scripts():
    """Sizes, and the share of trials."""
    sizes_mib = list(CACHE_SIZES_MIB)
    assert (sum(sizes_mib), mean(sizes_mib)) == (module.CACHE_MIB, module.RETRIEVE_MIB)
    assert module.TRIALS_PERCENT == trials.TRIALS_PERCENT


def test_capacities() -> None:
    """The transforms embed the workloads that the script then chooses."""
    assert stanza.CAPACITIES == script_settings.CAPACITIES
    assert stanza.CAPACITIES_S == script_settings.CAPACITIES_S
    benchmark = stanza.Benchmark.parse({**SMALLEST, "capacities": True})
    assert benchmark.measured_workloads == script_settings.CAPACITIES
