# SPDX-License-Identifier: MPL-2.0
"""Keyed values: the one alternative for a pool's words, as fxci-config's generator takes it."""

import time
from typing import Any

import pytest

from io_benchmark.adopt.pools.keyed_values import UnknownFormError, filled, find, resolve, resolved

KEYED = {"by-a": {"x-1": 1, "x-.*": 2, "(y|z)": {"by-b": {3: "three", "default": "none"}}}}


@pytest.mark.parametrize(
    ("words", "value", "steps"),
    [
        ({"a": "x-1"}, 1, ("by-a", "x-1")),
        ({"a": "x-2"}, 2, ("by-a", "x-.*")),
        ({"a": "y", "b": 3}, "three", ("by-a", "(y|z)", "by-b", 3)),
        ({"a": "z", "b": "3"}, "none", ("by-a", "(y|z)", "by-b", "default")),
        ({"a": "z"}, "none", ("by-a", "(y|z)", "by-b", "default")),
    ],
)
def test_alternatives(words: Any, value: Any, steps: Any) -> None:
    """An exact name is before a pattern, a pattern before `default`; they may be nested."""
    assert resolve(KEYED, words) == (value, steps)


@pytest.mark.parametrize(
    "value", [None, 1, [], {}, {"by-a": 1, "b": 2}, {"a": {"default": 1}}, {1: {"default": 2}}]
)
def test_values_that_are_not_keyed(value: Any) -> None:
    """They are the value."""
    assert resolve(value, {"a": 1}) == (value, ())


@pytest.mark.parametrize(
    ("alternatives", "word"),
    [
        pytest.param({"x-1": 1}, "x-2", id="none fits"),
        pytest.param({"x-1": 1}, None, id="no word"),
        pytest.param({"x.*": 1, ".*1": 2}, "x-1", id="two fit"),
        pytest.param({"x": 1}, ["x"], id="a list for a word"),
        pytest.param({"(": 1, "default": 2}, "x", id="no pattern"),
        pytest.param({"(a*)*b": 1, "default": 2}, "a", id="a repeated group"),
        pytest.param({"a*a*a*a*b": 1, "default": 2}, "a", id="too many choices"),
        pytest.param({"a" * 201: 1, "default": 2}, "a", id="a long pattern"),
        pytest.param({"a.*": 1, "default": 2}, "a" * 65, id="a long word"),
        pytest.param({str(number): 1 for number in range(101)}, "1", id="many alternatives"),
    ],
)
def test_alternatives_that_are_refused(alternatives: Any, word: Any) -> None:
    """None fits, more than one does, or a pattern could take long."""
    with pytest.raises(UnknownFormError):
        resolve({"by-a": alternatives}, {"a": word})


def test_patterns_at_their_limits() -> None:
    """What is accepted is quick, however badly it fits."""
    start_s = time.process_time()
    slow = {f"a*a*a*{number}": number for number in range(99)}
    word = "a" * 64
    assert resolve({"by-a": {**slow, "default": -1}}, {"a": word}) == (-1, ("by-a", "default"))
    # 0.3 s on the machine where it was measured.
    assert time.process_time() - start_s < 10


def test_paths() -> None:
    """The steps to a part have those of the keyed values on the way, and of the part itself."""
    value = {"types": {"by-a": {"default": [{"size": KEYED}]}}}
    words = {"a": "x-1"}
    steps = ("types", "by-a", "default", 0, "size", "by-a", "x-1")
    assert find(value, ("types", 0, "size"), words) == (1, steps)
    missing = ("types", "by-a", "default", 1, "size")
    assert find(value, ("types", 1, "size"), words) == (None, missing)
    assert find(KEYED, (), words) == (1, ("by-a", "x-1"))


def test_resolved_values() -> None:
    """All keyed values below, except those that have no alternative for the words."""
    unknown = {"by-c": {"d": 1}}
    value = [{"a": KEYED, "b": [KEYED, unknown]}]
    assert resolved(value, {"a": "x-2"}) == [{"a": 2, "b": [2, unknown]}]


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("{a}/b{suffix}", "x/b"),
        ("{a}-{n}-{suffix}", "x-1"),
        ("{c}/b", "{c}/b"),
        ("{long}", "y" * 64),
        ("{list}", "{list}"),
    ],
)
def test_names(template: str, name: str) -> None:
    """Words fill their places; a name does not end with a dash."""
    words = {"a": "x", "n": 1, "suffix": "", "long": "y" * 100, "list": ["x"] * 1000}
    assert filled(template, words) == name
