# SPDX-License-Identifier: MPL-2.0
"""What earlier workers show about a pool's variation."""

import math

import pytest
import sample_history
import seed_workers
from msgspec.structs import replace

from io_benchmark.analysis.history.history_model import HistoryReading
from io_benchmark.analysis.history.past_workers import PastWorkers
from io_benchmark.analysis.history.readings import conditions_of
from io_benchmark.analysis.inference.worker_variation import WorkerVariation
from io_benchmark.analysis.model import Run
from io_benchmark.analysis.observed.machine_identity import MachineMarks
from io_benchmark.analysis.statements import statement
from io_benchmark.report.content.statement_text import text_of

# Their standard deviation is 0.1.
DEVIATIONS = (-0.1, 0.0, 0.1)


@pytest.fixture(scope="module")
def run() -> Run:
    """What is compared: a worker of intel."""
    (worker,) = seed_workers.workers(1, pools=("intel",))
    return Run(worker, worker.entries[0])


def reading(run: Run, week: int, log_mean: float, machine: str) -> HistoryReading:
    made = sample_history.reading(week, 76, percent=100 * log_mean, marks=MachineMarks(machine))
    return replace(made, subject=run.entry.subject, conditions=conditions_of(run))


def variation(run: Run, *readings: HistoryReading) -> WorkerVariation:
    (known,) = PastWorkers("past", {"intel": readings}).variations([run])
    return known


def test_one_push_with_three_workers(run: Run) -> None:
    """Two degrees of freedom are the fewest that count."""
    made = [reading(run, 0, at, f"m{number}") for number, at in enumerate(DEVIATIONS)]
    known = variation(run, *made)
    assert known.measured_ratio == pytest.approx(0.1)
    assert (known.source, known.workers) == ("history", 3)
    assert known.shown_by is not None
    assert text_of(known.shown_by) == "3 earlier workers of intel (past)"


def test_three_pushes_with_one_worker(run: Run) -> None:
    """Between so few, days and workers cannot be told apart: all of it counts."""
    made = [reading(run, week, at, f"m{week}") for week, at in enumerate(DEVIATIONS)]
    assert variation(run, *made).measured_ratio == pytest.approx(0.1)


def test_a_machine_counts_once(run: Run) -> None:
    """Twenty weeks of two machines show no more than two workers do."""
    made = [reading(run, week, 0.1 * (week % 2), f"m{week % 2}") for week in range(20)]
    assert variation(run, *made).source == "default"


def test_a_step_is_left_out(run: Run) -> None:
    """Ten weeks, a step of 1.92×, ten weeks: how far workers differ within both, and one change."""
    made = [
        reading(run, week, DEVIATIONS[week % 3] / 5 + (0.65 if week >= 9 else 0.0), f"m{week}")
        for week in range(18)
    ]
    known = variation(run, *made)
    assert known.measured_ratio == pytest.approx(0.02 * math.sqrt(12 / 16))
    assert known.shown_by is not None
    assert text_of(known.shown_by) == (
        "18 earlier workers of intel (past; 1 change of level left out)"
    )


def test_a_step_between_two_pushes(run: Run) -> None:
    """Each push has three workers, so that they differ by themselves, whatever happened between."""
    made = [
        reading(run, week, at + 0.65 * week, f"m{week}-{at}")
        for week in range(2)
        for at in DEVIATIONS
    ]
    assert variation(run, *made).measured_ratio == pytest.approx(0.1)


@pytest.mark.parametrize("difference", ["few", "pool", "measurement", "conditions"])
def test_what_does_not_count(run: Run, difference: str) -> None:
    """Two workers, another pool, another measurement, or one under other conditions."""
    made = [reading(run, 0, at, f"m{number}") for number, at in enumerate(DEVIATIONS)]
    pool = "amd-16" if difference == "pool" else "intel"
    if difference == "few":
        made = made[:2]
    if difference == "measurement":
        subject = replace(run.entry.subject, destination="fresh")
        made = [replace(each, subject=subject) for each in made]
    if difference == "conditions":
        conditions = (("profile", statement("profile quick")),)
        made = [replace(each, conditions=conditions) for each in made]
    (known,) = PastWorkers("past", {pool: made}).variations([run])
    assert (known.ratio, known.source) == (0.05, "default")
    assert known.explanation is not None
    assert text_of(known.explanation) == (
        "past has fewer than three earlier workers of intel that measured the same."
    )
