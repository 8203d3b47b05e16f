# SPDX-License-Identifier: MPL-2.0
"""Explain why a deployment refuses a request, by the texts that a real one answers.

Bad credentials are one cause of 401; a wrong clock and a changed request are others. 403 comes with
a scope expression, for which one set of sufficient scopes is named.
"""

import json
import re
from typing import Any

from io_benchmark.sources.taskcluster.access import ACCESS_TOKEN, CERTIFICATE, CLIENT_ID
from io_benchmark.text import clean

_CREATE = re.compile(r"queue:create-task:[a-z-]+:[^:]+/")
_SCOPES_LENGTH = 1500  # of a text that names them, too
# By a part of the text; the first match counts.
_CAUSES = {
    "invalid payload hash": "it computed another hash of the request than was signed, so something on "
    "the way changed the content or its type; the credentials are not the cause: look for a proxy",
    "stale timestamp": "this machine's clock differs from its clock by more than 15 minutes; set the "
    "clock, the credentials are not the cause",
    "ext.certificate.start > now": "the temporary credentials are not valid yet; check the clock of the "
    "machine that made them",
    "ext.certificate.expiry < now": "the temporary credentials have expired; get new ones",
    "has expired": "the client has expired; get new credentials",
    "is disabled": f"the client is disabled; ask its owner, or set another {CLIENT_ID}",
    "not found": f"it does not know the client; check {CLIENT_ID}, and that the deployment is right",
    "ext.certificate issuer": "the client that made the temporary credentials lacks a scope of theirs; "
    "ask its owner for it",
    "ext.certificate": f"the certificate does not belong to the credentials; check {CERTIFICATE}",
    "bad mac": f"the access token is not that of the client; check {ACCESS_TOKEN}",
}


def explain_unauthenticated(message: str, who: str) -> str:
    """Explain a 401 and what to do; `who` names the credentials that were used."""
    first_line = clean(message.strip().partition("\n")[0], _SCOPES_LENGTH)
    lowered = first_line.lower()
    client = who.removeprefix("as ")
    without_hash = first_line.partition(": {{")[0]
    for text, cause in _CAUSES.items():
        if text in lowered:
            return f"refuses the request of {client} ({without_hash}): {cause}"
    return (
        f"refuses the credentials of {client}: {first_line}; check {CLIENT_ID} and {ACCESS_TOKEN}"
    )


def missing_scopes(message: str) -> str:
    """Return sufficient scopes from the first block of a refusal; "" where it names none."""
    # No regular expression: the text may be a hostile megabyte.
    block, closing, _ = message.partition("```")[2].partition("```")
    if not closing:
        return ""
    try:
        names = _needed(json.loads(block))
    except (ValueError, RecursionError):
        names = [line.strip() for line in block.splitlines() if line.strip()]
    return clean(", ".join(dict.fromkeys(names)), _SCOPES_LENGTH)


def _needed(expression: Any) -> list[str]:
    """Return one set of scopes that satisfies the expression."""
    if isinstance(expression, str):
        return [expression]
    if not isinstance(expression, dict) or not expression:
        return []
    parts = next(iter(expression.values()))
    if not isinstance(parts, list):
        return []
    if "AnyOf" in expression:
        # For creating tasks the queue lists priorities from the highest down to the task's; elsewhere
        # the narrowest scope comes first.
        creating = [part for part in parts if isinstance(part, str) and _CREATE.match(part)]
        parts = creating[-1:] or parts[:1]
    return [name for part in parts for name in _needed(part)]
