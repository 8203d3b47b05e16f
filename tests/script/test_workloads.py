# SPDX-License-Identifier: MPL-2.0
"""What holds of every workload: one shape, a unit, Perfherder's limits, a tidy end."""

import importlib
import os
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import batches
import pytest
import settings
from checkout import ROOT
from worker import SCRIPT, Worker, outcome_of

from io_benchmark.results.workloads import IN_BATCHES, WORKLOADS

NAMES = sorted(path.stem.replace("_", "-") for path in (SCRIPT / "workloads").glob("*.py"))
every_workload = pytest.mark.parametrize("name", NAMES)
KEYS = ["parameters", "observed", "run_ns", "stopped_early", "precision_reached_ratio"]
KEYS += ["process_times", "device_bytes"]


def workload(name: str) -> Any:
    return importlib.import_module("workloads." + name.replace("-", "_")).WORKLOAD


def parsed(*extra: str) -> Any:
    given = ["--pool", "p", "--workload", "w", "--place", "a=/a", "--output", "/x"]
    return settings.parse([*given, *extra], ["w"])


@every_workload
def test_the_reader_has_the_same_unit(name: str) -> None:
    """The log and the worker's own series show what a report shows."""
    here, there = workload(name), WORKLOADS[name]
    assert (here.name, here.unit, here.unit_ns or 0) == (there.name, there.unit, there.unit_ns)
    assert (here.per_place, issubclass(here, batches.Batches)) == (
        there.per_place,
        name in IN_BATCHES,
    )


def test_the_reader_knows_each() -> None:
    """A workload that is gone leaves no description behind."""
    assert sorted(WORKLOADS) == NAMES


def test_the_documentation_has_each() -> None:
    """The page about comparisons lists them in the order of a report."""
    page = (ROOT / "taskcluster" / "docs" / "comparing.md").read_text()
    rows = re.findall(
        r"^\| `([a-z-]+)` \| an? ([^|]+) \| (\S+) \| (lower|higher) \|$", page, re.MULTILINE
    )
    assert [(name, unit, better) for name, _, unit, better in rows] == [
        (name, one.unit, "higher" if one.higher_is_better else "lower")
        for name, one in WORKLOADS.items()
    ]
    for name, operation, *_ in rows:
        assert operation.startswith(WORKLOADS[name].operation)


class Bench:
    """As much of it as a plan needs."""

    def __init__(self, *extra: str) -> None:
        self.settings = parsed(*extra)


@pytest.mark.parametrize("name", sorted(IN_BATCHES))
@pytest.mark.parametrize("profile", ["full", "quick"])
def test_one_plan(name: str, profile: str) -> None:
    """Every entry has the same keys, all parameters beforehand and nothing observed."""
    given = Bench("--profile", profile, "--upload-url", "https://host.example/x")
    found = workload(name)
    entries = []
    for variant in found.variants(given.settings):
        assert sorted(variant) == ["threads", "variant"]
        plan = found(given, given.settings.places[0], "/a").plan(variant)
        assert list(plan) == KEYS
        parameters, observed = plan.pop("parameters"), plan.pop("observed")
        assert set(plan.values()) | set(observed.values()) == {None}
        assert parameters["samples_planned"] > 0
        assert parameters["time_limit_s"] > 0
        entries.append((variant["variant"], variant["threads"]))
    assert len(set(entries)) == len(entries) > 0


@pytest.mark.parametrize(
    ("name", "operation_ns", "shown"),
    [
        pytest.param("cache-retrieve", 1_500_000, 1.5, id="cache-retrieve"),
        pytest.param("spawn", 1_500, 1.5, id="spawn"),
        pytest.param("random-io", 20_000, 50_000.0, id="rate"),
    ],
)
def test_figures(name: str, operation_ns: int, shown: float) -> None:
    """A time in its unit, or how many a second."""
    assert workload(name).figure(operation_ns) == shown


def quick(worker: Worker, *names: str) -> str:
    worker.workloads = names
    code, output = worker.run("--profile", "quick")
    assert code == 0, output
    return output


def processes_of(session: int, workspace: Path) -> list[str]:
    """Those of the session, or with the workspace in their command, that are not yet gone."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
            command = (folder / "cmdline").read_bytes()
        except (OSError, UnicodeDecodeError):
            continue
        fields = stat.rpartition(")")[2].split()
        is_ours = int(fields[3]) == session or bytes(workspace) in command
        if is_ours and fields[0] != "Z":
            found.append(stat)
    return found


@every_workload
def test_sigterm_leaves_a_valid_file_and_no_trace(worker: Worker, name: str) -> None:
    """In the middle of each: what was measured is kept, every process and file is gone."""
    if name == "upload" and shutil.which("curl") is None:
        pytest.skip("needs curl")
    worker.workloads = (name,)
    # The larger file that random-io would write first says nothing about its end.
    small = "from workloads import random_io\nrandom_io.FILE_BYTES = 2**25\n"
    process = worker.start(prelude=small)
    assert process.stdout is not None
    for line in process.stdout:
        if f"] {name}, place workspace" in line:
            break
    os.kill(process.pid, signal.SIGTERM)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 143, output
    assert "Traceback" not in output
    result = worker.result()
    assert outcome_of(result) == ("stopped", "stopped by SIGTERM")
    assert {outcome_of(entry) for entry in result.workloads} <= {
        ("stopped", "stopped by SIGTERM"),
        ("not-started", "stopped by SIGTERM"),
    }
    assert list(worker.workspace.iterdir()) == []
    assert processes_of(process.pid, worker.workspace) == []


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
import curl
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
    assert process.returncode == 143, output
    assert "Traceback" not in output
    assert outcome_of(worker.result()) == ("stopped", "stopped by SIGTERM")
    assert list(worker.workspace.iterdir()) == []
    assert processes_of(process.pid, worker.workspace) == []
