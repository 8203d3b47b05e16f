# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The history for programs."""

import json
from dataclasses import replace

import jsonschema
import pytest
import sample_history
from checkout import ROOT

from io_benchmark.report.history.as_json import json_schema, render

HISTORIES = {
    name: getattr(sample_history, name)
    for name in ("one_change", "there_and_back", "too_few", "two_series", "hostile", "nothing")
}


@pytest.mark.parametrize("name", HISTORIES)
def test_schema(name):
    """Every document is as the schema says, and ASCII."""
    text = render(HISTORIES[name]())
    jsonschema.Draft202012Validator(json_schema()).validate(json.loads(text))
    assert text.isascii()
    assert text.replace("\n", "").isprintable()


def test_schema_is_published():
    """taskcluster/docs has the schema; `python -m io_benchmark.report.history` prints it."""
    published = ROOT / "taskcluster/docs/history.schema.json"
    assert json.loads(published.read_text()) == json_schema()


def test_what_is_in_it():
    """Points, levels and the change, by number."""
    document = json.loads(render(sample_history.one_change(count=12, workers=1, change_at=6)))
    (series,) = document["series"]
    (change,) = series["changes"]
    assert document["version"] == 1
    assert series["conditions"]["cache-state"] == "cold cache"
    assert [point["time"] for point in series["points"][:2]] == [
        "2026-04-27T03:00:00Z",
        "2026-05-04T03:00:00Z",
    ]
    assert (series["operation"], series["unit"], series["higher_is_better"]) == (
        "retrieve",
        "ms",
        False,
    )
    assert series["points"][0] == {
        "time": "2026-04-27T03:00:00Z",
        "task_group_id": "group-0",
        "revision": f"00{'c0ffee' * 6}00",
        "mean_ns": pytest.approx(76e6),
        "value": pytest.approx(76),
        "ratio": None,
        "workers": [
            {"worker_id": "zone/0-0", "tasks": ["task-0-0.0"], "mean_ns": pytest.approx(76e6)}
        ],
    }
    assert [(level["start"], level["end"]) for level in series["levels"]] == [(0, 6), (6, 12)]
    assert (change["at"], change["unobserved"]) == (6, False)
    assert change["ratio"] == pytest.approx(146 / 76, rel=0.02)
    assert change["changed"] == [
        {"name": "disks", "before": "2", "after": "1", "points_off": 0},
        {"name": "stripes", "before": "2", "after": "none", "points_off": 0},
        {
            "name": "mount options",
            "before": f"{sample_history.MOUNT},stripe=32",
            "after": sample_history.MOUNT,
            "points_off": 0,
        },
    ]
    assert [fact["name"] for fact in change["varied"]] == ["zone"]


def test_what_is_no_number_is_null():
    """JSON has neither NaN nor infinities."""
    found = sample_history.one_change()
    (series,) = found.series
    (change,) = series.changes
    endless = replace(change, interval=replace(change.interval, high=float("inf")))
    found = replace(found, series=(replace(series, changes=(endless,)),))
    document = json.loads(render(found), parse_constant=pytest.fail)
    assert document["series"][0]["changes"][0]["interval"]["high_ratio"] is None
