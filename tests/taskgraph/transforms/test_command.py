# SPDX-License-Identifier: MPL-2.0
"""All transforms of the kind together, with a small script."""

import pytest
from embedding import shell_text

from io_benchmark_taskgraph import script_modules, stanza, task_command, worker_program
from io_benchmark_taskgraph.mistakes import UserMistake


@pytest.mark.usefixtures("script")
def test_command_of_a_pool(datadir, run_kind, make_pool):
    """The command holds all workloads and what they need, the pool and the time; the stanza is gone."""
    pool = make_pool(worker={"max-run-time": 4000})
    modules = script_modules.needed_modules(
        datadir, "scripts/io-benchmark", ["cache-retrieve", "sync-write"]
    )
    expected = task_command.make_command(
        stanza.Benchmark.parse(dict(pool["benchmark"])),
        worker_program.WorkerProgram(modules),
        pool="amd-16",
        time_budget_s=3700,
    )
    [task] = run_kind([pool])
    assert task["run"] == {"using": "run-task", "command": expected}
    assert "benchmark" not in task


@pytest.mark.usefixtures("script")
def test_replicates_measure_their_pool(run_kind, make_pool):
    """Every replicate runs the same command."""
    first, second = run_kind([make_pool(benchmark={"replicates": 2})])
    assert first["run"]["command"] == second["run"]["command"]
    assert "--pool amd-16 " in shell_text(first["run"]["command"])


@pytest.mark.usefixtures("script")
def test_mistake_names_file_and_task(run_kind, make_pool):
    """A mistake in the script's folder is a line of kind.yml's too."""
    with pytest.raises(UserMistake) as caught:
        run_kind([make_pool(benchmark={"workloads": ["x"]})])
    assert str(caught.value).endswith(
        "kind.yml: task amd-16: benchmark.workloads: 'x' is unknown; there are: cache-retrieve, "
        "sync-write"
    )
