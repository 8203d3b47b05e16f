# SPDX-License-Identifier: MPL-2.0
"""The API of the loopback's Taskcluster: queue, index, worker manager and object service.

Each method has a route, as the reference of Taskcluster names them. Whoever asks is authenticated
first, by any method; then come the parameters, then the scopes, then the answer.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import loopback_auth
import loopback_runs
from loopback_auth import Client, Identity, Incoming
from loopback_calls import (
    ApiError,
    Call,
    Reply,
    authorize,
    check,
    check_types,
    failure,
    json_reply,
    not_found,
    route,
    scopes_to_change,
    scopes_to_create,
    snake,
)
from loopback_deployment import Deployment, shown, stamp

ME = Client("me", "secret-token")
OBJECT_READER = Client("object-reader", "object-token")


@dataclass
class Api:
    deployment: Deployment
    storage_url: str
    clients: Sequence[Client]
    anonymous: tuple[str, ...]
    now_s: Callable[[], float]

    def answer(self, incoming: Incoming) -> Reply:
        path, _, query = incoming.resource.partition("?")
        method, parameters = route(incoming.method, path)
        if method is None:
            return failure(ApiError(404, "ResourceNotFound", f"no such route here: {path}"), "", {})
        try:
            clients = (*self.clients, OBJECT_READER)
            who = loopback_auth.authenticate(incoming, clients, self.now_s(), self.anonymous)
            check(parameters)
            sent = json.loads(incoming.body) if incoming.body else None
            call = Call(method, parameters, dict(parse_qsl(query)), sent, who)
            found = getattr(self, f"_{snake(method)}")(call)
        except loopback_auth.AuthenticationError as error:
            refused = ApiError(401, "AuthenticationFailed", str(error))
            return failure(refused, method, parameters)
        except ApiError as error:
            return failure(error, method, parameters)
        return found if isinstance(found, Reply) else json_reply(200, found)

    def _get_task_group(self, call: Call) -> Any:
        group_id = call["taskGroupId"]
        if group_id not in self.deployment.groups:
            raise not_found(f"No task-group with taskGroupId: `{group_id}`")
        return {"taskGroupId": group_id, **self.deployment.group_of(group_id)}

    def _list_task_group(self, call: Call) -> Any:
        found = self._get_task_group(call)
        members = self.deployment.groups[call["taskGroupId"]]
        starts = {token: at for at, token in self.deployment.tokens.items()}
        token = call.query.get("continuationToken", "")
        begin = starts[token] if token in starts else int(token.removeprefix("from-") or 0)
        end = begin + min(int(call.query.get("limit", 1000)), self.deployment.page_limit)
        found["tasks"] = [self._member(one) for one in members[begin:end]]
        if end < len(members):
            found["continuationToken"] = self.deployment.tokens.get(end, f"from-{end}")
        return found

    def _member(self, task_id: str) -> dict[str, Any]:
        return {"status": self._statuses[task_id], "task": self._shown(task_id)}

    def _shown(self, task_id: str) -> dict[str, Any]:
        return shown(task_id, self.deployment.definitions[task_id])

    @property
    def _statuses(self) -> dict[str, dict[str, Any]]:
        return self.deployment.statuses

    def _known(self, call: Call) -> dict[str, Any]:
        task_id = call["taskId"]
        if task_id not in self._statuses:
            raise not_found(
                f"`{task_id}` does not correspond to a task that exists.\n"
                f"Are you sure this task exists?"
            )
        return self._statuses[task_id]

    def _status(self, call: Call) -> Any:
        return {"status": self._known(call)}

    def _task(self, call: Call) -> Any:
        self._known(call)
        return self._shown(call["taskId"])

    def _statuses_of(self, call: Call) -> list[str]:
        return [one for one in call.sent["taskIds"] if one in self._statuses]

    def _statuses_method(self, call: Call) -> Any:
        known = self._statuses_of(call)
        return {"statuses": [{"taskId": one, "status": self._statuses[one]} for one in known]}

    def _tasks(self, call: Call) -> Any:
        known = self._statuses_of(call)
        return {"tasks": [{"taskId": one, "task": self._shown(one)} for one in known]}

    def _create_task(self, call: Call) -> Any:
        definition, task_id = call.sent, call["taskId"]
        check_types(definition)
        authorize(call.who, scopes_to_create(definition))
        refusal = self.deployment.refuse(definition)
        if refusal is not None:
            raise ApiError(*refusal)
        self._check_definition(task_id, definition)
        self.deployment.create(task_id, definition)
        return {"status": self._statuses[task_id]}

    def _check_definition(self, task_id: str, definition: Mapping[str, Any]) -> None:
        if stamp(definition.get("expires", "9")) < stamp(definition.get("deadline", "0")):
            raise ApiError(400, "InputError", "`expires` cannot be before `deadline`")
        group_id = definition.get("taskGroupId", task_id)
        scheduler = definition.get("schedulerId", "-")
        schedulers = {
            self._statuses[one].get("schedulerId", scheduler)
            for one in self.deployment.groups.get(group_id, [])
        }
        if schedulers - {scheduler}:
            raise ApiError(
                409,
                "RequestConflict",
                f"Task group `{group_id}` contains tasks with a schedulerId other\nthan "
                f"`{scheduler}`. All tasks in the same task-group must have\nthe same schedulerId.",
            )
        if self.deployment.definitions.get(task_id, definition) != definition:
            raise ApiError(
                409,
                "RequestConflict",
                f"taskId `{task_id}` already used by another task.\n"
                "This could be the result of faulty idempotency!",
            )
        dependencies = definition.get("dependencies", [])
        missing = [one for one in dependencies if one not in {*self._statuses, task_id}]
        if missing:
            raise ApiError(
                400,
                "InputError",
                "`task.dependencies` references non-existing tasks: \n"
                + "".join(f" * {one}\n" for one in missing)
                + "All taskIds in `task.dependencies` **must** exist\nbefore the task is created.\n",
            )

    def _cancel_task(self, call: Call) -> Any:
        status = self._known(call)
        authorize(call.who, scopes_to_change(status, "cancel"))
        loopback_runs.cancel(status)
        return {"status": status}

    def _list_latest_artifacts(self, call: Call) -> Any:
        task_id, run_id = call["taskId"], self._newest(call)
        default = self.deployment.definitions[task_id].get("expires", "2026-11-28T08:38:21.000Z")
        return {
            "artifacts": [
                artifact.listed(name, default)
                for (task, run, name), artifact in self.deployment.artifacts.items()
                if (task, run) == (task_id, run_id)
            ]
        }

    def _newest(self, call: Call) -> int:
        runs = self._known(call)["runs"]
        if not runs:
            raise not_found("Task doesn't have any runs")
        return int(runs[-1]["runId"])

    def _get_latest_artifact(self, call: Call) -> Any:
        body = self._content(call, self._newest(call))
        if body["storageType"] == "error":
            return json_reply(424, {key: body[key] for key in ("reason", "message")})
        reply = json_reply(303, body)
        return Reply(303, {**reply.headers, "Location": body["url"]}, reply.body)

    def _artifact(self, call: Call) -> Any:
        run_id = int(call["runId"])
        if run_id >= len(self._known(call)["runs"]):
            task_id = call["taskId"]
            raise not_found(f"Task with taskId: `{task_id}` has no run with runId: {run_id}")
        return self._content(call, run_id)

    def _content(self, call: Call, run_id: int) -> dict[str, Any]:
        """Return where the content is, or why there is none."""
        name, task_id = call["name"], call["taskId"]
        authorize(call.who, {"AllOf": [f"queue:get-artifact:{name}"]})
        artifact = self.deployment.artifacts.get((task_id, run_id, name))
        if artifact is None:
            raise not_found("Artifact not found")
        place = f"{task_id}/{run_id}/{name}"
        made: dict[str, Any] = {"storageType": artifact.storage_type}
        if artifact.storage_type == "error":
            return {**made, "reason": artifact.reason, "message": artifact.message}
        if artifact.storage_type == "object":
            reader = {
                "clientId": OBJECT_READER.client_id,
                "accessToken": OBJECT_READER.access_token,
            }
            return {**made, "name": place, "credentials": reader}
        return {**made, "url": artifact.url or f"{self.storage_url}/public-bucket/{place}"}

    def _find_task(self, call: Call) -> Any:
        path = call["indexPath"]
        if path not in self.deployment.index:
            raise not_found("Indexed task not found")
        return self.deployment.indexed(path)

    def _list_tasks(self, call: Call) -> Any:
        inside = [
            one for one in self.deployment.index if one.rpartition(".")[0] == call["namespace"]
        ]
        return self._page("tasks", [self.deployment.indexed(one) for one in inside], call.query)

    def _list_namespaces(self, call: Call) -> Any:
        below = f"{call['namespace']}."
        names = {
            one.removeprefix(below).partition(".")[0]
            for one in self.deployment.index
            if one.startswith(below) and "." in one.removeprefix(below)
        }
        expires = "2027-11-22T00:00:00.000Z"
        found = [
            {"namespace": f"{below}{name}", "name": name, "expires": expires}
            for name in sorted(names)
        ]
        return self._page("namespaces", found, call.query)

    def _page(self, what: str, found: list[Any], query: Mapping[str, str]) -> Any:
        begin = int(query.get("continuationToken", "from-0").removeprefix("from-"))
        end = begin + self.deployment.page_limit
        more = {"continuationToken": f"from-{end}"} if end < len(found) else {}
        return {what: found[begin:end], **more}

    def _worker_pool(self, call: Call) -> Any:
        pool, pools = call["workerPoolId"], self.deployment.worker_pools
        if pools is None:
            authorize(Identity(call.who.client_id, ()), f"worker-manager:get-worker-pool:{pool}")
        elif pool not in pools:
            raise not_found("Worker pool does not exist")
        return self.deployment.worker_pool(pool)

    def _current_scopes(self, call: Call) -> Any:
        return {"scopes": list(call.who.scopes)}

    def _start_download(self, call: Call) -> Any:
        assert call.who.client_id == OBJECT_READER.client_id
        assert call.sent == {"acceptDownloadMethods": {"getUrl": True}}
        url = f"{self.storage_url}/public-bucket/{call['name']}"
        return {"method": "getUrl", "url": url, "expires": "2026-11-28T08:38:21.000Z"}
