# SPDX-License-Identifier: MPL-2.0
"""The whole comparison, on the seed's case."""

import pytest
from seed_case import outcome
from seed_workers import SUBJECT, measured, pair_report, workers

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.diagnosis_model import State
from io_benchmark.analysis.model import Severity, Subject, Verdict
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report

SEED = Plan(
    "amd-16, amd-30 against intel",
    "intel",
    "for the test",
    (("amd-16", "intel"), ("amd-30", "intel")),
)


def seeds_report(count: int = 1, between: float = 0.0) -> Report:
    return compare(SEED, workers(count, between=between), Options())


def test_the_seeds_table() -> None:
    """Avg, P50, P95, P99 and Total of seed 000's final table, the ratios 1.00, 1.01 and 1.92."""
    (subject,) = seeds_report().subjects
    rows = {
        side: [
            *(round(ns / 1e6) for ns in (figures.mean_ns, *figures.percentiles_ns.values())),
            round(figures.total_ns / 1e9, 1),
        ]
        for side, figures in subject.figures.items()
    }
    assert list(rows.items()) == [
        ("intel", [76, 80, 109, 118, 151.9]),
        ("amd-16", [146, 157, 205, 237, 291.4]),
        ("amd-30", [77, 82, 115, 149, 154.0]),
    ]
    assert [round(comparison.ratio, 2) for comparison in subject.comparisons] == [1.92, 1.01]


def test_the_seeds_verdicts() -> None:
    """amd-16 slower, and how far workers would have to differ for that to be chance; amd-30 not."""
    (subject,) = seeds_report().subjects
    slower, inconclusive = subject.comparisons
    assert (slower.verdict, slower.advice) == (Verdict.SLOWER, None)
    assert (slower.method, slower.assumed_variation_ratio) == ("paired retrieves", 0.05)
    assert slower.variation_to_explain_ratio is not None
    assert 0.15 < slower.variation_to_explain_ratio < 0.25
    assert inconclusive.verdict is Verdict.INCONCLUSIVE
    assert inconclusive.advice is not None
    assert inconclusive.advice.leaning is Verdict.EQUIVALENT
    assert 30 <= (inconclusive.advice.workers_to_add or 0) <= 60


def test_the_seeds_cause() -> None:
    """One device against two striped: the predicted 2.0 explains all of the measured 1.92."""
    slower, same = seeds_report().diagnoses
    (cause,) = [cause for cause in slower.causes if cause.name == "device-count"]
    assert cause.state is State.SUPPORTED
    assert cause.predicted_ratio == pytest.approx(2.0, rel=0.01)
    assert cause.share == pytest.approx(1.0, abs=0.001)
    assert "device-count" in {remedy.cause for remedy in slower.remedies}
    assert State.SUPPORTED not in {cause.state for cause in same.causes}


def test_several_workers_see_their_own_variation() -> None:
    """With eight workers a pool that differ by 2 %, amd-30 is decided and nothing is assumed."""
    (subject,) = seeds_report(8, 0.02).subjects
    slower, same = subject.comparisons
    assert (slower.verdict, slower.method) == (Verdict.SLOWER, "workers")
    assert (slower.assumed_variation_ratio, same.verdict) == (None, Verdict.EQUIVALENT)
    assert subject.figures["intel"].between_workers_ratio == pytest.approx(0.02, rel=0.6)


def test_before_and_after() -> None:
    """Each pool against itself: a pool that is only on one side is named and not compared."""
    before = workers(2, between=0.02, side="{pool} before", pools=("intel", "amd-16"))
    after = workers(2, seed=1, between=0.02, side="{pool} after", pools=("intel", "amd-30"))
    plan = Plan.before_and_after(("intel", "amd-16", "amd-30"))
    report = compare(plan, [*before, *after], Options())
    (subject,) = report.subjects
    (comparison,) = subject.comparisons
    assert (comparison.baseline, comparison.candidate) == ("intel before", "intel after")
    problems = [problem for problem in report.problems if problem.rule == "nothing-in-common"]
    assert [(problem.severity, problem.sides) for problem in problems] == [
        (Severity.REFUSED, ("amd-16 before", "amd-16 after")),
        (Severity.REFUSED, ("amd-30 before", "amd-30 after")),
    ]


def test_each_run_has_a_line() -> None:
    """With its side, task and machine, whether it is complete, and a URL that reports can link to."""
    stopped = {"outcome": outcome("stopped", "stopped by SIGTERM")}
    url = "https://ci.example/runs/7"
    change = {
        "amd-16": {**stopped, "task.ci": {"system": "x", "url": "javascript:alert(1)"}},
        "intel": {"task.ci": {"system": "x", "url": url}},
    }
    found = workers(pools=("amd-16", "intel"), change=change)
    lines = compare(SEED, found, Options()).workers
    assert [(line.side, line.completed, line.incomplete_reason, line.url) for line in lines] == [
        ("amd-16", False, "stopped by SIGTERM", None),
        ("intel", True, None, url),
    ]
    for name in ("pool", "task_id", "run_id", "worker_id", "state", "source"):
        assert [getattr(line, name) for line in lines] == [getattr(run, name) for run in found]


def subjects_of(report: Report, rule: str) -> list[Subject | None]:
    return [problem.subject for problem in report.problems if problem.rule == rule]


def test_a_problem_of_all_subjects_is_one_problem() -> None:
    """It names no subject; one of some subjects has each of them."""
    two, one = (dict(measured(only=names)) for names in (("spawn", "metadata/stat"), ("spawn",)))
    assert subjects_of(pair_report(two, two), "one-worker") == [None]
    assert set(subjects_of(seeds_report(), "one-worker")) == {SUBJECT}
    drifting = {"workloads.0.samples.copy_ns": sorted}
    assert subjects_of(pair_report(one, one | drifting), "drift") == [SUBJECT]


def test_nothing_is_a_report_too() -> None:
    """No results: no subjects, no verdicts, and no crash."""
    report = compare(Plan("Pools", "", "there are no results", ()), [], Options())
    assert (report.subjects, report.diagnoses, report.problems) == ((), (), ())
