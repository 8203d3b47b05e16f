# SPDX-License-Identifier: MPL-2.0
"""The workload metadata, run as a worker runs it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from worker import Worker, take_process_times
from workloads import metadata

CPUS = len(os.sched_getaffinity(0))
# A file that is hidden from the first look at it, and one that is never seen.
HIDING = """
import os
from workloads import metadata
looked = set()
def exists(name):
    if name.endswith("7") and name not in looked:
        looked.add(name)
        return False
    return os.path.lexists(name)
path = type("path", (), {**vars(os.path), "exists": staticmethod(exists)})
metadata.os = type("os", (), {**vars(os), "path": path})
"""


@pytest.fixture
def naming(worker: Worker) -> Worker:
    worker.workloads = ("metadata",)
    return worker


@pytest.mark.parametrize(
    ("cpus", "full", "quick"),
    [
        pytest.param(1, [1], [1], id="1"),
        pytest.param(2, [1, 2], [1, 2], id="2"),
        pytest.param(6, [1, 2, 4, 6], [1, 6], id="6"),
        pytest.param(16, [1, 2, 4, 8], [1, 8], id="16"),
    ],
)
def test_how_many_at_once(
    monkeypatch: pytest.MonkeyPatch, cpus: int, full: list[int], quick: list[int]
) -> None:
    """Doubled up to the CPUs, eight at most."""
    monkeypatch.setattr(metadata, "_cpus", lambda: cpus)
    assert (metadata._process_counts(False), metadata._process_counts(True)) == (full, quick)


def test_whole_entries(naming: Worker) -> None:
    """Each variant by one process and by as many as there are CPUs; visibility by two threads."""
    entries = naming.measure()
    checked = entries[-1]
    assert checked["observed"].pop("not_visible") >= 0
    assert checked["observed"].pop("longest_invisible_ns") >= 0
    assert checked["samples"]["operations"] == [1] * checked["observed"]["checks"]
    for entry in entries:
        samples = entry.pop("samples")
        assert 0 < len(samples["start_ns"]) <= entry["parameters"]["samples_planned"]
        assert min(samples["operations"]) > 0
        assert samples["start_ns"] == sorted(samples["start_ns"])
        assert entry.pop("run_ns") > 0
        entry.pop("device_bytes")
        if entry["variant"] == "visibility":
            assert entry.pop("process_times") is None
        else:
            take_process_times(entry)
    counted = {
        "concurrency": "processes",
        "files": 100,
        "samples_planned": 20,
        "window_ns": 10_000_000,
        "time_limit_s": 2.0,
    }
    nothing = {"checks": None, "not_visible": None, "longest_invisible_ns": None}
    rest = {
        "stopped_early": None,
        "precision_reached_ratio": None,
        "outcome": {"state": "completed", "reason": None},
    }
    assert entries == [
        *(
            {
                "name": "metadata",
                "place": "workspace",
                "variant": variant,
                "threads": threads,
                "parameters": counted,
                "observed": {"cpus": CPUS, **nothing},
                **rest,
            }
            for variant in ("stat", "stat-missing", "create-rename-unlink")
            for threads in sorted({1, min(8, CPUS)})
        ),
        {
            "name": "metadata",
            "place": "workspace",
            "variant": "lookup-missing",
            "threads": 1,
            "parameters": {
                "concurrency": "processes",
                "files": 800,
                "samples_planned": 50,
                "window_ns": None,
                "time_limit_s": 2.0,
            },
            "observed": {"cpus": CPUS, **nothing},
            **rest,
        },
        {
            "name": "metadata",
            "place": "workspace",
            "variant": "visibility",
            "threads": 2,
            "parameters": {
                "concurrency": "threads",
                "files": 1,
                "samples_planned": 200,
                "window_ns": None,
                "time_limit_s": 2.0,
            },
            "observed": {"cpus": CPUS, "checks": checked["observed"]["checks"]},
            **rest,
        },
    ]


def test_files_not_yet_visible_are_counted(naming: Worker) -> None:
    """What another thread misses at its first look is counted, with how long it was missing."""
    code, output = naming.run("--profile", "quick", prelude=HIDING)
    assert code == 0, output
    entry = naming.document()["workloads"][-1]
    observed = entry["observed"]
    checks = observed["checks"]
    assert observed["not_visible"] == sum(n % 10 == 7 for n in range(checks)) > 0
    assert 0 < observed["longest_invisible_ns"] < metadata.SEEN_WITHIN_NS
    assert f"Not yet visible to the other thread: {observed['not_visible']} of {checks}" in output


def entry(variant: str, threads: int, operations: int) -> dict[str, Any]:
    samples = {"start_ns": [0], "duration_ns": [1000], "operations": [operations]}
    return {"variant": variant, "threads": threads, "samples": samples}


def test_scaling() -> None:
    """How many times as much several did; nothing where one process was not measured."""
    entries = [entry("stat", 1, 100), entry("stat", 4, 400), entry("stat-missing", 4, 10)]
    assert metadata._scaling(entries) == [("stat", 4, 4.0)]


@pytest.mark.skipif(CPUS < 2, reason="needs two CPUs")
def test_the_log_shows_scaling(naming: Worker) -> None:
    """A line for each variant, in addition to the single summaries."""
    code, output = naming.run("--profile", "quick")
    assert code == 0, output
    text = output.partition("=== RESULTS ===\n")[2]
    lines = [line.rsplit(" do ")[0] for line in text.splitlines() if " do " in line]
    processes = f"{min(8, CPUS)} processes"
    assert lines == [
        f"metadata, place workspace: stat: {processes}",
        f"metadata, place workspace: stat-missing: {processes}",
        f"metadata, place workspace: create-rename-unlink: {processes}",
    ]


def test_what_is_done(tmp_path: Path) -> None:
    """Every step does what its name says, so many operations at a time, and leaves nothing."""
    for name, operations, files in (("stat", 16, 64), ("stat-missing", 16, 0)):
        folder = tmp_path / name
        folder.mkdir()
        step, counted = metadata.STEPS[name](str(folder), 64)
        step()
        assert (counted, len(list(folder.iterdir()))) == (operations, files)
    step, counted = metadata.STEPS["create-rename-unlink"](str(tmp_path), 64)
    step()
    assert counted == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stat", "stat-missing"]


def test_a_file_nobody_made_is_an_error(tmp_path: Path) -> None:
    """A failing stat that succeeds would measure something else."""
    step, _ = metadata.STEPS["stat-missing"](str(tmp_path), 16)
    (tmp_path / "missing-00003").touch()
    with pytest.raises(OSError, match="missing-00003 exists, but nothing created it"):
        step()


@pytest.mark.root
def test_a_place_without_room_for_names(naming: Worker, mount: Callable[[str], Path]) -> None:
    """A process of the crew fails: the place's failure by name, and nothing is left."""
    naming.workspace = mount("size=60m,nr_inodes=20")
    code, output = naming.run("--profile", "quick")
    assert code == 1
    assert "Traceback" not in output
    assert naming.result().outcome.reason == (
        f"place workspace ({naming.workspace}): No space left on device"
    )
    assert list(naming.workspace.iterdir()) == []
