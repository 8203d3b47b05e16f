# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The report for programs."""

import json
from dataclasses import replace

import every_workload
import jsonschema
import pytest
import sample_report
import several_places
from checkout import ROOT

from io_benchmark.report.formats.as_json import json_schema, render

REPORTS = {
    "seed-case": lambda: sample_report.seed_case(10),
    "hostile": lambda: sample_report.hostile(10),
    "refused": lambda: sample_report.refused(10),
    "empty": sample_report.empty,
    "before-and-after": lambda: sample_report.before_after(10),
    "many-pools": lambda: sample_report.many_pools(10),
    "every-workload": lambda: every_workload.report(),  # noqa: PLW0108 - typed as the others
    "five-places": lambda: several_places.five(),  # noqa: PLW0108 - typed as the others
}


@pytest.mark.parametrize("report", REPORTS)
def test_schema(report):
    """Every document is as the schema says."""
    jsonschema.Draft202012Validator(json_schema()).validate(json.loads(render(REPORTS[report]())))


def test_schema_is_published():
    """taskcluster/docs has the schema; `python -m io_benchmark.report` prints it."""
    published = ROOT / "taskcluster/docs/report.schema.json"
    assert json.loads(published.read_text()) == json_schema()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_is_null(value):
    """JSON has neither NaN nor infinities: what could not be computed is null."""
    report = sample_report.seed_case(10)
    (part,) = report.subjects
    first = replace(
        part.comparisons[0],
        ratio=value,
        p_value=value,
        interval=replace(part.comparisons[0].interval, high=value),
    )
    report = replace(report, subjects=(replace(part, comparisons=(first,)),))
    document = json.loads(render(report), parse_constant=pytest.fail)
    (found,) = document["subjects"][0]["comparisons"]
    assert (found["ratio"], found["p_value"]) == (None, None)
    assert found["interval"] == {"low_ratio": 1.68, "high_ratio": None, "level_ratio": 0.95}


def test_ascii_alone():
    """Printed as it is, no name can steer a terminal: only ASCII, and newlines of our own."""
    text = render(sample_report.hostile(10))
    assert {character for character in text if not " " <= character <= "~"} == {"\n"}
    assert json.loads(text)["baseline"] == sample_report.HOSTILE_NAMES[0]


def test_numbers_say_their_units():
    """Every key that holds a measured number ends in its unit, is a count, or has a unit beside it."""
    counts = {
        *("version", "workers", "samples", "operations", "run_id", "workers_to_add", "ratio"),
        *("p_value", "value", "runs", "workers_compared", "workers_needed"),
        *("low", "high", "count", "total"),
    }
    found = set()

    def walk(value):
        for key, inner in value.items() if isinstance(value, dict) else ():
            if isinstance(inner, int | float) and not isinstance(inner, bool):
                found.add(key)
            walk(inner)
        for inner in value if isinstance(value, list) else ():
            walk(inner)

    walk(json.loads(render(sample_report.before_after(10))))
    assert {key for key in found - counts if not key.endswith(("_ns", "_ratio"))} == set()
