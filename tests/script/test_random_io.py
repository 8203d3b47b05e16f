# SPDX-License-Identifier: MPL-2.0
"""The workload random-io, run as a worker runs it: by fio, and by the script's own loop."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import direct_io
import fio
import pytest
from early_end import WorkloadError
from worker import Worker, take_process_times

VARIANTS = (("read", 1), ("write", 1), ("read", 32), ("write", 32))


@pytest.fixture
def reading_and_writing(worker: Worker, tmp_path: Path) -> Worker:
    """In a folder whose name has a colon, which separates names for fio."""
    worker.workloads = ("random-io",)
    worker.workspace = tmp_path / "work:space"
    worker.workspace.mkdir()
    if direct_io.refused(str(worker.workspace)) is not None:
        pytest.skip("needs a file system that takes O_DIRECT")
    return worker


def expected(depth: int, operation: str, observed: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": "random-io",
        "place": "workspace",
        "variant": f"{operation}-depth-{depth}",
        "threads": None,
        "parameters": {
            "operation": operation,
            "block_bytes": 4096,
            "depth": depth,
            "file_bytes": 32 * 2**20,
            "window_ns": 100_000_000,
            "samples_planned": 10,
            "time_limit_s": 1.0,
        },
        "observed": observed,
        "stopped_early": None,
        "precision_reached_ratio": None,
        "outcome": {"state": "completed", "reason": None},
    }


def without_figures(entry: dict[str, Any]) -> dict[str, Any]:
    """Asserts what holds of the figures, and leaves them out."""
    samples, observed = entry.pop("samples"), entry["observed"]
    assert 0 < len(samples["start_ns"]) <= 10
    assert samples["start_ns"] == sorted(samples["start_ns"])
    # fio's windows are rates over whole milliseconds.
    assert 0 < sum(samples["operations"]) <= observed.pop("total_operations") * 1.1
    latency = observed.pop("latency_ns")
    assert list(latency) == ["mean", "p50", "p95", "p99", "max"]
    assert 0 < latency["p50"] <= latency["p95"] <= latency["p99"] <= latency["max"]
    assert observed.pop("prefill_ns") > 0
    assert entry.pop("run_ns") > 0
    entry.pop("device_bytes")
    take_process_times(entry, is_waiting_known=not entry["observed"]["method"].startswith("fio"))
    return entry


@pytest.mark.skipif(shutil.which("fio") is None, reason="needs fio")
def test_by_fio(reading_and_writing: Worker) -> None:
    """Where fio is on PATH, it measures, and no other warning is made of it."""
    _, version, engine = fio.Fio.find()
    entries = reading_and_writing.measure()
    assert reading_and_writing.document()["warnings"] == []
    assert [without_figures(entry) for entry in entries] == [
        expected(
            depth,
            operation,
            {
                "method": version,
                "io_engine": "psync" if depth == 1 else engine,
                "processes": 1,
            },
        )
        for operation, depth in VARIANTS
    ]


def test_by_its_own_loop(reading_and_writing: Worker, tmp_path: Path) -> None:
    """Without fio the script does it itself, and log, entry and warning say so."""
    reading_and_writing.limit_path(tmp_path / "tools", "true")
    code, output = reading_and_writing.run("--profile", "quick")
    assert code == 0, output
    assert "  fio is not on PATH: measured by this script's own loop, python-o-direct\n" in output
    document = reading_and_writing.document()
    assert document["warnings"] == [
        {"name": "random-io-method", "message": "fio is not on PATH: python-o-direct"}
    ]
    cpus = len(os.sched_getaffinity(0))
    assert [without_figures(entry) for entry in document["workloads"]] == [
        expected(
            depth,
            operation,
            {
                "method": "python-o-direct",
                "io_engine": "pread, pwrite in threads",
                "processes": min(depth, cpus, 8),
            },
        )
        for operation, depth in VARIANTS
    ]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        pytest.param("exit 1", "{path}/fio does not run", id="broken"),
        pytest.param(
            "echo fio-2.1", "fio-2.1 has none of the engines libaio, io_uring", id="engines"
        ),
    ],
)
def test_an_unusable_fio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, why: str
) -> None:
    """A fio that cannot keep operations in flight is not used, and the reason is reported."""
    program = tmp_path / "fio"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert fio.Fio.find() == (None, None, why.format(path=tmp_path))


def test_a_fio_that_fails(reading_and_writing: Worker, tmp_path: Path) -> None:
    """Its first line is the place's failure."""
    tools = tmp_path / "tools"
    reading_and_writing.limit_path(tools, "sh")
    (tools / "fio").write_text(
        '#!/bin/sh\ncase "$1" in --version) echo fio-3.33 ;; --enghelp) echo libaio ;;\n'
        "*) echo 'fio: out of luck' >&2; exit 3 ;; esac\n"
    )
    (tools / "fio").chmod(0o755)
    code, output = reading_and_writing.run("--profile", "quick")
    assert code == 1
    assert "Traceback" not in output
    workspace = reading_and_writing.workspace
    assert reading_and_writing.result().outcome.reason == (
        f"place workspace ({workspace}): fio failed: fio: out of luck"
    )
    assert list(workspace.iterdir()) == []


