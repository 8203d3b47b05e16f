# SPDX-License-Identifier: MPL-2.0
"""The benchmarks are run by hand; here only that they still find what they measure."""

import subprocess
import sys
from pathlib import Path

import pytest
from checkout import ROOT

BENCHMARKS = sorted((ROOT / "tests/benchmarks").glob("*.py"))


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda path: path.stem)
def test_its_names_exist(benchmark: Path) -> None:
    """All that it imports is there."""
    subprocess.run(
        [
            *(sys.executable, "-B", "-c"),
            "import runpy, sys; runpy.run_path(sys.argv[1], run_name='imported')",
            benchmark,
        ],
        env={"PYTHONPATH": str(ROOT / "tests/helpers")},
        check=True,
    )
