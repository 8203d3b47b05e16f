# SPDX-License-Identifier: MPL-2.0
"""Comparisons and histories for programs."""

import json
from typing import Any

import divided_reports
import every_workload
import jsonschema
import numpy as np
import pytest
import sample_history
import sample_report
import sample_tasks
import several_places
from msgspec.structs import replace

from io_benchmark.analysis.history.history_model import History
from io_benchmark.analysis.model import PERCENTILES
from io_benchmark.analysis.report_model import Report
from io_benchmark.analysis.statements import Quantity, Unit, statement
from io_benchmark.analysis.tasks.task_model import TaskReport
from io_benchmark.report.formats.json_documents import render_report, report_schema

REPORTS: dict[str, Any] = {
    "seed-case": lambda: sample_report.seed_case(10),
    "hostile": lambda: sample_report.hostile(10),
    "refused": lambda: sample_report.refused(10),
    "empty": sample_report.empty,
    "before-and-after": lambda: sample_report.before_after(10),
    "many-pools": lambda: sample_report.many_pools(10),
    "every-workload": every_workload.report,
    "five-places": several_places.five,
    "one-disk-against-two": divided_reports.three_pools,
    "one-bad-worker": divided_reports.one_bad_worker,
}
HISTORIES = {
    name: getattr(sample_history, name)
    for name in (
        "one_change",
        "there_and_back",
        "too_few",
        "two_series",
        "hostile",
        "nothing",
        "unclear",
        "trend_and_step",
    )
}


MADE: dict[str, Any] = {
    **{name: (Report, make) for name, make in REPORTS.items()},
    **{f"history: {name}": (History, make) for name, make in HISTORIES.items()},
    **{
        f"tasks: {name}": (TaskReport, getattr(sample_tasks, name))
        for name in ("seed", "many", "nothing", "hostile")
    },
}


def document_of(made):
    """Return the document of a report; it must be strict JSON."""
    return json.loads(render_report(made), parse_constant=pytest.fail)


@pytest.mark.parametrize("name", MADE)
def test_schema(name):
    """Every document matches the schema of its kind."""
    kind, make = MADE[name]
    jsonschema.Draft202012Validator(report_schema(kind)).validate(document_of(make()))


def test_figures_and_comparisons():
    """A side's figures, the workload's own unit, and the comparison with the baseline."""
    document = document_of(sample_report.seed_case(10))
    (part,) = document["subjects"]
    assert document["version"] == 3
    assert (part["operation"], part["unit"], part["higher_is_better"]) == ("retrieve", "ms", False)
    assert part["subject"] == {
        "workload": "cache-retrieve",
        "place": "workspace",
        "destination": "overwrite",
        "fidelity": "seed",
    }
    assert list(part["figures"]) == ["intel", "amd-16", "amd-30"]
    assert part["figures"]["amd-16"] == {
        "workers": 1,
        "samples": 2000,
        "operations": 2000,
        "mean_ns": 146e6,
        "percentiles_ns": {"50": 157e6, "95": 205e6, "99": 237e6},
        "total_ns": 291.4e9,
        "lookup_mean_ns": 1.234e6,
        "copy_mean_ns": pytest.approx(144.766e6),
        "within_worker_ratio": 0.012,
        "between_workers_ratio": None,
        "details": [],
        "value": 146,
    }
    assert part["comparisons"][0] == {
        "of_all": None,
        "workers": None,
        "means_ns": None,
        "subject": part["subject"],
        "baseline": "intel",
        "candidate": "amd-16",
        "ratio": 1.92,
        "interval": {"low_ratio": 1.68, "high_ratio": 2.19, "level_ratio": 0.95},
        "interval_90": {
            "low_ratio": pytest.approx(1.7136),
            "high_ratio": pytest.approx(2.147, abs=1e-3),
            "level_ratio": 0.9,
        },
        "p_value": 0.0001,
        "verdict": "slower",
        "method": "paired retrieves",
        "assumed_variation_ratio": 0.05,
        "variation_to_explain_ratio": 0.33,
        "advice": None,
        "look": None,
        "assumed_variation": None,
    }


