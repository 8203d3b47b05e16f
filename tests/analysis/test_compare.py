# SPDX-License-Identifier: MPL-2.0
"""The whole comparison, on the seed's case."""

from seed_workers import SUBJECT, compared, measured, workers

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.model import Severity, Subject
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


def subjects_of(report: Report, rule: str) -> list[Subject | None]:
    return [problem.subject for problem in report.problems if problem.rule == rule]


def test_a_problem_of_all_subjects_is_one_problem() -> None:
    """It names no subject; one of some subjects has each of them."""
    two, one = (dict(measured(only=names)) for names in (("spawn", "metadata/stat"), ("spawn",)))
    assert subjects_of(compared({"intel": two, "amd-16": two}), "one-worker") == [None]
    assert set(subjects_of(seeds_report(), "one-worker")) == {SUBJECT}
    drifting = {"workloads.0.samples.copy_ns": sorted}
    assert subjects_of(compared({"intel": one, "amd-16": one | drifting}), "drift") == [SUBJECT]
