# SPDX-License-Identifier: MPL-2.0
"""A checkout of the shell scripts alone, and Python interpreters that only pretend."""

import contextlib
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkout import ROOT

from .script_checkout import ENVIRONMENT_PYTHON, PROGRAM, UTILITIES, Checkout, executable


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    """The scripts in a path with a space, on a machine without any Python."""
    path, binaries = tmp_path / "a checkout", tmp_path / "bin"
    for script in ("bin/io-benchmark", "environment.sh", "rehearse", "test", "tox"):
        (path / "scripts" / script).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "scripts" / script, path / "scripts" / script)
    for name in ("pyproject.toml", "python/requirements.txt", "tests/requirements-tox.txt"):
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(f"the contents of {name}\n")
    binaries.mkdir()
    for utility in UTILITIES.split():
        (binaries / utility).symlink_to(shutil.which(utility) or utility)
    executable(binaries / "program", PROGRAM)
    executable(binaries / "environment-python", ENVIRONMENT_PYTHON)
    made = Checkout(path, binaries, tmp_path / "installed", tmp_path / "hold")
    yield made
    for process in made.started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
