# SPDX-License-Identifier: MPL-2.0
"""A format as a JSON Schema, from the types that its reader or writer has."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import msgspec

# The name of a type that only its module uses, alone or in a reference.
_NAME = re.compile(r"^(#/\$defs/)?_")


def schema_of(
    title: str,
    document: type[msgspec.Struct],
    *parts: type[msgspec.Struct],
    schema_hook: Callable[[type], dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return the schema of a format, the same with every version of Python.

    `parts` are types that only the schemas of `schema_hook` refer to.
    """
    (reference, *_), definitions = msgspec.json.schema_components(
        (document, *parts), schema_hook=schema_hook, ref_template="#/$defs/{name}"
    )
    schema: dict[str, Any] = _published({**reference, "$defs": definitions})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}


def _published(part: Any) -> Any:
    """Remove indentation from descriptions, and the underscore from the names of types.

    Docstrings before Python 3.13 contain the indentation. No key and no text of a format begins with
    an underscore otherwise.
    """
    if isinstance(part, dict):
        return {
            key.removeprefix("_"): inspect.cleandoc(value)
            if key == "description"
            else _published(value)
            for key, value in part.items()
        }
    if isinstance(part, list):
        return [_published(value) for value in part]
    return _NAME.sub(r"\1", part) if isinstance(part, str) else part
