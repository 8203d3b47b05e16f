# SPDX-License-Identifier: MPL-2.0
"""Each workload's past: twice as slow is reported as twice as slow, in its own unit."""

import json
import re
from functools import cache
from typing import Any

import past
import pytest
import sample_history
import workload_entries

from io_benchmark.analysis.history.history_model import History, HistoryReading
from io_benchmark.analysis.history.readings import readings_of
from io_benchmark.analysis.history.series import history
from io_benchmark.report.formats.output import rendered
from io_benchmark.results import parse
from io_benchmark.results.workloads import WORKLOADS
from io_benchmark.sources.run_results import RunResult

WEEKS, CHANGE_AT = 12, 6
RATES = ("random-io", "metadata", "unpack")


@cache
def slowed() -> History:
    """Six weeks as ever, then six in which everything takes twice as long."""
    found: list[HistoryReading] = []
    for push in past.pushes(WEEKS, change_at=None, retrieves=100):
        slow = 2.0 if push.at >= CHANGE_AT else 1.0
        factors = dict.fromkeys(WORKLOADS, slow)
        (document,) = push.documents
        samples: dict[str, Any] = document["workloads"][0]["samples"]
        for name in ("lookup_ns", "copy_ns"):
            samples[name] = [round(value * slow) for value in samples[name]]
        document["workloads"] += workload_entries.entries(factors, seed=push.at)
        result = parse(json.dumps(document).encode(), "document")
        measured = RunResult(result, past.record(push, document), "somewhere")
        readings, left_out = readings_of(measured)
        assert left_out == []
        found += readings
    return history("amd-16", found)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_twice_as_slow(workload: str) -> None:
    """Of every variant and number at once the change is found where it is, and is 2."""
    of_workload = [one for one in slowed().series if one.subject.workload == workload]
    assert of_workload
    for series in of_workload:
        (change,) = series.changes
        assert change.at == CHANGE_AT, series.subject
        assert change.ratio == pytest.approx(2, rel=0.06), series.subject


def test_means_are_of_one_operation() -> None:
    """A read at depth 1 takes 90 µs, however many a window held."""
    (series,) = [one for one in slowed().series if one.subject.variant == "read-depth-1"]
    before, after = (level.mean_ns for level in series.levels)
    assert before == pytest.approx(90_000, rel=0.02)
    assert after == pytest.approx(180_000, rel=0.02)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_units_in_json(workload: str) -> None:
    """The JSON has the workload's own figure next to the time, with its unit and direction."""
    known = WORKLOADS[workload]
    for one in json.loads(rendered(slowed(), "json"))["series"]:
        if one["subject"]["workload"] != workload:
            continue
        assert (one["unit"], one["operation"]) == (known.unit, known.operation)
        assert one["higher_is_better"] is (workload in RATES)
        before, after = (level["value"] for level in one["levels"])
        assert (after < before) is (workload in RATES)
        assert one["points"][0]["value"] == pytest.approx(known.shown(one["points"][0]["mean_ns"]))


def test_units_in_text() -> None:
    """A rate is written and drawn as a rate, and slower stays slower."""
    for text in (
        sample_history.on_terminal(slowed(), 100),
        rendered(slowed(), "markdown"),
        rendered(slowed(), "html"),
    ):
        words = " ".join(text.split())
        assert "from 11,100 IOPS to 5,560 IOPS" in words
        assert "rate, in IOPS, where higher is better" in words
        assert "from 512 µs to 1,020 µs" in words
    assert "Mean rate in IOPS, push by push" in rendered(slowed(), "html")
    assert re.search(r"^ +IOPS +1$", sample_history.on_terminal(slowed(), 100), re.MULTILINE)
