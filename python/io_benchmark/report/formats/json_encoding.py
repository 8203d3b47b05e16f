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
from datetime import datetime
from enum import Enum
from functools import cache
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Struct
from msgspec.structs import asdict

_SCALARS: Mapping[Any, Mapping[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    # Null where it could not be computed or has no bound.
    float: {"type": ["number", "null"]},
    NoneType: {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
}


class Rules(Struct, frozen=True):
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
        if isinstance(value, Struct):
            left_out = _defaults(type(value)) if type(value) in self.sparse else {}
            return {
                name: self._plain(part)
                for name, part in asdict(value).items()
                if name not in left_out or part != left_out[name]
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
        if isinstance(kind, type) and issubclass(kind, Struct):
            title = kind.__name__.removeprefix("_")
            if title not in parts:
                parts[title] = {}  # a class may contain itself
                parts[title] = {"title": title, **self._class_schema(kind, parts)}
            return {"$ref": f"#/$defs/{title}"}
        raise TypeError(f"JSON has no {kind}")

    def _class_schema(self, kind: type[Struct], parts: dict[str, Any]) -> dict[str, Any]:
        written: type[Struct] = self.substitutes[kind][0] if kind in self.substitutes else kind
        hints = get_type_hints(written)
        names = written.__struct_fields__
        optional = _defaults(written) if written in self.sparse else {}
        required = [name for name in names if name not in optional]
        return {
            **({"description": inspect.cleandoc(written.__doc__)} if written.__doc__ else {}),
            "type": "object",
            "properties": {name: self._part_schema(hints[name], parts) for name in names},
            "required": required,
        }


@cache
def _defaults(kind: type[Struct]) -> dict[str, Any]:
    """Return the fields of a class that have a default, and the defaults."""
    fields, defaults = kind.__struct_fields__, kind.__struct_defaults__
    named = zip(reversed(fields), reversed(defaults), strict=False)  # those are of the last fields
    return {field: default for field, default in named if default is not NODEFAULT}


def _scalar(value: Any) -> Any:
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    raise TypeError(f"JSON has no {type(value).__name__}")
