# SPDX-License-Identifier: MPL-2.0
"""Credentials: where they are sent, mistakes in them, and explanations of refused requests."""

import json
import re

import pytest
from recorded_pushes import written

from io_benchmark.errors import UsageError
from io_benchmark.sources.taskcluster.access import Access

ROOT, OTHER = "https://tc.example", "https://other.example"
CREDENTIALS = {"TASKCLUSTER_CLIENT_ID": "me", "TASKCLUSTER_ACCESS_TOKEN": "secret-token"}
PROXY = {"TASKCLUSTER_PROXY_URL": "http://taskcluster/"}
HERE = {"TASKCLUSTER_ROOT_URL": ROOT}
SIGNING = {"clientId": "me", "accessToken": "secret-token"}
CERTIFICATE = {"TASKCLUSTER_CERTIFICATE": '{"version": 1}'}


@pytest.mark.parametrize(
    ("root_url", "environment", "expected"),
    [
        (ROOT, {}, Access(ROOT, ROOT, "anonymously")),
        (ROOT, {**CREDENTIALS, **PROXY}, Access(ROOT, ROOT, "as me", SIGNING)),
        (
            ROOT,
            {**CREDENTIALS, **CERTIFICATE},
            Access(ROOT, ROOT, "as me", {**SIGNING, "certificate": '{"version": 1}'}),
        ),
        (ROOT, PROXY, Access(ROOT, "http://taskcluster", "through the task's proxy")),
        (OTHER, {**CREDENTIALS, **PROXY}, Access(OTHER, OTHER, "anonymously")),
    ],
    ids=["nothing", "before-proxy", "temporary", "proxy", "another-deployment-gets-nothing"],
)
def test_who_asks(root_url, environment, expected):
    """Only the deployment of TASKCLUSTER_ROOT_URL gets the credentials or the proxy."""
    assert Access.of(root_url, {**HERE, **environment}) == expected


@pytest.mark.parametrize("client_id", ['a"b', "a\nb", "jäne", '"' * 10_000], ids=len)
def test_what_is_not_a_client_id(client_id):
    """One short line: a quote would end the id in the signed header."""
    with pytest.raises(UsageError, match=r"^TASKCLUSTER_CLIENT_ID: .*is not a client id") as caught:
        Access.of(ROOT, {**HERE, **CREDENTIALS, "TASKCLUSTER_CLIENT_ID": client_id})
    assert len(str(caught.value)) < 250
    assert str(caught.value).isprintable()


def test_a_real_client_id():
    """The characters that the auth service accepts; repr does not show the token."""
    client_id = "mozilla-auth0/ad|Mozilla-LDAP|jane+x@example.com!/cli-x_7:b.c"
    access = Access.of(ROOT, {**HERE, **CREDENTIALS, "TASKCLUSTER_CLIENT_ID": client_id})
    assert access.who == f"as {client_id}"
    assert "secret" not in repr(access)


NO_CERTIFICATE = (
    "TASKCLUSTER_CERTIFICATE: is not a certificate of Taskcluster (a JSON object); copy"
)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"TASKCLUSTER_ACCESS_TOKEN": ""}, "TASKCLUSTER_CLIENT_ID is set and TASKCLUSTER_ACC"),
        ({"TASKCLUSTER_CLIENT_ID": ""}, "TASKCLUSTER_ACCESS_TOKEN is set and TASKCLUSTER_CLI"),
        ({"TASKCLUSTER_CERTIFICATE": "[" * 100_000}, NO_CERTIFICATE),
        ({"TASKCLUSTER_CERTIFICATE": '["version"]'}, NO_CERTIFICATE),
        ({"TASKCLUSTER_CERTIFICATE": '{"version": "é"}'}, NO_CERTIFICATE),
        ({"TASKCLUSTER_ACCESS_TOKEN": "sécret"}, "TASKCLUSTER_ACCESS_TOKEN: contains characters"),
        (
            {**dict.fromkeys(CREDENTIALS, ""), "TASKCLUSTER_PROXY_URL": "x"},
            "TASKCLUSTER_PROXY_URL: is not an http(s) address",
        ),
    ],
)
def test_mistakes_name_the_variable_and_never_the_secret(change, message):
    """A printed message may end in a public log."""
    with pytest.raises(UsageError, match=f"^{re.escape(message)}") as raised:
        Access.of(ROOT, {**HERE, **CREDENTIALS, **change})
    assert "cret" not in str(raised.value)


