# SPDX-License-Identifier: MPL-2.0
"""Whose tasks they are."""

import os

import pytest

from io_benchmark.submit.owner import is_address, known_owner


@pytest.mark.parametrize(
    ("git", "owner"),
    [("jane@example.com", "jane@example.com"), ("not set", None), ("a@b\nc", None)],
)
def test_known_owner(git, owner):
    """git's address, if it is one; nobody is guessed."""
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "user.email",
        "GIT_CONFIG_VALUE_0": git,
    }
    assert known_owner(environment) == owner
    assert known_owner({**environment, "PATH": "/nowhere"}) is None


@pytest.mark.parametrize(
    ("text", "right"),
    [
        pytest.param("a@b", True, id="short"),
        pytest.param("jane.d'oe+x@lists.example-1.com", True, id="all-characters"),
        pytest.param(f"{'a' * 64}@{'b' * 63}.com", True, id="long"),
        pytest.param(f"a@{'b.' * 130}c", False, id="too-long"),
        pytest.param("a@b\n", False, id="newline"),
        pytest.param("a\n@b", False, id="newline-inside"),
        pytest.param("Jane <a@b>", False, id="with-a-name"),
        pytest.param("a@b@c", False, id="two"),
        pytest.param("@b", False, id="no-name"),
        pytest.param("a@", False, id="no-host"),
        pytest.param("ä@b", False, id="umlaut"),
        pytest.param("", False, id="empty"),
    ],
)
def test_addresses(text, right):
    """What the queue takes as an owner."""
    assert is_address(text) is right
