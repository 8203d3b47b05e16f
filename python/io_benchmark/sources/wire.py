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

# A page of a group has 1000 tasks, each with a script of hundreds of braces.
MAXIMUM_OBJECTS = 1_500_000

MAXIMUM_PAYLOAD_BYTES = 2 * 1024 * 1024

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


class Tags(Part, frozen=True):
    """Those that are looked at."""

    label: str | None = None
    kind: str | None = None


class ListedDefinition(Part, frozen=True):
    """A definition on a page of many. What may be large in it is decoded one at a time."""

    metadata: Metadata = Metadata()
    tags: Tags = Tags()
    created: str | None = None
    expires: str | None = None
    payload: msgspec.Raw = msgspec.Raw(b"{}")

    def whole(self) -> Definition:
        tags = {"label": self.tags.label, "kind": self.tags.kind}
        return Definition(
            metadata=self.metadata,
            tags={name: value for name, value in tags.items() if value is not None},
            created=self.created,
            expires=self.expires,
            payload=_payload(bytes(self.payload)),
        )


class GroupMember(Part, frozen=True):
    status: Status
    task: ListedDefinition


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
    task: ListedDefinition


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


def _payload(data: bytes) -> Payload:
    """A task's payload; an empty one where it is none, or larger than any of the benchmark's."""
    if len(data) > MAXIMUM_PAYLOAD_BYTES:
        return Payload()
    try:
        payload: Payload = decode(data, Payload)
    except ValueError:
        return Payload()
    return payload


class IncompleteError(ValueError):
    """An answer ends in the middle."""


def decode(data: bytes, kind: type[Any]) -> Any:
    """An answer of a deployment; a ValueError where it is not what such a one answers."""
    if data.count(b"{") > MAXIMUM_OBJECTS:
        raise ValueError(f"more than {MAXIMUM_OBJECTS:,} objects in one answer")
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if "truncated" in str(error):
            raise IncompleteError(str(error)) from None
        raise ValueError(str(error)) from None
