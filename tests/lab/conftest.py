# SPDX-License-Identifier: MPL-2.0
"""What the lab's tests share: a lab, the program's main command on it, and its answer."""

import json
import subprocess
from collections import Counter

import program
import pytest
import storage_lab
from checkout import ROOT
from worker import Worker

# So that a run of three seconds has as many rows as its disks are judged by.
MORE_ROWS = "from measuring import timelines\ntimelines.EVERY_S = 0.5\n"


@pytest.fixture
def bench(tmp_path):
    """For cases that need no disk, so no root: what they start is ended."""
    made = storage_lab.Lab(tmp_path / "lab")
    with made.undoing:
        yield made


@pytest.fixture
def lab(bench):
    storage_lab.needs_disks()
    return bench


@pytest.fixture
def rehearse(bench, tmp_path):
    """The generated tasks' own commands, each pool in its folder, and the comparison."""

    def run(places):
        at = [word for pool, path in places.items() for word in ("--at", f"{pool}={path}")]
        given = ("rehearse", "--root", str(ROOT), "-j", ",".join(places), *at, "--json")
        process = subprocess.Popen(
            [*program.PROGRAM, *given],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        bench.stop_at_the_end(process)
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        return json.loads(output)

    return run


@pytest.fixture
def measure(bench, tmp_path):
    """The worker's script itself, for cases that need other sizes than the kind's.

    Of other workloads than the kind's it makes a quick run.
    """

    def run(pool, place, *extra, name="", prelude="", workloads=(), environment=None):
        worker = Worker(place, tmp_path / "results" / (name or pool))
        worker.environment.update(environment or {})
        if workloads:
            worker.workloads = workloads
            extra = ("--profile", "quick", *extra)
        process = worker.start("--pool", pool, *extra, prelude=MORE_ROWS + prelude)
        bench.stop_at_the_end(process)
        output, _ = process.communicate()
        assert process.returncode == 0, output
        storage_lab.as_another_machine(worker.result_path)
        return worker.result_path

    return run


@pytest.fixture
def compare():
    """Compare with intel, at one look: a case decides before how many workers it measures."""

    def run(*results, expected=0):
        pools = Counter(json.loads(each.read_text())["task"]["pool"] for each in results)
        workers = min(pools.values())
        looks = ("--looks", str(workers)) if workers > 1 else ()
        return program.compare(*results, "--baseline", "intel", *looks, expected=expected)

    return run
