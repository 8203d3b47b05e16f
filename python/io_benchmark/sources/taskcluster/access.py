# SPDX-License-Identifier: MPL-2.0
"""Credentials for a deployment, and why it refuses them, by the texts that a real one answers.

Credentials belong to the deployment that TASKCLUSTER_ROOT_URL names. A pasted address may name any
host, which gets no credentials.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from io_benchmark.errors import UsageError
from io_benchmark.sources.taskcluster.addresses import default_root_url
from io_benchmark.text import clean

CLIENT_ID = "TASKCLUSTER_CLIENT_ID"
ACCESS_TOKEN = "TASKCLUSTER_ACCESS_TOKEN"  # noqa: S105 - the variable's name
CERTIFICATE = "TASKCLUSTER_CERTIFICATE"
PROXY = "TASKCLUSTER_PROXY_URL"
# As the auth service accepts client ids; a quote would end the id in the request's header.
_CLIENT_ID = re.compile(r"[A-Za-z0-9!@/:.+|_-]+")
_CREATE = re.compile(r"queue:create-task:[a-z-]+:[^:]+/")
# What a definition that breaks the queue's schema is answered with.
_COMPLAINT = re.compile(r"^[ \t]*\* (data.*)$", re.MULTILINE)
_SCOPES_LENGTH = 1500  # of a text that names them, too
# Bad credentials are one cause of 401; a wrong clock and a changed request are others. By a part of
# the text; the first match counts.
_CAUSES = {
    "invalid payload hash": (
        "it computed another hash of the request than was signed, so something on the way changed "
        "the content or its type; the credentials are not the cause: look for a proxy"
    ),
    "stale timestamp": (
        "this machine's clock differs from its clock by more than 15 minutes; set the clock, the "
        "credentials are not the cause"
    ),
    "ext.certificate.expiry < now": "the temporary credentials have expired; get new ones",
    "not found": (
        f"it does not know the client; check {CLIENT_ID}, and that the deployment is right"
    ),
    "ext.certificate issuer": (
        "the client that made the temporary credentials lacks a scope of theirs; ask its owner for "
        "it"
    ),
    "ext.certificate": f"the certificate does not belong to the credentials; check {CERTIFICATE}",
    "bad mac": f"the access token is not that of the client; check {ACCESS_TOKEN}",
}


@dataclass(frozen=True)
class Access:
    """How requests to one deployment are authorized."""

    root_url: str
    api_root_url: str  # the proxy's, inside a task that has one
    who: str  # for messages
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, root_url: str, environment: Mapping[str, str]) -> Self:
        """Return the credentials, else the proxy, else anonymous access."""
        anonymous = cls(root_url, root_url, "anonymously")
        if root_url != default_root_url(environment):
            return anonymous
        client_id, token = environment.get(CLIENT_ID), environment.get(ACCESS_TOKEN)
        if bool(client_id) != bool(token):
            present, missing = (CLIENT_ID, ACCESS_TOKEN) if client_id else (ACCESS_TOKEN, CLIENT_ID)
            raise UsageError(f"{present} is set and {missing} is not; set both or neither")
        if client_id and token:
            credentials = _signing(client_id, token, environment)
            return cls(root_url, root_url, f"as {client_id}", credentials)
        proxy = environment.get(PROXY)
        if not proxy:
            return anonymous
        if not proxy.startswith(("http://", "https://")):
            raise UsageError(f"{PROXY}: is not an http(s) address; unset it outside a task")
        return cls(root_url, proxy.rstrip("/"), "through the task's proxy")

    def refusal(self, status: int, message: str, needs: str = "") -> str:
        """Explain why a request is refused, and what to do; `needs` is the scope that lacks."""
        if status == 401:
            return f"{self.root_url} {_unauthenticated(message, self.who)}"
        if status == 403:
            advice = f"set {CLIENT_ID} and {ACCESS_TOKEN}"
            if self.api_root_url != self.root_url:
                advice = "give the task that scope"
            elif self.credentials:
                advice = "request that scope from the deployment's owners"
            scopes = needs or _missing_scopes(message) or "a scope"
            return (
                f"{self.root_url} refuses the request, which needs {scopes} and was made "
                f"{self.who}; {advice}"
            )
        complaints = "; ".join(_COMPLAINT.findall(message)) or message.strip().partition("\n")[0]
        return f"{self.root_url} answers {status}, {clean(complaints, 300)}"


def _signing(client_id: str, token: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the credentials as the taskcluster client takes them, after they were checked."""
    credentials = {"clientId": client_id, "accessToken": token}
    certificate = environment.get(CERTIFICATE)
    if certificate:
        try:
            is_certificate = isinstance(json.loads(certificate), dict) and certificate.isascii()
        except (ValueError, RecursionError):
            is_certificate = False
        if not is_certificate:
            raise UsageError(
                f"{CERTIFICATE}: is not a certificate of Taskcluster (a JSON object); copy it again"
            )
        credentials["certificate"] = certificate
    if not _CLIENT_ID.fullmatch(client_id):
        raise UsageError(
            f"{CLIENT_ID}: {clean(client_id, 100)!r} is not a client id, which has letters, "
            "digits and !@/:.+|_- only; check it"
        )
    if not token.isascii() or not token.isprintable():
        raise UsageError(
            f"{ACCESS_TOKEN}: contains characters that an access token cannot contain; copy it "
            "again"
        )
    return credentials


def _unauthenticated(message: str, who: str) -> str:
    """Explain a 401 and what to do; `who` names the credentials that were used."""
    first_line = clean(message.strip().partition("\n")[0], _SCOPES_LENGTH)
    client = who.removeprefix("as ")
    without_hash = first_line.partition(": {{")[0]
    for part, cause in _CAUSES.items():
        if part in first_line.lower():
            return f"refuses the request of {client} ({without_hash}): {cause}"
    return (
        f"refuses the credentials of {client}: {first_line}; check {CLIENT_ID} and {ACCESS_TOKEN}"
    )


def _missing_scopes(message: str) -> str:
    """Return sufficient scopes from the first block of a refusal; "" where it names none."""
    # No regular expression: the text may be a hostile megabyte.
    block, closing, _ = message.partition("```")[2].partition("```")
    if not closing:
        return ""
    try:
        names = _sufficient(json.loads(block))
    except (ValueError, RecursionError):
        names = [line.strip() for line in block.splitlines() if line.strip()]
    return clean(", ".join(dict.fromkeys(names)), _SCOPES_LENGTH)


def _sufficient(expression: Any) -> list[str]:
    """Return one set of scopes that satisfies the expression."""
    if isinstance(expression, str):
        return [expression]
    parts = next(iter(expression.values()), None) if isinstance(expression, dict) else None
    if not isinstance(parts, list):
        return []
    if "AnyOf" in expression:
        # For creating tasks the queue lists priorities from the highest down to the task's;
        # elsewhere the narrowest scope comes first.
        creating = [part for part in parts if isinstance(part, str) and _CREATE.match(part)]
        parts = creating[-1:] or parts[:1]
    return [name for part in parts for name in _sufficient(part)]
