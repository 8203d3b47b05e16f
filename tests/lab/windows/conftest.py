# SPDX-License-Identifier: MPL-2.0
"""The worker's program under Wine, as someone starts it by hand."""

from pathlib import Path

import pytest
import windows_python
import wine
from worker import SCRIPT


class WindowsRun:
    """How a run of the worker's program ended, and what is left of it."""

    def __init__(self, exit_code: int, log: str, output: Path) -> None:
        self.exit_code = exit_code
        self.log = log
        self.result_path = output / "io-benchmark" / "io-benchmark.json"


def program_command(version: str = windows_python.USUAL) -> tuple[str, ...]:
    return (*wine.python_command(version), wine.path_of(SCRIPT))


@pytest.fixture
def run_worker(windows, tmp_path):
    """Run the program with a place, by its path on Windows."""

    def run(pool, place, *extra, version=windows_python.USUAL, folder=None, limit_s=300.0):
        output = tmp_path / "results" / pool
        arguments = ["run", "--pool", pool, "--output", wine.path_of(output), *extra]
        if place is not None:
            arguments += ["--place", f"workspace={place}"]
        command = (*program_command(version), *arguments)
        code, log = windows.run(*command, folder=folder, limit_s=limit_s)
        assert "Traceback" not in log, log
        return WindowsRun(code, log, output)

    return run
