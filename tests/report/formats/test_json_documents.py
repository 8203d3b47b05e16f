# SPDX-License-Identifier: MPL-2.0
"""Comparisons and histories for programs."""

import json
from typing import Any

import jsonschema
import numpy as np
import pytest
import sample_history
import sample_report
from golden import ALL, REPORTS
from json_schemas import report_schema
from msgspec.structs import replace

from io_benchmark.analysis.report_model import Report
from io_benchmark.analysis.statements import Quantity, Unit, statement
from io_benchmark.report.formats import rendered


def document_of(made):
    """Return the document of a report; it must be strict JSON."""
    return json.loads(rendered(made, "json"), parse_constant=pytest.fail)


@pytest.mark.parametrize("name", ALL)
def test_schema(name):
    """Every document matches the schema of its kind."""
    report = ALL[name]()
    kind = Report if name in REPORTS else type(report)
    jsonschema.Draft202012Validator(report_schema(kind)).validate(document_of(report))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), np.float64("nan")])
def test_numbers_without_a_value_are_null(value):
    """JSON has neither NaN nor infinities: what could not be computed is null."""
    report = sample_report.seed_case()
    (part,) = report.subjects
    workers: Any = np.int64(7)
    first = replace(
        part.comparisons[0],
        ratio=value,
        workers=(workers, 1),
        p_value=value,
        interval=replace(part.comparisons[0].interval, high_ratio=value),
    )
    report = replace(report, subjects=(replace(part, comparisons=(first,)),))
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


@pytest.mark.parametrize("made", [sample_report.hostile, sample_history.hostile])
def test_ascii_alone(made):
    """No name can control a terminal: a document is ASCII, with newlines between its parts only."""
    made = made()
    text = rendered(made, "json")
    assert {character for character in text if not " " <= character <= "~"} == {"\n"}
    document = json.loads(text)
    assert document.get("baseline", document.get("pool")) == sample_report.HOSTILE_NAMES[0]


def test_unknown_values_are_refused():
    """What has no form in JSON is an error, not its Python text."""
    title: Any = object()
    with pytest.raises(TypeError):
        rendered(replace(sample_report.empty(), title=title), "json")
