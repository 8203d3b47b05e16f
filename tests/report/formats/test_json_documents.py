# SPDX-License-Identifier: MPL-2.0
"""Comparisons and histories for programs."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import sample_report
from checkout import ROOT
from golden import ALL
from json_schemas import TITLES, report_schema
from msgspec.structs import replace

from io_benchmark.analysis.model.statements import Quantity, Unit, statement
from io_benchmark.report.formats import rendered


def document_of(made):
    """Return the document of a report; it must be strict JSON."""
    return json.loads(rendered(made, "json"), parse_constant=pytest.fail)


@pytest.mark.parametrize("name", ALL)
def test_schema(name):
    """Every document matches the schema of its kind."""
    report = ALL[name]()
    kind = next(kind for kind in type(report).__mro__ if kind in TITLES)
    jsonschema.Draft202012Validator(report_schema(kind)).validate(document_of(report))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), np.float64("nan")])
def test_numbers_without_a_value_are_null(value):
    """JSON has neither NaN nor infinities: what could not be computed is null."""
    interval = replace(sample_report.comparison().interval, high_ratio=value)
    workers: Any = (np.int64(7), 1)
    pair = sample_report.comparison(ratio=value, p_value=value, workers=workers, interval=interval)
    report = sample_report.seed_case()
    (part,) = report.subjects
    report = replace(report, subjects=(replace(part, comparisons=(pair,)),))
    (found,) = document_of(report)["subjects"][0]["comparisons"]
    assert (found["ratio"], found["p_value"], found["workers"]) == (None, None, [7, 1])
    assert found["interval"]["high_ratio"] is None
    assert found["interval"]["level_ratio"] == 0.975


def test_sentences_are_text_and_values():
    """A statement is published as people read it, with its numbers in full precision."""
    words: Any = statement(
        "{device} wrote {rate}", device="sda\x1b", rate=Quantity(123456789.5, Unit.BYTES_PER_SECOND)
    )
    report = replace(sample_report.empty(), remarks=(words,))
    assert document_of(report)["remarks"] == [
        {
            "text": "sda\ufffd wrote 118 MiB/s",
            "values": {
                "device": "sda\x1b",
                "rate": {"type": "quantity", "value": 123456789.5, "unit": "bytes/s"},
            },
        }
    ]


def test_ascii_alone():
    """No name can control a terminal: a document is ASCII, with newlines between its parts only."""
    title = "\x1b[31m\x7f\x9b\u202e\u00e4\n"
    text = rendered(replace(sample_report.empty(), title=title), "json")
    assert {character for character in text if not " " <= character <= "~"} == {"\n"}
    assert json.loads(text)["title"] == title


SMALL = (
    "seed-case",
    "hostile-names",
    "before-and-after",
    "history: one-change",
    "tasks: labels that differ, on four pools",
)


def written() -> dict[str, str]:
    """Return JSON, which has all of a report in full precision."""
    return {name: rendered(ALL[name](), "json") for name in SMALL}


def test_deterministic():
    """A process with another order of sets, and numpy for another CPU, writes the same bytes."""
    code = "import json, test_json_documents; print(json.dumps(test_json_documents.written()))"
    path = f"{Path(__file__).parent}:{ROOT / 'tests/helpers'}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": "1", "PYTHONPATH": path, "OPENBLAS_CORETYPE": "Prescott"},
        stdout=subprocess.PIPE,
        check=True,
    )
    assert json.loads(done.stdout) == written()
