# SPDX-License-Identifier: MPL-2.0
"""The program as a separate process, with what it took."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

COMMAND = [sys.executable, "-m", "io_benchmark.cli"]


@dataclass(frozen=True)
class Taken:
    """How it ended, and what it took."""

    status: int
    stdout: str
    stderr: str
    peak_mb: float
    cpu_s: float


# Between them and this process, which may be large: the system counts a child's memory from the
# moment at which it is still a copy of its parent.
_BETWEEN = """
import json, os, subprocess, sys
process = subprocess.Popen(sys.argv[2:])
_, status, usage = os.wait4(process.pid, 0)
with open(sys.argv[1], "w") as file:
    json.dump([os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024 / 1e6,
               usage.ru_utime + usage.ru_stime], file)
"""


def measure(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
) -> Taken:
    """Run `io-benchmark ARGUMENTS`; `folder` gets what it prints."""
    told = folder / "told.json"
    stdout, stderr = folder / "stdout", folder / "stderr"
    with stdout.open("wb") as out, stderr.open("wb") as err:
        subprocess.run(
            [sys.executable, "-c", _BETWEEN, str(told), *COMMAND, *arguments],
            stdout=out,
            stderr=err,
            env={**os.environ, **(environment or {})},
            cwd=folder,
            check=True,
        )
    status, peak_mb, cpu_s = json.loads(told.read_text())
    return Taken(status, stdout.read_text(), stderr.read_text(), peak_mb, cpu_s)
