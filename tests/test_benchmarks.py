# SPDX-License-Identifier: MPL-2.0
"""The benchmark is run by hand; here only that it still finds what it measures."""

import runpy
import sys

import pytest
from checkout import ROOT


def test_its_names_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that it imports is there."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    runpy.run_path(str(ROOT / "tests/benchmarks/harness_cost.py"), run_name="imported")
