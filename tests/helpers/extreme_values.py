# SPDX-License-Identifier: MPL-2.0
"""Every number of a document with the bounds that its published schema gives it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
Path = tuple[str | int, ...]


class Number(NamedTuple):
    """A number of a document: where it is, where its schema describes it, and its bounds."""

    path: Path
    described: str
    least: float
    most: float

    def set(self, document: Any, value: float) -> None:
        *parents, last = self.path
        for name in parents:
            document = document[name]
        document[last] = value


def described_numbers(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield where a schema describes a number, and how."""

    def look(part: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        if isinstance(part, list):
            part = dict(enumerate(part))
        if isinstance(part, dict):
            if part.get("type") in ("integer", "number"):
                yield path, part
            for key, inner in part.items():
                yield from look(inner, f"{path}/{key}")

    yield from look(schema, "#")


def numbers(schema: Mapping[str, Any], document: Any) -> Iterator[Number]:
    """Yield every number of a document."""

    def resolved(part: Mapping[str, Any], at: str, value: Any) -> tuple[Mapping[str, Any], str]:
        """Return the part of the schema that describes a value, without references and choices."""
        while True:
            if "$ref" in part:
                at = part["$ref"]
                part = schema
                for name in at.removeprefix("#/").split("/"):
                    part = part[name]
            elif "discriminator" in part:
                about = part["discriminator"]
                part = {"$ref": about["mapping"][value[about["propertyName"]]]}
            elif "anyOf" in part:
                number, part = next(
                    (number, choice)
                    for number, choice in enumerate(part["anyOf"])
                    if choice.get("type") != "null"
                )
                at = f"{at}/anyOf/{number}"
            else:
                return part, at

    def look(part: Mapping[str, Any], at: str, value: Any, path: Path) -> Iterator[Number]:
        if value is None or isinstance(value, bool):
            return
        part, at = resolved(part, at, value)
        if isinstance(value, dict):
            for key, inner in value.items():
                if key in part.get("properties", {}):
                    described = f"{at}/properties/{key}"
                    yield from look(part["properties"][key], described, inner, (*path, key))
                elif isinstance(part.get("additionalProperties"), dict):
                    described = f"{at}/additionalProperties"
                    yield from look(part["additionalProperties"], described, inner, (*path, key))
        elif isinstance(value, list):
            for number, inner in enumerate(value):
                yield from look(part["items"], f"{at}/items", inner, (*path, number))
        elif isinstance(value, int | float):
            yield Number(path, at, part["minimum"], part["maximum"])

    yield from look(schema, "#", document, ())


def copied(document: T) -> T:
    copy: T = json.loads(json.dumps(document))
    return copy
