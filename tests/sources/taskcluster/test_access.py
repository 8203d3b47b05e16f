# SPDX-License-Identifier: MPL-2.0
"""Credentials: where they are sent, mistakes in them, and explanations of refused requests."""

import json

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
TEMPORARY = {**SIGNING, "certificate": '{"version": 1}'}


# The characters that the auth service accepts.
CLIENT_ID = "mozilla-auth0/ad|Mozilla-LDAP|jane+x@example.com!/cli-x_7:b.c"
AS_ME = Access(ROOT, ROOT, "as me", SIGNING)
AS_SOMEBODY = Access(ROOT, ROOT, f"as {CLIENT_ID}", {**SIGNING, "clientId": CLIENT_ID})
IN_A_TASK = Access(ROOT, "http://taskcluster", "through the task's proxy")


@pytest.mark.parametrize(
    ("root_url", "environment", "expected"),
    [
        (ROOT, {}, Access(ROOT, ROOT, "anonymously")),
        (ROOT, {**CREDENTIALS, **PROXY}, AS_ME),
        (ROOT, {**CREDENTIALS, **CERTIFICATE}, Access(ROOT, ROOT, "as me", TEMPORARY)),
        (ROOT, {**CREDENTIALS, "TASKCLUSTER_CLIENT_ID": CLIENT_ID}, AS_SOMEBODY),
        (ROOT, PROXY, IN_A_TASK),
        (OTHER, {**CREDENTIALS, **PROXY}, Access(OTHER, OTHER, "anonymously")),
    ],
    ids=["nothing", "before-proxy", "temporary", "real-id", "proxy", "another-deployment"],
)
def test_who_asks(root_url, environment, expected):
    """Only the deployment of TASKCLUSTER_ROOT_URL gets the credentials or the proxy."""
    access = Access.of(root_url, {**HERE, **environment})
    assert access == expected
    assert "secret" not in repr(access)


NO_CERTIFICATE = "is not a certificate of Taskcluster (a JSON object); copy"
NO_ID, NO_TOKEN = "is not a client id", "contains characters that an access token cannot"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"CLIENT_ID": 'a"b'}, NO_ID),
        ({"CERTIFICATE": "[" * 100_000}, NO_CERTIFICATE),
        ({"CERTIFICATE": '["version"]'}, NO_CERTIFICATE),
        ({"ACCESS_TOKEN": "sécret"}, NO_TOKEN),
        ({"CLIENT_ID": ""}, "is set and TASKCLUSTER_CLIENT_ID is not"),
        ({"ACCESS_TOKEN": ""}, "is set and TASKCLUSTER_ACCESS_TOKEN is not"),
        ({"ACCESS_TOKEN": "", "CLIENT_ID": "", "PROXY_URL": "x"}, "is not an http(s) address"),
    ],
    ids=range(7),
)
def test_mistakes_name_the_variable_and_never_the_secret(changes, message):
    """A printed message may end in a public log; a quote would end the id in the signed header."""
    variables = {f"TASKCLUSTER_{name}": value for name, value in changes.items()}
    with pytest.raises(UsageError, match=r"^TASKCLUSTER_") as raised:
        Access.of(ROOT, {**HERE, **CREDENTIALS, **variables})
    assert message in str(raised.value)
    assert "cret" not in str(raised.value)
    assert len(str(raised.value)) < 250


ME = Access.of(ROOT, HERE | CREDENTIALS)


def message(note):
    return written()[note]["response"]["body"]["message"]


UNSIGNED = "cancel, signed for no content type and sent with one"
UNSATISFIED = f"issuer `me` doesn't satisfy all certificate scopes {'queue:x' * 40}, a:b."
COMPLAINTS = "Schema Validation Failed!\nErrors:\n  * data/payload must be object\n  * data x\n"


@pytest.mark.parametrize(
    ("status", "text", "expected"),
    [
        (401, message(UNSIGNED), "of me (Invalid payload hash): it computed another hash of the "),
        (
            401,
            message("a wrong access token"),
            "me (Unauthorized: Bad mac): the access token is not",
        ),
        (401, "ext.certificate.expiry < now", "have expired; get new ones"),
        (401, "Unauthorized: Stale timestamp", "by more than 15 minutes; set the clock, the cred"),
        (401, f"ext.certificate {UNSATISFIED}", "queue:x, a:b.): the client that made the tempora"),
        (401, "Authentication Error", "refuses the credentials of me: Auth"),
        # The complaints about a definition are shown, else the first line of the answer.
        (400, COMPLAINTS, f"{ROOT} answers 400, data/payload must be object; data x"),
        (409, "a\nb", f"{ROOT} answers 409, a"),
    ],
)
def test_why_a_request_is_refused(status, text, expected):
    """The deployment's words decide; only bad credentials are blamed on the credentials."""
    refusal = ME.refusal(status, text)
    assert expected in refusal
    assert status == 401 or refusal == expected


PRIORITIES = [f"queue:create-task:{name}:a/b" for name in ("highest", "high", "low")]
CACHES = [f"docker-worker:cache:{'x' * 30}-{number}" for number in range(14)]
CREATE = "queue:create-task:high:releng-1/b-linux"
CANCEL = "queue:cancel-task:releng-level-3/VkCx-CMnSfGpfUqx3nMfbg/CueavNFqS-ygXyRjLcsHiQ"
# Of an anonymous request: the whole expression, in which the task's own priority comes last.
WHOLE = json.dumps({"AllOf": [*CACHES, {"AnyOf": PRIORITIES}]})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (message("createTask without the priority scope (AnyOf)"), CREATE),
        (message("cancel without the scope"), CANCEL),
        ("```\nqueue:a\nqueue:b\n```", "queue:a, queue:b"),
        (f"```\n{'[' * 100_000}\n```", "[" * 1499 + "…"),
        (f"```\n{WHOLE}\n```", ", ".join([*CACHES, PRIORITIES[-1]])),
    ],
    ids=["priority", "narrowest", "lines", "deep", "whole"],
)
def test_the_missing_scopes(text, expected):
    """Any text gives one line; of an AnyOf one scope is named, and nothing is cut off."""
    needed = f"which needs {expected} and was made as me; request that scope from"
    assert needed in ME.refusal(403, text)
