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
from loopback_deployment import AMD_16, Deployment, exchanges
from recorded_pushes import (
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


def test_as_recorded():
    """Status and whole body, errors with their texts and parameters."""
    compared = 0
    with Loopback() as loopback:
        for exchange in exchanges():
            if has_route(exchange) and not NOT_COMPARED.search(exchange["note"]):
                compared += 1
                answer = answered(loopback, exchange["request"])
                assert (exchange["note"], answer) == (
                    exchange["note"],
                    expected(exchange, loopback),
                )
    with Loopback(recorded_pushes(), clients=(JANE, ROOT_CLIENT)) as loopback:
        for note, exchange in written().items():
            if has_route(exchange) and not NOT_COMPARED.search(note):
                compared += 1
                client = JANE if exchange["response"]["status"] == 403 else ROOT_CLIENT
                answer = answered(loopback, exchange["request"], client)
                assert (note, answer) == (note, expected(exchange, loopback))
    assert compared == 35


def test_what_happens_to_a_task():
    """From its creation on, the status becomes what it was recorded to become."""
    for note in STORIES:
        exchange = written()[note]
        recorded = exchange["response"]["body"]["status"]
        deployment = Deployment()
        tell(deployment, note, recorded)
        with Loopback(deployment) as loopback:
            asked = {"method": "GET", "path": f"/api/queue/v1/task/{recorded['taskId']}/status"}
            assert (note, answered(loopback, asked)) == (note, expected(exchange, loopback))


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
    """Without a signature public artifacts alone; nobody cancels or creates anonymously."""
    with Loopback(recorded_pushes(), private=True) as loopback:
        asked = {"method": "POST", "path": f"/api/queue/v1/task/{OF_ANOTHER_LEVEL}/cancel"}
        status, body = answered(loopback, asked)
        assert (status, body["code"]) == (403, "InsufficientScopes")
        assert body["message"].startswith("This request requires Taskcluster credentials that sat")
        asked = {"method": "GET", "path": f"/api/queue/v1/task/{AMD_16}/artifacts/public/x"}
        assert answered(loopback, asked)[0] == 404


@pytest.mark.parametrize(
    ("signed", "expected"),
    [
        ({"client": Client("me", "other")}, "Unauthorized: Bad mac"),
        ({"client": Client("x", "other")}, "Client with clientId 'x' not found"),
        ({"url": "http://127.0.0.1/other"}, "Unauthorized: Bad mac"),
        ({"method": "POST"}, "Unauthorized: Bad mac"),
        ({"late_s": 16 * 60}, "Unauthorized: Stale timestamp"),
        ({"late_s": -16 * 60}, "Unauthorized: Stale timestamp"),
        ({"late_s": 14 * 60}, None),
        ({"ext": "e"}, "Failed to parse ext"),
    ],
)
def test_signatures(signed, expected):
    """401 with the reason, whatever was wanted."""
    given = {"client": ME, "_timestamp": int(time.time() - signed.get("late_s", 0)), **signed}
    given.pop("late_s", None)
    with Loopback() as loopback:
        asked = {"method": "GET", "path": f"/api/queue/v1/task/{AMD_16}/status"}
        status, body = answered(loopback, asked, **given)
    assert (status, body.get("message", "").partition("\n")[0]) == (
        (401, expected) if expected else (200, "")
    )


@pytest.mark.parametrize(
    ("credentials", "refusal"),
    [
        ({"scopes": ["queue:cancel-task-in-project:none"]}, ""),
        ({"scopes": ["queue:*"], "name": None}, ""),
        ({"scopes": ["queue:*"], "hours": -1}, "401, ext.certificate.expiry < now"),
        (
            {"scopes": ["queue:*"], "client": Client("me", "guessed")},
            "401, ext.certificate.signature is not valid, or wrong clientId provided",
        ),
        (
            {"scopes": ["queue:get-task:*"]},
            (
                "403, Client ID me/for-a-day does not have sufficient scopes and is missing the "
                "following scopes:"
            ),
        ),
    ],
)
def test_temporary_credentials(policy, credentials, refusal):
    """The certificate is checked, and limits what may be done."""
    given = {"name": "me/for-a-day", "client": ME, "hours": 24, **credentials}
    now = datetime.now(UTC)
    made = createTemporaryCredentials(
        *(given["client"].client_id, given["client"].access_token, now - timedelta(hours=48)),
        *(now + timedelta(hours=given["hours"]), given["scopes"], given["name"]),
    )
    text = {key: part.decode() if isinstance(part, bytes) else part for key, part in made.items()}

    async def cancel(loopback):
        environment = {
            "TASKCLUSTER_ROOT_URL": loopback.url,
            "TASKCLUSTER_CLIENT_ID": text["clientId"],
            "TASKCLUSTER_ACCESS_TOKEN": text["accessToken"],
            "TASKCLUSTER_CERTIFICATE": text["certificate"],
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
