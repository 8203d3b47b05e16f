# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The format of the result file as a JSON Schema."""

import inspect
import re
from typing import Any

import msgspec

from io_benchmark.results.format import VERSION, Result
from io_benchmark.results.workloads import WORKLOADS

# The name of a type that only its module uses, alone or in a reference.
_NAME = re.compile(r"^(#/\$defs/)?_")


def json_schema() -> dict[str, Any]:
    """Return the schema of a file, with the entries of every workload."""
    whole = Result.with_entries(workload.entry for workload in WORKLOADS.values())
    return schema_of(f"io-benchmark result, version {VERSION}", whole)


def schema_of(title: str, document: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the schema of a format, the same with every version of Python."""
    schema: dict[str, Any] = _published(msgspec.json.schema(document))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **schema,
    }


def _published(part: Any) -> Any:
    """Remove indentation from descriptions, and the underscore from the names of types.

    Docstrings before Python 3.13 contain the indentation. No key and no text of a format begins with
    an underscore otherwise.
    """
    if isinstance(part, dict):
        return {
            key.removeprefix("_"): inspect.cleandoc(value)
            if key == "description" and isinstance(value, str)
            else _published(value)
            for key, value in part.items()
        }
    if isinstance(part, list):
        return [_published(value) for value in part]
    return _NAME.sub(r"\1", part) if isinstance(part, str) else part
