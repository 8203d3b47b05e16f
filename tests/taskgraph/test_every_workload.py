# SPDX-License-Identifier: MPL-2.0
"""The command of a task that asks for every workload, run by bash as run-task runs it."""

import os
import subprocess

import pytest

from io_benchmark.sources.folder.run_files import read_run
from io_benchmark_taskgraph import script_modules, stanza, task_command, worker_program

from .conftest import REPOSITORY

SCRIPT = "scripts/io-benchmark"


@pytest.fixture
def workloads():
    return script_modules.workload_names(REPOSITORY / SCRIPT)


def build(workloads):
    benchmark = stanza.Benchmark.parse({"script": SCRIPT, "workloads": workloads, "retrieves": 20})
    modules = script_modules.needed_modules(REPOSITORY, SCRIPT, workloads)
    return task_command.make_command(
        benchmark, worker_program.WorkerProgram(modules), pool="amd-16", time_budget_s=3300
    )


def test_every_workload_at_once(workloads, tmp_path):
    """All of them fit one command, run from what it writes, and give a result that reads."""
    artifacts, workspace = tmp_path / "artifacts", tmp_path / "workspace"
    workspace.mkdir()
    done = subprocess.run(
        build(workloads),
        env={
            "PATH": os.environ["PATH"],
            "TMPDIR": str(tmp_path),
            "IO_BENCHMARK_WORKSPACE": str(workspace),
            "IO_BENCHMARK_ARTIFACTS": str(artifacts),
            "IO_BENCHMARK_PROFILE": "quick",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    result = read_run(artifacts / "io-benchmark" / "io-benchmark.json").result
    assert result.outcome.state == "completed"
    assert result.config.workloads == workloads
    assert list(workspace.iterdir()) == []


def test_the_whole_script_is_needed(workloads):
    """No module of the folder is used by nothing."""
    written = script_modules.needed_modules(REPOSITORY, SCRIPT, workloads)
    assert set(written) == script_modules._module_paths(REPOSITORY / SCRIPT)


@pytest.mark.parametrize("count", [1, 2])
def test_a_workload_brings_its_own_modules_alone(workloads, count):
    """A task of one workload carries no other's, so that its page shows what it runs."""
    for workload in workloads:
        named = [workload, "cache-retrieve"][:count]
        modules = script_modules.needed_modules(REPOSITORY, SCRIPT, named)
        assert {path for path in modules if path.startswith("workloads/")} == {
            f"workloads/{name.replace('-', '_')}.py" for name in named
        }


def test_size(workloads):
    """Far below what Linux takes, and short enough for the log that shows it twice."""
    sizes = [len(argument.encode()) for argument in build(workloads)]
    assert max(sizes) <= 131_071
    assert sum(sizes) <= 160_000


def test_lines_of_the_log(tmp_path):
    """A quick run of the usual task: its command as run-task prints it, twice, and all it says."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    benchmark = stanza.Benchmark.parse(
        {
            "script": SCRIPT,
            "workloads": ["cache-retrieve"],
            "retrieves": 20,
        }
    )
    modules = script_modules.needed_modules(REPOSITORY, SCRIPT, benchmark.workloads)
    built = task_command.make_command(
        benchmark, worker_program.WorkerProgram(modules), pool="x", time_budget_s=3300
    )
    done = subprocess.run(
        built,
        env={
            "PATH": os.environ["PATH"],
            "TMPDIR": str(tmp_path),
            "IO_BENCHMARK_WORKSPACE": str(workspace),
            "IO_BENCHMARK_ARTIFACTS": str(tmp_path / "artifacts"),
            "IO_BENCHMARK_PROFILE": "quick",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
        text=True,
    )
    printed = f"{' '.join(built)}\n{built!r}\n{done.stdout}"
    progress = [line for line in printed.splitlines() if line.startswith("  [")]
    assert len(printed.splitlines()) - len(progress) <= 150
