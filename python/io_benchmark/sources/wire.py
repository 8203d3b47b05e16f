# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a deployment answers: the parts that matter here. What is not named is passed over.

Ids are checked against the queue's own pattern: they become parts of paths.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from io_benchmark.sources.address import SLUG_PATTERN

Slug = Annotated[str, Meta(pattern=f"^{SLUG_PATTERN}$")]

RESOLVED = ("completed", "failed", "exception")


class Part(Struct, frozen=True, kw_only=True, rename="camel"):
    """The base of every part."""


class Run(Part, frozen=True):
    run_id: Annotated[int, Meta(ge=0, le=999_999_999)]
    state: str
    reason_resolved: str | None = None
    worker_group: str | None = None
    worker_id: str | None = None
    started: str | None = None
    resolved: str | None = None

    @property
    def is_resolved(self) -> bool:
        return self.state in RESOLVED

    @property
    def shown_state(self) -> str:
        """`exception (deadline-exceeded)`."""
        reason = self.reason_resolved
        return self.state if reason in (None, self.state) else f"{self.state} ({reason})"


class Status(Part, frozen=True):
    task_id: Slug
    task_group_id: Slug
    state: str
    provisioner_id: str = ""
    worker_type: str = ""
    task_queue_id: str | None = None
    expires: str | None = None
    runs: list[Run] = []

    @property
    def is_resolved(self) -> bool:
        return self.state in RESOLVED


class Metadata(Part, frozen=True):
    name: str = ""
    source: str = ""


class Payload(Part, frozen=True):
    """Differs from worker to worker, so that any of it may be anything."""

    image: Any = None
    command: Any = None
    artifacts: Any = None


class Definition(Part, frozen=True):
    metadata: Metadata = Metadata()
    tags: dict[str, str] = {}
    created: str | None = None
    expires: str | None = None
    payload: Payload = Payload()


class Extra(Part, frozen=True):
    """What a task's creator wrote into it, in a form of its own."""

    extra: Any = None


class GroupMember(Part, frozen=True):
    status: Status
    task: Definition


class GroupPage(Part, frozen=True):
    tasks: list[GroupMember]
    continuation_token: str | None = None


class StatusAnswer(Part, frozen=True):
    status: Status


class StatusOfMany(Part, frozen=True):
    status: Status


class StatusesPage(Part, frozen=True):
    statuses: list[StatusOfMany]
    continuation_token: str | None = None


class DefinitionOfMany(Part, frozen=True):
    task_id: Slug
    task: Definition


class DefinitionsPage(Part, frozen=True):
    tasks: list[DefinitionOfMany]
    continuation_token: str | None = None


class IndexedTask(Part, frozen=True):
    task_id: Slug
    namespace: str = ""  # the whole path, its name included


class IndexPage(Part, frozen=True):
    tasks: list[IndexedTask]
    continuation_token: str | None = None


class Namespace(Part, frozen=True):
    name: str


class NamespacesPage(Part, frozen=True):
    namespaces: list[Namespace]
    continuation_token: str | None = None


class Content(Part, frozen=True):
    """Where an artifact's content is. `name` and `credentials`: with the object service."""

    storage_type: str
    url: str | None = None
    reason: str | None = None
    message: str | None = None
    name: str | None = None
    credentials: dict[str, str] = {}


class Download(Part, frozen=True):
    url: str


def decode(data: bytes, kind: type[Any]) -> Any:
    """An answer of a deployment; a ValueError where it is not what such a one answers."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None
