# SPDX-License-Identifier: MPL-2.0
"""The stand-in for a Taskcluster answers what a real one was recorded to answer."""

import http.client
import json
import re

import mohawk  # type: ignore[import-untyped]
from loopback import Client, Loopback
from loopback_api import route
from loopback_deployment import exchanges, recorded
from recorded_pushes import JANE, ROOT_CLIENT, recorded_pushes, written

# Lists of logs, which the stand-in does not keep; and what is compared in its own order, below.
NOT_COMPARED = re.compile(
    "^latest artifacts of (?!depends)|^createTask|^cancel(,| of a p| w)|^a wrong|^a worker pool$"
)
TIME = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z")
# Results were another script's.
VOLATILE = ("contentLength", "expires", "payload", "time")


def answered(loopback, asked, client=None, kind=None):
    """Status and body of a request, signed where there is a client."""
    data = json.dumps(asked["body"]).encode() if "body" in asked else b""
    headers = {"Content-Type": "application/json"} if data else {}
    if client is not None:
        headers["Authorization"] = mohawk.Sender(
            {"id": client.client_id, "key": client.access_token, "algorithm": "sha256"},
            loopback.url + asked["path"],
            asked["method"],
            content=data,
            content_type=headers.get("Content-Type", ""),
        ).request_header
    if kind is not None:
        headers["Content-Type"] = kind
    connection = http.client.HTTPConnection(loopback.url.partition("//")[2], timeout=10)
    connection.request(asked["method"], asked["path"], data or None, headers)
    with connection.getresponse() as answer:
        body = _shape(json.loads(answer.read()), loopback)
    connection.close()
    return answer.status, body


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


def compared(exchanges, deployment, clients):
    """Compare answers with recorded ones; return how many there are."""
    count = 0
    with Loopback(deployment, clients=clients) as loopback:
        for exchange in exchanges:
            note, asked = exchange["note"], exchange["request"]
            method, _ = route(asked["method"], asked["path"].partition("?")[0])
            if method and not NOT_COMPARED.search(note):
                count += 1
                refused = exchange["response"]["status"] == 403
                client = clients[0 if refused else -1] if clients else None
                assert (note, answered(loopback, asked, client)) == (
                    note,
                    expected(exchange, loopback),
                )
    return count


def test_as_recorded():
    """Status and whole body, errors with their texts and parameters."""
    assert compared(exchanges(), recorded(), ()) == 14
    assert compared(written().values(), recorded_pushes(), (JANE, ROOT_CLIENT)) == 5


def test_a_task_is_created_and_cancelled():
    """One task's exchanges in the order in which they were recorded."""
    clients = {
        "createTask without the priority scope (AnyOf)": JANE,
        "a wrong access token": Client(JANE.client_id, "guessed"),
    }
    with Loopback(recorded_pushes(), clients=(JANE, ROOT_CLIENT)) as loopback:
        for note in (
            "createTask without the priority scope (AnyOf)",
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
