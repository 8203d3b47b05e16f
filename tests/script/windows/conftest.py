# SPDX-License-Identifier: MPL-2.0
"""What the tests of the worker's modules for Windows share."""

import sys
from typing import Any

import pytest
from recorded_registry import Registry


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any] | OSError]:
    """Keys below HKEY_LOCAL_MACHINE, which tests fill."""
    recorded = Registry()
    monkeypatch.setitem(sys.modules, "winreg", recorded)
    return recorded.keys
