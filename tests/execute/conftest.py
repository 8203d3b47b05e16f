# SPDX-License-Identifier: MPL-2.0
"""Task runs with small commands, in separate folders."""

import pytest

from io_benchmark.execute.local_run import LocalRun

FOLDER = "/builds/worker/artifacts"
RESULT = {
    "public/io-benchmark": {"type": "directory", "path": f"{FOLDER}/io-benchmark"},
    "public/perfherder-data-io-benchmark.json": {
        "type": "file",
        "path": f"{FOLDER}/perfherder-data-io-benchmark.json",
    },
}


@pytest.fixture
def make_run(tmp_path):
    """A run of a bash script, as run-task would run it."""

    def make(
        script="true",
        *,
        artifacts=RESULT,
        task_id="Prp_WpjGRx26VH-wA8fjTA",
        changes=None,
        **fields,
    ):
        payload = {
            "command": ["/usr/local/bin/run-task", "--", "bash", "-c", script],
            "env": {"MOZ_SCM_LEVEL": "1", "TASKCLUSTER_VOLUMES": "/builds/worker/workspace"},
            "artifacts": artifacts,
            "maxRunTime": 60,
            "onExitStatus": {"retry": [72]},
            **(changes or {}),
        }
        workspace = tmp_path / "places" / "workspace"
        workspace.mkdir(parents=True, exist_ok=True)
        values = {
            "task_id": task_id,
            "run_id": 0,
            "label": "io-benchmark-amd-16",
            "pool": "amd-16",
            "definition": {"taskGroupId": "BtHOXJfPTT6WmMQGAsQzUw", "payload": payload},
            "workspace": workspace,
            "output": tmp_path / "out" / f"{task_id}.0",
            "profile": "quick",
            "image": "update-verify",
            "root": tmp_path,
        }
        return LocalRun(**{**values, **fields})

    return make
