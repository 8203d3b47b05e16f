# SPDX-License-Identifier: MPL-2.0
"""Task runs with small commands, in separate folders."""

import pytest

from io_benchmark.execute.local_run import LocalRun
from io_benchmark.graph.generate import GeneratedTask

VARIABLES = {"MOZ_SCM_LEVEL": "1", "TASKCLUSTER_VOLUMES": "/builds/worker/workspace"}
FOLDER = "/builds/worker/artifacts"
PERFHERDER = "perfherder-data-io-benchmark.json"
ARTIFACTS = {
    "public/io-benchmark": {"type": "directory", "path": f"{FOLDER}/io-benchmark"},
    f"public/{PERFHERDER}": {"type": "file", "path": f"{FOLDER}/{PERFHERDER}"},
}


@pytest.fixture
def make_run(tmp_path):
    """Return a run of a bash script, as run-task would run it."""

    def make(script="true", *, artifacts=ARTIFACTS, **payload):
        command = ["/usr/local/bin/run-task", "--", "bash", "-c", script]
        of_docker = {} if "command" in payload else {"image": "debian:12", "command": command}
        payload = {**of_docker, "env": VARIABLES, "artifacts": artifacts, **payload}
        definition = {"provisionerId": "a", "workerType": "b", "payload": payload}
        parent = tmp_path / "places"
        parent.mkdir(exist_ok=True)
        return LocalRun(
            task=GeneratedTask("io-benchmark-amd-16", "amd-16", "io-benchmark", definition, None),
            task_id="Prp_WpjGRx26VH-wA8fjTA",
            group_id="BtHOXJfPTT6WmMQGAsQzUw",
            parent=parent,
            output=tmp_path / "out" / "Prp_WpjGRx26VH-wA8fjTA.0",
            profile="quick",
        )

    return make
