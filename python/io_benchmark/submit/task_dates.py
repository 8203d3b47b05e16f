# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Turns relative dates of the kinds into the queue's form."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from io_benchmark.errors import GraphError

RELATIVE = "relative-datestamp"
_UNITS_S = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86_400,
    "week": 7 * 86_400,
    "month": 30 * 86_400,
    "year": 365 * 86_400,
}
_AMOUNT = re.compile(r"([0-9]{1,6}) *([a-z]+?)s?")


def resolved(value: Any, now: datetime) -> Any:
    """Replace every relative date by the date counted from `now`."""
    if isinstance(value, dict):
        if set(value) == {RELATIVE}:
            return shown(now + _distance(str(value[RELATIVE])))
        return {key: resolved(one, now) for key, one in value.items()}
    if isinstance(value, list):
        return [resolved(one, now) for one in value]
    return value


def shown(moment: datetime) -> str:
    """Format a date as the queue does: UTC, milliseconds, Z."""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _distance(text: str) -> timedelta:
    found = _AMOUNT.fullmatch(text.strip().lower())
    if found is None or found[2] not in _UNITS_S:
        raise GraphError(
            f"a task's date is {text!r}, which is not a number and one of {', '.join(_UNITS_S)}; "
            "correct it in the kind"
        )
    return timedelta(seconds=int(found[1]) * _UNITS_S[found[2]])
