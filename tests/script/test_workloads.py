# SPDX-License-Identifier: MPL-2.0
"""What holds of every workload: whole entries, a unit, a plan, a tidy end."""

import importlib
import json
import operator
import os
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
import settings
from checkout import ROOT
from measuring import batches
from pythons import oldest_python
from system.linux import processes
from worker import WORKLOADS as NAMES
from worker import Worker, outcome_of

from io_benchmark.results.workloads import IN_BATCHES, WORKLOADS

every_workload = pytest.mark.parametrize("name", NAMES)
OLDEST = oldest_python()
PYTHON = processes.output_of(
    [OLDEST, "-c", "import platform; print(platform.python_version())"]
).strip()
CPUS = sorted(os.sched_getaffinity(0))
# So that a busy machine comes to the end of each, and does little where its time is the limit.
PATIENT: dict[str, dict[str, float]] = {
    "download": {"samples_planned": 3, "time_limit_s": 600.0},
    "exec": {"rounds": 2},
    "random-io": {"time_limit_s": 0.4},
    "sync-write": {"processes": 3},
    "unpack": {"small_files": 30, "samples": 3, "time_limit_s": 600.0},
    "upload": {"time_limit_s": 60.0},
}


@pytest.fixture(scope="module")
def quick_run(tmp_path_factory: pytest.TempPathFactory) -> Worker:
    """A quick run of all workloads in batches, in two places, by the oldest Python."""
    folder = tmp_path_factory.mktemp("quick")
    (folder / "second").mkdir()
    (folder / "workspace").mkdir()
    run = Worker(folder / "workspace", folder / "artifacts", workloads=tuple(sorted(IN_BATCHES)))
    run.python = OLDEST
    places = ("--place", f"workspace={folder}/workspace", "--place", f"second={folder}/second")
    named = {name.replace("-", "_"): sizes for name, sizes in PATIENT.items()}
    patient = (f"from workloads import {x}; {x}.QUICK.update({y})\n" for x, y in named.items())
    run.measure(*places, prelude="".join(patient))
    return run


def check_samples(entry: Any) -> None:
    samples, times = entry["samples"], entry["process_times"]
    assert 0 < len(samples["start_ns"]) <= entry["parameters"]["samples_planned"]
    assert samples["start_ns"] == sorted(samples["start_ns"])
    ends = list(map(operator.add, samples["start_ns"], samples["duration_ns"]))
    if entry["name"] != "exec":  # whose processes run at once
        assert all(end <= start for end, start in zip(ends, samples["start_ns"][1:], strict=False))
    assert min(*samples["duration_ns"], *samples["operations"], entry["run_ns"]) > 0
    if entry["variant"] == "visibility":
        assert times is None
        return
    assert list(times) == ["wall_ns", "user_ns", "kernel_ns", "waiting_ns"]
    # A busy machine lets a window end after one operation: then what is around it counts as well,
    # in each turn.
    around_ns = 1_000_000 * len(entry["turn_ends"] or [1])
    at_once = 1.5 if entry["name"] == "spawn" else 1.1  # a parent works while its child begins
    assert 0 <= times["user_ns"] + times["kernel_ns"] <= at_once * times["wall_ns"] + around_ns
    assert (times["waiting_ns"] is not None) == Path("/proc/self/schedstat").exists()


def check_download(entry: Any, observed: Any) -> None:
    """Each sample is a set of downloads of 2 MiB; each download has all of its steps."""
    count, times = entry["threads"], entry["process_times"]
    assert entry["samples"]["operations"] == [2 * count] * 3
    assert times["wall_ns"] >= max(entry["samples"]["duration_ns"]) * count * 0.2
    steps, downloads, nothing = observed.pop("steps"), 3 * count, [None] * 3 * count
    to_place = entry["variant"] == "to-place"
    assert steps.pop("tls_ns") == nothing
    syncs_ns, sync_ns = steps.pop("sync_ns"), observed.pop("sync_ns")
    assert (syncs_ns == nothing, sync_ns is None) == (not to_place,) * 2
    assert sync_ns is None or sum(syncs_ns) == sync_ns
    assert list(map(len, steps.values())) == [downloads] * 6
    assert min(map(min, steps.values())) >= 0
    assert all(map(operator.ge, steps["body_ns"], steps["second_half_ns"]))
    assert observed == {
        "method": "http.client",
        "python": PYTHON,
        "written_bytes": downloads * 2 * 2**20 if to_place else None,
        "retries": 0,
        "address_family": "IPv4",
        "answered_by": {"host": "127.0.0.1"},
        "http_version": "1.1",
        "object_bytes": 2 * 2**20,
        "redirects": 0,
        "tls_version": None,
    }


