# SPDX-License-Identifier: MPL-2.0
"""What holds of every workload: whole entries, a unit, a plan, a tidy end."""

import importlib
import os
import platform
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
import settings
from checkout import ROOT
from measuring import batches
from worker import SCRIPT, Worker, outcome_of, planned_and_observed
from workloads import exec as programs
from workloads import metadata

from io_benchmark.results.workloads import IN_BATCHES, WORKLOADS

NAMES = sorted(path.stem.replace("_", "-") for path in (SCRIPT / "workloads").glob("*.py"))
every_workload = pytest.mark.parametrize("name", NAMES)
KEYS = ["parameters", "observed", "run_ns", "stopped_early", "precision_reached_ratio"]
KEYS += ["process_times", "device_bytes"]
PYTHON = {"python": platform.python_version()}
CPUS = sorted(os.sched_getaffinity(0))
MIB = 2**20
# So that a busy machine comes to the end of each, and unpacks few files.
PATIENT = """
from workloads import unpack, upload
upload.QUICK['time_limit_s'] = 60.0
unpack.QUICK.update(small_files=30, samples=3, time_limit_s=600.0)
"""


@pytest.fixture(scope="module")
def quick_run(tmp_path_factory: pytest.TempPathFactory) -> Worker:
    """A quick run of all workloads in batches, in two places."""
    folder = tmp_path_factory.mktemp("quick")
    (folder / "second").mkdir()
    (folder / "workspace").mkdir()
    run = Worker(folder / "workspace", folder / "artifacts", workloads=tuple(sorted(IN_BATCHES)))
    places = ("--place", f"workspace={folder}/workspace", "--place", f"second={folder}/second")
    run.measure(*places, prelude=PATIENT)
    return run


def expected_exec() -> Any:
    count, size = min(8, max(2, len(CPUS))), programs.code_bytes()
    parameters = {"blob_bytes": size, "passes": max(1, round(500_000 / (size / 64)))}
    parameters |= {"samples_planned": 4 * count, "time_limit_s": 2.0}
    observed = {"architecture": "x86_64", "l3_bytes": programs.last_level_cache_bytes()}
    observed |= {"cpus": (CPUS * 8)[:count], "pinned": len(CPUS) >= count}
    return [(variant, count, parameters, observed) for variant in ("hardlinked", "copies")]


def expected_metadata() -> Any:
    nothing = {"cpus": len(CPUS), "checks": None, "not_visible": None, "longest_invisible_ns": None}

    def parameters(concurrency: str, files: int, samples: int, window_ns: int | None) -> Any:
        planned = {"concurrency": concurrency, "files": files, "samples_planned": samples}
        return {**planned, "window_ns": window_ns, "time_limit_s": 2.0}

    counted = parameters("processes", 100, 20, 10_000_000)
    return [
        *(
            (variant, threads, counted, nothing)
            for variant in ("stat", "stat-missing", "create-rename-unlink")
            for threads in metadata.process_counts(len(CPUS), is_quick=True)
        ),
        ("lookup-missing", 1, parameters("processes", 800, 50, None), nothing),
        ("visibility", 2, parameters("threads", 1, 200, None), {"cpus": len(CPUS)}),
    ]


def expected_random_io() -> Any:
    fixed: Any = {"block_bytes": 4096, "file_bytes": 32 * MIB, "window_ns": 100_000_000}
    fixed |= {"samples_planned": 10, "time_limit_s": 1.0}
    method = {"method": "python-o-direct", "io_engine": "pread, pwrite in threads"}
    return [
        (
            f"{operation}-depth-{depth}",
            None,
            {"operation": operation, "depth": depth, **fixed},
            {**method, "processes": min(depth, len(CPUS), 8)},
        )
        for depth in (1, 32)
        for operation in ("read", "write")
    ]


def expected_spawn() -> Any:
    program = str(Path(str(shutil.which("true"))).resolve())
    observed = {"program": program, "method": "os.posix_spawn, os.waitpid", **PYTHON}
    return [
        (
            "posix-spawn",
            None,
            {"samples_planned": 300, "warm_up": 20, "time_limit_s": 1.0},
            observed,
        )
    ]


def expected_sync_write() -> Any:
    fixed: Any = {"write_bytes": 512, "time_limit_s": 1.0}
    plain = {**fixed, "samples_planned": 200, "warm_up": 10, "writes_a_process": None}
    first = {**fixed, "samples_planned": 10, "warm_up": 0, "writes_a_process": 30}
    observed = {"process": "fresh", **PYTHON}
    variants = dict.fromkeys(("dsync-overwrite", "dsync-append", "append-fsync"), plain)
    variants["dsync-append-first"] = first
    return [(name, None, parameters, observed) for name, parameters in variants.items()]


def expected_unpack() -> Any:
    parameters = {"files": 36, "warm_up": 1, "samples_planned": 3, "time_limit_s": 600.0}
    method = "own tar reader"
    return [
        (variant, None, parameters, {"method": method + suffix, **PYTHON})
        for variant, suffix in (
            *(("cold", ""), ("cold-sync", ", syncfs"), ("warm", ""), ("warm-sync", ", syncfs")),
        )
    ]


