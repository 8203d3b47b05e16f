# SPDX-License-Identifier: MPL-2.0
"""The whole comparison, on the seed's case."""

from seed_workers import SUBJECT, broken, compared, measured, report_of, workers

from io_benchmark.analysis.model import Subject
from io_benchmark.analysis.report_model import SampledReport


def test_the_seeds_table() -> None:
    """Avg, P50, P95, P99 and Total of seed 000's final table, the ratios 1.00, 1.01 and 1.92."""
    (subject,) = report_of(workers()).subjects
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


def subjects_of(report: SampledReport, rule: str) -> list[Subject | None]:
    return [problem.subject for problem in broken(report, rule)]


def test_a_problem_of_all_subjects_is_one_problem() -> None:
    """It names no subject; one of some subjects has each of them."""
    two, one = (dict(measured(only=names)) for names in (("spawn", "metadata/stat"), ("spawn",)))
    assert subjects_of(compared({"intel": two, "amd-16": two}), "one-worker") == [None]
    assert set(subjects_of(report_of(workers()), "one-worker")) == {SUBJECT}
    drifting = {"workloads.0.samples.copy_ns": sorted}
    assert subjects_of(compared({"intel": one, "amd-16": one | drifting}), "drift") == [SUBJECT]
