# SPDX-License-Identifier: MPL-2.0
"""Who asks the loopback's Taskcluster: signatures checked as the auth service and each API do.

Hawk over the method, the address, the time and the payload's hash, whose content type counts. The
texts are those of a real deployment.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import mohawk  # type: ignore[import-untyped]
from mohawk import exc
from mohawk.util import calculate_payload_hash, parse_authorization_header  # type: ignore[import-untyped]

# What anybody may do on a deployment for open source.
ANONYMOUS = (
    *("queue:status:*", "queue:get-task:*", "queue:list-task-group:*", "queue:list-artifacts:*"),
    "index:*",
)
PUBLIC_ARTIFACTS = "queue:get-artifact:public/*"


class AuthenticationError(Exception):
    """A 401 with its text."""


@dataclass(frozen=True)
class Client:
    """A client that the deployment knows."""

    client_id: str
    access_token: str
    scopes: tuple[str, ...] = ("*",)

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which commands sign as this client."""
        return {
            "TASKCLUSTER_CLIENT_ID": self.client_id,
            "TASKCLUSTER_ACCESS_TOKEN": self.access_token,
        }


@dataclass(frozen=True)
class Incoming:
    """The parts of a request that a signature covers."""

    method: str
    resource: str  # path and query, as they were sent
    headers: Mapping[str, str]  # by lower-case names
    body: bytes


@dataclass(frozen=True)
class Identity:
    """The client, None without one, and its scopes."""

    client_id: str | None
    scopes: tuple[str, ...]


def authenticate(
    incoming: Incoming, clients: Iterable[Client], anonymous: tuple[str, ...]
) -> Identity:
    """Return the sender; raise an AuthenticationError for an invalid signature."""
    authorization = incoming.headers.get("authorization")
    if authorization is None:
        return Identity(None, anonymous)
    kind = incoming.headers.get("content-type", "")
    try:
        client_id = parse_authorization_header(authorization)["id"]
        client = next((each for each in clients if each.client_id == client_id), None)
        if client is None:
            raise AuthenticationError(f"Client with clientId '{client_id}' not found")
        key = client.access_token
        mohawk.Receiver(
            lambda name: {"id": name, "key": key, "algorithm": "sha256"},
            authorization,
            f"http://{incoming.headers['host']}{incoming.resource}",
            incoming.method,
            content=incoming.body,
            content_type=kind,
            accept_untrusted_content=True,
        )
    except exc.MacMismatch:
        raise AuthenticationError("Unauthorized: Bad mac") from None
    except exc.MisComputedContentHash:
        computed = calculate_payload_hash(incoming.body, "sha256", kind).decode()
        raise AuthenticationError(
            f"Invalid payload hash: {{{{hash}}}}\nComputed payload hash: {computed}\n"
            "This happens when your request carries a signed hash of the payload and the hash "
            "doesn't match the hash we've computed on the server-side."
        ) from None
    except (exc.HawkFail, KeyError):
        raise AuthenticationError("Bad Request: Bad header format") from None
    return Identity(client.client_id, (*client.scopes, *anonymous))


def unsatisfied(expression: Any, scopes: Iterable[str]) -> Any:
    """Return the missing part of a scope expression; None where nothing is missing."""
    have = tuple(scopes)
    if isinstance(expression, str):
        return None if any(_covers(scope, expression) for scope in have) else expression
    ((how, parts),) = expression.items()
    missing = [unsatisfied(part, have) for part in parts]
    left = [part for part in missing if part is not None]
    if not left or (how == "AnyOf" and len(left) < len(missing)):
        return None
    return left[0] if len(left) == 1 else {how: left}


def _covers(scope: str, needed: str) -> bool:
    return needed.startswith(scope[:-1]) if scope.endswith("*") else needed == scope
