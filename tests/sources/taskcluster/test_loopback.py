# SPDX-License-Identifier: MPL-2.0
"""The stand-in for a Taskcluster answers what a real one was recorded to answer."""

import json
import re
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta

import mohawk  # type: ignore[import-untyped]
import pytest
from loopback import ME, Client, Loopback
from loopback_api import route
from loopback_deployment import AMD_16, Deployment, exchanges, recorded
from recorded_pushes import (
    COMPLETED,
    JANE,
    OF_ANOTHER_LEVEL,
    ROOT_CLIENT,
    STORIES,
    recorded_pushes,
    tell,
    written,
)
from taskcluster.client import createTemporaryCredentials

from io_benchmark.errors import RequestRefusedError
from io_benchmark.sources.event_loop import run_coroutine
from io_benchmark.sources.taskcluster.access import Access
from io_benchmark.sources.taskcluster.deployment import Deployment as RealDeployment
from io_benchmark.sources.web.web_client import WebClient

# Lists of logs, which the stand-in does not keep; and what is compared in its own order, below.
NOT_COMPARED = re.compile(
    "^latest artifacts of (?!depends)|^createTask|^cancel, signed|^cancel of a pending|^a wrong|"
    "^status of (cl|rerun)|^object behind"
)
TIME = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z")
# Results were another script's.
VOLATILE = ("contentLength", "payload", "time")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments):
        return None


def answered(loopback, asked, client=None, kind=None, **signed):
    """Status and body of a request, signed where there is a client."""
    data = json.dumps(asked["body"]).encode() if "body" in asked else None
    url = loopback.url + asked["path"]
    headers = {"Content-Type": "application/json"} if data else {}
    if client is not None:
        credentials = {"id": client.client_id, "key": client.access_token, "algorithm": "sha256"}
        parts = {"url": url, "method": asked["method"], **signed}
        content = {"content": data or "", "content_type": headers.get("Content-Type", "")}
        headers["Authorization"] = mohawk.Sender(credentials, **parts, **content).request_header
    if kind is not None:
        headers["Content-Type"], data = kind, b""
    request = urllib.request.Request(  # noqa: S310 - the loopback
        url, method=asked["method"], data=data, headers=headers
    )
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=10) as answer:
            return answer.status, _shape(json.loads(answer.read()), loopback)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, _shape(json.loads(error.read()), loopback)


def expected(exchange, loopback):
    return exchange["response"]["status"], _shape(exchange["response"]["body"], loopback)


def _shape(body, loopback):
    """Without times, sizes and hosts, and without an order where the queue has none."""
    text = json.dumps(body).replace(loopback.storage_url, "https://objects.example")
    text = TIME.sub("TIME", text.replace("https://s3.example.com", "https://objects.example"))
    return _sorted(json.loads(text))


def _sorted(value):
    if isinstance(value, dict):
        return {key: _sorted(part) for key, part in value.items() if key not in VOLATILE}
    if isinstance(value, list):
        return sorted((_sorted(part) for part in value), key=json.dumps)
    return value


def has_route(exchange):
    return route(exchange["request"]["method"], exchange["request"]["path"].partition("?")[0])[0]


def compared(exchanges, deployment, clients):
    """Compare answers with recorded ones; return how many there are."""
    count = 0
    with Loopback(deployment, clients=clients) as loopback:
        for exchange in exchanges:
            if has_route(exchange) and not NOT_COMPARED.search(exchange["note"]):
                count += 1
                refused = exchange["response"]["status"] == 403
                client = clients[0 if refused else -1] if clients else None
                answer = answered(loopback, exchange["request"], client)
                note = exchange["note"]
                assert (note, answer) == (note, expected(exchange, loopback))
    return count


def test_as_recorded():
    """Status and whole body, errors with their texts and parameters."""
    assert compared(exchanges(), recorded(), ()) == 25
    assert compared(written().values(), recorded_pushes(), (JANE, ROOT_CLIENT)) == 13


def test_what_happens_to_a_task():
    """From its creation on, the status becomes what it was recorded to become."""
    for note in STORIES:
        status = written()[note]["response"]["body"]["status"]
        deployment = Deployment()
        tell(deployment, note, status)
        with Loopback(deployment) as loopback:
            sent = {"method": "GET", "path": f"/api/queue/v1/task/{status['taskId']}/status"}
            assert (note, answered(loopback, sent)) == (note, expected(written()[note], loopback))


