# SPDX-License-Identifier: MPL-2.0
"""Task runs with small commands, in separate folders."""

from pathlib import Path
from typing import Any

from io_benchmark.execute.local_run import LocalRun

FOLDER = "/builds/worker/artifacts"
DIRECTORY = {
    "public/io-benchmark": {"type": "directory", "path": f"{FOLDER}/io-benchmark"},
}
RESULT = {
    **DIRECTORY,
    "public/perfherder-data-io-benchmark.json": {
        "type": "file",
        "path": f"{FOLDER}/perfherder-data-io-benchmark.json",
    },
}


def local_run(folder: Path, script: str, payload: dict[str, Any], **fields: Any) -> LocalRun:
    """Return a run of a bash script, as run-task would run it."""
    task_id = fields.get("task_id", "Prp_WpjGRx26VH-wA8fjTA")
    command = ["/usr/local/bin/run-task", "--", "bash", "-c", script]
    payload = {"command": command, "artifacts": DIRECTORY, "maxRunTime": 60, **payload}
    workspace = folder / "places" / "workspace"
    workspace.mkdir(parents=True, exist_ok=True)
    values = {
        "task_id": task_id,
        "run_id": 0,
        "label": "io-benchmark-amd-16",
        "pool": "amd-16",
        "definition": {"taskGroupId": "BtHOXJfPTT6WmMQGAsQzUw", "payload": payload},
        "workspace": workspace,
        "output": folder / "out" / f"{task_id}.0",
        "profile": "quick",
    }
    return LocalRun(**{**values, **fields})
