# SPDX-License-Identifier: MPL-2.0
"""A gate as people write it."""

import re

import pytest

from io_benchmark.analysis.gate.gate_model import Gate
from io_benchmark.errors import UsageError


@pytest.mark.parametrize(
    ("written", "gate"),
    [
        ("alpha/production", Gate("alpha", "production", 0.1)),
        ("alpha/production<1.10", Gate("alpha", "production", 0.1)),
        (" a-b.c_1 / production < 1.05 ", Gate("a-b.c_1", "production", 0.05)),
        ("intel after/intel before<2", Gate("intel after", "intel before", 1.0)),
    ],
)
def test_gates(written: str, gate: Gate) -> None:
    """Two names, and a limit above 1; 10 % where none is written."""
    assert Gate.parse(written) == gate


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("alpha", "write it like 'alpha/production' or 'alpha/production<1.10'"),
        ("alpha/production>1.1", "write it like"),
        ("alpha/production<1.1 on spawn", "write it like"),
        ("alpha/production<10%", "write it like"),
        ("alpha/production<nan", "write it like"),
        ("alpha/production<99999", "write it like"),
        ("a\x1b[31m/b", "'a�[31m/b': write it like"),
        ("alpha/production<1", "1 is not above 1"),
        ("alpha/production<0.9", "0.9 is not above 1"),
        ("alpha/production<1.000000001", "write it like"),
        ("alpha/ alpha<1.1", "compares a pool with itself; name two pools"),
        ("", "write it like"),
    ],
)
def test_mistakes(written: str, problem: str) -> None:
    """One line says what to write."""
    with pytest.raises(UsageError, match=re.escape(problem)):
        Gate.parse(written)
