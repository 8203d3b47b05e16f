# SPDX-License-Identifier: MPL-2.0
"""One worker a side with several runs: all of them count. The rates are in tests/simulation."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
import seed_workers

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.model import Comparison, Severity, Verdict, Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report
from io_benchmark.report.content.statement_text import evidence_text, text_of

BOOT, OTHER_BOOT = "4514e179-e9e1-4620-b051-b51d93f6b9cd", "5b2c7a90-1d3e-4f86-9a0b-c1d2e3f4a5b6"
AT_ONCE = "some at the same time, which slows each of them"


def scaled(factor: float) -> dict[str, Any]:
    def times(column: Sequence[int]) -> list[int]:
        return [round(value * factor) for value in column]

    return {f"workloads.0.samples.{name}": times for name in ("lookup_ns", "copy_ns")}


def runs(side: str, *changes: dict[str, Any]) -> list[Worker]:
    """Runs with Intel's times, one for each change."""
    change = {f"intel/{at}": change for at, change in enumerate(changes)}
    return seed_workers.workers(len(changes), pools=("intel",), change=change, side=side)


def on_one_machine(**factors: Sequence[float]) -> list[Worker]:
    """Runs that take so many times as long, all on one machine."""
    return [
        run
        for side, numbers in factors.items()
        for run in runs(side, *({"host.boot_id": BOOT, **scaled(number)} for number in numbers))
    ]


def report(workers: Sequence[Worker], baseline: str = "b") -> Report:
    sides = {worker.side for worker in workers}
    return compare(
        Plan.of_pools(sides, baseline if baseline in sides else None), workers, Options()
    )


def only(made: Report) -> Comparison:
    (subject,) = made.subjects
    (comparison,) = subject.comparisons
    return comparison


def test_the_averages_of_all_runs_are_compared() -> None:
    """Widely where runs differ; runs that differ by a percent give a verdict."""
    comparison = only(report(on_one_machine(a=(0.52, 0.75, 1.08), b=(1.0, 0.8, 1.25))))
    assert comparison.ratio == pytest.approx((0.52 * 0.75 * 1.08) ** (1 / 3), rel=1e-3)
    assert comparison.method == "runs of one worker"
    assert comparison.verdict is Verdict.INCONCLUSIVE
    assert comparison.interval.low_ratio < 0.5
    assert comparison.interval.high_ratio > 1.1
    slower = tuple(2 * (1 + 0.01 * at) for at in range(5))
    agreeing = only(report(on_one_machine(a=slower, b=(1, 1.01, 0.99, 1, 1.02))))
    assert (agreeing.verdict, agreeing.assumed_variation_ratio) == (Verdict.SLOWER, 0.05)


def test_runs_of_one_machine_in_bare_files_are_one_worker() -> None:
    """By the boot id: they count once in the figures, in the table of workers and in the evidence."""
    made = report(on_one_machine(a=(2.0, 2.2), b=(1.0, 1.1)))
    (subject,) = made.subjects
    assert {side: figures.workers for side, figures in subject.figures.items()} == {"a": 1, "b": 1}
    counts = [(row.side, row.runs, row.workers) for row in made.replication]
    assert counts == [("b", 2, 1), ("a", 2, 1)]
    assert all(figures.between_workers_ratio is None for figures in subject.figures.values())
    evidence = [
        evidence_text(side)
        for diagnosis in made.diagnoses
        for cause in diagnosis.causes
        for side in (cause.baseline_evidence, cause.candidate_evidence)
    ]
    assert not any("workers" in text for text in evidence)
    # A verdict between them is not one between their machines, and the report says so.
    (problem,) = [problem for problem in made.problems if problem.rule == "shared-worker"]
    assert (problem.severity, problem.sides) == (Severity.WARNING, ("b", "a"))
    assert "were measured on the same machine" in text_of(problem.message)
    assert ", so their machines do not differ" in text_of(problem.message)
    assert problem.explanation is not None
    assert "does not apply to other workers" in text_of(problem.explanation)


def test_figures_are_means_of_workers() -> None:
    """Three runs of one worker weigh as much as one run of another."""
    twice = {"host.boot_id": BOOT, **scaled(2.0)}
    workers = runs("a", twice, twice, twice, {})
    figures = report(workers).subjects[0].figures["a"]
    assert figures.workers == 2
    assert figures.mean_ns == pytest.approx(1.5 * workers[3].entries[0].mean_ns, rel=1e-6)
    assert figures.between_workers_ratio == pytest.approx(math.log(2) / math.sqrt(2))


@pytest.mark.parametrize(
    ("started", "at_once"),
    [
        pytest.param("2026-11-20T10:00:05Z", True, id="during the first"),
        pytest.param("2026-11-20T10:00:10Z", False, id="as the first ends"),
        pytest.param("yesterday", False, id="unknown"),
    ],
)
def test_runs_at_the_same_time_are_named(started: str, at_once: bool) -> None:
    """Two jobs at once on one machine slow each other, on one side or on both."""
    first, second = (
        {"host.boot_id": BOOT, "started": time, "duration_ns": 10_500_000_000}
        for time in ("2026-11-20T10:00:00Z", started)
    )
    same_side = runs("a", first, second)
    for workers, rule in (
        (same_side, "same-worker"),
        ([same_side[0], *runs("b", second)], "shared-worker"),
    ):
        made = report(workers)
        assert {line.at_once for line in made.workers} == {at_once}
        (problem,) = [problem for problem in made.problems if problem.rule == rule]
        assert (AT_ONCE in text_of(problem.message)) is at_once


def test_only_machines_of_both_sides_are_meant() -> None:
    """That one side's second machine ran two tasks at once says nothing of the machine they share."""
    changes = [
        {"host.boot_id": boot, "started": f"2026-11-20T{start}Z", "duration_ns": 60_000_000_000}
        for boot, start in (
            (BOOT, "10:00:00"),
            (OTHER_BOOT, "11:00:00"),
            (OTHER_BOOT, "11:00:05"),
            (BOOT, "12:00:00"),
        )
    ]
    problems = report([*runs("a", *changes[:3]), *runs("b", changes[3])]).problems
    at_once = {problem.rule for problem in problems if AT_ONCE in text_of(problem.message)}
    assert at_once == {"same-worker"}


def test_evidence_counts_workers() -> None:
    """Two runs of one worker and one of another are two workers; runs of one that differ are named."""
    slow = seed_workers.workers(1, pools=("amd-16",))
    boot = {"host.boot_id": BOOT}
    another = {**boot, "host.cpu_model": "Another CPU"}
    for changes, expected in (
        ((boot, boot, {}), "on 2 of 2 workers"),
        ((boot, another), "Another CPU, 16 CPUs on 1 of 2 runs"),
    ):
        made = report([*runs("intel", *changes), *slow], "intel")
        evidence = [
            evidence_text(cause.baseline_evidence)
            for diagnosis in made.diagnoses
            for cause in diagnosis.causes
        ]
        assert any(expected in text for text in evidence)
        assert not any("3 workers" in text for text in evidence)
