# SPDX-License-Identifier: MPL-2.0
"""What a task may take at worst, against its time."""

import ast
import importlib
import math
import re
from statistics import mean

import pytest
import settings as script_settings
import trials

from io_benchmark_taskgraph import estimate, script_modules, stanza
from io_benchmark_taskgraph.mistakes import BadKeyError

from .conftest import REPOSITORY

SCRIPT = "scripts/io-benchmark"
SMALLEST = {"script": SCRIPT, "workloads": ["cache-retrieve"], "retrieves": 2000}
CONTAINER = {"name": "container", "path": "/builds/worker/io-benchmark"}


@pytest.mark.parametrize(
    ("changes", "budget_s"),
    [
        # (5,700 + 2,000 x 57) / 50 = 2,394
        pytest.param({}, 2394, id="without trials"),
        # (5,700 + 2,000 x 57 x 1.15) / 50 = 2,736
        pytest.param({"trials": "auto"}, 2736, id="the kind's own"),
        # (5,700 + 2,000 x 57 x 3.15) / 50 = 7,296
        pytest.param(
            {"trials": "always", "destination": ["overwrite", "unlink", "fresh"]},
            7296,
            id="trials of one destination",
        ),
        pytest.param({"trials": "auto", "destination": "fresh"}, 2394, id="nothing is tried"),
        pytest.param({"trials": "auto", "fidelity": "real"}, 2394, id="not tried as it really is"),
        # 2 x (5,700 + 2,000 x 57) / 50 = 4,788
        pytest.param({"places": ["workspace", CONTAINER]}, 4788, id="two places"),
        # (5,700 + 3 x 2,000 x 57) / 50 = 6,954
        pytest.param({"destination": ["overwrite", "unlink", "fresh"]}, 6954, id="destinations"),
        # (5,700 + 57) / 50 = 115.14
        pytest.param({"retrieves": 1}, 116, id="one retrieve"),
    ],
)
def test_exactly_enough(changes, budget_s):
    """A budget of the estimate holds the workload, one second less does not."""
    benchmark = stanza.Benchmark.parse({**SMALLEST, **changes})
    estimate.check_duration(REPOSITORY, benchmark, budget_s)
    with pytest.raises(BadKeyError, match=f" take {budget_s} s at 50 MiB/s"):
        estimate.check_duration(REPOSITORY, benchmark, budget_s - 1)


def test_message_names_estimate_budget_and_remedy():
    """Both remedies are numbers that work."""
    benchmark = stanza.Benchmark.parse({**SMALLEST, "places": ["workspace", CONTAINER]})
    with pytest.raises(BadKeyError) as caught:
        estimate.check_duration(REPOSITORY, benchmark, 3300)
    assert caught.value.key == "benchmark.retrieves"
    assert caught.value.text == (
        "2000 retrieves x 2 place(s) x 1 destination(s) of cache-retrieve take 4788 s at 50 MiB/s "
        "and the time budget is 3300 s; raise worker.max-run-time to 5088 or lower "
        "benchmark.retrieves to 1347"
    )
    estimate.check_duration(REPOSITORY, benchmark, 5088 - 300)
    fitting = stanza.Benchmark.parse(
        {**SMALLEST, "places": ["workspace", CONTAINER], "retrieves": 1347}
    )
    estimate.check_duration(REPOSITORY, fitting, 3300)
    one_more = stanza.Benchmark.parse(
        {**SMALLEST, "places": ["workspace", CONTAINER], "retrieves": 1348}
    )
    with pytest.raises(BadKeyError):
        estimate.check_duration(REPOSITORY, one_more, 3300)


def test_no_retrieves_fit():
    """Where not even the cache fits, only more time helps."""
    with pytest.raises(BadKeyError) as caught:
        estimate.check_duration(REPOSITORY, stanza.Benchmark.parse(SMALLEST), 100)
    assert caught.value.text.endswith("is 100 s; raise worker.max-run-time to 2694")


@pytest.mark.parametrize(
    ("changes", "seconds"),
    [
        pytest.param({"workloads": ["spawn"]}, 30, id="once"),
        pytest.param({"workloads": ["random-io"]}, 95, id="a place"),
        # 30 + 140 once, and for each place 90 + 130
        pytest.param(
            {
                "workloads": ["spawn", "upload", "metadata", "sync-write"],
                "places": ["workspace", CONTAINER],
            },
            610,
            id="several",
        ),
    ],
)
def test_other_workloads(changes, seconds):
    """Each has a separate limit, once a task or once a place; their sum must fit."""
    benchmark = stanza.Benchmark.parse({**SMALLEST, **changes})
    estimate.check_duration(REPOSITORY, benchmark, seconds)
    with pytest.raises(BadKeyError) as caught:
        estimate.check_duration(REPOSITORY, benchmark, seconds - 1)
    assert caught.value.key == "benchmark.workloads"
    assert caught.value.text == (
        f"{', '.join(benchmark.workloads)} x {len(benchmark.places)} place(s) may take {seconds} s "
        f"and the time budget is {seconds - 1} s; raise worker.max-run-time to {seconds + 300} or "
        "name fewer workloads"
    )


