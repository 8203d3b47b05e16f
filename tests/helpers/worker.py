# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Runs the worker's script as a worker does, in folders of the test's own."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from checkout import ROOT

from io_benchmark.results import Result, read

SCRIPT = ROOT / "scripts" / "io-benchmark"

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
