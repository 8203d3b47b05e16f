# SPDX-License-Identifier: MPL-2.0
"""Task runs with small commands of their own, in folders of their own."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from io_benchmark.execute.local_run import LocalRun

RESULT = {
    "public/io-benchmark": {
        "type": "directory",
        "path": "/builds/worker/artifacts/io-benchmark",
    },
    "public/perfherder-data-io-benchmark.json": {
        "type": "file",
        "path": "/builds/worker/artifacts/perfherder-data-io-benchmark.json",
    },
}


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., LocalRun]:
    """A run of a bash script, as run-task would run it."""

    def make(
        script: str = "true",
        *,
        artifacts: object = RESULT,
        task_id: str = "Prp_WpjGRx26VH-wA8fjTA",
        changes: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> LocalRun:
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
        given = {
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
        return LocalRun(**{**given, **fields})

    return make
