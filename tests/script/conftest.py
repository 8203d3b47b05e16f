# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The worker's script, imported as modules and run as a worker runs it."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from io_benchmark.results import Result, read

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "io-benchmark"
sys.path.insert(0, str(SCRIPT))
sys.dont_write_bytecode = True  # the script's folder stays as it is in the checkout

# Runs the script after a few lines of Python have changed something in it.
DRIVER = """
import runpy, sys
folder = sys.argv.pop(1)
sys.path.insert(0, folder)
{prelude}
runpy.run_path(folder, run_name="__main__")
"""


@dataclass
class Worker:
    """A workspace, an artifacts folder, and the script's command line for them."""

    workspace: Path
    artifacts: Path
    python: str = sys.executable
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def result_path(self) -> Path:
        return self.artifacts / "io-benchmark" / "io-benchmark.json"

    def result(self) -> Result:
        return read(self.result_path)

    def command(self, *extra: str, prelude: str = "") -> list[str]:
        start = [self.python, "-u", "-B"]
        start += ["-c", DRIVER.format(prelude=prelude)] if prelude else []
        given = [
            *("--pool", "amd-16", "--workload", "cache-retrieve"),
            *("--artifacts", str(self.artifacts)),
            *extra,
        ]
        if "--place" not in extra:
            given += ["--place", f"workspace={self.workspace}"]
        if "--sizes" not in extra:
            given += ["--sizes", "4x0.5,4x0.25,2x0.01"]
        return [*start, str(SCRIPT), *given]

    def start(self, *extra: str, prelude: str = "") -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self.command(*extra, prelude=prelude),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **self.environment},
            start_new_session=True,
        )

    def run(self, *extra: str, prelude: str = "") -> tuple[int, str]:
        process = self.start(*extra, prelude=prelude)
        output, _ = process.communicate(timeout=120)
        return process.returncode, output


@pytest.fixture
def worker(tmp_path: Path) -> Worker:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return Worker(workspace, tmp_path / "artifacts")


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts a recorded /proc and /sys before the script: files by path, links by path."""
    import reading

    root = tmp_path / "recorded"

    def record(files: Mapping[str, str], links: Mapping[str, str] | None = None) -> None:
        for path, text in files.items():
            target = root / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        for path, to in (links or {}).items():
            target = root / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(to)
        monkeypatch.setattr(reading, "ROOT", str(root))

    return record


