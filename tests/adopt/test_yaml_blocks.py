# SPDX-License-Identifier: MPL-2.0
"""YAML as people write it: the same data, read again."""

import pytest
import yaml
from yamllint import linter
from yamllint.config import YamlLintConfig

from io_benchmark.adopt.yaml_blocks import yaml_blocks

from .firefox_trees import YAMLLINT

DEEP = {
    "short": {"a": "b", "c": [1, True, None]},
    "nested": {"a": {"b": "true", "c": "yes"}, "list": [{"a": 1}, {"b": "x" * 90}]},
    "long": {"a": "x" * 60, "b": "y" * 60},
    "items": ["one: two", "- three", "4"],
    "none": [],
    "nothing" * 20: {},
    "text": "first\n\n  indented\nlast\n",
    "without end": "first\nlast",
    "more ends": "first\n\n\n",
    "leading": "  first\nlast\n",
    "mixed": [{"command": "a\n\nb\n", "name": "c, d"}, "e"],
}


def test_data():
    """All that a kind can have is read as it was."""
    assert yaml.safe_load(yaml_blocks(DEEP)) == DEEP


@pytest.mark.parametrize("key", sorted(set(DEEP) - {"more ends"}))
def test_form(key):
    """Firefox's linter has nothing to say, but about empty lines at the end of a text."""
    text = f"---\n{yaml_blocks({key: DEEP[key]})}"
    assert [str(problem) for problem in linter.run(text, YamlLintConfig(YAMLLINT))] == []


def test_short_and_long():
    """A line has at most 99 characters, if it can be shorter."""
    assert yaml_blocks({"short": {"a": "b"}}) == "short: {a: b}\n"
    fitting = {"name": {"a": "x" * 88}}
    assert yaml_blocks(fitting) == f"name: {{a: {'x' * 88}}}\n"
    assert yaml_blocks({"name": {"a": "b\nc\n"}}) == "name:\n    a: |\n        b\n        c\n"
    assert yaml_blocks({"name": {"a": "x" * 89}}) == f"name:\n    a: {'x' * 89}\n"
