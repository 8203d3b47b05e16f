# SPDX-License-Identifier: MPL-2.0
"""The command of a task that asks for every workload, run by bash as run-task runs it."""

import os
import subprocess

import pytest

from io_benchmark.sources.folder.run_files import read_run
from io_benchmark_taskgraph import stanza, task_command
from io_benchmark_taskgraph.worker_program import WorkerProgram, workload_names

from .conftest import REPOSITORY

SCRIPT = "scripts/io-benchmark"
WORKLOADS = workload_names(REPOSITORY / SCRIPT)


def command_of(workloads):
    benchmark = stanza.Benchmark.parse({"script": SCRIPT, "workloads": workloads, "retrieves": 20})
    program = WorkerProgram.read(REPOSITORY, SCRIPT)
    return task_command.make_command(benchmark, program, pool="amd-16", time_budget_s=3300)


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
