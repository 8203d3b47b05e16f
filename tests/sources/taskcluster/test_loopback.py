# SPDX-License-Identifier: MPL-2.0
"""The stand-in for a Taskcluster answers what a real one was recorded to answer."""

import http.client
import json
import re

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
    connection = http.client.HTTPConnection(loopback.url.partition("//")[2], timeout=10)
    connection.request(asked["method"], asked["path"], data, headers)
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


def compared(exchanges, deployment):
    """Compare answers with recorded ones; return how many there are."""
    count = 0
    with Loopback(deployment) as loopback:
        for exchange in exchanges:
            note, asked = exchange["note"], exchange["request"]
            method, _ = route(asked["method"], asked["path"].partition("?")[0])
            if method and not NOT_COMPARED.search(note):
                count += 1
                assert (note, answered(loopback, asked)) == (note, expected(exchange, loopback))
    return count


def test_as_recorded():
    """Status and whole body, errors with their texts and parameters."""
    assert compared(exchanges(), recorded()) == 14
    assert compared(written().values(), recorded_pushes()) == 5
