# SPDX-License-Identifier: MPL-2.0
"""Credentials: where they are sent, and mistakes in them."""

import re

import pytest

from io_benchmark.errors import UsageError
from io_benchmark.sources.taskcluster.access import Access
from io_benchmark.sources.taskcluster.addresses import DEFAULT_ROOT_URL

ROOT = "https://tc.example"
CREDENTIALS = {"TASKCLUSTER_CLIENT_ID": "me", "TASKCLUSTER_ACCESS_TOKEN": "secret-token"}
PROXY = {"TASKCLUSTER_PROXY_URL": "http://taskcluster/"}
HERE = {"TASKCLUSTER_ROOT_URL": ROOT}


@pytest.mark.parametrize(
    ("root_url", "environment", "expected"),
    [
        pytest.param(ROOT, HERE, Access(ROOT, ROOT, "anonymously"), id="nothing"),
        pytest.param(
            ROOT,
            {**HERE, **CREDENTIALS, **PROXY},
            Access(ROOT, ROOT, "as me", {"clientId": "me", "accessToken": "secret-token"}),
            id="credentials-before-proxy",
        ),
        pytest.param(
            DEFAULT_ROOT_URL,
            CREDENTIALS,
            Access(
                DEFAULT_ROOT_URL,
                DEFAULT_ROOT_URL,
                "as me",
                {"clientId": "me", "accessToken": "secret-token"},
            ),
            id="default-deployment",
        ),
        pytest.param(
            ROOT,
            {**HERE, **CREDENTIALS, "TASKCLUSTER_CERTIFICATE": '{"version": 1}'},
            Access(
                ROOT,
                ROOT,
                "as me",
                {"clientId": "me", "accessToken": "secret-token", "certificate": '{"version": 1}'},
            ),
            id="temporary",
        ),
        pytest.param(
            ROOT,
            {**HERE, **PROXY},
            Access(ROOT, "http://taskcluster", "through the task's proxy"),
            id="proxy",
        ),
        pytest.param(
            "https://other.example",
            {**HERE, **CREDENTIALS, **PROXY},
            Access("https://other.example", "https://other.example", "anonymously"),
            id="another-deployment-gets-nothing",
        ),
    ],
)
def test_who_asks(root_url, environment, expected):
    """Only the deployment of TASKCLUSTER_ROOT_URL gets the credentials or the proxy."""
    assert Access.of(root_url, environment) == expected


@pytest.mark.parametrize(
    "client_id",
    [
        pytest.param('a"b', id="quote"),
        pytest.param("a\\b", id="backslash"),
        pytest.param("a b", id="space"),
        pytest.param("a\nb", id="newline"),
        pytest.param("jäne", id="letter"),
        pytest.param('"' * 10_000, id="long"),
    ],
)
def test_what_is_not_a_client_id(client_id):
    """One short line: a quote would end the id in the signed header."""
    with pytest.raises(UsageError, match=r"^TASKCLUSTER_CLIENT_ID: .*is not a client id") as caught:
        Access.of(ROOT, {**HERE, **CREDENTIALS, "TASKCLUSTER_CLIENT_ID": client_id})
    assert len(str(caught.value)) < 250
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "client_id",
    ["mozilla-auth0/ad|Mozilla-LDAP|jane/cli-x_7", "email/jane+x@example.com!", "a:b.c"],
)
def test_real_client_ids(client_id):
    """The characters that the auth service accepts."""
    environment = {**HERE, **CREDENTIALS, "TASKCLUSTER_CLIENT_ID": client_id}
    assert Access.of(ROOT, environment).who == f"as {client_id}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            {"TASKCLUSTER_ACCESS_TOKEN": ""},
            "TASKCLUSTER_CLIENT_ID is set and TASKCLUSTER_ACCESS_TOKEN is not; set both or neither",
            id="half",
        ),
        pytest.param(
            {"TASKCLUSTER_CERTIFICATE": "{"},
            "TASKCLUSTER_CERTIFICATE: is not a certificate of Taskcluster (a JSON object); copy it again",
            id="certificate",
        ),
        pytest.param(
            {"TASKCLUSTER_CERTIFICATE": "[" * 100_000},
            "TASKCLUSTER_CERTIFICATE: is not a certificate of Taskcluster (a JSON object); copy it again",
            id="deep-certificate",
        ),
        pytest.param(
            {"TASKCLUSTER_CERTIFICATE": '["version"]'},
            "TASKCLUSTER_CERTIFICATE: is not a certificate of Taskcluster (a JSON object); copy it again",
            id="certificate-of-another-kind",
        ),
        pytest.param(
            {"TASKCLUSTER_CERTIFICATE": '{"version": "é"}'},
            "TASKCLUSTER_CERTIFICATE: is not a certificate of Taskcluster (a JSON object); copy it again",
            id="certificate-that-no-header-can-have",
        ),
        pytest.param(
            {"TASKCLUSTER_ACCESS_TOKEN": "sécret"},
            "TASKCLUSTER_ACCESS_TOKEN: contains characters that an access token cannot contain; copy it again",
            id="token",
        ),
        pytest.param(
            {
                "TASKCLUSTER_CLIENT_ID": "",
                "TASKCLUSTER_ACCESS_TOKEN": "",
                "TASKCLUSTER_PROXY_URL": "x",
            },
            "TASKCLUSTER_PROXY_URL: is not an http(s) address",
            id="proxy",
        ),
    ],
)
def test_mistakes_name_the_variable_and_never_the_secret(change, message):
    """A printed message may end in a public log."""
    with pytest.raises(UsageError, match=re.escape(message)) as raised:
        Access.of(ROOT, {**HERE, **CREDENTIALS, **change})
    assert "cret" not in str(raised.value)


def test_credentials_are_not_shown():
    """repr does not show them either, because a traceback may contain it."""
    assert "secret" not in repr(Access.of(ROOT, {**HERE, **CREDENTIALS}))
