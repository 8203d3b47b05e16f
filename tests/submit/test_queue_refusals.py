# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Refusals in one line."""

import pytest

from io_benchmark.errors import RequestRefusedError
from io_benchmark.submit.queue_refusals import explained

MISSING = """Client ID me does not have sufficient scopes and is missing the following scopes:

```
{"AllOf": ["queue:create-task:low:a/b", {"AnyOf": ["queue:scheduler-id:-"]}]}
```

This request requires the client to satisfy the following scope expression:

```
{"AllOf": ["more"]}
```
"""
SCHEMA = """Schema Validation Failed!
Rejecting Schema: https://host/schemas/queue/v1/create-task-request.json
Errors:
  * data/payload must be object
  * data must NOT have additional properties

---
"""


@pytest.mark.parametrize(
    ("status", "message", "who", "expected"),
    [
        pytest.param(
            403,
            MISSING,
            "as me",
            "asked as me, which lacks queue:create-task:low:a/b, queue:scheduler-id:-; ask for "
            "this scope, or choose another pool, priority or scheduler",
            id="scopes",
        ),
        pytest.param(
            403,
            "No",
            "anonymously",
            "asked anonymously, which lacks a scope; set TASKCLUSTER_CLIENT_ID and "
            "TASKCLUSTER_ACCESS_TOKEN",
            id="anonymous",
        ),
        pytest.param(
            403,
            "x\n```\nqueue:a\nqueue:b\n```",
            "as me",
            "asked as me, which lacks queue:a, queue:b; ask for this scope, or choose another pool, "
            "priority or scheduler",
            id="scopes-as-lines",
        ),
        pytest.param(
            401,
            "ext.certificate.expiry < now\nmore",
            "as me",
            "the queue refuses the request of me (ext.certificate.expiry < now): the temporary "
            "credentials have expired; get new ones",
            id="credentials",
        ),
        pytest.param(
            400,
            SCHEMA,
            "as me",
            "the queue rejects the definition (data/payload must be object; data must NOT "
            "have additional properties); look at it with --dry-run",
            id="schema",
        ),
        pytest.param(
            409,
            "Task group is sealed\nmore",
            "as me",
            "conflicts with a task in the queue (Task group is sealed); run submit again to "
            "create a new group",
            id="conflict",
        ),
        pytest.param(
            413,
            "Too\x1b[1m large",
            "as me",
            "the queue answers 413, Too\ufffd[1m large",
            id="other",
        ),
    ],
)
def test_one_line(status, message, who, expected):
    """What was being done, why not, and what to do."""
    assert explained(RequestRefusedError(status, message), "doing", who) == f"doing: {expected}"
