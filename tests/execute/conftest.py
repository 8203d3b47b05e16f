# SPDX-License-Identifier: MPL-2.0
"""Task runs with small commands, in separate folders."""

import pytest

from io_benchmark.execute.local_run import LocalRun

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
        payload = {"command": command, "env": VARIABLES, "artifacts": artifacts, **payload}
        workspace = tmp_path / "places" / "workspace"
        workspace.mkdir(parents=True, exist_ok=True)
        return LocalRun(
            task_id="Prp_WpjGRx26VH-wA8fjTA",
            run_id=0,
            label="io-benchmark-amd-16",
            pool="amd-16",
            definition={"taskGroupId": "BtHOXJfPTT6WmMQGAsQzUw", "payload": payload},
            workspace=workspace,
            output=tmp_path / "out" / "Prp_WpjGRx26VH-wA8fjTA.0",
            profile="quick",
        )

    return make
