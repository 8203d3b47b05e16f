# SPDX-License-Identifier: MPL-2.0
"""The ids and the dates of a group's tasks."""

import re
from datetime import UTC, datetime

import pytest
from submitted_tasks import generated

from io_benchmark.errors import GraphError
from io_benchmark.sources.taskcluster.addresses import SLUG_PATTERN
from io_benchmark.submit.definitions import SubmissionOptions, select_tasks
from io_benchmark.submit.task_creation import dated, in_group

NOW = datetime(2026, 11, 21, 12, 0, 0, 123456, tzinfo=UTC)
GROUP = "Fqm6GL_zRPurCmd1rRuTRQ"


def test_ids():
    """The first is the group's, all are of the queue's form and differ, and they never change."""
    chosen = select_tasks([generated("amd-16")], SubmissionOptions(image="x", replicates=100))
    tasks = in_group(chosen, GROUP)
    ids = [task.task_id for task in tasks]
    assert ids[:3] == [GROUP, "ZeY6qujeSxODXsWjFxTF2g", "EQXigfjnTaekZT1WOBxMGQ"]
    assert len(set(ids)) == 100
    assert all(re.fullmatch(SLUG_PATTERN, name) and not name.startswith("-") for name in ids)
    assert {task.definition["taskGroupId"] for task in tasks} == {GROUP}


def test_counted_from_now():
    """Dates at any depth are counted, and nothing else is changed."""
    value = {
        "a": [{"relative-datestamp": "90 minutes"}, 1],
        "b": {"relative-datestamp": "1", "c": 2},
    }
    expected = "2026-11-21T13:30:00.123Z"
    assert dated(value, NOW) == {"a": [expected, 1], "b": value["b"]}


@pytest.mark.parametrize(
    "amount", ["soon", "1 fortnight", "9999 years", "99999999 years", ["1 day"]]
)
def test_not_understood(amount):
    """A mistake of the kind is told in one line."""
    with pytest.raises(GraphError, match=r"a task's date is wrong: .*; correct it in the kind"):
        dated({"relative-datestamp": amount}, NOW)
