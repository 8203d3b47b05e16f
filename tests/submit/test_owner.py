# SPDX-License-Identifier: MPL-2.0
"""Whose tasks they are."""

import os

import pytest

from io_benchmark.submit.owner import is_address, known_owner

LDAP = "mozilla-auth0/ad|Mozilla-LDAP|jane/taskcluster-cli-x7"


@pytest.mark.parametrize(
    ("git", "client", "owner"),
    [
        pytest.param("jane@example.com", LDAP, "jane@example.com", id="git-first"),
        pytest.param("", LDAP, "jane@mozilla.com", id="ldap"),
        pytest.param("", "mozilla-auth0/ad|Mozilla-LDAP|jane", "jane@mozilla.com", id="ldap-end"),
        pytest.param("not set", LDAP, "jane@mozilla.com", id="git-without-an-address"),
        pytest.param("", "mozilla-auth0/email|j@x.org/cli", "j@x.org", id="address"),
        pytest.param("", "mozilla-auth0/github|123|jane/x", None, id="github"),
        pytest.param("", "project/releng/some-service", None, id="service"),
        pytest.param("", "", None, id="anonymous"),
        pytest.param("a@b\nc", "", None, id="two-lines"),
    ],
)
def test_known_owner(git, client, owner):
    """git's address, else the one in the client id; nobody is guessed."""
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "user.email",
        "GIT_CONFIG_VALUE_0": git,
        "TASKCLUSTER_CLIENT_ID": client,
    }
    assert known_owner(environment) == owner


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