ME = Access.of(ROOT, HERE | CREDENTIALS)


def message(note):
    return written()[note]["response"]["body"]["message"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            message("cancel, signed for no content type and sent with one"),
            (
                "refuses the request of me (Invalid payload hash): it computed another hash of the "
                "request than was signed, so something on the way changed the content or its type; "
                "the credentials are not the cause: look for a proxy"
            ),
        ),
        (
            message("a wrong access token"),
            (
                "refuses the request of me (Unauthorized: Bad mac): the access token is not that of the "
                "client; check TASKCLUSTER_ACCESS_TOKEN"
            ),
        ),
        ("Unauthorized: Stale timestamp", "set the clock"),
        ("ext.certificate.start > now", "check the clock"),
        ("ext.certificate.expiry < now", "have expired; get new ones"),
        ("ext.certificate.signature is not valid", "check TASKCLUSTER_CERTIFICATE"),
        (
            f"ext.certificate issuer `me` doesn't satisfy all certificate scopes {'queue:x' * 40}, a:b.",
            "queue:x, a:b.): the client that made the temporary credentials lacks a scope",
        ),
        ("Client with clientId 'x' not found", "does not know the client"),
        ("Authentication Error", "refuses the credentials of me: Auth"),
    ],
)
def test_why_a_request_is_not_authenticated(text, expected):
    """The auth service's words decide; only bad credentials are blamed on the credentials."""
    assert expected in ME.refusal(401, text)


PRIORITIES = [f"queue:create-task:{name}:a/b" for name in ("highest", "high", "low")]
# Of an anonymous request: the whole expression, in which the task's own priority comes last.
WHOLE = {
    "AllOf": [*(f"docker-worker:cache:{'x' * 30}-{n}" for n in range(14)), {"AnyOf": PRIORITIES}]
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            message("createTask without the priority scope (AnyOf)"),
            "queue:create-task:high:releng-1/b-linux",
        ),
        (
            message("cancel without the scope"),
            "queue:cancel-task:releng-level-3/VkCx-CMnSfGpfUqx3nMfbg/CueavNFqS-ygXyRjLcsHiQ",
        ),
        ("none at all", ""),
        ("```\nqueue:a\nqueue:b\n```", "queue:a, queue:b"),
        ('```\n{"AnyOf": []}\n```', ""),
        ('```\n{"AllOf": {"x": 1}}\n```', ""),
        (f"```\n{'[' * 100_000}\n```", "[" * 1499 + "…"),
        (f"```\n{json.dumps(WHOLE)}\n```", ", ".join([*WHOLE["AllOf"][:-1], PRIORITIES[-1]])),  # type: ignore[list-item]
    ],
    ids=["priority", "narrowest", "no-block", "lines", "empty", "no-expression", "deep", "whole"],
)
def test_the_missing_scopes(text, expected):
    """Any text gives one line; of an AnyOf one scope is named, and nothing is cut off."""
    needed = f"which needs {expected or 'a scope'} and was made as me; request that scope from"
    assert needed in ME.refusal(403, text)


def test_other_refusals():
    """The complaints about a definition are shown, else the first line of the answer."""
    complaints = "Schema Validation Failed!\nErrors:\n  * data/payload must be object\n  * data x\n"
    assert ME.refusal(400, complaints) == f"{ROOT} answers 400, data/payload must be object; data x"
    assert ME.refusal(409, "a\nb") == f"{ROOT} answers 409, a"
