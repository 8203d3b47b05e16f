# SPDX-License-Identifier: MPL-2.0
"""Generated tasks of Windows pools, as a worker runs them: by taskgraph's run-task and cmd.exe."""

import json

import program
import pytest
from native_project import project
from windows_task import VARIABLES, WindowsTask

from io_benchmark.graph.generate import generate
from io_benchmark.sources.run_files import read_run
from io_benchmark_taskgraph.stanza import NOT_ON_WINDOWS
from io_benchmark_taskgraph.worker_program import WorkerProgram

pytestmark = pytest.mark.windows

# The report's task needs a pool with docker.
ALIASES = {"large": "t-win", "container": "b-linux"}
WORKLOADS = sorted({*WorkerProgram.read().workload_names()} - {*NOT_ON_WINDOWS})
SHORT = {"IO_BENCHMARK_PROFILE": "quick", "IO_BENCHMARK_DOWNLOAD_URL": "loopback"}
RESULT, PERFHERDER = "public/io-benchmark", "public/perfherder-data-io-benchmark.json"
# The worker's files, the mounts, the unpacked program and the artifacts.
LEFT = {"command_000000.bat", "command_000000_wrapper.bat", "run-task", "io-benchmark.py"}
LEFT |= {"io-benchmark.pyz", "artifacts"}


@pytest.fixture
def start_task(windows, tmp_path):
    """Return a pool's task in its folder on drive D:."""
    disk = tmp_path / "disk"
    disk.mkdir()
    with windows.drive("d", disk):

        def start(**benchmark):
            defaults = {
                "benchmark": {"retrieves": 100, **benchmark},
                "worker": {"docker-image": "debian:12", "max-run-time": 5400},
            }
            root = project(tmp_path / "project", ALIASES, {"task-defaults": defaults})
            (task,) = generate(root, ["large"])
            return WindowsTask(windows, task.definition["payload"], disk)

        yield start


def as_other_pool(path, folder, pool):
    """Write a result as if another machine of another pool had measured it."""
    document = json.loads(path.read_text())
    document["task"] |= {"pool": pool, "task_id": "Prp_WpjGRx26VH-wA8fjTB"}
    copied = folder / f"{pool}.json"
    copied.write_text(json.dumps(document))
    return copied


def test_all_workloads(start_task, tmp_path):
    """Each workload gives a result that `compare` reads; nothing else is left in the folder."""
    task = start_task(workloads=[name for name in WORKLOADS if name != "cache-retrieve"])
    code, log = task.run(SHORT)
    assert code == 0, log
    path = task.artifact(RESULT) / "io-benchmark.json"
    result = read_run(path).result
    assert result.host is not None
    assert (result.outcome.state, result.host.system) == ("completed", "windows"), log
    assert result.task.instance_type == VARIABLES["TASKCLUSTER_INSTANCE_TYPE"]
    entries = json.loads(path.read_text())["workloads"]
    assert sorted({entry["name"] for entry in entries}) == WORKLOADS
    assert {entry["outcome"]["state"] for entry in entries} == {"completed"}, log
    assert task.artifact(PERFHERDER).is_file()
    assert {left.name for left in task.folder.iterdir()} == LEFT
    copied = as_other_pool(path, tmp_path, "small")
    document = program.compare(path, copied, "--baseline", "large")
    compared = {subject["subject"]["workload"] for subject in document["subjects"]}
    # Under Wine the processes of one sample may take longer to start than a short run lasts.
    refusals = {
        problem["rule"] for problem in document["problems"] if problem["severity"] == "refused"
    }
    assert {*WORKLOADS} - compared <= {"download"}
    assert refusals <= {"too-few-retrieves"}
    verdicts = {found["verdict"] for each in document["subjects"] for found in each["comparisons"]}
    assert verdicts <= {"equivalent", "inconclusive"}