def folder_of_a_run(tmp_path: Path, log: str, document: str) -> fio.Fio:
    with fio.Fio("/bin/true", str(tmp_path), {}) as run:
        assert run.ended(within_s=60)
    (tmp_path / "fio_iops.1.log").write_text(log)
    (tmp_path / "fio.json").write_text(document)
    return run


def test_what_fio_says(tmp_path: Path) -> None:
    """Its log's rates become operations, its JSON the latency and the time on a CPU."""
    percentiles = {"50.000000": 11, "95.000000": 12, "99.000000": 13}
    latency = {"mean": 10.7, "max": 14, "percentile": percentiles}
    reads = {"total_ios": 9, "clat_ns": latency, "runtime": 450}
    document = {"jobs": [{"read": reads, "usr_cpu": 2.0, "sys_cpu": 40.5}]}
    log = "100, 5000, 0, 0, 0\n250, 2000, 0, 0, 0\n350, 0, 0, 0, 0\n450, 10, 0, 0, 0\n"
    run = folder_of_a_run(tmp_path, log, json.dumps(document))
    assert run.windows() == [
        (0, 100_000_000, 500),
        (100_000_000, 150_000_000, 300),
        (350_000_000, 100_000_000, 1),
    ]
    assert run.summary("read") == (
        9,
        {"mean": 10, "p50": 11, "p95": 12, "p99": 13, "max": 14},
        (450_000_000, 9_000_000, 182_250_000, None),
    )


@pytest.mark.parametrize(
    ("log", "document", "message"),
    [
        pytest.param("x\n", "{}", "log is not as expected: invalid literal", id="log"),
        pytest.param("", '{"jobs": []}', r"JSON is not as expected: IndexError", id="json"),
        pytest.param("", "fio: warning", "JSON is not as expected: JSONDecodeError", id="text"),
    ],
)
def test_what_fio_never_said(tmp_path: Path, log: str, document: str, message: str) -> None:
    """Another fio's output is refused and not guessed at."""
    run = folder_of_a_run(tmp_path, log, document)
    with pytest.raises(WorkloadError, match=message):
        (run.windows(), run.summary("read"))


def test_latencies() -> None:
    """Percentiles to 1/64 of their power of two, the mean and the largest exactly."""
    one, other = direct_io.Latencies(), direct_io.Latencies()
    for ns in range(1, 100):
        one.add(ns)
    other.add(1_000_001)
    one.merge(json.loads(json.dumps(other.as_message())))
    assert one.summary() == {
        "mean": (sum(range(1, 100)) + 1_000_001) // 100,
        "p50": 51,
        "p95": 96,
        "p99": 999_424,
        "max": 1_000_001,
    }


def test_o_direct_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's own reason, and nothing is left behind."""

    def refuse(*_: object) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(direct_io.os, "open", refuse)
    assert direct_io.refused(str(tmp_path)) == "Invalid argument"
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_refuses_is_skipped(worker: Worker) -> None:
    """Through the page cache it would measure memory: it is skipped by name instead."""
    worker.workloads = ("random-io", "spawn")
    code, output = worker.run(
        "--profile",
        "quick",
        prelude="import direct_io\ndirect_io.refused = lambda folder: 'Invalid argument'\n",
    )
    assert code == 0, output
    document = worker.document()
    assert document["outcome"]["state"] == "completed"
    reason = "O_DIRECT is refused here: Invalid argument"
    assert document["warnings"] == [
        {"name": "skipped", "message": f"place workspace ({worker.workspace}): random-io: {reason}"}
    ]
    assert [(entry["name"], entry["outcome"]) for entry in document["workloads"]] == [
        *[("random-io", {"state": "skipped", "reason": reason})] * 4,
        ("spawn", {"state": "completed", "reason": None}),
    ]


@pytest.mark.root
def test_too_small_a_place(reading_and_writing: Worker, mount: Callable[[str], Path]) -> None:
    """Refused before the file is written, with both figures."""
    reading_and_writing.workspace = mount("size=20m")
    code, output = reading_and_writing.run("--profile", "quick")
    assert code == 1
    assert "=== Writing" not in output
    workspace = reading_and_writing.workspace
    assert reading_and_writing.result().outcome.reason == (
        f"place workspace ({workspace}): random-io: no space: needs 48 MiB, 20 MiB are free"
    )
