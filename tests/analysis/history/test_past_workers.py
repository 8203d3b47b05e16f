# SPDX-License-Identifier: MPL-2.0
"""What earlier workers show about a pool's variation."""

import math

import pytest
import sample_history
import seed_workers
from msgspec.structs import replace

from io_benchmark.analysis.history.history_model import HistoryReading
from io_benchmark.analysis.history.readings import PastWorkers, conditions_of
from io_benchmark.analysis.model import WorkerVariation
from io_benchmark.analysis.observed.machine_identity import MachineMarks
from io_benchmark.analysis.observed.runs import Run
from io_benchmark.analysis.statements import statement
from io_benchmark.report.content.wording import text_of

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


def by_week(*deviations: float) -> list[tuple[int, float, str]]:
    """Return a week, a deviation and a machine for each of several weeks."""
    return [(week, deviation, f"m{week}") for week, deviation in enumerate(deviations)]


ONE_PUSH = [(0, deviation, f"m{deviation}") for deviation in DEVIATIONS]
STEP = [DEVIATIONS[week % 3] / 5 + (0.65 if week >= 9 else 0.0) for week in range(18)]
TWO_PUSHES = [
    (week, 0.65 * week + part, f"m{week}-{part}") for week in (0, 1) for part in DEVIATIONS
]


@pytest.mark.parametrize(
    ("readings", "ratio", "source"),
    [
        # Two degrees of freedom are the fewest that count.
        (ONE_PUSH, 0.1, "3 earlier workers of intel in 1 push (past)"),
        # Between so few pushes, days and workers cannot be told apart: all of it counts.
        (by_week(*DEVIATIONS), 0.1, "3 earlier workers of intel in 3 pushes (past)"),
        # A step of 1.92× is left out: workers differ by 2 % within both levels.
        (
            *(by_week(*STEP), 0.02 * math.sqrt(12 / 16)),
            "18 earlier workers of intel in 18 pushes (past; 1 change of level left out)",
        ),
        # Each push has three workers, so that they differ by themselves, whatever happened between.
        (TWO_PUSHES, 0.1, "6 earlier workers of intel in 2 pushes (past)"),
    ],
    ids=["one-push", "three-pushes", "a-step", "a-step-between-two-pushes"],
)
def test_variation(
    run: Run, readings: list[tuple[int, float, str]], ratio: float, source: str
) -> None:
    """How far earlier workers differ, and what shows it."""
    known = variation(run, *(reading(run, *values) for values in readings))
    assert known.measured_ratio == pytest.approx(ratio)
    assert (known.source, known.workers) == ("history", len(readings))
    assert known.shown_by is not None
    assert text_of(known.shown_by) == source


@pytest.mark.parametrize(
    ("spreads", "degrees"),
    [
        # No more than by chance: all twelve degrees of freedom count.
        pytest.param((0.1,) * 6, 12.0, id="alike"),
        # Variances of 1 and 4 parts: the squares exceed what chance gives, which is 5, by
        # 6 × 0.36 − 5, so that none is left; of 1 and 100 parts they are 5.76.
        pytest.param((0.1, 0.2) * 3, 12.0, id="twice"),
        pytest.param(
            (0.01, 0.1) * 3, 1 / (1 / 12 + 1 / (4 + 24 / (6 * (99 / 101) ** 2 - 5))), id="ten-times"
        ),
    ],
)
def test_what_a_past_counts(run: Run, spreads: tuple[float, ...], degrees: float) -> None:
    """The less, the more the variation itself differs from push to push."""
    made = [
        reading(run, week, spread * deviation / 0.1, f"m{week} {deviation}")
        for week, spread in enumerate(spreads)
        for deviation in DEVIATIONS
    ]
    prior = PastWorkers("past", {"intel": made}).prior(run)
    assert prior is not None
    assert prior.variance.degrees == pytest.approx(degrees)


def test_a_machine_counts_once(run: Run) -> None:
    """Twenty weeks of two machines show no more than two workers do."""
    made = [reading(run, week, 0.1 * (week % 2), f"m{week % 2}") for week in range(20)]
    assert variation(run, *made).source == "default"


@pytest.mark.parametrize("difference", ["few", "pool", "measurement", "conditions"])
def test_what_does_not_count(run: Run, difference: str) -> None:
    """Two workers, another pool, another measurement, or one under other conditions."""
    made = [reading(run, *values) for values in ONE_PUSH]
    changed = {
        "few": made[:2],
        "pool": made,
        "measurement": [
            replace(known, subject=replace(known.subject, destination="fresh")) for known in made
        ],
        "conditions": [
            replace(known, conditions=(("profile", statement("profile quick")),)) for known in made
        ],
    }
    pool = "amd-16" if difference == "pool" else "intel"
    (known,) = PastWorkers("past", {pool: changed[difference]}).variations([run])
    assert (known.ratio, known.source) == (0.05, "default")
    assert known.explanation is not None
    assert text_of(known.explanation) == (
        "past has fewer than three earlier workers of intel that measured the same."
    )


@pytest.mark.parametrize(
    ("readings", "known"),
    [
        pytest.param(by_week(*DEVIATIONS), (3, 0.1), id="three pushes"),
        pytest.param(by_week(*STEP), (18, 0.02 * math.sqrt(12 / 16)), id="a step is left out"),
        pytest.param(by_week(*DEVIATIONS[:2]), None, id="two pushes are too few"),
        pytest.param(ONE_PUSH, None, id="workers of one push show nothing of it"),
    ],
)
def test_variation_between_pushes(run, readings, known):
    """How many earlier pushes there are, and how far their levels differ."""
    past = PastWorkers("past", {"intel": [reading(run, *values) for values in readings]})
    measured = past.push_variance(run)
    found = measured and (measured[0], math.sqrt(measured[1].variance))
    assert found == (known and (known[0], pytest.approx(known[1])))
