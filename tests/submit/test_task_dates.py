# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Relative dates."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from io_benchmark.errors import GraphError
from io_benchmark.submit import task_dates

NOW = datetime(2026, 11, 21, 12, 0, 0, 123456, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("0 seconds", "2026-11-21T12:00:00.123Z", id="now"),
        pytest.param("1 day", "2026-11-22T12:00:00.123Z", id="singular"),
        pytest.param("28 days", "2026-12-19T12:00:00.123Z", id="plural"),
        pytest.param("90 minutes", "2026-11-21T13:30:00.123Z", id="minutes"),
        pytest.param("1 year", "2027-11-21T12:00:00.123Z", id="year"),
    ],
)
def test_counted_from_now(text, expected):
    """Wherever it stands, and nothing else is changed."""
    value = {"a": [{"relative-datestamp": text}, 1], "b": {"relative-datestamp": text, "c": 2}}
    assert task_dates.resolved(value, NOW) == {"a": [expected, 1], "b": value["b"]}


def test_in_utc():
    """Whatever zone the moment is told in."""
    moment = datetime(2026, 11, 21, 1, 0, tzinfo=timezone(timedelta(hours=2)))
    assert task_dates.shown(moment) == "2026-11-20T23:00:00.000Z"


@pytest.mark.parametrize("text", ["soon", "1 fortnight", "-1 day", "day"])
def test_not_understood(text):
    """A mistake of the kind, told in one line."""
    with pytest.raises(GraphError, match=r"a task's date is .* correct it in the kind"):
        task_dates.resolved({"relative-datestamp": text}, NOW)
