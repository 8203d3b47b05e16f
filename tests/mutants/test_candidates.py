# SPDX-License-Identifier: MPL-2.0
"""The mutants of a module."""

import runpy
from pathlib import Path

import pytest

mutants = runpy.run_path(str(Path(__file__).with_name("candidates.py")))["mutants"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a = (b) < c", ["a = (b) <= c", "a = (b) >= c"]),
        ("a = b not in c", ["a = b in c"]),
        ("a = b and not c", ["a = b or not c", "a = b and c"]),
        ("ä = [True, 2]", ["ä = [False, 2]", "ä = [True, 3]"]),
        ("a = b * c + 'd'", ["a = b / c + 'd'"]),
        ("def a(): return b", ["def a(): return None"]),
        ("while a:\n  if b: break", ["if False: break"]),
        ("a: Literal[1] = f'{2}'", []),
    ],
)
def test_one_line_changes(line: str, expected: list[str]) -> None:
    """Operators, constants, negations, guards and results; neither annotations nor texts."""
    assert [mutant.after.strip() for mutant in mutants(line, "module.py")] == expected
