# SPDX-License-Identifier: MPL-2.0
"""The stand-in for a Taskcluster answers what a real one was recorded to answer."""

import json
import re
from contextlib import closing
from dataclasses import replace
from http.client import HTTPConnection

import mohawk  # type: ignore[import-untyped]
import pytest
from loopback import Client, Loopback
from loopback_api import route
from loopback_deployment import exchanges, recorded
from recorded_pushes import recorded_pushes, written

# Lists of logs, which the stand-in does not keep, and what needs a signature.
NOT_COMPARED = re.compile(
    "^latest artifacts of (?!depends)|^createTask|^cancel|^a wrong|^a worker pool$"
)
TIME = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z")
# Results were another script's.
VOLATILE = ("contentLength", "expires", "payload", "time")


def answered(loopback, asked, client=None):
    """Status and body of a request, signed by a client."""
    data = json.dumps(asked["body"]).encode() if "body" in asked else None
    headers = {"Content-Type": "application/json"} if data else {}
    if client is not None:
        key = {"id": client.client_id, "key": client.access_token, "algorithm": "sha256"}
        url, kind = loopback.url + asked["path"], headers.get("Content-Type", "")
        sender = mohawk.Sender(key, url, asked["method"], content=data or b"", content_type=kind)
        headers["Authorization"] = sender.request_header
    with closing(HTTPConnection(loopback.url.partition("//")[2], timeout=10)) as connection:
        connection.request(asked["method"], asked["path"], data, headers)
        answer = connection.getresponse()
        return {"status": answer.status, "body": json.loads(answer.read())}


def _shape(response, loopback):
    """Without times, sizes and hosts, and without an order where the queue has none."""
    text = json.dumps(response).replace(loopback.storage_url, "https://objects.example")
    text = TIME.sub("TIME", text.replace("https://s3.example.com", "https://objects.example"))
    return _sorted(json.loads(text))


def _sorted(value):
    if isinstance(value, dict):
        return {key: _sorted(part) for key, part in value.items() if key not in VOLATILE}
    if isinstance(value, list):
        return sorted((_sorted(part) for part in value), key=json.dumps)
    return value


@pytest.mark.parametrize(
    ("exchanges", "deployment", "count"),
    [(exchanges(), recorded(), 14), (written().values(), recorded_pushes(), 4)],
    ids=["results", "pushes"],
)
def test_as_recorded(exchanges, deployment, count):
    """Status and whole body, errors with their texts and parameters."""
    with Loopback(deployment) as loopback:
        for exchange in exchanges:
            note, asked = exchange["note"], exchange["request"]
            method, _ = route(asked["method"], asked["path"].partition("?")[0])
            if method and not NOT_COMPARED.search(note):
                count -= 1
                answer = {key: exchange["response"][key] for key in ("status", "body")}
                assert _shape(answered(loopback, asked), loopback) == _shape(answer, loopback), note
    assert count == 0


JANE = Client("engineer/jane", "hers", ("queue:create-task:project:none", "queue:scheduler-id:-"))
ROOT = Client("root", "all", ("*",))
# In an order that gives each the state that it was recorded in.
SIGNED = {
    "createTask, dependency that does not exist": ROOT,
    "createTask, expires before deadline": ROOT,
    "createTask in a group of another scheduler": ROOT,
    "createTask without the priority scope (AnyOf)": JANE,
    "createTask accepted": ROOT,
    "createTask the same again": ROOT,
    "createTask another under the same id": ROOT,
    "a wrong access token": replace(ROOT, access_token="another"),  # noqa: S106 - a test's
    "cancel of a pending task": ROOT,
    "cancel of a canceled task": ROOT,
    "cancel of a completed task": ROOT,
}


def test_signed_requests_as_recorded():
    """What creates and cancels tasks is refused for the same reasons, in the same words."""
    with Loopback(recorded_pushes(), clients=[JANE, ROOT]) as loopback:
        for note, client in SIGNED.items():
            exchange = written()[note]
            answer = {key: exchange["response"][key] for key in ("status", "body")}
            given = answered(loopback, exchange["request"], client)
            assert _shape(given, loopback) == _shape(answer, loopback), note


def test_cancelling_without_the_scope():
    """The refusal names what is missing, and all that would do."""
    note = "cancel without the scope"
    deployment, exchange = recorded_pushes(), written()[note]
    task_id = exchange["request"]["path"].split("/")[-2]
    group_id = "VkCx-CMnSfGpfUqx3nMfbg"
    deployment.add_task(task_id, group_id, "x", "build", "a/b", schedulerId="releng-level-3")
    with Loopback(deployment, clients=[JANE]) as loopback:
        given = answered(loopback, exchange["request"], JANE)
    answer = {key: exchange["response"][key] for key in ("status", "body")}
    assert _shape(given, loopback) == _shape(answer, loopback)
