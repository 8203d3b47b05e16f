# SPDX-License-Identifier: MPL-2.0
"""Who asks the loopback's Taskcluster: signatures checked as the auth service and each API do.

Hawk over the method, the address, the time, `ext` and the payload's hash, whose content type counts;
temporary credentials with their certificates. The texts are those of a real deployment.
"""

import base64
import hmac
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import mohawk  # type: ignore[import-untyped]
from mohawk import exc
from mohawk.util import calculate_payload_hash, parse_authorization_header  # type: ignore[import-untyped]

SKEW_S = 15 * 60
CERTIFICATE_SKEW_S = 5 * 60
CERTIFICATE_DAYS = 31
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
    incoming: Incoming, clients: Iterable[Client], now_s: float, anonymous: tuple[str, ...]
) -> Identity:
    """Return the sender; raise an AuthenticationError for an invalid signature."""
    authorization = incoming.headers.get("authorization")
    if authorization is None:
        return Identity(None, anonymous)
    client = _hawk(incoming, authorization, {each.client_id: each for each in clients}, now_s)
    return Identity(client.client_id, (*client.scopes, *anonymous))


def _hawk(
    incoming: Incoming, authorization: str, known: Mapping[str, Client], now_s: float
) -> Client:
    kind = incoming.headers.get("content-type", "")
    try:
        given = parse_authorization_header(authorization)
        client = _client(given["id"], given.get("ext", ""), known, now_s)
        mohawk.Receiver(
            lambda name: {"id": name, "key": client.access_token, "algorithm": "sha256"},
            authorization,
            f"http://{incoming.headers['host']}{incoming.resource}",
            incoming.method,
            content=incoming.body,
            content_type=kind,
            accept_untrusted_content=True,
            localtime_offset_in_seconds=int(now_s - time.time()),
            timestamp_skew_in_seconds=SKEW_S,
        )
    except exc.MacMismatch:
        raise AuthenticationError("Unauthorized: Bad mac") from None
    except exc.TokenExpired:
        raise AuthenticationError("Unauthorized: Stale timestamp") from None
    except exc.MisComputedContentHash:
        computed = calculate_payload_hash(incoming.body, "sha256", kind).decode()
        raise AuthenticationError(
            f"Invalid payload hash: {{{{hash}}}}\nComputed payload hash: {computed}\n"
            "This happens when your request carries a signed hash of the payload and the hash "
            "doesn't match the hash we've computed on the server-side."
        ) from None
    except (exc.HawkFail, KeyError):
        raise AuthenticationError("Bad Request: Bad header format") from None
    return client


def _client(client_id: str, ext: str, known: Mapping[str, Client], now_s: float) -> Client:
    """Return the client, limited by `ext`."""
    try:
        given = json.loads(base64.urlsafe_b64decode(ext + "=" * (-len(ext) % 4))) if ext else {}
    except ValueError:
        raise AuthenticationError("Failed to parse ext") from None
    certificate = given.get("certificate")
    issuer = client_id if certificate is None else certificate.get("issuer", client_id)
    if issuer not in known:
        raise AuthenticationError(f"Client with clientId '{issuer}' not found")
    return (
        known[issuer]
        if certificate is None
        else _temporary(client_id, known[issuer], certificate, now_s)
    )


def _temporary(name: str, issuer: Client, certificate: dict[str, Any], now_s: float) -> Client:
    """Return credentials that `issuer` gave out under `name`."""
    start, expiry, scopes = (certificate[key] for key in ("start", "expiry", "scopes"))
    if start > (now_s + CERTIFICATE_SKEW_S) * 1000:
        raise AuthenticationError("ext.certificate.start > now")
    if expiry < (now_s - CERTIFICATE_SKEW_S) * 1000:
        raise AuthenticationError("ext.certificate.expiry < now")
    if expiry - start > CERTIFICATE_DAYS * 86_400_000:
        raise AuthenticationError("ext.certificate cannot last longer than 31 days!")
    needed = f"auth:create-client:{name}"
    if name != issuer.client_id and unsatisfied(needed, issuer.scopes) is not None:
        raise AuthenticationError(
            f"ext.certificate issuer `{issuer.client_id}` doesn't have `{needed}` for supplied "
            "clientId."
        )
    if unsatisfied({"AllOf": scopes}, issuer.scopes) is not None:
        raise AuthenticationError(
            f"ext.certificate issuer `{issuer.client_id}` doesn't satisfy all certificate scopes "
            f"{', '.join(scopes)}.  The temporary credentials were not generated correctly."
        )
    named = "issuer" in certificate
    signed = ["version:1"]
    signed += [f"clientId:{name}", f"issuer:{issuer.client_id}"] if named else []
    signed += [f"seed:{certificate['seed']}", f"start:{start}", f"expiry:{expiry}", "scopes:"]
    key = issuer.access_token.encode()
    digest = hmac.digest(key, "\n".join([*signed, *scopes]).encode(), "sha256")
    if certificate.get("signature") != base64.b64encode(digest).decode():
        end = ", or wrong clientId provided" if named else ""
        raise AuthenticationError(f"ext.certificate.signature is not valid{end}")
    token = base64.urlsafe_b64encode(hmac.digest(key, certificate["seed"].encode(), "sha256"))
    return Client(name, token.decode().rstrip("="), tuple(scopes))


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
