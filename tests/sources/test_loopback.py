# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The stand-in for a Taskcluster answers what a real one was recorded to answer."""

import json
import re
import urllib.error
import urllib.request

import pytest
from loopback import Loopback
from loopback_deployment import exchanges

# These are told from the artifacts' content, which is another here, or list what else there is.
NOT_COMPARED = re.compile("^latest artifacts|^artifacts of run 0|object behind|malformed task id")
VOLATILE = ("time", "contentLength")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments):
        return None


@pytest.fixture(scope="module")
def loopback():
    with Loopback() as running:
        yield running


@pytest.mark.parametrize(
    "exchange",
    [
        pytest.param(one, id=one["note"].replace(" ", "-"))
        for one in exchanges()
        if not NOT_COMPARED.search(one["note"])
    ],
)
def test_as_recorded(loopback, exchange):
    """Status and body; of a message its first line, for it ends with the time."""
    asked, expected = exchange["request"], exchange["response"]
    data = json.dumps(asked["body"]).encode() if "body" in asked else None
    request = urllib.request.Request(  # noqa: S310 - the loopback
        loopback.url + asked["path"],
        method=asked["method"],
        data=data,
        headers={"Content-Type": "application/json"} if data else {},
    )
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(request, timeout=10) as answer:
            status, body = answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            status, body = error.code, json.load(error)
    assert status == expected["status"]
    assert _shape(body, loopback) == _shape(expected["body"], loopback)


def _shape(body, loopback):
    if not isinstance(body, dict):
        return body
    body = json.loads(json.dumps(body).replace(loopback.storage_url, "https://objects.example"))
    if "code" in body:
        return body["code"], body["message"].partition("\n\n---")[0]
    if "statuses" in body:
        body["statuses"].sort(key=lambda one: one["taskId"])
    return body
