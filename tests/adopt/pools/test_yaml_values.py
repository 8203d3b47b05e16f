# SPDX-License-Identifier: MPL-2.0
"""A value set in the text of a YAML file: its line alone changes, and the data as it should."""

from typing import Any

import pytest

from io_benchmark.adopt.pools.yaml_values import with_part, with_value
from io_benchmark.yaml_reader import parse_yaml

BASE = "base: &base {a: 1, b: {c: 2, d: &d 3}}\n"


@pytest.mark.parametrize(
    ("text", "path", "changed"),
    [
        pytest.param("x: 1  # of ours\ny: 2\n", "x", "x: new  # of ours\ny: 2\n", id="a scalar"),
        pytest.param("x: {y: 1}\n", "x y", "x: {y: new}\n", id="in a flow"),
        pytest.param("x: {}\n", "x y", "x: {y: new}\n", id="in an empty flow"),
        pytest.param("x: { y: 1 }\n", "x z", "x: { y: 1, z: new }\n", id="a new key in a flow"),
        pytest.param("- 1\n- 2\n", "1", "- 1\n- new\n", id="an item"),
        pytest.param(
            "x:\n  y: 1  # of ours\n  z:\n    - 2\nw: 3\n",
            "x v",
            "x:\n  y: 1  # of ours\n  v: new\n  z:\n    - 2\nw: 3\n",
            id="a new key in a block",
        ),
        pytest.param(
            "x:\n  y:\n    z: 1\n",
            "x v",
            "x:\n  v: new\n  y:\n    z: 1\n",
            id="a new key where no value is on a line",
        ),
        pytest.param("x: 1", "y", "x: 1\ny: new", id="without an end of the last line"),
        pytest.param("x: 1\r\n", "y", "x: 1\r\ny: new\r\n", id="carriage returns"),
        pytest.param("x:\n", "x y", "x: {y: new}\n", id="a value that is missing"),
        pytest.param("x: {1: {y: 2}}\n", "x 1 y", "x: {1: {y: new}}\n", id="a number for a key"),
        pytest.param(
            BASE + "x: *base\n",
            "x b c",
            BASE + "x: {<<: *base, b: {c: new, d: 3}}\n",
            id="an alias as a value",
        ),
        pytest.param(
            BASE + "x:\n  - *base  # of ours\n",
            "x 0 b c",
            BASE + "x:\n  - <<: *base\n    b: {c: new, d: 3}  # of ours\n",
            id="an alias as an item",
        ),
        pytest.param(
            BASE + "x: [1, *base]\n",
            "x 1 a",
            BASE + "x: [1, {<<: *base, a: new}]\n",
            id="an alias in a flow",
        ),
        pytest.param(
            BASE + "x:\n- <<: *base\n  e: 1\n",
            "x 0 a",
            BASE + "x:\n- <<: *base\n  e: 1\n  a: new\n",
            id="a key that is merged",
        ),
        pytest.param(
            BASE + "x:\n  <<: *base\n",
            "x b c",
            BASE + "x:\n  <<: *base\n  b: {c: new, d: 3}\n",
            id="a part of what is merged",
        ),
        pytest.param(
            BASE + "x: &list [*base, 5]\ny: *list\n",
            "y 0 a",
            BASE + "x: &list [*base, 5]\ny: [{<<: *base, a: new}, 5]\n",
            id="a list that is named",
        ),
        pytest.param(
            BASE + "x: {y: *d}\n", "x y", BASE + "x: {y: new}\n", id="an alias of a scalar"
        ),
        pytest.param(BASE + "x: new\n", "x", BASE + "x: new\n", id="what is there already"),
    ],
)
def test_places(text: str, path: str, changed: str) -> None:
    """Only this place changes: what an alias names stays as it is for others."""
    steps = [int(step) if step.isdigit() else step for step in path.split()]
    assert with_value(text, steps, "new") == changed
    assert parse_yaml(changed) == with_part(parse_yaml(text), steps, "new")


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (200, "x: 200"),
        ("diskTypes/pd-ssd", "x: diskTypes/pd-ssd"),
        ("on", "x: 'on'"),
        ("a: b # c", "x: 'a: b # c'"),
        ("ä", "x: ä"),
        ("a " * 100, f"x: '{'a ' * 100}'"),
    ],
)
def test_values(value: Any, line: str) -> None:
    """They are quoted where that is needed, and on one line."""
    assert with_value("x: 1\n", ["x"], value) == f"{line}\n"
    assert parse_yaml(line) == {"x": value}


@pytest.mark.parametrize("text", ["1\n", "[]\n", "x: &a {b: 1}\n5:\n  <<: [*a]\n"])
def test_texts_without_the_place(text: str) -> None:
    """Where nothing can have such a part, the text stays: its reader sees that."""
    assert with_value(text, [5, "x"], "new") == text


def test_parts_of_data() -> None:
    """Mappings that are missing are made; the data that was given stays."""
    data: dict[str, Any] = {"a": [{"b": 1}, 2], "c": None}
    assert with_part(data, ["a", 0, "d", "e"], 3) == {"a": [{"b": 1, "d": {"e": 3}}, 2], "c": None}
    assert with_part(data, ["c", "d"], 3) == {"a": [{"b": 1}, 2], "c": {"d": 3}}
    assert data == {"a": [{"b": 1}, 2], "c": None}