def test_a_task_is_created_and_cancelled():
    """One task's exchanges in the order in which they were recorded."""
    clients = {
        "createTask without the priority scope (AnyOf)": JANE,
        "a wrong access token": Client(JANE.client_id, "guessed"),
    }
    with Loopback(recorded_pushes(), clients=(JANE, ROOT_CLIENT)) as loopback:
        for note in (
            "createTask without the priority scope (AnyOf)",
            "createTask, schema mistake",
            "createTask, expires before deadline",
            "createTask, dependency that does not exist",
            "createTask in a group of another scheduler",
            "createTask accepted",
            "createTask the same again",
            "createTask another under the same id",
            "cancel of a pending task",
            "a wrong access token",
            "cancel, signed for no content type and sent with one",
        ):
            exchange = written()[note]
            kind = "application/octet-stream" if note.endswith("sent with one") else None
            client = clients.get(note, ROOT_CLIENT)
            answer = answered(loopback, exchange["request"], client, kind)
            assert (note, answer) == (note, expected(exchange, loopback))


def test_who_may_see_what():
    """Nobody reads private artifacts or cancels anonymously."""
    with Loopback(recorded_pushes(), private=True) as loopback:
        for sent in (
            {"method": "POST", "path": f"/api/queue/v1/task/{OF_ANOTHER_LEVEL}/cancel"},
            {"method": "GET", "path": f"/api/queue/v1/task/{COMPLETED}/artifacts/public/x"},
        ):
            status, body = answered(loopback, sent)
            assert (status, body["code"]) == (403, "InsufficientScopes")
            assert body["message"].startswith("This request requires Taskcluster credentials that")


@pytest.mark.parametrize(
    ("signed", "message"),
    [
        ({"client": Client("me", "other")}, "Unauthorized: Bad mac"),
        ({"client": Client("x", "other")}, "Client with clientId 'x' not found"),
        ({"url": "http://127.0.0.1/other"}, "Unauthorized: Bad mac"),
        ({"method": "POST"}, "Unauthorized: Bad mac"),
        ({"late_s": 16 * 60}, "Unauthorized: Stale timestamp"),
        ({"late_s": -16 * 60}, "Unauthorized: Stale timestamp"),
        ({"late_s": 14 * 60}, ""),
        ({"ext": "e"}, "Failed to parse ext"),
    ],
)
def test_signatures(signed, message):
    """401 with the reason, whatever was wanted."""
    late_s = signed.pop("late_s", 0)
    with Loopback() as loopback:
        sent = {"method": "GET", "path": f"/api/queue/v1/task/{AMD_16}/status"}
        signature = {"client": ME, "_timestamp": int(time.time() - late_s), **signed}
        status, body = answered(loopback, sent, **signature)
    first_line = body.get("message", "").partition("\n")[0]
    assert (status, first_line) == (401 if message else 200, message)


@pytest.mark.parametrize(
    ("scopes", "hours", "token", "refusal"),
    [
        (["queue:cancel-task-in-project:none"], 24, ME.access_token, ""),
        (["queue:*"], -1, ME.access_token, "401, ext.certificate.expiry < now"),
        (
            ["queue:*"],
            24,
            "guessed",
            "401, ext.certificate.signature is not valid, or wrong clientId provided",
        ),
        (
            ["queue:get-task:*"],
            24,
            ME.access_token,
            (
                "403, Client ID me/for-a-day does not have sufficient scopes and is missing the "
                "following scopes:"
            ),
        ),
    ],
)
def test_temporary_credentials(policy, scopes, hours, token, refusal):
    """The certificate is checked, and limits what may be done."""
    now = datetime.now(UTC)
    made = createTemporaryCredentials(
        *("me", token, now - timedelta(hours=48), now + timedelta(hours=hours), scopes),
        "me/for-a-day",
    )
    credentials = {
        key: part.decode() if isinstance(part, bytes) else part for key, part in made.items()
    }

    async def cancel(loopback):
        environment = {
            "TASKCLUSTER_ROOT_URL": loopback.url,
            "TASKCLUSTER_CLIENT_ID": credentials["clientId"],
            "TASKCLUSTER_ACCESS_TOKEN": credentials["accessToken"],
            "TASKCLUSTER_CERTIFICATE": credentials["certificate"],
        }
        async with WebClient(policy) as http:
            deployment = RealDeployment(Access.of(loopback.url, environment), http)
            try:
                return "" if await deployment.cancel_task(AMD_16) else "not cancelled"
            except RequestRefusedError as error:
                return str(error)

    with Loopback() as loopback:
        loopback.deployment.change_runs(AMD_16, "pending")
        assert run_coroutine(cancel(loopback)) == refusal
