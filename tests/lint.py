# SPDX-License-Identifier: MPL-2.0
"""Run all linters: ruff, mypy, yamllint, codespell, shellcheck, vermin, rooms and columns.

All of them print what they found. The exit code is 1 if one of them found something.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = "scripts/io-benchmark"
SHELL = (
    "scripts/bin/io-benchmark",
    "scripts/environment.sh",
    "scripts/rehearse",
    "scripts/test",
    "scripts/tox",
    "tests/lock.sh",
    ".ci/run",
)
# The worker's script has no annotations, so that fewer checks apply.
SCRIPT_MYPY = (
    "mypy",
    "--cache-dir",
    "../../.mypy_cache",
    "--config-file=",
    "--explicit-package-bases",
    "--check-untyped-defs",
    "--disable-error-code=var-annotated",
    "--disable-error-code=union-attr",
    ".",
)
VERMIN = ("vermin", "--quiet", "--no-tips", "--violations")
# The folder and the command. The script is checked from inside, where its modules are on the path,
# as on a worker.
LINTERS = (
    (".", ("ruff", "check", ".")),
    (".", ("ruff", "format", "--check", ".")),
    (".", ("mypy",)),
    (SCRIPT, SCRIPT_MYPY),
    (".", ("yamllint", "--strict", ".")),
    (".", ("codespell",)),
    (".", ("shellcheck", *SHELL)),
    # Workers have Python 3.8, decision tasks 3.9: neither syntax nor standard library of a later
    # one.
    (".", (*VERMIN, "--target=3.8-", SCRIPT)),
    (".", (*VERMIN, "--target=3.9-", "python/io_benchmark_taskgraph", "taskcluster")),
    (".", ("python", "tests/rooms.py")),
    (".", ("python", "tests/lines/plain_lines.py")),
)


def main() -> int:
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs}:{os.environ.get('PATH', os.defpath)}"}
    failed = []
    for folder, command in LINTERS:
        print(f"$ {' '.join(command)}", flush=True)
        if subprocess.run(command, cwd=ROOT / folder, env=environment, check=False).returncode:
            failed.append(command[0])
    if failed:
        print(f"linters that found something: {', '.join(failed)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(2)  # as pytest
