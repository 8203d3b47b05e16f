# SPDX-License-Identifier: MPL-2.0
"""Credentials for a deployment: the environment's, a task's proxy, or none.

Credentials belong to the deployment that TASKCLUSTER_ROOT_URL names. A pasted address may name any
host, which gets no credentials.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from io_benchmark.errors import UsageError
from io_benchmark.sources.taskcluster.addresses import default_root_url
from io_benchmark.text import clean

CLIENT_ID = "TASKCLUSTER_CLIENT_ID"
ACCESS_TOKEN = "TASKCLUSTER_ACCESS_TOKEN"  # noqa: S105 - the variable's name
CERTIFICATE = "TASKCLUSTER_CERTIFICATE"
PROXY = "TASKCLUSTER_PROXY_URL"
# As the auth service accepts client ids; a quote would end the id in the request's header.
_CLIENT_ID = re.compile(r"[A-Za-z0-9!@/:.+|_-]+")
_LENGTH = 100


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
        if root_url != default_root_url(environment):
            return cls(root_url, root_url, "anonymously")
        client_id, token = environment.get(CLIENT_ID), environment.get(ACCESS_TOKEN)
        if bool(client_id) != bool(token):
            present, missing = (CLIENT_ID, ACCESS_TOKEN) if client_id else (ACCESS_TOKEN, CLIENT_ID)
            raise UsageError(f"{present} is set and {missing} is not; set both or neither")
        if client_id and token:
            credentials = {"clientId": client_id, "accessToken": token}
            certificate = environment.get(CERTIFICATE)
            if certificate:
                credentials["certificate"] = _checked_certificate(certificate)
            if not _CLIENT_ID.fullmatch(client_id):
                raise UsageError(
                    f"{CLIENT_ID}: {clean(client_id, _LENGTH)!r} is not a client id, which has letters, "
                    "digits and !@/:.+|_- only; check it"
                )
            if not token.isascii() or not token.isprintable():
                raise UsageError(
                    f"{ACCESS_TOKEN}: contains characters that an access token cannot contain; copy it again"
                )
            return cls(root_url, root_url, f"as {client_id}", credentials)
        proxy = environment.get(PROXY)
        if proxy:
            if not proxy.startswith(("http://", "https://")):
                raise UsageError(f"{PROXY}: is not an http(s) address; unset it outside a task")
            return cls(root_url, proxy.rstrip("/"), "through the task's proxy")
        return cls(root_url, root_url, "anonymously")


def _checked_certificate(text: str) -> str:
    try:
        good = isinstance(json.loads(text), dict) and text.isascii()
    except (ValueError, RecursionError):
        good = False
    if not good:
        raise UsageError(
            f"{CERTIFICATE}: is not a certificate of Taskcluster (a JSON object); copy it again"
        )
    return text
