# SPDX-License-Identifier: MPL-2.0
"""The whole comparison, on the seed's case."""

import pytest
from seed_case import outcome
from seed_workers import SUBJECT, measured, pair_report, workers

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.model import Severity, Verdict
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
    shown = {
        side: [round(value / 1e6) for value in (one.mean_ns, *one.percentiles_ns.values())]
        for side, one in subject.figures.items()
    }
    assert shown == {
        "intel": [76, 80, 109, 118],
        "amd-16": [146, 157, 205, 237],
        "amd-30": [77, 82, 115, 149],
    }
    assert list(subject.figures) == ["intel", "amd-16", "amd-30"]
    assert round(subject.figures["intel"].total_ns / 1e9, 1) == 151.9
    assert round(subject.figures["amd-16"].total_ns / 1e9, 1) == 291.4
    assert [round(one.ratio, 2) for one in subject.comparisons] == [1.92, 1.01]


def test_the_seeds_verdicts() -> None:
    """amd-16 slower, and how far workers would have to differ for that to be chance; amd-30 not."""
    (subject,) = seeds_report().subjects
    slower, inconclusive = subject.comparisons
    assert (slower.verdict, slower.advice) == (Verdict.SLOWER, None)
    assert slower.method == "paired retrieves"
    assert slower.assumed_variation_ratio == 0.05
    assert slower.variation_to_explain_ratio is not None
    assert 0.15 < slower.variation_to_explain_ratio < 0.25
    assert inconclusive.verdict is Verdict.INCONCLUSIVE
    assert inconclusive.advice is not None
    assert inconclusive.advice.leaning is Verdict.EQUIVALENT
    assert inconclusive.advice.workers_to_add is not None
    assert 30 <= inconclusive.advice.workers_to_add <= 60


def test_several_workers_see_their_own_variation() -> None:
    """With eight workers a pool that differ by 2 %, amd-30 is decided and nothing is assumed."""
    (subject,) = seeds_report(8, 0.02).subjects
    slower, other = subject.comparisons
    assert slower.verdict is Verdict.SLOWER
    assert slower.method == "workers"
    assert slower.assumed_variation_ratio is None
    assert other.verdict is Verdict.EQUIVALENT
    assert subject.figures["intel"].between_workers_ratio == pytest.approx(0.02, rel=0.6)
    assert [floor.kind for floor in subject.noise] == ["within-worker", "between-workers"]


def test_before_and_after() -> None:
    """Each pool against itself: a pool that is only on one side is named and not compared."""
    before = workers(2, between=0.02, side="{pool} before", pools=("intel", "amd-16"))
    after = workers(2, seed=1, between=0.02, side="{pool} after", pools=("intel", "amd-30"))
    pairs = tuple((f"{pool} after", f"{pool} before") for pool in ("amd-16", "amd-30", "intel"))
    report = compare(Plan("t", "before", "--against", pairs), [*before, *after], Options())
    (subject,) = report.subjects
    assert [(one.baseline, one.candidate) for one in subject.comparisons] == [
        ("intel before", "intel after")
    ]
    assert [
        (problem.rule, problem.severity, problem.sides)
        for problem in report.problems
        if problem.rule == "nothing-in-common"
    ] == [
        ("nothing-in-common", Severity.REFUSED, ("amd-16 before", "amd-16 after")),
        ("nothing-in-common", Severity.REFUSED, ("amd-30 before", "amd-30 after")),
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
    names = ("pool", "task_id", "run_id", "worker_id", "state", "source")
    for name in names:
        assert [getattr(run, name) for run in lines] == [getattr(run, name) for run in found]


def test_a_problem_of_all_subjects_is_one_problem() -> None:
    """It names no subject; one of some subjects has each of them."""
    two, one = (dict(measured(only=names)) for names in (("spawn", "metadata/stat"), ("spawn",)))
    everywhere = [each for each in pair_report(two, two).problems if each.rule == "one-worker"]
    assert [(each.subject, each.sides) for each in everywhere] == [(None, ("amd-16", "intel"))]
    alone = [each for each in seeds_report().problems if each.rule == "one-worker"]
    assert {each.subject for each in alone} == {SUBJECT}
    drifting = {"workloads.0.samples.copy_ns": sorted}
    changed = pair_report(one, one | drifting)
    (drift,) = [each for each in changed.problems if each.rule == "drift"]
    assert drift.subject == SUBJECT


def test_nothing_is_a_report_too() -> None:
    """No results: no subjects, no verdicts, and no crash."""
    report = compare(Plan("Pools", "", "there are no results", ()), [], Options())
    assert (report.subjects, report.diagnoses, report.problems) == ((), (), ())
