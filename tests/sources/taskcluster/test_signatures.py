# SPDX-License-Identifier: MPL-2.0
"""The loopback's Taskcluster believes a signature under the same conditions as a real one."""

import json
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta

import mohawk  # type: ignore[import-untyped]
import pytest
from loopback import ME, Client, Loopback
from loopback_deployment import AMD_16
from taskcluster.client import createTemporaryCredentials

from io_benchmark.errors import RequestRefusedError
from io_benchmark.sources.event_loop import run_coroutine
from io_benchmark.sources.taskcluster.access import Access
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.web.web_client import WebClient

STATUS = f"/api/queue/v1/task/{AMD_16}/status"
CANCEL = f"/api/queue/v1/task/{AMD_16}/cancel"
MANY = "/api/queue/v1/tasks/status"
HASH = "Invalid payload hash: {{hash}}\nComputed payload hash: "


@pytest.fixture
def loopback():
    with Loopback() as running:
        yield running


def ask(url, header=None, method="GET", body=None, **headers):
    """The status, and the message of a refusal."""
    signed = {} if header is None else {"Authorization": header}
    request = urllib.request.Request(  # noqa: S310 - the loopback
        url, method=method, data=body, headers={**signed, **headers}
    )
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=10) as answer:
            return answer.status, ""
    except urllib.error.HTTPError as error:
        with error:
            text = error.read()
            message = json.loads(text)["message"] if error.code >= 400 else ""
            return error.code, message.partition("\n\n---")[0]


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments):
        return None


def header(url, method="GET", body="", kind="", client=ME, ext="", **more):
    credentials = {"id": client.client_id, "key": client.access_token, "algorithm": "sha256"}
    return mohawk.Sender(
        credentials, url, method, content=body, content_type=kind, ext=ext, **more
    ).request_header


def test_what_holds(loopback):
    """With and without content; the content type counts without its parameters."""
    assert ask(loopback.url + STATUS, header(loopback.url + STATUS)) == (200, "")
    body = json.dumps({"taskIds": [AMD_16]})
    signed = header(loopback.url + MANY, "POST", body, "application/json")
    kind = {"Content-Type": "application/JSON; charset=utf-8"}
    assert ask(loopback.url + MANY, signed, "POST", body.encode(), **kind) == (200, "")


@pytest.mark.parametrize(
    ("signed", "expected"),
    [
        pytest.param({"client": Client("me", "other")}, "Unauthorized: Bad mac", id="token"),
        pytest.param(
            {"client": Client("x", "other")}, "Client with clientId 'x' not found", id="client"
        ),
        pytest.param({"url": f"{STATUS}?a=b"}, "Unauthorized: Bad mac", id="another address"),
        pytest.param({"method": "POST"}, "Unauthorized: Bad mac", id="another method"),
        pytest.param({"late_s": 16 * 60}, "Unauthorized: Stale timestamp", id="a late clock"),
        pytest.param({"late_s": -16 * 60}, "Unauthorized: Stale timestamp", id="an early clock"),
        pytest.param({"ext": "e"}, "Failed to parse ext", id="ext"),
    ],
)
def test_what_does_not_hold(loopback, signed, expected):
    """401 with the reason, whatever was wanted."""
    signed = dict(signed)
    url = loopback.url + signed.pop("url", STATUS)
    sent = header(url, _timestamp=time.time() - signed.pop("late_s", 0), **signed)
    assert ask(loopback.url + STATUS, sent) == (401, expected)


def test_content_that_was_not_signed(loopback):
    """Nor is half a header a signature."""
    url = loopback.url + CANCEL
    status, message = ask(url, header(url, "POST"), "POST", b"{}")
    assert (status, message[: len(HASH)]) == (401, HASH)
    assert ask(loopback.url + STATUS, 'Hawk id="me"') == (401, "Bad Request: Missing attributes")


def test_a_content_type_that_was_not_signed(loopback):
    """Recorded: the hash that the queue computes of nothing, sent as application/octet-stream."""
    url = loopback.url + CANCEL
    kind = {"Content-Type": "application/octet-stream"}
    status, message = ask(url, header(url, "POST"), "POST", b"", **kind)
    expected = (
        f"{HASH}SJiAXEZSSz34yvdN34vm+aD98lJlbq1nMPfNIPqZuvA=\nThis happens when your request "
        "carries a signed hash of the payload and the hash doesn't match the hash we've computed "
        "on the server-side."
    )
    assert (status, message) == (401, expected)


def temporary(scopes, name="me/for-a-day", client=ME, hours=24):
    now = datetime.now(UTC)
    made = createTemporaryCredentials(
        client.client_id,
        client.access_token,
        now - timedelta(hours=48),
        now + timedelta(hours=hours),
        scopes,
        name,
    )
    return {key: one.decode() if isinstance(one, bytes) else one for key, one in made.items()}


def cancelled(loopback, policy, credentials):
    environment = {
        "TASKCLUSTER_ROOT_URL": loopback.url,
        "TASKCLUSTER_CLIENT_ID": credentials["clientId"],
        "TASKCLUSTER_ACCESS_TOKEN": credentials["accessToken"],
        "TASKCLUSTER_CERTIFICATE": credentials["certificate"],
    }

    async def main():
        async with WebClient(policy) as http:
            deployment = Deployment(Access.of(loopback.url, environment), http)
            return await deployment.cancel_task(AMD_16)

    return run_coroutine(main())


@pytest.mark.parametrize(
    ("credentials", "refusal"),
    [
        pytest.param({"scopes": ["queue:cancel-task-in-project:none"]}, "", id="good"),
        pytest.param({"scopes": ["queue:*"], "name": None}, "", id="without a name"),
        pytest.param(
            {"scopes": ["queue:*"], "hours": -1}, "401, ext.certificate.expiry < now", id="expired"
        ),
        pytest.param(
            {"scopes": ["queue:*"], "client": Client("me", "guessed")},
            "401, ext.certificate.signature is not valid, or wrong clientId provided",
            id="of another token",
        ),
        pytest.param(
            {"scopes": ["queue:get-task:*"]},
            "403, Client ID me/for-a-day does not have sufficient scopes and is missing the "
            "following scopes:",
            id="without the scope",
        ),
    ],
)
def test_temporary_credentials(loopback, policy, credentials, refusal):
    """The certificate is checked, and limits what may be done."""
    loopback.deployment.change_runs(AMD_16, "pending")
    if refusal:
        with pytest.raises(RequestRefusedError) as caught:
            cancelled(loopback, policy, temporary(**credentials))
        assert str(caught.value) == refusal
    else:
        assert cancelled(loopback, policy, temporary(**credentials))
