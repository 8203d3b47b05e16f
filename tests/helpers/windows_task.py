# SPDX-License-Identifier: MPL-2.0
"""Run a generated task of a Windows pool as a worker does, with taskgraph's own run-task.

As generic-worker's multiuser engine: each command is a .bat file in the task's folder on D:, its
mounts are files there, and a wrapper sets the variables. The wrapper does not `call` the file,
because Wine would lose the exit code; it hands over to it, which also ends the wrapper.
"""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import taskgraph
import wine

TASK_ID, GROUP_ID = "Prp_WpjGRx26VH-wA8fjTA", "BtHOXJfPTT6WmMQGAsQzUw"
RUN_TASK = Path(taskgraph.__file__).parent / "run-task" / "run-task"
FOLDER = "task_1764456000"
# What cmd.exe would read of a value.
_SPECIAL, _ESCAPED = re.compile(r'[()%!^"<>&|]'), r"^\g<0>"
# Of a worker in Azure.
VARIABLES = {
    "TASK_ID": TASK_ID,
    "RUN_ID": "0",
    "TASK_GROUP_ID": GROUP_ID,
    "TASKCLUSTER_ROOT_URL": "https://tc.invalid",
    "TASKCLUSTER_INSTANCE_TYPE": "Standard_F8s_v2",
    "TASKCLUSTER_WORKER_LOCATION": '{"cloud":"azure","region":"westus2"}',
}


class WindowsTask:
    """A task in its folder, on a drive that belongs to the test."""

    def __init__(self, windows: wine.Windows, payload: Mapping[str, Any], disk: Path) -> None:
        self._windows = windows
        self._payload = payload
        self.folder = disk / FOLDER
        self.folder.mkdir()
        # On a worker, run-task and the kind's reports find it there.
        self.workdir = f"D:\\{FOLDER}"
        for mount in payload["mounts"]:
            self._mount(mount)

    def _mount(self, mount: Mapping[str, Any]) -> None:
        file = self.folder / mount["file"]
        content = mount["content"]
        if "raw" in content:
            file.write_text(content["raw"], encoding="utf-8", newline="")
        else:
            assert file.name == "run-task", mount
            file.write_bytes(RUN_TASK.read_bytes())

    def start(self, variables: Mapping[str, str] | None = None) -> "subprocess.Popen[str]":
        """Start the task's only command; `variables` are added to the task's."""
        (command,) = self._payload["command"]
        assert len(command) <= 8_191, "cmd.exe takes no longer line"
        script = "command_000000.bat"
        (self.folder / script).write_text(f"@echo on\r\n{command}", newline="")
        values = {
            **self._payload.get("env", {}),
            **VARIABLES,
            "TASK_WORKDIR": self.workdir,
            **(variables or {}),
        }
        lines = [
            "@echo off",
            *(f"set {name}={_SPECIAL.sub(_ESCAPED, value)}" for name, value in values.items()),
            f'cd "{self.workdir}"',
            "set errorlevel=",
            f"{self.workdir}\\{script} 2>&1",
        ]
        wrapper = self.folder / "command_000000_wrapper.bat"
        wrapper.write_text("".join(f"{line}\r\n" for line in lines), newline="")
        return self._windows.start("cmd.exe", "/c", wrapper.name, folder=self.folder)

    def run(
        self, variables: Mapping[str, str] | None = None, limit_s: float = 600.0
    ) -> tuple[int, str]:
        """Return the exit code and the log."""
        return self._windows.finish(self.start(variables), limit_s)

    def artifact(self, name: str) -> Path:
        """Return an artifact's path on this machine; a worker fails the task that lacks one."""
        (path,) = [one["path"] for one in self._payload["artifacts"] if one["name"] == name]
        artifact = self.folder / str(path)
        assert artifact.exists(), f"missing artifact: {name}"
        return artifact