def expected_upload() -> Any:
    fixed = {"target": "loopback", "object_bytes": 5120}
    fixed |= {"delay_ns": 5_000_000, "time_limit_s": 60.0}
    planned = {"objects_planned": 20, "objects_at_once": 1, "samples_planned": 20}
    at_once = {"objects_planned": 30, "objects_at_once": 10, "samples_planned": 3}
    return [
        (variant, None, {**fixed, **counts}, {"http_version": "1.1", "connections": connections})
        for variant, counts, connections in (
            *(("connection-each", planned, 20), ("keep-alive", planned, 1)),
            ("concurrent", at_once, 30),
        )
    ]


def check_exec(entry: Any) -> None:
    assert len(entry["samples"]["start_ns"]) % entry["threads"] == 0
    assert entry["observed"].pop("cpu_ns") > 0


def check_metadata(entry: Any) -> None:
    if entry["variant"] == "visibility":
        observed = entry["observed"]
        assert observed.pop("checks") == len(entry["samples"]["operations"])
        assert observed.pop("not_visible") >= 0
        assert observed.pop("longest_invisible_ns") >= 0


def check_random_io(entry: Any) -> None:
    observed = entry["observed"]
    assert 0 < sum(entry["samples"]["operations"]) <= observed.pop("total_operations")
    latency = observed.pop("latency_ns")
    assert list(latency) == ["mean", "p50", "p95", "p99", "max"]
    assert 0 < latency["p50"] <= latency["p95"] <= latency["p99"] <= latency["max"]
    assert observed.pop("prefill_ns") > 0


def check_spawn(entry: Any) -> None:
    assert set(entry["samples"]["operations"]) == {1}


def check_sync_write(entry: Any) -> None:
    """Each write is a sample; of a process' first ones, all of them together."""
    writes = 30 if entry["variant"] == "dsync-append-first" else 1
    assert set(entry["samples"]["operations"]) == {writes}


def check_unpack(entry: Any) -> None:
    """Each sample is the whole archive; the final sync is a part of it where there is one."""
    observed, parameters, times = entry["observed"], entry["parameters"], entry["process_times"]
    assert entry["samples"]["operations"] == [36] * 3
    assert times["wall_ns"] == sum(entry["samples"]["duration_ns"])
    sync_ns, files_bytes = observed.pop("sync_ns"), parameters.pop("files_bytes")
    assert (sync_ns is not None) == entry["variant"].endswith("-sync")
    assert 0 <= (sync_ns or 0) < times["wall_ns"]
    is_resident = observed.pop("resident_bytes") >= 0.05 * files_bytes
    assert is_resident == entry["variant"].startswith("warm")
    assert observed.pop("unpacked_bytes") == 3 * files_bytes
    assert len(parameters.pop("sizes_sha256")) == 64


def check_upload(entry: Any) -> None:
    """Nothing stalls on loopback: on a machine that has no time one object may look so, but not all."""
    observed = entry["observed"]
    references = observed.pop("without_expect_ns")
    assert len(references) == 3
    assert min(references) >= 5_000_000  # the server's delay
    assert 0 <= observed.pop("expect_100_stalls") < 20
    assert observed.pop("method").startswith("curl-")


# What an entry is, and the check that takes what differs from run to run out of it.
EXPECTED = {
    "exec": (expected_exec, check_exec),
    "metadata": (expected_metadata, check_metadata),
    "random-io": (expected_random_io, check_random_io),
    "spawn": (expected_spawn, check_spawn),
    "sync-write": (expected_sync_write, check_sync_write),
    "unpack": (expected_unpack, check_unpack),
    "upload": (expected_upload, check_upload),
}


@pytest.mark.parametrize("name", sorted(IN_BATCHES))
def test_whole_entries(quick_run: Worker, name: str) -> None:
    """All parameters, and all that is observed, of each variant; once per place, or once per task."""
    entries = [entry for entry in quick_run.document()["workloads"] if entry["name"] == name]
    reasons = {entry["outcome"]["reason"] for entry in entries}
    if reasons != {None}:  # such as no curl, or a workspace in memory
        pytest.skip(f"not measured here: {reasons}")
    places = ["workspace", "second"] if workload(name).per_place else ["workspace"]
    make_expected, check = EXPECTED[name]
    expected = make_expected()
    assert [entry["place"] for entry in entries] == [
        place for place in places for _ in range(len(expected))
    ]
    measured = []
    for entry in entries[: len(expected)]:
        check(entry)
        is_accounted = entry["variant"] != "visibility"
        measured.append(planned_and_observed(entry, is_accounted=is_accounted))
    assert measured == expected


def workload(name: str) -> Any:
    return importlib.import_module("workloads." + name.replace("-", "_")).WORKLOAD


@every_workload
def test_the_reader_has_the_same_unit(name: str) -> None:
    """The log and the worker's own series show what a report shows, and the reader knows no other."""
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


