# SPDX-License-Identifier: MPL-2.0
"""The stand-in for a Taskcluster answers what a real one was recorded to answer."""

import json
import re
import urllib.error
import urllib.request

import mohawk  # type: ignore[import-untyped]
import pytest
from loopback import Client, Loopback
from loopback_deployment import Deployment, exchanges
from recorded_pushes import (
    CLAIM_EXPIRED,
    JANE,
    OF_ANOTHER_LEVEL,
    PUSH,
    ROOT_CLIENT,
    STORIES,
    recorded_pushes,
    tell,
    written,
)

# The first is no answer of the API, the second is not used by anybody here.
NOT_COMPARED = re.compile("object behind|from index by redirect")
# The hooks service is asked by nobody here. The others are held in their own order, below.
ELSEWHERE = re.compile(
    "hook|^createTask|^cancel, signed|^cancel of a pending|^a wrong|^status of cl"
)
TIME = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z")
# Results were another script's, and logs are not kept.
VOLATILE = ("contentLength", "payload", "time")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments):
        return None


@pytest.fixture(scope="module")
def loopback():
    with Loopback() as running:
        yield running


@pytest.fixture(scope="module")
def pushes():
    with Loopback(recorded_pushes(), clients=(JANE, ROOT_CLIENT)) as running:
        yield running


def answered(loopback, asked, client=None, kind=None):
    """Status and body of a request, signed where there is a client."""
    data = json.dumps(asked["body"]).encode() if "body" in asked else None
    url = loopback.url + asked["path"]
    headers = {"Content-Type": "application/json"} if data else {}
    if client is not None:
        credentials = {"id": client.client_id, "key": client.access_token, "algorithm": "sha256"}
        sender = mohawk.Sender(
            credentials,
            url,
            asked["method"],
            content=data or "",
            content_type=headers.get("Content-Type", ""),
        )
        headers["Authorization"] = sender.request_header
    if kind is not None:
        headers["Content-Type"] = kind
        data = b""
    request = urllib.request.Request(  # noqa: S310 - the loopback
        url, method=asked["method"], data=data, headers=headers
    )
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(request, timeout=10) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            status, text = error.code, error.read()
    return status, _shape(json.loads(text), loopback)


def expected(exchange, loopback):
    return exchange["response"]["status"], _shape(exchange["response"]["body"], loopback)


def _shape(body, loopback):
    """Without times, sizes and hosts, and without an order where the queue has none."""
    text = json.dumps(body).replace(loopback.storage_url, "https://objects.example")
    text = TIME.sub("TIME", text.replace("https://s3.example.com", "https://objects.example"))
    return _sorted(json.loads(text))


def _sorted(value):
    if isinstance(value, dict):
        return {key: _sorted(one) for key, one in value.items() if key not in VOLATILE}
    if isinstance(value, list):
        return sorted((_sorted(one) for one in value), key=json.dumps)
    return value


def test_as_recorded(loopback):
    """Status and whole body, errors with their texts and parameters."""
    for exchange in exchanges():
        if not NOT_COMPARED.search(exchange["note"]):
            answer = answered(loopback, exchange["request"])
            assert (exchange["note"], answer) == (exchange["note"], expected(exchange, loopback))


def test_as_recorded_of_pushes(pushes):
    """A push with actions, tasks that ended badly, what may not be done, the index."""
    for note, exchange in written().items():
        if not ELSEWHERE.search(note):
            refused = exchange["response"]["status"] == 403
            answer = answered(pushes, exchange["request"], JANE if refused else ROOT_CLIENT)
            assert (note, answer) == (note, expected(exchange, pushes))


@pytest.mark.parametrize("note", [pytest.param(one, id=one.replace(" ", "-")) for one in STORIES])
def test_what_happens_to_a_task(note):
    """From its creation on, the status becomes what it was recorded to become."""
    exchange = written()[note]
    recorded = exchange["response"]["body"]["status"]
    deployment = Deployment()
    tell(deployment, note, recorded)
    with Loopback(deployment) as loopback:
        asked = {"method": "GET", "path": f"/api/queue/v1/task/{recorded['taskId']}/status"}
        assert answered(loopback, asked) == expected(exchange, loopback)


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
            client = clients.get(note, ROOT_CLIENT)
            kind = "application/octet-stream" if note.endswith("sent with one") else None
            found = answered(loopback, exchange["request"], client, kind)
            assert (note, found) == (note, expected(exchange, loopback))


def test_who_may_see_what():
    """Without a signature public artifacts alone; nobody cancels or creates anonymously."""
    with Loopback(recorded_pushes(), private=True) as loopback:
        asked = {"method": "POST", "path": f"/api/queue/v1/task/{OF_ANOTHER_LEVEL}/cancel"}
        status, body = answered(loopback, asked)
        assert (status, body["code"]) == (403, "InsufficientScopes")
        assert body["message"].startswith(
            "This request requires Taskcluster credentials that satisfy the following scope"
        )
        asked = {"method": "GET", "path": f"/api/queue/v1/task/{CLAIM_EXPIRED}/artifacts/public/x"}
        assert answered(loopback, asked)[0] == 403
        asked = {"method": "GET", "path": f"/api/queue/v1/task-group/{PUSH}/list"}
        assert answered(loopback, asked)[0] == 200