def test_workloads_beside_retrieves():
    """The retrieves get what the others leave."""
    benchmark = stanza.Benchmark.parse({**SMALLEST, "workloads": ["cache-retrieve", "random-io"]})
    estimate.check_duration(REPOSITORY, benchmark, 2394 + 95)
    with pytest.raises(BadKeyError) as caught:
        estimate.check_duration(REPOSITORY, benchmark, 2394)
    assert caught.value.key == "benchmark.retrieves"
    assert caught.value.text == (
        "2000 retrieves x 1 place(s) x 1 destination(s) of cache-retrieve take 2394 s at 50 MiB/s, "
        "the other workloads 95 s, and the time budget is 2394 s; raise worker.max-run-time to 2789 "
        "or lower benchmark.retrieves to 1916"
    )
    fitting = {"workloads": ["cache-retrieve", "random-io"], "retrieves": 1916}
    estimate.check_duration(REPOSITORY, stanza.Benchmark.parse({**SMALLEST, **fitting}), 2394)


def test_budget_is_five_minutes_less():
    """The script stops 300 s before its task would be stopped."""
    assert estimate.time_budget_s(3600) == 3300
    assert estimate.time_budget_s(301) == 1


@pytest.mark.parametrize("value", [300, -1, None, True, "1h", 3600.0])
def test_no_time(value):
    """A max-run-time that leaves nothing is refused, with one that would do."""
    with pytest.raises(BadKeyError) as caught:
        estimate.time_budget_s(value)
    assert caught.value.key == "worker.max-run-time"
    assert caught.value.text == (
        f"{value!r} is not a number of seconds above 300; write one such as 3600"
    )


class OnEightProcessors:
    """As much of the script's bench as a plan needs."""

    def __init__(self):
        given = ["--pool", "p", "--workload", "w", "--place", "a=/a", "--output", "/x"]
        url = ["--upload-url", "https://host.example/"]
        self.settings = script_settings.parse([*given, *url], ["w"])


# What comes before and after the limited part: files that are made, processes that start.
BESIDE_S = {
    "exec": 20,
    "metadata": 30,
    "random-io": 35,
    "spawn": 10,
    "sync-write": 10,
    # The archive, and of each variant the warm-up and the last sample: 50 MiB/s, cold and synced.
    "unpack": 40,
    "upload": 20,
}


@pytest.mark.parametrize("name", sorted(BESIDE_S))
def test_limits_are_the_scripts(name, monkeypatch):
    """All variants at their limits, with eight CPUs, fit what is planned for the workload."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: set(range(8)))
    workload = importlib.import_module("workloads." + name.replace("-", "_")).WORKLOAD
    bench, limits_s = OnEightProcessors(), []
    for variant in workload.variants(bench.settings):
        parameters = workload(bench, bench.settings.places[0], "/a").plan(variant)["parameters"]
        windows_s = parameters["samples_planned"] * (parameters.get("window_ns") or 0) / 10**9
        limits_s.append(min(windows_s or math.inf, parameters["time_limit_s"]))
    assert sum(limits_s) + BESIDE_S[name] <= workload.maximum_s
    planned_s = script_modules.maximum_time_s(REPOSITORY, SCRIPT, [name], places=3)
    assert planned_s == workload.maximum_s * (3 if workload.per_place else 1)


def test_every_workload_is_planned_for():
    """One that is added needs a maximum time, and the time that it takes besides its limits."""
    assert script_modules.workload_names(REPOSITORY / SCRIPT) == sorted(
        ["cache-retrieve", *BESIDE_S]
    )


def test_share_of_trials_is_the_scripts():
    """The estimate gives trials the time that the script takes for them."""
    assert estimate.TRIALS_PERCENT == trials.TRIALS_PERCENT


def test_sizes_are_the_scripts():
    """The estimate's sizes are those of the script's workload."""
    file = REPOSITORY / "scripts" / "io-benchmark" / "workloads" / "cache_retrieve.py"
    assignment = next(
        node
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "CACHE_SIZES_MIB"
    )
    text = ast.unparse(assignment.value)
    assert re.fullmatch(r"[\d\s()+*,\[\]]+", text)
    sizes_mib = eval(text)  # noqa: S307 - numbers and their arithmetic alone, as asserted above
    assert (sum(sizes_mib), mean(sizes_mib)) == (estimate.CACHE_MIB, estimate.RETRIEVE_MIB)


def test_trials_are_planned_for():
    """The estimate's share of trials is the script's."""
    text = (REPOSITORY / "scripts" / "io-benchmark" / "trials.py").read_text()
    assert f"\nTRIALS_PERCENT = {estimate.TRIALS_PERCENT}\n" in text
