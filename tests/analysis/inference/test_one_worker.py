# SPDX-License-Identifier: MPL-2.0
"""One worker a side with several runs: all of them count. The rates are in tests/simulation."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
import seed_case
import seed_workers

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.model import Comparison, Severity, State, Verdict, Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report
from io_benchmark.report.content.statement_text import evidence_text, text_of

BOOT = "4514e179-e9e1-4620-b051-b51d93f6b9cd"


def scaled(factor: float) -> dict[str, Any]:
    def times(column: Sequence[int]) -> list[int]:
        return [round(value * factor) for value in column]

    return {f"workloads.0.samples.{name}": times for name in ("lookup_ns", "copy_ns")}


def runs(factors: dict[str, Sequence[float]], **change: Any) -> list[Worker]:
    """Runs of each pool with Intel's times, so many times as long; all on one machine."""
    found = []
    for pool, some in factors.items():
        changes = {
            f"intel/{at}": {"host.boot_id": BOOT, **scaled(factor), **change}
            for at, factor in enumerate(some)
        }
        documents = seed_case.documents(len(some), pools=("intel",), change=changes)
        found += [seed_workers.worker(document, pool) for document in documents]
    return found


def report(found: Sequence[Worker], baseline: str) -> Report:
    return compare(Plan.of_pools((one.side for one in found), baseline), found, Options())


def only(found: Report) -> Comparison:
    (subject,) = found.subjects
    (comparison,) = subject.comparisons
    return comparison


def test_the_averages_of_all_runs_are_compared() -> None:
    """Whichever run comes first, and widely where runs differ."""
    found = runs({"a": (0.52, 0.75, 1.08), "b": (1.0, 0.8, 1.25)})
    comparison = only(report(found, "b"))
    expected = (0.52 * 0.75 * 1.08) ** (1 / 3)
    assert comparison.ratio == pytest.approx(expected, rel=1e-3)
    assert comparison.method == "runs of one worker"
    assert comparison.verdict is Verdict.INCONCLUSIVE
    assert comparison.interval.low_ratio < 0.5
    assert comparison.interval.high_ratio > 1.1


def test_runs_that_agree_give_a_verdict() -> None:
    """Five and five runs that differ by a percent: twice as slow is slower."""
    a = tuple(2 * (1 + 0.01 * at) for at in range(5))
    comparison = only(report(runs({"a": a, "b": (1, 1.01, 0.99, 1, 1.02)}), "b"))
    assert comparison.verdict is Verdict.SLOWER
    assert comparison.assumed_variation_ratio == 0.05


def test_swapping_the_sides() -> None:
    """The ratio and its interval turn over."""
    found = runs({"a": (1.3, 1.5), "b": (1.0, 1.1, 0.9)})
    there, back = only(report(found, "b")), only(report(found, "a"))
    assert there.ratio == pytest.approx(1 / back.ratio)
    assert there.interval.low_ratio == pytest.approx(1 / back.interval.high_ratio)


def test_runs_of_one_machine_in_bare_files_are_one_worker() -> None:
    """By the boot id: they count once in the figures, in the table of workers and in the evidence."""
    found = report(runs({"a": (2.0, 2.2), "b": (1.0, 1.1)}), "b")
    (subject,) = found.subjects
    assert {side: one.workers for side, one in subject.figures.items()} == {"a": 1, "b": 1}
    assert [(row.side, row.runs, row.workers) for row in found.replication] == [
        ("b", 2, 1),
        ("a", 2, 1),
    ]
    assert all(one.between_workers_ratio is None for one in subject.figures.values())
    for diagnosis in found.diagnoses:
        for cause in diagnosis.causes:
            assert "workers" not in evidence_text(cause.baseline_evidence), cause
            assert "workers" not in evidence_text(cause.candidate_evidence), cause


def test_figures_are_means_of_workers() -> None:
    """Three runs of one worker weigh as much as one run of another."""
    apart = {f"intel/{at}": scaled(2.0) for at in range(3)}
    documents = seed_case.documents(4, pools=("intel",), change=apart)
    for document in documents[:3]:
        document["host"]["boot_id"] = BOOT
    found = [seed_workers.worker(document, "a") for document in documents]
    (subject,) = compare(Plan.of_pools(["a"], None), found, Options()).subjects
    one_ns = seed_case.documents(1, pools=("intel",))[0]
    mean_ns = seed_workers.worker(one_ns, "a").entries[0].mean_ns
    assert subject.figures["a"].workers == 2
    assert subject.figures["a"].mean_ns == pytest.approx(1.5 * mean_ns, rel=1e-6)
    assert subject.figures["a"].between_workers_ratio == pytest.approx(math.log(2) / math.sqrt(2))


