# SPDX-License-Identifier: MPL-2.0
"""Calls of the loopback's API: which method a request is for, who may call it, how it fails."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import loopback_auth
from loopback_auth import Identity

PRIORITIES = ("highest", "very-high", "high", "medium", "low", "very-low", "lowest")
SLUG = r"[A-Za-z0-9_-]{8}[Q-T][A-Za-z0-9_-][CGKOSWaeimquy26-][A-Za-z0-9_-]{10}[AQgw]"
SLUGS = ("taskId", "taskGroupId")
TASK, RUN = "queue/v1/task/<taskId>", "queue/v1/task/<taskId>/runs/<runId>"
ROUTES = (
    ("GET", "queue/v1/task-group/<taskGroupId>", "getTaskGroup"),
    ("GET", "queue/v1/task-group/<taskGroupId>/list", "listTaskGroup"),
    ("GET", TASK, "task"),
    ("PUT", TASK, "createTask"),
    ("GET", f"{TASK}/status", "status"),
    ("POST", f"{TASK}/cancel", "cancelTask"),
    ("GET", f"{TASK}/artifacts", "listLatestArtifacts"),
    ("GET", f"{TASK}/artifacts/<name*>", "getLatestArtifact"),
    ("GET", f"{RUN}/artifact-content/<name*>", "artifact"),
    ("POST", "queue/v1/tasks/status", "statuses"),
    ("POST", "queue/v1/tasks", "tasks"),
    ("GET", "index/v1/task/<indexPath>", "findTask"),
    ("GET", "index/v1/tasks/<namespace>", "listTasks"),
    ("GET", "index/v1/namespaces/<namespace>", "listNamespaces"),
    ("GET", "worker-manager/v1/worker-pool/<workerPoolId*>", "workerPool"),
    ("GET", "auth/v1/scopes/current", "currentScopes"),
    ("PUT", "object/v1/start-download/<name*>", "startDownload"),
)


# What of a definition has to be an object; no test makes other mistakes of form.
OBJECTS = ("extra", "metadata", "payload", "tags")


class ApiError(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Call:
    """One call of a method."""

    method: str
    parameters: dict[str, str]
    query: dict[str, str]
    sent: Any
    who: Identity

    def __getitem__(self, name: str) -> str:
        return self.parameters[name]


def json_reply(status: int, body: Any) -> Reply:
    text = json.dumps(body).encode()
    return Reply(status, {"Content-Type": "application/json; charset=utf-8"}, text)


def route(verb: str, path: str) -> tuple[str | None, dict[str, str]]:
    parts = path.removeprefix("/api/").split("/")
    for wanted, pattern, method in ROUTES:
        parameters = _parameters(pattern.split("/"), parts)
        if verb == wanted and parameters is not None:
            return method, parameters
    return None, {}


def _parameters(pattern: list[str], parts: list[str]) -> dict[str, str] | None:
    """Return the parameters by name; the last one may contain slashes."""
    found: dict[str, str] = {}
    for at, one in enumerate(pattern):
        if one.endswith("*>"):
            rest = "/".join(parts[at:])
            return {**found, one[1:-2]: unquote(rest)} if rest else None
        if at >= len(parts):
            return None
        if one.startswith("<"):
            found[one[1:-1]] = unquote(parts[at])
        elif one != parts[at]:
            return None
    return found if len(parts) == len(pattern) else None


def check(parameters: Mapping[str, str]) -> None:
    for name, value in parameters.items():
        if name in SLUGS and not re.fullmatch(SLUG, value):
            raise ApiError(
                400,
                "InvalidRequestArguments",
                f"Invalid URL patterns:\nURL parameter '{name}' given as '{value}' must match "
                f"regular expression: '/^{SLUG}$/'",
            )


def check_types(definition: Mapping[str, Any]) -> None:
    """Check the types that tests get wrong; the real schema has much more."""
    wrong = [key for key in OBJECTS if not isinstance(definition.get(key, {}), dict)]
    if wrong:
        raise ApiError(
            400,
            "InputValidationError",
            "\nSchema Validation Failed!\nRejecting Schema: "
            "https://tc.example.com/schemas/queue/v1/create-task-request.json#\nErrors:\n"
            + "\n".join(f"  * data/{key} must be object" for key in wrong),
        )


def snake(method: str) -> str:
    name = re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", method)
    return "statuses_method" if name == "statuses" else name


def not_found(message: str) -> ApiError:
    return ApiError(404, "ResourceNotFound", message)


def failure(error: ApiError, method: str, parameters: Mapping[str, str]) -> Reply:
    message = (
        f"{error}\n\n---\n\n* method:     {method}\n* errorCode:  {error.code}\n"
        f"* statusCode: {error.status}\n* time:       2026-11-21T08:39:34.822Z"
    )
    information = {
        "method": method,
        "params": dict(parameters),
        "payload": {},
        "time": "2026-11-21T08:39:34.822Z",
    }
    body = {"code": error.code, "message": message, "requestInfo": information}
    return json_reply(error.status, body)


def authorize(who: Identity, expression: Any) -> None:
    missing = loopback_auth.unsatisfied(expression, who.scopes)
    if missing is None:
        return
    required = f"```\n{json.dumps(expression, indent=2)}\n```"
    if who.client_id is None:
        message = (
            "This request requires Taskcluster credentials that satisfy the following scope "
            f"expression:\n\n{required}"
        )
    else:
        message = (
            f"Client ID {who.client_id} does not have sufficient scopes and is missing the "
            f"following scopes:\n\n```\n{json.dumps(missing, indent=2)}\n```\n\nThis request "
            f"requires the client to satisfy the following scope expression:\n\n{required}"
        )
    raise ApiError(403, "InsufficientScopes", message)


def scopes_to_create(definition: Mapping[str, Any]) -> Any:
    priority = definition.get("priority", "lowest")
    queue = f"{definition['provisionerId']}/{definition['workerType']}"
    higher = PRIORITIES[: PRIORITIES.index(priority) + 1]
    return {
        "AllOf": [
            *definition.get("scopes", []),
            *(f"queue:route:{route}" for route in definition.get("routes", [])),
            f"queue:create-task:project:{definition.get('projectId', 'none')}",
            f"queue:scheduler-id:{definition.get('schedulerId', '-')}",
            {"AnyOf": [f"queue:create-task:{one}:{queue}" for one in higher]},
        ]
    }


def scopes_to_change(status: Mapping[str, Any], what: str) -> Any:
    group = f"{status.get('schedulerId', '-')}/{status['taskGroupId']}"
    return {
        "AnyOf": [
            f"queue:{what}-task:{group}/{status['taskId']}",
            f"queue:{what}-task-in-project:{status.get('projectId', 'none')}",
            {"AllOf": [f"queue:{what}-task", f"assume:scheduler-id:{group}"]},
        ]
    }
