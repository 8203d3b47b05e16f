# SPDX-License-Identifier: MPL-2.0
"""The published JSON Schemas, by the types that the program reads and writes."""

import inspect
import json
import re
from typing import Any

import msgspec
from msgspec import Struct

from io_benchmark.analysis.fleet.fleet_model import Fleet
from io_benchmark.analysis.gate.gate_model import GateReport
from io_benchmark.analysis.history.history_model import History
from io_benchmark.analysis.investigation.investigation_model import Investigation
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.phases.phase_report import PhaseReport
from io_benchmark.analysis.prediction.prediction_model import Predictions
from io_benchmark.analysis.tasks.machines.machine_model import MachineReport
from io_benchmark.analysis.tasks.ranking import LabelRanking
from io_benchmark.analysis.tasks.task_model import TaskReport
from io_benchmark.report.formats.json_documents import _Sentence

# What is published, and the title of its schema.
TITLES: dict[type[Struct], str] = {
    Report: "report",
    GateReport: "gate",
    History: "history",
    TaskReport: "tasks",
    Predictions: "predictions",
    Investigation: "investigation",
    LabelRanking: "ranking",
    MachineReport: "machines",
    Fleet: "fleet",
    PhaseReport: "phases",
}
# The name of a type that only its module uses, alone or in a reference.
PRIVATE_TYPE = re.compile(r"^(#/\$defs/)?_")


def report_schema(kind: type[Struct]) -> dict[str, Any]:
    """Describe the JSON of a kind of report, by JSON Schema."""
    title = f"io-benchmark {TITLES[kind]}, version {kind.__struct_config__.tag}"
    schema = schema_of(title, kind, _Sentence)
    described: dict[str, Any] = json.loads(json.dumps(schema), object_hook=nullable)
    return described


def nullable(part: dict[str, Any]) -> dict[str, Any]:
    return {**part, "type": ["number", "null"]} if part.get("type") == "number" else part


def schema_of(title: str, document: type[Struct], *parts: type[Struct]) -> dict[str, Any]:
    """Describe a format by the types that its reader or writer has, in every version of Python.

    `parts` are types that only the schema of a sentence refers to.
    """
    (reference, *_), definitions = msgspec.json.schema_components(
        (document, *parts), schema_hook=sentence_schema, ref_template="#/$defs/{name}"
    )
    schema: dict[str, Any] = published({**reference, "$defs": definitions})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}


def sentence_schema(kind: type) -> dict[str, Any]:
    if kind is Statement:
        return {"$ref": "#/$defs/Sentence"}
    raise NotImplementedError


def published(part: Any) -> Any:
    """Remove indentation from descriptions, and the underscore from the names of types.

    Docstrings before Python 3.13 contain the indentation. No key and no text of a format begins
    with an underscore otherwise.
    """
    if isinstance(part, dict):
        return {
            key.removeprefix("_"): inspect.cleandoc(value)
            if key == "description"
            else published(value)
            for key, value in part.items()
        }
    if isinstance(part, list):
        return [published(value) for value in part]
    return PRIVATE_TYPE.sub(r"\1", part) if isinstance(part, str) else part