def test_rates_of_every_workload():
    """Each measurement has a value in its workload's unit, and its details."""
    parts = document_of(every_workload.report())["subjects"]
    assert {
        part["subject"]["workload"]: (part["unit"], part["higher_is_better"]) for part in parts
    } == {
        "cache-retrieve": ("ms", False),
        "random-io": ("IOPS", True),
        "spawn": ("µs", False),
        "sync-write": ("µs", False),
        "metadata": ("ops/s", True),
        "exec": ("ms", False),
        "upload": ("ms", False),
        "unpack": ("files/s", True),
    }
    (stat,) = [
        part["figures"]["amd-16"]
        for part in parts
        if (part["subject"].get("variant"), part["subject"].get("threads")) == ("stat", 4)
    ]
    assert stat["value"] == pytest.approx(1e9 / stat["mean_ns"])
    assert [detail["name"] for detail in stat["details"]] == ["scaling"]


def test_places():
    """Each place has its sides, with their ratio to the first place, and its comparisons."""
    (places,) = document_of(several_places.five())["places"]
    assert [row["place"] for row in places["rows"]] == ["workspace", *several_places.FIVE]
    ratios = {row["place"]: [side["ratio"] for side in row["sides"]] for row in places["rows"]}
    assert ratios["workspace"] == [None, None]
    assert ratios["container"] == [pytest.approx(1.1, rel=0.05), pytest.approx(0.57, rel=0.05)]
    verdicts = [
        [(one["candidate"], one["baseline"], one["verdict"]) for one in row["comparisons"]]
        for row in places["rows"]
    ]
    assert verdicts[0] == [("amd-16", "intel", "slower")]
    assert verdicts[1] == [("amd-16", "intel", "inconclusive")]


def test_raw_samples_are_not_published():
    """A thousand retrieves add nothing to the document."""
    few, many = (render_report(sample_report.seed_case(count)) for count in (10, 1000))
    assert few == many


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), np.float64("nan")])
def test_numbers_without_a_value_are_null(value):
    """JSON has neither NaN nor infinities: what could not be computed is null."""
    report = sample_report.seed_case(10)
    (part,) = report.subjects
    first = replace(
        part.comparisons[0],
        ratio=value,
        p_value=value,
        interval=replace(part.comparisons[0].interval, high_ratio=value),
    )
    report = replace(report, subjects=(replace(part, comparisons=(first,)),))
    (found,) = document_of(report)["subjects"][0]["comparisons"]
    assert (found["ratio"], found["p_value"]) == (None, None)
    assert found["interval"] == {"low_ratio": 1.68, "high_ratio": None, "level_ratio": 0.95}


def test_endless_interval_of_a_history():
    """The interval of a change may have no end."""
    history = sample_history.one_change()
    (series,) = history.series
    (change,) = series.changes
    endless = replace(change, interval=replace(change.interval, high_ratio=float("inf")))
    history = replace(history, series=(replace(series, changes=(endless,)),))
    (series,) = document_of(history)["series"]
    assert series["changes"][0]["interval"]["high_ratio"] is None


def test_numbers_of_numpy():
    """numpy's numbers are published as numbers."""
    report = sample_report.seed_case(10)
    (part,) = report.subjects
    numbers: dict[str, Any] = {"workers": np.int64(7), "total_ns": np.float64(1.5)}
    figures = replace(part.figures["intel"], **numbers)
    report = replace(report, subjects=(replace(part, figures={"intel": figures}),))
    (subject,) = document_of(report)["subjects"]
    found = subject["figures"]["intel"]
    assert (found["workers"], found["total_ns"]) == (7, 1.5)


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


def test_unknown_values_are_refused():
    """What has no form in JSON is an error, not its Python text."""
    title: Any = object()
    with pytest.raises(TypeError):
        render_report(replace(sample_report.empty(), title=title))


