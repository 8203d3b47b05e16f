# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""JSON Schemas of published formats."""

import inspect
from typing import Any

import msgspec


def schema_of(title: str, document: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the schema of a format, the same with every version of Python."""
    schema: dict[str, Any] = _with_clean_descriptions(msgspec.json.schema(document))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **schema,
    }


def _with_clean_descriptions(part: Any) -> Any:
    """Remove indentation from descriptions: docstrings before Python 3.13 contain it."""
    if isinstance(part, dict):
        return {
            key: inspect.cleandoc(value)
            if key == "description" and isinstance(value, str)
            else _with_clean_descriptions(value)
            for key, value in part.items()
        }
    if isinstance(part, list):
        return [_with_clean_descriptions(value) for value in part]
    return part
