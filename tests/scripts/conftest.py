# SPDX-License-Identifier: MPL-2.0
"""A checkout of the two shell scripts alone, and Python interpreters that only pretend."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from checkout import ROOT

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
    rm -rf "$5" && mkdir -p "$5/bin" && cp "{environment_python}" "$5/bin/python"
    echo "{version}" >"$5/version"
    echo "venv with $0" >>"{log}" ;;
*) exec "{python}" "$@" ;;
esac
"""
ENVIRONMENT_PYTHON = """#!/bin/sh
case "$*" in
*"import pip"*) exit 0 ;;
*"sys.base_prefix"*) cat "${{0%/*}}/../version" ;;
*--requirement*)
    echo "started" >>"{log}"
    while [ -e "{hold}" ]; do sleep 0.05; done
    [ -z "${{PIP_FAILS:-}}" ] || {{ echo "no such package" >&2; exit 1; }}
    for program in io-benchmark tox; do cp "{program}" "${{0%/*}}/$program"; done
    echo "finished" >>"{log}" ;;
*--editable*) echo "project" >>"{log}" ;;
*) exec "{python}" "$@" ;;
esac
"""
# Stands for io-benchmark and tox.
PROGRAM = """#!/bin/sh
echo "${0##*/} $$"
for argument in "$@"; do echo "<$argument>"; done
[ -z "${PROGRAM_STAYS:-}" ] || exec sleep 60
exit "${PROGRAM_CODE:-0}"
"""


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
        target = self.bin / name
        target.write_text(
            INTERPRETER.format(
                old=int(old),
                refusal=refusal,
                version=version,
                environment_python=self.bin / "environment-python",
                log=self.log,
                python=sys.executable,
            )
        )
        target.chmod(0o755)
        return target

    def start(self, script: str, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start a script from the root folder, in a separate process group, without other variables."""
        process = subprocess.Popen(
            [str(self.path / "scripts" / script), *arguments],
            cwd="/",
            env={"PATH": str(self.bin), "HOME": str(self.path), **variables},
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


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    """The scripts in a path with a space, on a machine without any Python."""
    path, binaries = tmp_path / "a checkout", tmp_path / "bin"
    (path / "python").mkdir(parents=True)
    (path / "tests").mkdir()
    binaries.mkdir()
    shutil.copytree(
        ROOT / "scripts", path / "scripts", ignore=shutil.ignore_patterns("io-benchmark")
    )
    for name in ("pyproject.toml", "python/requirements.txt", "tests/requirements-tox.txt"):
        (path / name).write_text(f"the contents of {name}\n")
    for utility in UTILITIES.split():
        (binaries / utility).symlink_to(shutil.which(utility) or utility)
    log, hold = tmp_path / "installed", tmp_path / "hold"
    program = binaries / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    environment_python = binaries / "environment-python"
    environment_python.write_text(
        ENVIRONMENT_PYTHON.format(log=log, hold=hold, program=program, python=sys.executable)
    )
    environment_python.chmod(0o755)
    made = Checkout(path, binaries, log, hold)
    yield made
    for process in made.started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
