# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Why the queue refuses a request, in one line, and what to do about it."""

import re

from io_benchmark.errors import RequestRefusedError
from io_benchmark.sources.taskcluster.access import ACCESS_TOKEN, CLIENT_ID
from io_benchmark.sources.taskcluster.authorization_errors import (
    explain_unauthenticated,
    missing_scopes,
)
from io_benchmark.text import clean

_COMPLAINT = re.compile(r"^[ \t]*\* (data.*)$", re.MULTILINE)
_LENGTH = 300


def explained(error: RequestRefusedError, doing: str, who: str) -> str:
    """`doing` names the task; `who` is how the deployment was asked."""
    return f"{doing}: {_reason(error, who)}"


def _reason(error: RequestRefusedError, who: str) -> str:
    match error.status:
        case 401:
            return f"the queue {explain_unauthenticated(error.message, who)}"
        case 403:
            advice = (
                f"set {CLIENT_ID} and {ACCESS_TOKEN}"
                if who == "anonymously"
                else "ask for this scope, or choose another pool, priority or scheduler"
            )
            return (
                f"asked {who}, which lacks {missing_scopes(error.message) or 'a scope'}; {advice}"
            )
        case 400:
            complaints = "; ".join(_COMPLAINT.findall(error.message)) or error.first_line
            return (
                f"the queue rejects the definition ({clean(complaints, _LENGTH)}); "
                "look at it with --dry-run"
            )
        case 404:
            return f"the queue does not know this id ({error.first_line}); check it"
        case 409:
            return (
                f"conflicts with a task in the queue ({error.first_line}); run submit again to "
                "create a new group"
            )
    return f"the queue answers {error.status}, {error.first_line}"
