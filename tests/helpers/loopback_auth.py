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
from mohawk.util import parse_authorization_header  # type: ignore[import-untyped]

# What anybody may do on a deployment whose role `anonymous` is as docs/deploying.md has it.
PUBLIC_ARTIFACTS = "queue:get-artifact:public/*"
ANONYMOUS = (
    "queue:status:*",
    "queue:get-task:*",
    "queue:list-task-group:*",
    "queue:list-artifacts:*",
    "queue:list-workers:*",
    "index:find-task:*",
    "index:list-tasks:*",
    "index:list-namespaces:*",
    "worker-manager:get-worker-pool:*",
    "auth:current-scopes",
)


class ApiError(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


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
class Request:
    """A request that arrived."""

    host: str  # "api" or "storage"
    method: str
    path: str  # with the query, as they were sent
    query: dict[str, str]
    headers: Mapping[str, str]  # in which case does not matter
    body: bytes


def client_of(request: Request, clients: Iterable[Client]) -> Client | None:
    """Return the sender, None without credentials; refuse an invalid signature."""
    authorization = request.headers.get("authorization")
    if authorization is None:
        return None
    known = {client.client_id: client for client in clients}
    try:
        client = known[parse_authorization_header(authorization)["id"]]
        mohawk.Receiver(
            lambda name: {"id": name, "key": client.access_token, "algorithm": "sha256"},
            authorization,
            f"http://{request.headers['host']}{request.path}",
            request.method,
            content=request.body,
            content_type=request.headers.get("content-type", ""),
            accept_untrusted_content=True,
        )
    except (exc.HawkFail, KeyError):
        raise ApiError(401, "AuthenticationFailed", "Unauthorized: Bad mac") from None
    return client


def satisfy(scopes: tuple[str, ...], expression: Any) -> bool:
    """Return whether the scopes satisfy a scope expression."""
    if isinstance(expression, str):
        return any(_covers(scope, expression) for scope in scopes)
    ((how, parts),) = expression.items()
    return {"AllOf": all, "AnyOf": any}[how](satisfy(scopes, part) for part in parts)


def unsatisfied(scopes: tuple[str, ...], expression: Any) -> Any | None:
    """Return the part of an expression that the scopes lack, None where they satisfy it."""
    if satisfy(scopes, expression):
        return None
    if isinstance(expression, str) or "AnyOf" in expression:
        return expression
    parts = [unsatisfied(scopes, part) for part in expression["AllOf"]]
    missing = [part for part in parts if part is not None]
    return missing[0] if len(missing) == 1 else {"AllOf": missing}


def _covers(scope: str, needed: str) -> bool:
    return needed.startswith(scope[:-1]) if scope.endswith("*") else needed == scope
