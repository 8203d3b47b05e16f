# SPDX-License-Identifier: MPL-2.0
"""A submission's ids and dates, and the record of it that each of its tasks carries."""

import json
import re
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace
from submitted_tasks import generated

from io_benchmark.errors import GraphError, ResultError
from io_benchmark.sources.taskcluster.addresses import SLUG_PATTERN
from io_benchmark.submit.definitions import SubmissionSettings, select_tasks
from io_benchmark.submit.submission import Submission, dated

NOW = datetime(2026, 11, 21, 12, 0, 0, 123456, tzinfo=UTC)
GROUP = "Fqm6GL_zRPurCmd1rRuTRQ"
SETTINGS = SubmissionSettings(
    image={"type": "task-image", "taskId": GROUP, "path": "p"},
    pools={"intel": "proj/some"},
    replicates=2,
    owner="jane@example.com",
    profile="quick",
)
CHOSEN = select_tasks([generated("amd-16"), generated("intel")], SETTINGS)
SUBMISSION = Submission.of(["io-benchmark"], SETTINGS, CHOSEN)


def extra(number=0):
    """As the queue gives it back: JSON."""
    return json.loads(json.dumps(SUBMISSION.in_group(CHOSEN, GROUP)[number].definition["extra"]))


def test_ids():
    """The first is the group's, all are of the queue's form and differ, and they never change."""
    ids = replace(SUBMISSION, tasks=1000).task_ids(GROUP)
    assert ids[:3] == [GROUP, "ZeY6qujeSxODXsWjFxTF2g", "EQXigfjnTaekZT1WOBxMGQ"]
    assert len(set(ids)) == 1000
    assert all(re.fullmatch(SLUG_PATTERN, name) and not name.startswith("-") for name in ids)
    assert replace(SUBMISSION, tasks=3).task_ids(GROUP) == ids[:3]
    assert not set(replace(SUBMISSION, tasks=1000).task_ids(ids[1])) & set(ids[2:])


@pytest.mark.parametrize("number", range(4))
def test_any_task_describes_the_whole(number):
    """What is read back is what was submitted."""
    assert Submission.parse(extra(number), "group:x") == SUBMISSION


def changed(**changes):
    record = extra()["io-benchmark-submission"]
    settings = {**record["settings"], **changes.pop("settings", {})}
    return {"io-benchmark-submission": {**record, "settings": settings, **changes}}


NONE, OLD, MALFORMED = "does not contain the submission", "another version", "is malformed"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, NONE),
        ([], NONE),
        ({}, NONE),
        (changed(version=2), OLD),
        ({"io-benchmark-submission": []}, MALFORMED),
        *((changed(tasks=count), MALFORMED) for count in ("x", 10**9, 0)),
        (changed(settings={"pools": {"a": "b"}}), MALFORMED),
        (changed(settings={"priority": "\n"}), MALFORMED),
        (changed(settings={"replicates": 10**9}), MALFORMED),
        (changed(settings={"looks": [6, 3]}), MALFORMED),
    ],
)
def test_what_anybody_may_write(value, message):
    """A task may say anything in its `extra`: one line."""
    with pytest.raises(ResultError, match=message) as caught:
        Submission.parse(value, f"group:{GROUP}")
    assert len(str(caught.value).splitlines()) == 1


def test_counted_from_now():
    """Dates at any depth are counted, and nothing else is changed."""
    value = {
        "a": [{"relative-datestamp": "90 minutes"}, 1],
        "b": {"relative-datestamp": "1", "c": 2},
    }
    expected = "2026-11-21T13:30:00.123Z"
    assert dated(value, NOW) == {"a": [expected, 1], "b": value["b"]}


@pytest.mark.parametrize(
    "amount", ["soon", "1 fortnight", "day", "1.5 days", "9999 years", "99999999 years", ["1 day"]]
)
def test_not_understood(amount):
    """A mistake of the kind is told in one line."""
    with pytest.raises(GraphError, match=r"a task's date is wrong: .*; correct it in the kind"):
        dated({"relative-datestamp": amount}, NOW)