def check_exec(entry: Any, observed: Any) -> None:
    count = entry["threads"]
    assert len(entry["samples"]["start_ns"]) % count == 0
    assert observed.pop("cpu_ns") > 0
    assert observed == {"architecture": "x86_64", "cpus": (CPUS * 8)[:count]}


def check_metadata(entry: Any, observed: Any) -> None:
    assert observed["cpus"] == len(CPUS)
    if entry["variant"] == "visibility":
        assert observed["checks"] == len(entry["samples"]["operations"])
        assert 0 <= observed["not_visible"] <= observed["checks"]


def check_random_io(entry: Any, observed: Any) -> None:
    assert sum(entry["samples"]["operations"]) > 0
    assert observed.pop("latency_ns")["p99"] > 0
    assert observed == {"method": "python-o-direct"}


def check_spawn(entry: Any, observed: Any) -> None:
    program = str(Path(str(shutil.which("true"))).resolve())
    method = "os.posix_spawn, os.waitpid"
    assert observed == {"program": program, "method": method, "python": PYTHON}
    assert set(entry["samples"]["operations"]) == {1}


def check_sync_write(entry: Any, observed: Any) -> None:
    """Each write is a sample; of a process' first ones, all of them together."""
    assert observed == {"process": "fresh", "python": PYTHON}
    writes = 30 if entry["variant"] == "dsync-append-first" else 1
    assert set(entry["samples"]["operations"]) == {writes}


def check_unpack(entry: Any, observed: Any) -> None:
    """Each sample is the whole archive; the final sync is a part of it where there is one."""
    times, files_bytes = entry["process_times"], entry["parameters"]["files_bytes"]
    assert entry["samples"]["operations"] == [36] * 3
    assert times["wall_ns"] == sum(entry["samples"]["duration_ns"])
    is_synced, sync_ns = entry["variant"].endswith("-sync"), observed.pop("sync_ns")
    assert (sync_ns is not None) == is_synced
    assert 0 <= (sync_ns or 0) < times["wall_ns"]
    is_resident = observed.pop("resident_bytes") >= 0.05 * files_bytes
    assert is_resident == entry["variant"].startswith("warm")
    method = "own tar reader" + (", syncfs" if is_synced else "")
    assert observed == {"method": method, "python": PYTHON, "unpacked_bytes": 3 * files_bytes}


def check_upload(entry: Any, observed: Any) -> None:
    """Nothing stalls on loopback: on a busy machine one object may look so, but not all."""
    references = observed["without_expect_ns"]
    assert len(references) == 3
    assert min(references) >= entry["parameters"]["delay_ns"] == 5_000_000
    assert 0 <= observed["expect_100_stalls"] < 20
    connections = {"connection-each": 20, "keep-alive": 1, "concurrent": 30}[entry["variant"]]
    assert (observed["http_version"], observed["connections"]) == ("1.1", connections)


CHECKS = {
    "download": check_download,
    "exec": check_exec,
    "metadata": check_metadata,
    "random-io": check_random_io,
    "spawn": check_spawn,
    "sync-write": check_sync_write,
    "unpack": check_unpack,
    "upload": check_upload,
}


