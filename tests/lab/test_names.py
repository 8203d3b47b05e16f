# SPDX-License-Identifier: MPL-2.0
"""Operations on names: many layers of an overlay, a lock, files that appear late.

The last two by a slow driver (seed 003's), which is put before the workload's calls. Each look at a
name sleeps, so that how many looks are done at once does not depend on the machine's CPUs or on
what else they do. A lock around the sleep lets one process after the other look.
"""

import os
from pathlib import Path

import pytest
from answers import detail, evidence, measured, states, supported
from workloads.metadata import _process_counts

pytestmark = [pytest.mark.serial]

LAYERS = 21
# Enough that a moment's pause of the machine does not decide.
MANY_LOOKUPS = "from workloads import metadata\nmetadata.QUICK['lookups'] = 40_000"
HIDDEN_MS = 10
# Far above what a process waits for a CPU of a machine that has other work.
LOOK_S = 2e-3
# Short runs know their own mean badly where the machine has other work; several tell by their
# likeness.
WORKERS = 3
DRIVER = """
import fcntl, os, time
from workloads import metadata
metadata.QUICK.update(windows=10, checks=50)
created_s = {{}}
def stat(path):
    with open({lock!r}, "w") as lock:
        if {is_slow}:
            fcntl.flock(lock, fcntl.LOCK_EX)
        time.sleep({look_s})
    return os.stat(path)
def create(path, flags, mode):
    created_s[path] = time.monotonic()
    return os.open(path, flags, mode)
def exists(path):
    hidden_s = {hidden_ms} / 1000 if {is_slow} else 0
    return time.monotonic() >= created_s[path] + hidden_s and os.path.exists(path)
path = type("path", (), {{**vars(os.path), "exists": staticmethod(exists)}})
calls = {{"stat": staticmethod(stat), "open": staticmethod(create), "path": path}}
metadata.os = type("os", (), {{**vars(os), **calls}})
"""


@pytest.fixture
def memory(bench, tmp_path):
    """Where no disk that others use makes anything wait."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        return tmp_path
    folder = shared / f"io-benchmark-{os.getpid()}"
    folder.mkdir()
    bench.undoing.callback(folder.rmdir)
    bench.undoing.callback(folder.with_suffix(".lock").unlink, missing_ok=True)
    return folder


@pytest.mark.root
def test_many_layers(lab, measure, compare):
    """A name that is nowhere is looked for in each of 21 layers: measured, and named as a cause."""
    base = lab.disk("base")
    places = {"amd-16": lab.overlay(base, "many", LAYERS), "intel": lab.overlay(base, "one")}
    how = {"workloads": ("metadata",), "prelude": MANY_LOOKUPS}
    document = compare(*(measure(pool, place, **how) for pool, place in places.items()))
    (found,) = measured(document, "lookup-missing")["comparisons"]
    assert found["verdict"] == "slower"
    assert found["ratio"] > 2
    assert states(document)["overlay-layers"] == "supported"
    assert states(document)["storage-place"] == "ruled out"
    one, many = evidence(document, "overlay-layers")
    assert (one, many) == ("overlay over 1 layers", f"overlay over {LAYERS} layers")


def test_a_slow_driver(measure, memory, compare):
    """Who waits for another one's stat, and files that other threads see 10 ms late: two causes."""
    processes = _process_counts(len(os.sched_getaffinity(0)), is_quick=True)[-1]
    if processes < 2:
        pytest.skip("needs two CPUs")
    lock = str(memory.with_suffix(".lock"))

    def workers(pool):
        is_slow = pool == "amd-16"
        driver = DRIVER.format(lock=lock, is_slow=is_slow, hidden_ms=HIDDEN_MS, look_s=LOOK_S)
        how = {"workloads": ("metadata",), "prelude": driver}
        names = [f"{pool}-{number}" for number in range(WORKERS)]
        return [measure(pool, memory, name=name, **how) for name in names]

    document = compare(*workers("amd-16"), *workers("intel"))
    together, late = measured(document, "stat", processes), measured(document, "visibility")
    assert {"metadata-lock", "files-not-visible"} <= supported(document)
    assert detail(together, "amd-16", "scaling") < 1.3
    assert detail(together, "intel", "scaling") > 0.7 * processes
    for report, ratio in ((together, 0.7 * processes), (late, 3)):
        (found,) = report["comparisons"]
        assert (found["verdict"], found["ratio"] > ratio) == ("slower", True)
    # Whoever is kept from looking for 10 ms finds the file.
    assert detail(late, "amd-16", "not-visible") > 0.8 * 50 * WORKERS
    assert detail(late, "intel", "not-visible") == 0
    (told,) = [one["text"] for one in document["remarks"] if "not visible" in one["text"]]
    assert told.startswith("amd-16, place workspace: ")
