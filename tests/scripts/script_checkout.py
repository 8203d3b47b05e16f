# SPDX-License-Identifier: MPL-2.0
"""A checkout with this one's scripts, and stand-ins for what they call."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

# All that the scripts ask of a machine in addition to git and a Python: POSIX utilities.
UTILITIES = "cat chmod cmp cp dirname env mkdir mv printf readlink rm sh sleep tr"

# Stands for an interpreter: says whether it is new enough and makes an environment, or fails to.
# Locks are the real thing, taken by the Python that runs the tests.
INTERPRETER = """#!/bin/sh
case "$*" in
*"sys.version_info < (3, 11)"*) exit {old} ;;
*"sys.base_prefix"*) echo "{version}" ;;
*"-m venv"*)
    [ -z "{refusal}" ] || {{ echo "{refusal}" >&2; exit 1; }}
    rm -rf "$5" && mkdir -p "$5/bin" && cp "$PATH/environment-python" "$5/bin/python"
    echo "{version}" >"$5/version"
    echo "venv with $0" >>"$INSTALLED" ;;
*) exec "$REAL_PYTHON" "$@" ;;
esac
"""

ENVIRONMENT_PYTHON = """#!/bin/sh
case "$*" in
*"import pip"*) exit 0 ;;
*"sys.base_prefix"*) cat "${0%/*}/../version" ;;
*--requirement*)
    echo "started" >>"$INSTALLED"
    while [ -e "$HOLD" ]; do sleep 0.05; done
    for program in io-benchmark tox; do cp "$PATH/program" "${0%/*}/$program"; done
    echo "finished" >>"$INSTALLED" ;;
*--editable*) echo "project" >>"$INSTALLED" ;;
*) exec "$REAL_PYTHON" "$@" ;;
esac
"""

# Stands for io-benchmark and tox.
PROGRAM = """#!/bin/sh
echo "${0##*/} $$"
for argument in "$@"; do echo "<$argument>"; done
[ -z "${PROGRAM_STAYS:-}" ] || exec sleep 60
exit "${PROGRAM_CODE:-0}"
"""


def executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@dataclass(frozen=True)
class Checkout:
    """Where the scripts are, and the folder that is the whole PATH for them."""

    path: Path
    bin: Path
    log: Path  # what was installed
    hold: Path  # while this file is there, pip does not finish
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def interpreter(
        self, name: str, *, old: bool = False, refusal: str = "", version: str = "3.13.0"
    ) -> Path:
        """Put an interpreter on the PATH."""
        text = INTERPRETER.format(old=int(old), refusal=refusal, version=version)
        return executable(self.bin / name, text)

    def start(self, script: str, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start a script from the root folder, in a new process group, without other variables."""
        paths = {"PATH": self.bin, "HOME": self.path, "INSTALLED": self.log, "HOLD": self.hold}
        own = {name: str(path) for name, path in paths.items()}
        process = subprocess.Popen(
            [self.path / script, *arguments],
            cwd="/",
            env={**own, "REAL_PYTHON": sys.executable, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def run(self, script: str, *arguments: str, **variables: str) -> tuple[int, list[str], str]:
        """Exit code, what the program that was started got, and everything on stderr."""
        process = self.start(script, *arguments, **variables)
        stdout, stderr = process.communicate(timeout=60)
        return process.returncode, [line for line in stdout.splitlines() if "<" in line], stderr

    def logged(self) -> Sequence[str]:
        """What was installed, in order."""
        return self.log.read_text().splitlines() if self.log.exists() else []
