# SPDX-License-Identifier: MPL-2.0
"""Operations on names: many layers of an overlay, a lock, files that appear late.

The last two by a slow driver (seed 003's), which is put before the workload's calls. Each look at a name
sleeps, so that how many looks are done at once does not depend on the machine's CPUs or on what else they do.
A lock around the sleep lets one process after the other look.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answers import detail, evidence, measured, states, supported
from storage_lab import Lab
from workloads.metadata import _process_counts

pytestmark = [pytest.mark.serial]

Measure = Callable[..., Path]
Compare = Callable[..., dict[str, Any]]
WORKLOADS = ("metadata",)
LAYERS = 21
# Enough that a moment's pause of the machine does not decide.
MANY_LOOKUPS = "from workloads import metadata\nmetadata.QUICK['lookups'] = 40_000"
HIDDEN_MS = 10
# Short runs know their own mean badly where the machine has other work; several tell by their likeness.
WORKERS = 3
SHORT = """
from workloads import metadata
metadata.QUICK.update(windows=10, checks=50)
"""
DRIVER = """
import fcntl, os, time
from workloads import metadata
created_s = {{}}
def stat(path):
    with open({lock!r}, "w") as lock:
        if {is_locked}:
            fcntl.flock(lock, fcntl.LOCK_EX)
        time.sleep(400e-6)
    return os.stat(path)
def create(path, flags, mode):
    created_s[path] = time.monotonic()
    return os.open(path, flags, mode)
def exists(path):
    return time.monotonic() >= created_s[path] + {hidden_ms} / 1000 and os.path.exists(path)
path = type("path", (), {{**vars(os.path), "exists": staticmethod(exists)}})
calls = {{"stat": staticmethod(stat), "open": staticmethod(create), "path": path}}
metadata.os = type("os", (), {{**vars(os), **calls}})
"""


Workers = Callable[..., list[Path]]


@pytest.fixture
def memory(bench: Lab, tmp_path: Path) -> Path:
    """Where no disk that others use makes anything wait."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        return tmp_path
    folder = shared / f"io-benchmark-{os.getpid()}"
    folder.mkdir()
    bench.undoing.callback(folder.rmdir)
    bench.undoing.callback(folder.with_suffix(".lock").unlink, missing_ok=True)
    return folder


@pytest.fixture
def workers(measure: Measure, memory: Path) -> Workers:
    """Short runs by the driver."""

    def run(
        pool: str, attempt: int = 1, *, is_locked: bool = False, hidden_ms: int = 0
    ) -> list[Path]:
        driver = DRIVER.format(
            lock=str(memory.with_suffix(".lock")), is_locked=is_locked, hidden_ms=hidden_ms
        )
        how: dict[str, Any] = {"workloads": WORKLOADS, "prelude": SHORT + driver}
        names = [f"{pool}-{attempt}-{number}" for number in range(WORKERS)]
        return [measure(pool, memory, name=name, **how) for name in names]

    return run


@pytest.mark.root
def test_many_layers(lab: Lab, measure: Measure, compare: Compare) -> None:
    """A name that is nowhere is looked for in each of 21 layers: measured, and named as the cause."""
    base = lab.disk("base")
    places = {"amd-16": lab.overlay(base, "many", LAYERS), "intel": lab.overlay(base, "one")}
    document = compare(
        *(
            measure(pool, place, workloads=WORKLOADS, prelude=MANY_LOOKUPS)
            for pool, place in places.items()
        )
    )
    (found,) = measured(document, "lookup-missing")["comparisons"]
    assert found["verdict"] == "slower"
    assert found["ratio"] > 2
    assert states(document)["overlay-layers"] == "supported"
    assert states(document)["storage-place"] == "ruled out"
    one, many = evidence(document, "overlay-layers")
    assert one.startswith("overlay over 1 layers; lookup-missing ")
    assert many.startswith(f"overlay over {LAYERS} layers; lookup-missing ")


def test_a_lock(workers: Workers, compare: Compare) -> None:
    """Every stat takes as long on both sides; where one waits for the other, that is the cause."""
    processes = _process_counts(len(os.sched_getaffinity(0)), is_quick=True)[-1]
    if processes < 2:
        pytest.skip("needs two CPUs")

    def ask(attempt: int) -> dict[str, Any]:
        return compare(*workers("amd-16", attempt, is_locked=True), *workers("intel", attempt))

    def slowed(document: dict[str, Any]) -> dict[str, Any]:
        (found,) = measured(document, "stat", processes)["comparisons"]
        return dict(found)

    document = ask(1)
    if slowed(document)["verdict"] != "slower" or "metadata-lock" not in supported(document):
        document = ask(2)  # other work may have held up more than the lock did
    together, found = measured(document, "stat", processes), slowed(document)
    assert detail(together, "amd-16", "scaling") < 1.3
    assert detail(together, "intel", "scaling") > 0.7 * processes
    assert (found["verdict"], found["ratio"] > 0.7 * processes) == ("slower", True)
    assert states(document)["metadata-lock"] == "supported"
    assert states(document)["files-not-visible"] == "ruled out"


def test_files_that_appear_late(workers: Workers, compare: Compare) -> None:
    """A new file that other threads see 10 ms later: counted, and named as the cause."""
    late = workers("amd-16", hidden_ms=HIDDEN_MS)
    seen = [
        entry["observed"]
        for result in late
        for entry in json.loads(result.read_text())["workloads"]
        if entry["variant"] == "visibility"
    ]
    for observed in seen:
        assert observed["checks"] == 50
        # Whoever is kept from looking for 10 ms finds the file.
        assert observed["not_visible"] > 0.8 * observed["checks"]
        assert observed["longest_invisible_ns"] > HIDDEN_MS * 1_000_000 / 2
    document = compare(*late, *workers("intel"))
    report = measured(document, "visibility")
    not_visible = sum(observed["not_visible"] for observed in seen)
    assert detail(report, "amd-16", "not-visible") == not_visible
    assert detail(report, "intel", "not-visible") == 0
    (found,) = report["comparisons"]
    assert (found["verdict"], found["ratio"] > 3) == ("slower", True)
    assert "files-not-visible" in supported(document)
    (told,) = [one["text"] for one in document["remarks"] if "not visible" in one["text"]]
    assert told.startswith(
        f"amd-16, place workspace: {not_visible:,} files that one thread had created"
    )
