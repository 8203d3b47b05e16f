# SPDX-License-Identifier: MPL-2.0
"""Who asks the loopback's Taskcluster: signatures checked as the auth service and each API do.

Hawk over the method, the address, the time, `ext` and the payload's hash, whose content type counts;
temporary credentials with their certificates. The texts are those of a real deployment.
"""

import base64
import binascii
import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

SKEW_S = 15 * 60
CERTIFICATE_SKEW_S = 5 * 60
CERTIFICATE_DAYS = 31
# What anybody may do on a deployment for open source.
ANONYMOUS = (
    "queue:status:*",
    "queue:get-task:*",
    "queue:list-task-group:*",
    "queue:list-artifacts:*",
    "queue:list-dependent-tasks:*",
    "index:*",
)
PUBLIC_ARTIFACTS = "queue:get-artifact:public/*"

_ATTRIBUTE = re.compile(r'(\w+)="([^"\\]*)"\s*(?:,\s*|$)')
_ATTRIBUTES = {"id", "ts", "nonce", "hash", "ext", "mac", "app", "dlg"}


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

    @property
    def host(self) -> tuple[str, str]:
        host, _, port = self.headers["host"].rpartition(":")
        return host.lower(), port


@dataclass(frozen=True)
class Identity:
    """The client, None without one, and its scopes."""

    client_id: str | None
    scopes: tuple[str, ...]


def authenticate(
    incoming: Incoming, clients: Iterable[Client], now_s: float, anonymous: tuple[str, ...]
) -> Identity:
    """Return the sender; raise an AuthenticationError for an invalid signature."""
    known = {one.client_id: one for one in clients}
    authorization = incoming.headers.get("authorization")
    if authorization is None:
        return Identity(None, anonymous)
    client = _hawk(incoming, authorization, known, now_s)
    return Identity(client.client_id, (*client.scopes, *anonymous))


def payload_hash(body: bytes, content_type: str) -> str:
    """Hash the content type, without its parameters, and the content."""
    kind = content_type.partition(";")[0].strip().lower()
    digest = hashlib.sha256(f"hawk.1.payload\n{kind}\n".encode() + body + b"\n").digest()
    return base64.b64encode(digest).decode()


def _hawk(
    incoming: Incoming, authorization: str, known: Mapping[str, Client], now_s: float
) -> Client:
    scheme, _, rest = authorization.partition(" ")
    if scheme.lower() != "hawk":
        raise AuthenticationError("Unauthorized")
    given = dict(_ATTRIBUTE.findall(rest))
    if _ATTRIBUTE.sub("", rest).strip() or set(given) - _ATTRIBUTES:
        raise AuthenticationError("Bad Request: Bad header format")
    if not all(given.get(name) for name in ("id", "ts", "nonce", "mac")):
        raise AuthenticationError("Bad Request: Missing attributes")
    client = _client(given["id"], given.get("ext", ""), known, now_s)
    host, port = incoming.host
    signed = ["hawk.1.header", given["ts"], given["nonce"], incoming.method, incoming.resource]
    signed += [host, port, given.get("hash", ""), given.get("ext", "")]
    if given.get("app"):
        signed += [given["app"], given.get("dlg", "")]
    if not hmac.compare_digest(_mac(client.access_token, signed), given["mac"]):
        raise AuthenticationError("Unauthorized: Bad mac")
    if abs(float(given["ts"]) - now_s) > SKEW_S:
        raise AuthenticationError("Unauthorized: Stale timestamp")
    if "hash" in given:
        computed = payload_hash(incoming.body, incoming.headers.get("content-type", ""))
        if not hmac.compare_digest(computed, given["hash"]):
            raise AuthenticationError(
                f"Invalid payload hash: {{{{hash}}}}\nComputed payload hash: {computed}\n"
                "This happens when your request carries a signed hash of the payload and the hash "
                "doesn't match the hash we've computed on the server-side."
            )
    return client


def _mac(key: str, signed: list[str]) -> str:
    text = "".join(f"{part}\n" for part in signed)
    return base64.b64encode(hmac.digest(key.encode(), text.encode(), "sha256")).decode()


def _client(client_id: str, ext: str, known: Mapping[str, Client], now_s: float) -> Client:
    """Return the client, limited by `ext`."""
    given = _parsed(ext) if ext else {}
    certificate = given.get("certificate")
    issuer = client_id
    if isinstance(certificate, dict) and "issuer" in certificate:
        issuer = certificate["issuer"]
        if issuer == client_id:
            raise AuthenticationError(
                "ext.certificate.issuer must differ from the supplied clientId"
            )
    if issuer not in known:
        raise AuthenticationError(f"Client with clientId '{issuer}' not found")
    client = known[issuer]
    if certificate is not None:
        client = _temporary(client_id, client, certificate, now_s)
    return client


def _parsed(ext: str) -> dict[str, Any]:
    try:
        found = json.loads(base64.urlsafe_b64decode(ext + "=" * (-len(ext) % 4)))
    except (ValueError, binascii.Error):
        raise AuthenticationError("Failed to parse ext") from None
    assert isinstance(found, dict)
    return found


def _temporary(name: str, issuer: Client, certificate: Any, now_s: float) -> Client:
    """Return credentials that `issuer` gave out under `name`."""
    if not isinstance(certificate, dict):
        raise AuthenticationError("ext.certificate must be a JSON object")
    if certificate.get("version") != 1:
        raise AuthenticationError("ext.certificate.version must be 1")
    if len(str(certificate.get("seed", ""))) != 44:
        raise AuthenticationError("ext.certificate.seed must be 44 characters")
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
        return None if any(_covers(one, expression) for one in have) else expression
    ((how, parts),) = expression.items()
    missing = [unsatisfied(part, have) for part in parts]
    left = [one for one in missing if one is not None]
    if not left or (how == "AnyOf" and len(left) < len(missing)):
        return None
    return left[0] if len(left) == 1 else {how: left}


def _covers(scope: str, needed: str) -> bool:
    return needed.startswith(scope[:-1]) if scope.endswith("*") else needed == scope
