# SPDX-License-Identifier: MPL-2.0
"""The API of the loopback's Taskcluster: queue, index and worker manager.

Each method has a route, as the reference of Taskcluster names them. Whoever asks is authenticated
first, by any method; then come the parameters, then the scopes, then the answer.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

import loopback_auth
from loopback_auth import ApiError, Client, Request
from loopback_deployment import Deployment, cancel, shown

ME = Client("me", "secret-token")
PRIORITIES = ("highest", "very-high", "high", "medium", "low", "very-low", "lowest")
TASK = "queue/v1/task/<taskId>"
WORKERS = "provisioners/<provisionerId>/worker-types/<workerType>/workers"
ROUTES = (
    ("GET", "queue/v1/task-group/<taskGroupId>/list", "list_task_group"),
    ("GET", TASK, "task"),
    ("PUT", TASK, "create_task"),
    ("POST", f"{TASK}/cancel", "cancel_task"),
    ("GET", f"{TASK}/artifacts", "list_latest_artifacts"),
    ("GET", f"{TASK}/artifacts/<name*>", "get_latest_artifact"),
    ("GET", f"{TASK}/runs/<runId>/artifact-content/<name*>", "artifact"),
    ("POST", "queue/v1/tasks/status", "statuses"),
    ("POST", "queue/v1/tasks", "tasks"),
    ("GET", f"queue/v1/{WORKERS}", "list_workers"),
    ("GET", "index/v1/task/<indexPath>", "find_task"),
    ("GET", "index/v1/tasks/<namespace>", "list_tasks"),
    ("GET", "index/v1/namespaces/<namespace>", "list_namespaces"),
    ("GET", "worker-manager/v1/worker-pool/<workerPoolId*>", "worker_pool"),
    ("GET", f"worker-manager/v1/{WORKERS}/<workerGroup>/<workerId>", "worker_of_queue"),
    ("GET", "worker-manager/v1/workers/<workerPoolId>/<workerGroup>/<workerId>", "worker"),
    ("GET", "auth/v1/scopes/current", "current_scopes"),  # taskgraph asks this and lists artifacts
)
# The scopes of methods that need no more than their parameters tell, as the reference has them.
# What names several tasks needs the scope for each.
SCOPES = {
    "list_task_group": "queue:list-task-group:<taskGroupId>",
    "task": "queue:get-task:<taskId>",
    "tasks": "queue:get-task:<taskId>",
    "statuses": "queue:status:<taskId>",
    "list_latest_artifacts": "queue:list-artifacts:<taskId>",
    "get_latest_artifact": "queue:get-artifact:<name>",
    "artifact": "queue:get-artifact:<name>",
    "list_workers": "queue:list-workers:<provisionerId>/<workerType>",
    "find_task": "index:find-task:<indexPath>",
    "list_tasks": "index:list-tasks:<namespace>",
    "list_namespaces": "index:list-namespaces:<namespace>",
    "worker_pool": "worker-manager:get-worker-pool:<workerPoolId>",
    "current_scopes": "auth:current-scopes",
}


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Call:
    """One call of a method."""

    parameters: dict[str, str]
    query: dict[str, str]
    sent: Any
    scopes: tuple[str, ...]
    client_id: str | None  # None: without credentials

    def authorize(self, expression: Any) -> None:
        """Refuse whoever lacks a scope, in the words of a real deployment."""
        missing = loopback_auth.unsatisfied(self.scopes, expression)
        if missing is None:
            return
        required = f"```\n{json.dumps(expression, indent=2)}\n```"
        message = (
            "This request requires Taskcluster credentials that satisfy the following scope "
            f"expression:\n\n{required}"
        )
        if self.client_id is not None:
            message = (
                f"Client ID {self.client_id} does not have sufficient scopes and is missing the "
                f"following scopes:\n\n```\n{json.dumps(missing, indent=2)}\n```\n\nThis request "
                f"requires the client to satisfy the following scope expression:\n\n{required}"
            )
        raise ApiError(403, "InsufficientScopes", message)

    def __getitem__(self, name: str) -> str:
        return self.parameters[name]


def route(verb: str, path: str) -> tuple[str | None, dict[str, str]]:
    """Return the method of a request, and its parameters by name; the last one may have slashes."""
    for expected, pattern, method in ROUTES:
        names = re.findall(r"<(\w+)\*?>", pattern)
        expression = re.sub(r"<\w+>", "([^/]+)", re.sub(r"<\w+\*>", "(.+)", pattern))
        # As a task's proxy, which is also known by a name of its own.
        match = re.fullmatch(f"(?:http://taskcluster)?(?:/api)?/{expression}", path)
        if verb == expected and match:
            return method, dict(zip(names, map(unquote, match.groups()), strict=True))
    return None, {}


def not_found(message: str) -> ApiError:
    return ApiError(404, "ResourceNotFound", message)


def json_reply(status: int, body: Any) -> Reply:
    headers = {"Content-Type": "application/json; charset=utf-8"}
    return Reply(status, headers, json.dumps(body).encode())


def failure(error: ApiError, method: str, parameters: Mapping[str, str]) -> Reply:
    """Return an error as Taskcluster does; methods are in camel case."""
    name = re.sub("_([a-z])", lambda match: match[1].upper(), method)
    message = (
        f"{error}\n\n---\n\n* method:     {name}\n* errorCode:  {error.code}\n"
        f"* statusCode: {error.status}\n* time:       2026-11-21T08:39:34.822Z"
    )
    information = {"method": name, "params": parameters, "payload": {}, "time": "x"}
    body = {"code": error.code, "message": message, "requestInfo": information}
    return json_reply(error.status, body)


def scopes_to_create(definition: Mapping[str, Any]) -> Any:
    queue = f"{definition['provisionerId']}/{definition['workerType']}"
    higher = PRIORITIES[: PRIORITIES.index(definition.get("priority", "lowest")) + 1]
    return {
        "AllOf": [
            *definition.get("scopes", []),
            *(f"queue:route:{route}" for route in definition.get("routes", [])),
            f"queue:create-task:project:{definition.get('projectId', 'none')}",
            f"queue:scheduler-id:{definition.get('schedulerId', '-')}",
            {"AnyOf": [f"queue:create-task:{priority}:{queue}" for priority in higher]},
        ]
    }


def scopes_to_call(method: str, call: Call) -> Any:
    """Return what a method needs by its parameters alone."""
    scope = SCOPES.get(method)
    if scope is None:
        return {"AllOf": []}
    named = [{"taskId": task_id} for task_id in (call.sent or {}).get("taskIds", ())]
    return {"AllOf": [_filled(scope, {**call.parameters, **names}) for names in named or [{}]]}


def _filled(scope: str, parameters: Mapping[str, str]) -> str:
    return re.sub("<([a-zA-Z]+)>", lambda match: parameters[match[1]], scope)


@dataclass
class Api:
    deployment: Deployment
    storage_url: str
    clients: Sequence[Client]
    anonymous: tuple[str, ...]

    def answer(self, request: Request) -> Reply:
        path = request.path.partition("?")[0]
        method, parameters = route(request.method, path)
        if method is None:
            return failure(not_found(f"no such route here: {path}"), "", {})
        try:
            client = loopback_auth.client_of(request, self.clients)
            scopes = (*client.scopes, *self.anonymous) if client else self.anonymous
            sent = json.loads(request.body) if request.body else None
            client_id = client.client_id if client else None
            call = Call(parameters, request.query, sent, scopes, client_id)
            call.authorize(scopes_to_call(method, call))
            answer = getattr(self, f"_{method}")(call)
        except ApiError as error:
            return failure(error, method, parameters)
        return answer if isinstance(answer, Reply) else json_reply(200, answer)

    def _list_task_group(self, call: Call) -> Any:
        deployment, group_id = self.deployment, call["taskGroupId"]
        if group_id not in deployment.groups:
            raise not_found(f"No task-group with taskGroupId: `{group_id}`")
        members = deployment.groups[group_id]
        starts = {token: start for start, token in deployment.tokens.items()}
        token = call.query.get("continuationToken", "")
        begin = starts[token] if token in starts else int(token.removeprefix("from-") or 0)
        end = begin + min(int(call.query.get("limit", 1000)), deployment.page_limit)
        tasks = [
            {"status": deployment.statuses[task_id], "task": self._definition(task_id)}
            for task_id in members[begin:end]
        ]
        scheduler = deployment.statuses[members[0]].get("schedulerId", "-")
        page = {"taskGroupId": group_id, "schedulerId": scheduler, "tasks": tasks}
        if end < len(members):
            page["continuationToken"] = deployment.tokens.get(end, f"from-{end}")
        return page

    def _definition(self, task_id: str) -> dict[str, Any]:
        return shown(task_id, self.deployment.definitions[task_id])

    def _status_of(self, call: Call) -> dict[str, Any]:
        task_id = call["taskId"]
        if task_id not in self.deployment.statuses:
            raise not_found(
                f"`{task_id}` does not correspond to a task that exists.\n"
                f"Are you sure this task exists?"
            )
        return self.deployment.statuses[task_id]

    def _task(self, call: Call) -> Any:
        return self._definition(self._status_of(call)["taskId"])

    def _statuses(self, call: Call) -> Any:
        statuses = self.deployment.statuses
        ids = [task_id for task_id in call.sent["taskIds"] if task_id in statuses]
        return {"statuses": [{"taskId": task_id, "status": statuses[task_id]} for task_id in ids]}

    def _tasks(self, call: Call) -> Any:
        ids = [task_id for task_id in call.sent["taskIds"] if task_id in self.deployment.statuses]
        return {
            "tasks": [{"taskId": task_id, "task": self._definition(task_id)} for task_id in ids]
        }

    def _create_task(self, call: Call) -> Any:
        definition, task_id = call.sent, call["taskId"]
        call.authorize(scopes_to_create(definition))
        refusal = self.deployment.refuse(definition)
        if refusal is not None:
            raise ApiError(*refusal)
        self._refuse_mistakes(task_id, definition)
        if self.deployment.definitions.get(task_id, definition) != definition:
            raise ApiError(
                409,
                "RequestConflict",
                f"taskId `{task_id}` already used by another task.\n"
                "This could be the result of faulty idempotency!",
            )
        self.deployment.create(task_id, definition)
        return {"status": self.deployment.statuses[task_id]}

    def _refuse_mistakes(self, task_id: str, definition: Mapping[str, Any]) -> None:
        """Refuse what the queue does not take, although its schema allows it."""
        if definition.get("expires", "9") < definition["deadline"]:
            raise ApiError(400, "InputError", "`expires` cannot be before `deadline`")
        known, group_id = self.deployment.statuses, definition.get("taskGroupId", task_id)
        absent = [task for task in definition.get("dependencies", ()) if task not in known]
        if absent:
            names = "".join(f" * {name}\n" for name in absent)
            raise ApiError(
                400,
                "InputError",
                f"`task.dependencies` references non-existing tasks: \n{names}All taskIds in "
                f"`task.dependencies` **must** exist\nbefore the task is created.\n",
            )
        scheduler = definition.get("schedulerId", "-")
        members = self.deployment.groups.get(group_id, [])
        if any(known[member].get("schedulerId", "-") != scheduler for member in members):
            raise ApiError(
                409,
                "RequestConflict",
                f"Task group `{group_id}` contains tasks with a schedulerId other\nthan "
                f"`{scheduler}`. All tasks in the same task-group must have\nthe same schedulerId.",
            )

    def _cancel_task(self, call: Call) -> Any:
        status = self._status_of(call)
        of_group = f"{status.get('schedulerId', '-')}/{status['taskGroupId']}"
        call.authorize(
            {
                "AnyOf": [
                    f"queue:cancel-task:{of_group}/{status['taskId']}",
                    f"queue:cancel-task-in-project:{status.get('projectId', 'none')}",
                    {"AllOf": ["queue:cancel-task", f"assume:scheduler-id:{of_group}"]},
                ]
            }
        )
        cancel(status)
        return {"status": status}

    def _current_scopes(self, call: Call) -> Any:
        return {"scopes": list(call.scopes)}

    def _newest(self, call: Call) -> int:
        runs = self._status_of(call)["runs"]
        if not runs:
            raise not_found("Task doesn't have any runs")
        return int(runs[-1]["runId"])

    def _list_latest_artifacts(self, call: Call) -> Any:
        newest = (call["taskId"], self._newest(call))
        return {
            "artifacts": [
                artifact.listed(name)
                for (*run, name), artifact in self.deployment.artifacts.items()
                if tuple(run) == newest
            ]
        }

    def _get_latest_artifact(self, call: Call) -> Any:
        content = self._content(call, self._newest(call))
        if content["storageType"] == "error":
            return json_reply(424, {key: content[key] for key in ("reason", "message")})
        reply = json_reply(303, content)
        return Reply(303, {**reply.headers, "Location": content["url"]}, reply.body)

    def _artifact(self, call: Call) -> Any:
        run_id = int(call["runId"])
        if run_id >= len(self._status_of(call)["runs"]):
            task_id = call["taskId"]
            raise not_found(f"Task with taskId: `{task_id}` has no run with runId: {run_id}")
        return self._content(call, run_id)

    def _content(self, call: Call, run_id: int) -> dict[str, Any]:
        """Return where the content is, or why there is none."""
        name, task_id = call["name"], call["taskId"]
        artifact = self.deployment.artifacts.get((task_id, run_id, name))
        if artifact is None:
            raise not_found("Artifact not found")
        place = f"{task_id}/{run_id}/{name}"
        content: dict[str, Any] = {"storageType": artifact.storage_type}
        if artifact.storage_type == "error":
            return {**content, "reason": artifact.reason, "message": artifact.message}
        return {**content, "url": artifact.url or f"{self.storage_url}/public-bucket/{place}"}

    def _find_task(self, call: Call) -> Any:
        path = call["indexPath"]
        if path not in self.deployment.index:
            raise not_found("Indexed task not found")
        return self.deployment.indexed(path)

    def _list_tasks(self, call: Call) -> Any:
        routes = [
            route
            for route in self.deployment.index
            if route.rpartition(".")[0] == call["namespace"]
        ]
        begin = int(call.query.get("continuationToken", "from-0").removeprefix("from-"))
        end = begin + self.deployment.page_limit
        more = {"continuationToken": f"from-{end}"} if end < len(routes) else {}
        return {"tasks": list(map(self.deployment.indexed, routes[begin:end])), **more}

    def _list_namespaces(self, call: Call) -> Any:
        outer = f"{call['namespace']}."
        inner = [
            route.removeprefix(outer) for route in self.deployment.index if route.startswith(outer)
        ]
        names = sorted({name.partition(".")[0] for name in inner if "." in name})
        begin = int(call.query.get("continuationToken", "from-0").removeprefix("from-"))
        end = begin + self.deployment.page_limit
        more = {"continuationToken": f"from-{end}"} if end < len(names) else {}
        namespaces = [
            {"namespace": f"{outer}{name}", "name": name, "expires": "2027-11-21T08:38:21.000Z"}
            for name in names[begin:end]
        ]
        return {"namespaces": namespaces, **more}

    def _list_workers(self, call: Call) -> Any:
        """Return the workers that claimed a task of the pool."""
        queue = f"{call['provisionerId']}/{call['workerType']}"
        workers = {
            (run["workerGroup"], run["workerId"]): run["started"]
            for status in self.deployment.statuses.values()
            for run in status["runs"]
            if status.get("taskQueueId") == queue and "workerId" in run
        }
        # What is expired is filtered after a page was cut.
        begin = int(call.query.get("continuationToken", "from-0").removeprefix("from-"))
        if begin < self.deployment.empty_worker_pages:
            return {"workers": [], "continuationToken": f"from-{begin + 1}"}
        return {
            "workers": [
                {
                    "workerGroup": group,
                    "workerId": name,
                    "firstClaim": first,
                    "lastDateActive": first,
                }
                for (group, name), first in sorted(workers.items())
            ]
        }

    def _worker_of_queue(self, call: Call) -> Any:
        """Return a worker by its claims; few tests have one."""
        return self._worker(call)["claims"]

    def _worker(self, call: Call) -> Any:
        try:
            return self.deployment.workers[call["workerGroup"], call["workerId"]]
        except KeyError:
            raise not_found("Worker not found") from None

    def _worker_pool(self, call: Call) -> Any:
        pool, pools = call["workerPoolId"], self.deployment.worker_pools
        if pools is None:
            replace(call, scopes=()).authorize(f"worker-manager:get-worker-pool:{pool}")
        elif pool not in pools:
            raise not_found("Worker pool does not exist")
        return {"workerPoolId": pool}  # of which nobody reads more
