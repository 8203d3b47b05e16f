# SPDX-License-Identifier: MPL-2.0
"""The command of a task that asks for every workload, run by bash as run-task runs it."""

import os
import subprocess

import pytest

from io_benchmark.sources.folder.run_files import read_run
from io_benchmark_taskgraph import script_modules, stanza, task_command, worker_program

from .conftest import REPOSITORY

SCRIPT = "scripts/io-benchmark"
WORKLOADS = script_modules.workload_names(REPOSITORY / SCRIPT)


def command_of(workloads):
    benchmark = stanza.Benchmark.parse({"script": SCRIPT, "workloads": workloads, "retrieves": 20})
    modules = script_modules.needed_modules(REPOSITORY, SCRIPT, workloads)
    return task_command.make_command(
        benchmark, worker_program.WorkerProgram(modules), pool="amd-16", time_budget_s=3300
    )


@pytest.mark.parametrize("workloads", [WORKLOADS, ["cache-retrieve"]])
def test_a_quick_run(workloads, tmp_path):
    """All workloads fit one command and give a result; the usual task's log has at most 150 lines."""
    workspace, artifacts = tmp_path / "workspace", tmp_path / "artifacts"
    workspace.mkdir()
    command = command_of(workloads)
    done = subprocess.run(
        command,
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
    # run-task prints the command twice.
    lines = f"{' '.join(command)}\n{command!r}\n{done.stdout}".splitlines()
    progress = [line for line in lines if line.startswith("  [")]
    assert len(workloads) > 1 or len(lines) - len(progress) <= 150
    sizes = [len(argument.encode()) for argument in command]
    assert max(sizes) <= 131_071
    assert sum(sizes) <= 160_000


def test_modules():
    """Every module is used by a workload, and a workload brings no other workload's modules."""
    modules = script_modules.needed_modules(REPOSITORY, SCRIPT, WORKLOADS)
    assert set(modules) == script_modules._module_paths(REPOSITORY / SCRIPT)
    for workload in WORKLOADS:
        for names in ([workload], [workload, "cache-retrieve"]):
            paths = script_modules.needed_modules(REPOSITORY, SCRIPT, names)
            assert {path for path in paths if path.startswith("workloads/")} == {
                f"workloads/{name.replace('-', '_')}.py" for name in names
            }