class Bench:
    """As much of it as a plan needs."""

    def __init__(self, *extra: str) -> None:
        given = ["--pool", "p", "--workload", "w", "--place", "a=/a", "--output", "/x"]
        self.settings = settings.parse([*given, *extra], ["w"])


@pytest.mark.parametrize("name", sorted(IN_BATCHES))
@pytest.mark.parametrize("profile", ["full", "quick"])
def test_one_plan(name: str, profile: str) -> None:
    """Every entry has the same keys, all parameters beforehand and nothing observed."""
    given = Bench("--profile", profile, "--upload-url", "https://host.example/x")
    kind = workload(name)
    entries = []
    for variant in kind.variants(given.settings):
        assert sorted(variant) == ["threads", "variant"]
        plan = kind(given, given.settings.places[0], "/a").plan(variant)
        assert list(plan) == KEYS
        parameters, observed = plan.pop("parameters"), plan.pop("observed")
        assert set(plan.values()) | set(observed.values()) == {None}
        assert parameters["samples_planned"] > 0
        assert parameters["time_limit_s"] > 0
        entries.append((variant["variant"], variant["threads"]))
    assert len(set(entries)) == len(entries) > 0


@pytest.mark.parametrize(
    ("name", "operation_ns", "figure"),
    [("cache-retrieve", 1_500_000, 1.5), ("spawn", 1_500, 1.5), ("random-io", 20_000, 50_000.0)],
)
def test_figures(name: str, operation_ns: int, figure: float) -> None:
    """A time in its unit, or how many a second."""
    assert workload(name).figure(operation_ns) == figure


def test_precision_stops_it(worker: Worker) -> None:
    """Known well enough, a workload ends, and says after how many."""
    worker.workloads = ("spawn",)
    code, output = worker.run("--precision", "99%")
    assert code == 0, output
    [entry] = worker.document()["workloads"]
    count = len(entry["samples"]["start_ns"])
    assert count < 5000
    assert entry["stopped_early"].endswith(f"after {count} of 5000 samples")
    assert 0 <= entry["precision_reached_ratio"] <= 0.99


def processes_of(session: int, workspace: Path) -> list[str]:
    """Those of the session, or with the workspace in their command, that are not yet gone."""
    running = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
            command = (folder / "cmdline").read_bytes()
        except (OSError, UnicodeDecodeError):
            continue
        fields = stat.rpartition(")")[2].split()
        is_member = int(fields[3]) == session or bytes(workspace) in command
        if is_member and fields[0] != "Z":
            running.append(stat)
    return running


def assert_stopped(worker: Worker, pid: int, code: int, output: str) -> None:
    """What was measured is kept, every process and file is gone."""
    stopped = ("stopped", "stopped by SIGTERM")
    assert code == 143, output
    assert "Traceback" not in output
    result = worker.result()
    assert outcome_of(result) == stopped
    states = {outcome_of(entry) for entry in result.workloads}
    assert states <= {stopped, ("not-started", "stopped by SIGTERM")}
    assert list(worker.workspace.iterdir()) == []
    assert processes_of(pid, worker.workspace) == []


@every_workload
def test_sigterm_leaves_a_valid_file_and_no_trace(worker: Worker, name: str) -> None:
    """In the middle of each: what was measured is kept, every process and file is gone."""
    if name == "upload" and shutil.which("curl") is None:
        pytest.skip("needs curl")
    worker.workloads = (name,)
    # The larger file that random-io would write first says nothing about its end.
    small = "from workloads import random_io\nrandom_io.FULL['file_bytes'] = 2**25\n"
    process = worker.start(prelude=small)
    assert process.stdout is not None
    for line in process.stdout:
        if f"] {name}, place workspace" in line:
            break
    os.kill(process.pid, signal.SIGTERM)
    output, _ = process.communicate(timeout=120)
    assert_stopped(worker, process.pid, process.returncode, output)


# Right after a process was started, and before its number is noted.
INTERRUPTED = {
    "metadata": """
import os, signal
import crew
fork = os.fork
def interrupted():
    pid = fork()
    if pid:
        os.kill(os.getpid(), signal.SIGTERM)
    return pid
crew.os = type("os", (), {**vars(os), "fork": staticmethod(interrupted)})
""",
    "upload": """
import os, signal, subprocess
from measuring import curl
def interrupted(*arguments, **named):
    process = subprocess.Popen(*arguments, **named)
    os.kill(os.getpid(), signal.SIGTERM)
    return process
curl.subprocess = type("subprocess", (), {**vars(subprocess), "Popen": staticmethod(interrupted)})
""",
}
TOOLS = {"metadata": "sh", "upload": "curl"}


@pytest.mark.parametrize("name", sorted(INTERRUPTED))
def test_sigterm_while_a_process_is_started(worker: Worker, name: str) -> None:
    """No moment of it leaves a process that nobody ends."""
    if shutil.which(TOOLS[name]) is None:
        pytest.skip(f"needs {TOOLS[name]}")
    worker.workloads = (name,)
    process = worker.start("--profile", "quick", prelude=INTERRUPTED[name])
    output, _ = process.communicate(timeout=120)
    assert_stopped(worker, process.pid, process.returncode, output)
