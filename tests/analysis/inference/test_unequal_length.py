# SPDX-License-Identifier: MPL-2.0
"""Runs of different lengths are compared over what all of them have."""

from typing import Any

import pytest
import seed_case
import seed_workers

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.model import Severity
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report
from io_benchmark.report.content.statement_text import text_of


def slow_start(samples: dict[str, Any]) -> dict[str, Any]:
    """Make the first 300 copies take four times as long."""
    copies = [value * (4 if at < 300 else 1) for at, value in enumerate(samples["copy_ns"])]
    return {**samples, "copy_ns": copies}


def report(length: int, workers: int) -> Report:
    found = []
    for pool in ("intel", "same"):
        documents = seed_case.documents(workers, pools=("intel",), seed=len(pool))
        for document in documents:
            samples = slow_start(document["workloads"][0]["samples"])
            kept = length if pool == "same" else len(samples["copy_ns"])
            samples = {name: column and column[:kept] for name, column in samples.items()}
            document["workloads"][0]["samples"] = samples
        found += [seed_workers.worker(document, pool) for document in documents]
    return compare(Plan.of_pools(("intel", "same"), "intel"), found, Options())


@pytest.mark.parametrize("workers", [1, 3])
def test_a_shorter_run_is_not_slower_because_of_its_start(workers: int) -> None:
    """The slow start is a larger part of the short runs, which changes no ratio."""
    found = report(500, workers)
    (comparison,) = found.subjects[0].comparisons
    assert comparison.ratio == pytest.approx(1.0, abs=0.02)
    short, whole = (found.subjects[0].figures[side].mean_ns for side in ("same", "intel"))
    assert short > 1.5 * whole


def test_the_report_says_so() -> None:
    """A warning about both sides, with the number of retrieves that are compared."""
    (problem,) = [each for each in report(500, 1).problems if each.rule == "unequal-length"]
    assert (problem.severity, problem.sides) == (Severity.WARNING, ("intel", "same"))
    assert text_of(problem.message) == (
        "intel and same are compared over the first 500 retrieves of each run"
    )
    assert problem.explanation is not None
    assert "different lengths" in text_of(problem.explanation)


def test_runs_of_one_length_are_compared_as_they_are() -> None:
    """No warning."""
    assert not [each for each in report(2000, 1).problems if each.rule == "unequal-length"]
