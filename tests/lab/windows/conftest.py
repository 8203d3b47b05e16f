# SPDX-License-Identifier: MPL-2.0
"""The worker's program under Wine, as someone starts it by hand."""

from types import SimpleNamespace

import pytest
import windows_python
import wine
from worker import SCRIPT


@pytest.fixture
def run_worker(windows, tmp_path):
    """Run the program with a place, by its path on Windows."""

    def run(pool, place, *extra, version=windows_python.USUAL, folder=None, limit_s=300.0):
        output = tmp_path / "results" / pool
        arguments = ["run", "--pool", pool, "--output", wine.path_of(output), *extra]
        if place is not None:
            arguments += ["--place", f"workspace={place}"]
        command = (*wine.python_command(version), wine.path_of(SCRIPT), *arguments)
        code, log = windows.run(*command, folder=folder, limit_s=limit_s)
        assert "Traceback" not in log, log
        result_path = output / "io-benchmark" / "io-benchmark.json"
        return SimpleNamespace(exit_code=code, log=log, result_path=result_path)

    return run