@pytest.mark.parametrize("made", [lambda: sample_report.hostile(10), sample_history.hostile])
def test_ascii_alone(made):
    """No name can control a terminal: a document is ASCII, with newlines between its parts only."""
    made = made()
    text = render_report(made)
    assert {character for character in text if not " " <= character <= "~"} == {"\n"}
    document = json.loads(text)
    assert document.get("baseline", document.get("pool")) == sample_report.HOSTILE_NAMES[0]


def test_numbers_say_their_units():
    """Every key that holds a measured number ends in its unit, is a count, or has a unit next to it."""
    counts = {
        *("version", "workers", "samples", "operations", "run_id", "workers_to_add", "ratio"),
        *("p_value", "value", "runs", "workers_compared", "workers_needed"),
        *("low", "high", "count", "total", "share"),
        *map(str, PERCENTILES),  # of `percentiles_ns`
    }
    found = set()

    def walk(value):
        for key, inner in value.items() if isinstance(value, dict) else ():
            if isinstance(inner, int | float) and not isinstance(inner, bool):
                found.add(key)
            walk(inner)
        for inner in value if isinstance(value, list) else ():
            walk(inner)

    walk(document_of(sample_report.seed_case(10)))
    walk(document_of(sample_report.before_after(10)))
    assert {key for key in found - counts if not key.endswith(("_ns", "_ratio", "_bytes"))} == set()


def test_a_history():
    """Points, levels and the change, by number."""
    document = document_of(sample_history.one_change(count=12, workers=1, change_at=6))
    (series,) = document["series"]
    (change,) = series["changes"]
    assert document["version"] == 3
    assert series["conditions"]["cache-state"]["text"] == "cold cache"
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
        "group": "group-0",
        "revision": f"00{'c0ffee' * 6}00",
        "mean_ns": pytest.approx(76e6),
        "value": pytest.approx(76),
        "ratio": None,
        "workers": [
            {"worker_id": "zone/0-0", "tasks": ["task-0-0.0"], "mean_ns": pytest.approx(76e6)}
        ],
    }
    assert [(level["start"], level["end"]) for level in series["levels"]] == [(0, 6), (6, 12)]
    assert series["levels"][0]["value"] == pytest.approx(76, rel=0.02)
    assert (change["at"], change["unobserved"]) == (6, False)
    assert change["ratio"] == pytest.approx(146 / 76, rel=0.02)
    assert change["changed"] == [
        {"name": "disks", "before": "2", "after": "1", "points_off": 0},
        {"name": "stripes", "before": "2", "after": "none", "points_off": 0},
        {
            "name": "mount options",
            "before": [*sample_history.MOUNT, "stripe=32"],
            "after": list(sample_history.MOUNT),
            "points_off": 0,
        },
    ]
    assert [fact["name"] for fact in change["varied"]] == ["zone"]


def test_parts_of_a_difference():
    """All parts are there, in nanoseconds, and add up to the mean times."""
    (subject,) = document_of(divided_reports.three_pools())["subjects"]
    assert [(each["candidate"], each["baseline"]) for each in subject["divisions"]] == [
        ("amd-16", "intel"),
        ("amd-30", "intel"),
    ]
    for divided in subject["divisions"]:
        parts = divided["parts"]
        assert [(part["phase"], part["kind"]) for part in parts] == [
            (phase, kind)
            for phase in ("lookup", "copy")
            for kind in ("user", "kernel", "waiting", "blocked")
        ]
        for side in ("baseline", "candidate"):
            mean_ns = subject["figures"][divided[side]]["mean_ns"]
            assert sum(part[f"{side}_ns"] for part in parts) == pytest.approx(mean_ns)
        assert all(
            part["low_ns"] <= part["candidate_ns"] - part["baseline_ns"] <= part["high_ns"]
            for part in parts
        )


def test_parts_of_workers_measured_once():
    """Without an interval its ends are null."""
    (subject,) = document_of(sample_report.seed_case(10))["subjects"]
    ends = {part[end] for part in subject["divisions"][0]["parts"] for end in ("low_ns", "high_ns")}
    assert ends == {None}
