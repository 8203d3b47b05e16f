# SPDX-License-Identifier: MPL-2.0
"""The stand-in for a Taskcluster answers what a real one was recorded to answer."""

import json
import re
from contextlib import closing
from http.client import HTTPConnection

import pytest
from loopback import Loopback
from loopback_api import route
from loopback_deployment import exchanges, recorded
from recorded_pushes import recorded_pushes, written

# Lists of logs, which the stand-in does not keep, and what needs a signature.
NOT_COMPARED = re.compile(
    "^latest artifacts of (?!depends)|^createTask|^cancel(,| of a p| w)|^a wrong|^a worker pool$"
)
TIME = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z")
# Results were another script's.
VOLATILE = ("contentLength", "expires", "payload", "time")


def answered(loopback, asked):
    """Status and body of a request."""
    data = json.dumps(asked["body"]).encode() if "body" in asked else None
    headers = {"Content-Type": "application/json"} if data else {}
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
    [(exchanges(), recorded(), 14), (written().values(), recorded_pushes(), 5)],
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
