# SPDX-License-Identifier: MPL-2.0
"""What the linter of lines finds: wide lines, and literals that are unpacked."""

import pytest
from plain_lines import COLUMNS, is_checked, mistakes, unpacked_literals


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('f(*("a", "b"))', [1]),
        ("[\n    *rest,\n    *([x] if y else []),\n]", [3]),
        ('{**{"a": 1}, **rest}', [1]),
        # These cannot be written plainly.
        ('f(**{"a-b": 1})', []),
        ("[*rest, *(x for x in rest)]", []),
    ],
)
def test_unpacked_literals(text, lines):
    """A literal behind a star is found by its line, also in a condition."""
    assert list(unpacked_literals(text)) == lines


def test_wide_lines():
    """Lines of other text files are counted; one word alone cannot be wrapped."""
    wide = "# " + "word " * 20
    text = f"{wide}\n# {'x' * 200}\n{'y ' * 50}"
    assert list(mistakes("tox.ini", text)) == [f"tox.ini:1: {len(wide)} columns, of {COLUMNS}"]


def test_wide_lines_of_pages():
    """A page's text is counted, and not what a table or an example shows."""
    wide = "word " * 21
    text = f"| {wide}\n\n```\n{wide}\n```\n{wide}\n"
    assert list(mistakes("page.md", text)) == [f"page.md:6: {len(wide)} columns, of {COLUMNS}"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tox.ini", True),
        ("scripts/test", True),
        ("taskcluster/docker/update-verify/Dockerfile", True),
        ("python/io_benchmark/cli.py", False),
        ("README.md", False),
        ("tests/fixtures/taskcluster/index.yml", False),
    ],
)
def test_which_files(name, expected):
    """Shell, YAML, TOML and Dockerfiles of the project's own; ruff has Python."""
    assert is_checked(name) is expected