def test_sides_on_one_machine_are_named() -> None:
    """A verdict between them is not one between their machines, and the report says so."""
    found = report(runs({"a": (2.0, 2.01, 2.02), "b": (1.0, 1.01, 1.02)}), "b")
    (problem,) = [one for one in found.problems if one.rule == "shared-worker"]
    assert problem.severity is Severity.WARNING
    assert problem.sides == ("b", "a")
    assert "were measured on the same machine" in text_of(problem.message)
    assert ", so their machines do not differ" in text_of(problem.message)
    assert problem.explanation is not None
    assert "does not apply to other workers" in text_of(problem.explanation)


@pytest.mark.parametrize(
    ("started", "at_once"),
    [
        pytest.param("2026-11-20T10:00:05Z", True, id="during the first"),
        pytest.param("2026-11-20T10:00:10Z", False, id="as the first ends"),
        pytest.param("2026-11-20T10:05:00Z", False, id="later"),
        pytest.param("yesterday", False, id="unknown"),
    ],
)
def test_runs_at_the_same_time_are_named(started: str, at_once: bool) -> None:
    """Two jobs at once on one machine slow each other: a reader has to know, on one side or on both."""
    documents = seed_case.documents(2, pools=("intel",))
    for document, time in zip(documents, ("2026-11-20T10:00:00Z", started), strict=True):
        document.update(started=time, duration_ns=10_500_000_000)
        document["host"]["boot_id"] = BOOT
    for names, rule in ((("a", "a"), "same-worker"), (("a", "b"), "shared-worker")):
        found = [
            seed_workers.worker(document, name)
            for document, name in zip(documents, names, strict=True)
        ]
        report = compare(Plan.of_pools(sorted(set(names)), None), found, Options())
        assert {line.at_once for line in report.workers} == {at_once}
        (problem,) = [one for one in report.problems if one.rule == rule]
        told = "some at the same time, which slows each of them" in text_of(problem.message)
        assert told is at_once


def test_only_machines_of_both_sides_are_meant() -> None:
    """That one side's second machine ran two tasks at once says nothing of the machine they share."""
    machines = [BOOT, "5b2c7a90-1d3e-4f86-9a0b-c1d2e3f4a5b6"]
    documents = seed_case.documents(4, pools=("intel",))
    starts = ("10:00:00", "11:00:00", "11:00:05", "12:00:00")
    at = (0, 1, 1, 0)
    for document, start, number in zip(documents, starts, at, strict=True):
        document.update(started=f"2026-11-20T{start}Z", duration_ns=60_000_000_000)
        document["host"]["boot_id"] = machines[number]
    found = [
        seed_workers.worker(document, name)
        for document, name in zip(documents, "aaab", strict=True)
    ]
    told = compare(Plan.of_pools(["a", "b"], None), found, Options()).problems
    at_once = {one.rule for one in told if "some at the same time" in text_of(one.message)}
    assert at_once == {"same-worker"}


def test_evidence_counts_workers() -> None:
    """Two runs of one worker and one of another are two workers."""
    documents = seed_case.documents(3, pools=("intel",), change={"intel/0": {"host.boot_id": BOOT}})
    documents[1]["host"]["boot_id"] = BOOT
    slow = seed_case.documents(1, pools=("amd-16",))
    found = report([seed_workers.worker(one) for one in (*documents, *slow)], "intel")
    told = [cause for one in found.diagnoses for cause in one.causes]
    assert any("on 2 of 2 workers" in evidence_text(cause.baseline_evidence) for cause in told)
    assert not any("3 workers" in evidence_text(cause.baseline_evidence) for cause in told)
    assert any(cause.state is State.SUPPORTED for cause in told)


def test_runs_that_tell_different_things() -> None:
    """Each side has one worker, and its number of runs is given."""
    documents = seed_case.documents(2, pools=("intel",))
    for document in documents:
        document["host"]["boot_id"] = BOOT
    documents[1]["host"]["cpu_model"] = "Another CPU"
    slow = seed_case.documents(1, pools=("amd-16",))
    found = report([seed_workers.worker(one) for one in (*documents, *slow)], "intel")
    told = [
        evidence_text(cause.baseline_evidence) for one in found.diagnoses for cause in one.causes
    ]
    assert any("Another CPU, 16 CPUs on 1 of 2 runs" in text for text in told)