@pytest.mark.parametrize("name", sorted(IN_BATCHES))
def test_whole_entries(quick_run: Worker, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What was planned, and all that is observed, of each variant.

    Once per place, or once per task.
    """
    entries = [entry for entry in quick_run.document()["workloads"] if entry["name"] == name]
    reasons = {entry["outcome"]["reason"] for entry in entries}
    if reasons != {None}:  # such as no curl, or a workspace in memory
        pytest.skip(f"not measured here: {reasons}")
    kind, given = workload(name), Bench("--profile", "quick")
    for key, value in PATIENT.get(name, {}).items():
        monkeypatch.setitem(kind.quick, key, value)
    planned = [
        (place, *variant.values(), kind(given, None, "/a").plan(variant)["parameters"])
        for place in (["workspace", "second"] if kind.per_place else ["workspace"])
        for variant in kind(given, None if place == "workspace" else place, "/a").variants()
    ]
    keys = ("place", "variant", "threads", "parameters")
    assert [tuple(map(entry.get, keys)) for entry in entries] == planned
    for entry in (entry for entry in entries if entry["place"] == "workspace"):
        check_samples(entry)
        CHECKS[name](entry, entry["observed"])


def test_the_perfherder_file_has_a_suite_per_entry(quick_run):
    """Of a workload whose unit is a rate, more is better."""
    file = quick_run.artifacts / "perfherder-data-io-benchmark.json"
    data, entries = json.loads(file.read_text()), quick_run.document()["workloads"]
    suites = [(suite["name"], suite["lowerIsBetter"]) for suite in data["suites"]]
    names = [entry["name"] for entry in entries if entry["outcome"]["state"] == "completed"]
    assert suites == [
        (f"io-benchmark-{name}", not WORKLOADS[name].higher_is_better) for name in names
    ]


def workload(name: str) -> Any:
    return importlib.import_module("workloads." + name.replace("-", "_")).WORKLOAD


@every_workload
def test_the_reader_has_the_same_unit(name: str) -> None:
    """The log and the worker's series show what a report shows, and the reader knows no other."""
    here, there = workload(name), WORKLOADS[name]
    assert (here.name, here.unit, here.unit_ns or 0) == (there.name, there.unit, there.unit_ns)
    assert (here.per_place, issubclass(here, batches.Batches)) == (
        there.per_place,
        name in IN_BATCHES,
    )
    assert sorted(WORKLOADS) == NAMES


def test_the_documentation_has_each() -> None:
    """The page about comparisons lists them in the order of a report."""
    page = (ROOT / "taskcluster" / "docs" / "comparing.md").read_text()
    rows = re.findall(
        r"^\| `([a-z-]+)` \| an? ([^|]+) \| (\S+) \| (lower|higher) \|$", page, re.MULTILINE
    )
    assert [(name, unit, better) for name, _, unit, better in rows] == [
        (name, kind.unit, "higher" if kind.higher_is_better else "lower")
        for name, kind in WORKLOADS.items()
    ]
    for name, operation, *_ in rows:
        assert operation.startswith(WORKLOADS[name].operation)
    for name in IN_BATCHES:
        (variants,) = re.findall(rf"^\| `{name}` \| (`[^|]+) \|$", page, re.MULTILINE)
        assert {f"`{variant}`" for variant in workload(name).names} <= set(
            re.findall("`[a-z0-9-]+`", variants)
        )


class Bench:
    """As much of it as a plan needs."""

    def __init__(self, *extra: str) -> None:
        given = ["--pool", "p", "--workload", "w", "--place", "a=/a", "--output", "/x"]
        self.settings = settings.parse([*given, *extra], ["w"])


# Right after a process was started, and before its number is noted.
BEFORE_IT_IS_NOTED = """
import os, signal
from system.linux import crews
fork = os.fork
def interrupted():
    pid = fork()
    if pid:
        os.kill(os.getpid(), signal.SIGTERM)
    return pid
crews.os = type("os", (), {**vars(os), "fork": staticmethod(interrupted)})
"""
# The larger file that random-io would write first says nothing about its end.
SMALL = "from workloads import random_io\nrandom_io.FULL['file_bytes'] = 2**25\n"


@pytest.mark.parametrize(
    ("name", "number", "prelude"),
    [*((name, signal.SIGTERM, SMALL) for name in NAMES), ("metadata", 0, BEFORE_IT_IS_NOTED)],
)
def test_sigterm_leaves_a_valid_file_and_no_trace(worker, name, number, prelude):
    """At any moment of each: what was measured is kept, every process and file is gone."""
    if name == "upload" and shutil.which("curl") is None:
        pytest.skip("needs curl")
    worker.workloads = (name,)
    after = f"] {name}, place workspace" if number else "=== Plan"
    code, output = worker.signalled(number, after=after, prelude=prelude)
    assert code == 143, output
    result, stopped = worker.result(), ("stopped", "stopped by SIGTERM")
    assert outcome_of(result) == stopped
    states = {outcome_of(entry) for entry in result.workloads}
    assert states <= {stopped, ("not-started", "stopped by SIGTERM")}
