# SPDX-License-Identifier: MPL-2.0
"""Every report as JSON, for programs: the analysis' data classes as msgspec encodes and describes them.

- The name of a number has its unit; a share is a part of one.
- A number is null where it could not be computed or has no bound.
- A sentence has its `text` and the `values` in it.
- Raw samples are only in the result files.
- Keys may be added within a version. A key that goes or changes its meaning makes a new version.

Versions, since 2026-11: a comparison and a comparison of tasks have the fourth, a history the third,
predictions the second. CHANGELOG.md says what each one changed.
"""

import inspect
import json
import re
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import msgspec
from msgspec import Struct

from io_benchmark.analysis.history.history_model import History
from io_benchmark.analysis.prediction.prediction_model import Predictions
from io_benchmark.analysis.report_model import Report, SampledReport
from io_benchmark.analysis.statements import Statement, Value
from io_benchmark.analysis.tasks.task_model import TaskReport
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.formats import Layout

# What is published, and the title of its schema.
_TITLES = {Report: "report", History: "history", TaskReport: "tasks", Predictions: "predictions"}
# The name of a type that only its module uses, alone or in a reference.
_PRIVATE_TYPE = re.compile(r"^(#/\$defs/)?_")


class _Sentence(Struct, frozen=True):
    """A sentence, and the numbers and names in it."""

    text: str
    values: Mapping[str, Value]


def render(report: Report | History | TaskReport | Predictions, _layout: Layout) -> str:
    """Return ASCII: what a name holds can neither end a line nor steer a terminal."""
    if isinstance(report, SampledReport):
        report = Report(**{name: getattr(report, name) for name in Report.__struct_fields__})
    parts = msgspec.to_builtins(report, str_keys=True, enc_hook=_builtin)
    # Python writes numbers that JSON does not have as constants: they become null.
    document = json.loads(json.dumps(parts), parse_constant=lambda _constant: None)
    return json.dumps(document, indent=2).replace("\x7f", "\\u007f") + "\n"


def _builtin(value: object) -> object:
    match value:
        case Statement():
            return _Sentence(text_of(value), dict(value.values))
        case Integral():  # numpy's numbers
            return int(value)
        case Real():
            return float(value)
    raise TypeError(f"JSON has no {type(value).__name__}")


def report_schema(kind: type[Report | History | TaskReport | Predictions]) -> dict[str, Any]:
    """Describe the JSON of a kind of report, by JSON Schema."""
    title = f"io-benchmark {_TITLES[kind]}, version {kind.__struct_config__.tag}"
    schema = schema_of(title, kind, _Sentence)
    nullable: dict[str, Any] = json.loads(json.dumps(schema), object_hook=_nullable)
    return nullable


def _nullable(part: dict[str, Any]) -> dict[str, Any]:
    return {**part, "type": ["number", "null"]} if part.get("type") == "number" else part


def schema_of(title: str, document: type[Struct], *parts: type[Struct]) -> dict[str, Any]:
    """Describe a format by the types that its reader or writer has, the same with every version of Python.

    `parts` are types that only the schema of a sentence refers to.
    """
    (reference, *_), definitions = msgspec.json.schema_components(
        (document, *parts), schema_hook=_sentence_schema, ref_template="#/$defs/{name}"
    )
    schema: dict[str, Any] = _published({**reference, "$defs": definitions})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}


def _sentence_schema(kind: type) -> dict[str, Any]:
    if kind is Statement:
        return {"$ref": "#/$defs/_Sentence"}
    raise NotImplementedError


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
    return _PRIVATE_TYPE.sub(r"\1", part) if isinstance(part, str) else part
