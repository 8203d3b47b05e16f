# SPDX-License-Identifier: MPL-2.0
"""Explanations of refused requests, for recorded texts."""

import json

import pytest
from recorded_pushes import written

from io_benchmark.sources.taskcluster.authorization_errors import (
    explain_unauthenticated,
    missing_scopes,
)

# Of an anonymous request: the whole expression, in which the task's own priority comes last.
WHOLE = {
    "AllOf": [
        "queue:route:checks",
        *(f"docker-worker:cache:a-cache-with-a-long-name-{number}" for number in range(12)),
        "queue:scheduler-id:-",
        {
            "AnyOf": [
                f"queue:create-task:{one}:releng-1/b-linux" for one in ("highest", "high", "low")
            ]
        },
    ]
}


def message(note):
    return written()[note]["response"]["body"]["message"]


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        pytest.param(
            "cancel, signed for no content type and sent with one",
            "refuses the request of me (Invalid payload hash): it computed another hash of the "
            "request than was signed, so something on the way changed the content or its type; "
            "the credentials are not the cause: look for a proxy",
            id="payload hash",
        ),
        pytest.param(
            "a wrong access token",
            "refuses the request of me (Unauthorized: Bad mac): the access token is not that of the "
            "client; check TASKCLUSTER_ACCESS_TOKEN",
            id="token",
        ),
    ],
)
def test_recorded_401(note, expected):
    """Only bad credentials are blamed on the credentials."""
    assert explain_unauthenticated(message(note), "as me") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Unauthorized: Stale timestamp", "set the clock", id="clock"),
        pytest.param("ext.certificate.start > now", "check the clock", id="not valid yet"),
        pytest.param("ext.certificate.expiry < now", "have expired; get new ones", id="expired"),
        pytest.param("ext.certificate.signature is not valid", "_CERTIFICATE", id="certificate"),
        pytest.param(
            f"ext.certificate issuer `me` doesn't satisfy all certificate scopes {'queue:x' * 40}, a:b.",
            "queue:x, a:b.): the client that made the temporary credentials lacks a scope",
            id="scopes of the certificate",
        ),
        pytest.param(
            "ext.certificate issuer `me` doesn't have `auth:create-client:x` for supplied clientId.",
            "lacks a scope",
            id="name of the certificate",
        ),
        pytest.param("Client with clientId 'x' not found", "does not know the client", id="client"),
        pytest.param("Authentication Error", "refuses the credentials of me: Auth", id="other"),
    ],
)
def test_other_causes(text, expected):
    """The auth service's words decide."""
    assert expected in explain_unauthenticated(text, "as me")


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        pytest.param(
            "createTask without the priority scope (AnyOf)",
            "queue:create-task:high:releng-1/b-linux",
            id="its own priority",
        ),
        pytest.param(
            "cancel without the scope",
            "queue:cancel-task:releng-level-3/VkCx-CMnSfGpfUqx3nMfbg/CueavNFqS-ygXyRjLcsHiQ",
            id="the narrowest",
        ),
    ],
)
def test_one_way_of_several(note, expected):
    """One scope satisfies an AnyOf, so one is named."""
    assert missing_scopes(message(note)) == expected


def test_nothing_is_cut_off():
    """An anonymous request lacks the whole expression; the pool's scope is the last one."""
    text = f"Needs:\n\n```\n{json.dumps(WHOLE, indent=2)}\n```"
    found = missing_scopes(text).split(", ")
    assert (len(found), found[-1]) == (15, "queue:create-task:low:releng-1/b-linux")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("none at all", "", id="no block"),
        pytest.param("```\nqueue:a\nqueue:b\n```", "queue:a, queue:b", id="lines"),
        pytest.param('```\n{"AnyOf": []}\n```', "", id="empty"),
        pytest.param('```\n{"AllOf": {"x": 1}}\n```', "", id="no expression"),
        pytest.param(f"```\n{'[' * 100_000}\n```", "[" * 1499 + "…", id="deep"),
    ],
)
def test_other_texts(text, expected):
    """Any text gives one line."""
    assert missing_scopes(text) == expected
