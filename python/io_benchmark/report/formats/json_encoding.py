# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Encode data classes as JSON, and describe them as a JSON Schema, by the same rules.

msgspec describes no union of two data classes, which sentences with values need, and encodes no
lone surrogates, which names of files may have.
"""

import inspect
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

_SCALARS: Mapping[Any, Mapping[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    # Null where it could not be computed or has no bound.
    float: {"type": ["number", "null"]},
    NoneType: {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
}


@dataclass(frozen=True)
class Rules:
    """How data classes are written; those listed here are not written field by field."""

    # The class to write in place of another, and what makes it.
    substitutes: Mapping[type, tuple[type, Callable[[Any], Any]]]
    # Classes whose fields are left out while they have their default.
    sparse: Collection[type]

    def encode(self, document: Any) -> str:
        """Return ASCII: what a name holds can neither end a line nor steer a terminal."""
        text = json.dumps(self._plain(document), indent=2, ensure_ascii=True, allow_nan=False)
        return text.replace("\x7f", "\\u007f") + "\n"

    def schema(self, title: str, document: type) -> dict[str, Any]:
        """Describe what `encode` writes."""
        parts: dict[str, Any] = {}
        reference = self._part_schema(document, parts)
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": title,
            **reference,
            "$defs": parts,
        }

    def _plain(self, value: Any) -> Any:
        """Return what JSON has for a value; raise TypeError where it has nothing."""
        if type(value) in self.substitutes:
            _, substitute = self.substitutes[type(value)]
            value = substitute(value)
        if is_dataclass(value):
            return {
                field.name: self._plain(getattr(value, field.name))
                for field in fields(value)
                if type(value) not in self.sparse or getattr(value, field.name) != field.default
            }
        if isinstance(value, Mapping):
            return {str(name): self._plain(part) for name, part in value.items()}
        if isinstance(value, tuple | list):
            return [self._plain(part) for part in value]
        return _scalar(value)

    def _part_schema(self, kind: Any, parts: dict[str, Any]) -> dict[str, Any]:
        """Describe a type; `parts` collects the classes in it."""
        origin, arguments = get_origin(kind), get_args(kind)
        if kind in _SCALARS:
            return dict(_SCALARS[kind])
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin in (Union, UnionType):
            if set(arguments) == {float, NoneType}:
                return dict(_SCALARS[float])
            return {"anyOf": [self._part_schema(argument, parts) for argument in arguments]}
        if origin is not None and issubclass(origin, Mapping):
            return {
                "type": "object",
                "additionalProperties": self._part_schema(arguments[1], parts),
            }
        if origin is not None and issubclass(origin, Sequence):
            return {"type": "array", "items": self._part_schema(arguments[0], parts)}
        if isinstance(kind, type) and issubclass(kind, Enum):
            return {"enum": [member.value for member in kind]}
        if isinstance(kind, type) and is_dataclass(kind):
            title = kind.__name__.removeprefix("_")
            if title not in parts:
                parts[title] = {}  # a class may contain itself
                parts[title] = {"title": title, **self._class_schema(kind, parts)}
            return {"$ref": f"#/$defs/{title}"}
        raise TypeError(f"JSON has no {kind}")

    def _class_schema(self, kind: type[Any], parts: dict[str, Any]) -> dict[str, Any]:
        written: type[Any] = self.substitutes[kind][0] if kind in self.substitutes else kind
        hints = get_type_hints(written)
        names = [field.name for field in fields(written)]
        required = [
            field.name
            for field in fields(written)
            if written not in self.sparse or field.default is MISSING
        ]
        described = inspect.getdoc(written) or ""
        return {
            # Without a docstring a data class has its signature as one.
            **({} if described.startswith(f"{written.__name__}(") else {"description": described}),
            "type": "object",
            "properties": {name: self._part_schema(hints[name], parts) for name in names},
            "required": required,
        }


def _scalar(value: Any) -> Any:
    if isinstance(value, np.generic | Enum):
        value = value.item() if isinstance(value, np.generic) else value.value
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    raise TypeError(f"JSON has no {type(value).__name__}")
