# SPDX-License-Identifier: MPL-2.0
"""Which look a comparison is, and what it may spend; the rates are in tests/simulation."""

from collections.abc import Sequence

import pytest
import seed_case
import seed_workers
from msgspec.structs import replace

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.inference import looks
from io_benchmark.analysis.inference.crossing import chance_of_crossing
from io_benchmark.analysis.inference.looks import SINGLE, Schedule
from io_benchmark.analysis.model import Comparison, Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.results.format import PLAN_VARIABLE
from io_benchmark_taskgraph.transforms import replicates


@pytest.mark.parametrize("alpha", [0.10, 0.05, 0.05 / 3])
@pytest.mark.parametrize(
    "schedule", [Schedule(), Schedule((3, 6, 12), is_declared=True)], ids=["assumed", "declared"]
)
def test_all_looks_together_keep_the_error(schedule: Schedule, alpha: float) -> None:
    """Looks after each number of workers up to a hundred, at their own levels."""
    counts = (*range(2, 25), *range(26, 100, 3))
    p_values = [schedule.look(count).to_differ.p_value(alpha) for count in counts]
    assert 0.85 * alpha < chance_of_crossing(counts, p_values) < 1.02 * alpha


@pytest.mark.parametrize("numbers", [(2, 50, 51), (2, 99, 100)])
def test_a_thousand_comparisons_at_late_looks(numbers: tuple[int, ...]) -> None:
    """Their levels are the smallest, and the sum is the widest for the step to the last look."""
    schedule = Schedule(numbers, is_declared=True)
    alpha = 0.05 / 1000
    levels = [schedule.look(count).to_differ.p_value(alpha) for count in numbers]
    assert 0.01 * alpha <= levels[0] <= levels[1] == levels[2] < alpha


def test_known_factors() -> None:
    """What is known of the assumed looks is what would be computed."""
    known = looks._known_factors()
    assert len(known) == 4
    assert known == pytest.approx({each: looks._common_factor(*each, 0.0) for each in known})


def test_between_two_looks() -> None:
    """Nothing is declared: a number of workers in between has the level of the look before."""
    schedule = Schedule()
    levels = [schedule.look(count).to_differ.p_value(0.05) for count in (3, 5, 6, 11, 12, 23, 24)]
    assert levels[0] == levels[1] < levels[2] == levels[3] == levels[4] == levels[5] > levels[6]


def test_a_declared_look_is_less_strict() -> None:
    """Nothing is spent on numbers of workers at which nobody looks."""
    declared = Schedule((3, 6, 12), is_declared=True)
    for count in (3, 6, 12):
        assert declared.look(count).to_differ.p_value(0.05) > 2 * Schedule().look(
            count
        ).to_differ.p_value(0.05)
    assert declared.look(7).to_differ.p_value(0.05) == pytest.approx(0.0005)


def test_one_declared_look() -> None:
    """Looked at once, nothing is adjusted; at any other number hardly anything may be spent."""
    once = Schedule((6,), is_declared=True)
    assert once.look(6) == SINGLE
    assert once.look(5).to_differ.p_value(0.05) == pytest.approx(0.0005)
    assert once.look(7).to_be_equivalent.p_value(0.10) == pytest.approx(0.001)


def test_one_variable_for_tasks_and_reports() -> None:
    """Tasks get the variable that reports read."""
    assert replicates.PLAN_VARIABLE == PLAN_VARIABLE


def workers(planned: dict[str, str | None], count: int) -> list[Worker]:
    """So many workers of two pools, whose tasks say how many were planned."""
    found = []
    for pool, plan in planned.items():
        environment = {} if plan is None else {PLAN_VARIABLE: plan}
        changes = {pool: {"config.environment": environment}}
        documents = seed_case.documents(count, between=0.02, pools=(pool,), change=changes)
        found += [seed_workers.worker(document, pool) for document in documents]
    return found


def compared(
    found: list[Worker], schedule: Schedule | None = None, lost: Sequence[str] = ()
) -> Comparison:
    options = Options(schedule=schedule or Schedule())
    plan = Plan.of_pools((each.side for each in found), "intel")
    report = compare(plan, found, options, lost=lost)
    (comparison,) = report.subjects[0].comparisons
    # That of all workers, also where an earlier look decided.
    return comparison.of_all or comparison


@pytest.mark.parametrize(
    ("planned", "level", "look"),
    [
        pytest.param({"amd-16": "6", "intel": "6"}, 0.95, None, id="as-planned"),
        pytest.param(
            {"amd-16": None, "intel": None}, 0.991, "second of at most 4 looks", id="no-plan"
        ),
        pytest.param(
            {"amd-16": "6", "intel": None}, 0.991, "second of at most 4 looks", id="half-a-plan"
        ),
        pytest.param(
            {"amd-16": "1", "intel": "1"}, 0.991, "second of at most 4 looks", id="one-by-one"
        ),
        pytest.param(
            {"amd-16": "4", "intel": "4"},
            0.9995,
            "amd-16 has 6 runs, and its one look was planned at 4",
            id="more-than-planned",
        ),
        pytest.param(
            {"amd-16": "6", "intel": "8"},
            0.9995,
            "intel has 6 runs, and its one look was planned at 8",
            id="fewer-than-planned",
        ),
        pytest.param(
            {"amd-16": "3,6,12", "intel": "3,6,12"},
            0.9764,
            "second of at most 3 looks",
            id="looks-of-the-tasks",
        ),
        pytest.param(
            {"amd-16": "3,6,12", "intel": "6"}, 0.991, "second of at most 4 looks", id="two-designs"
        ),
        pytest.param(
            {"amd-16": "six", "intel": "6"}, 0.991, "second of at most 4 looks", id="nonsense"
        ),
    ],
)
def test_a_plan_is_a_single_look(
    planned: dict[str, str | None], level: float, look: str | None
) -> None:
    """All runs that were planned, and no more, keep the interval of one look."""
    comparison = compared(workers(planned, 6))
    assert comparison.interval.level_ratio == pytest.approx(level, abs=1e-3)
    assert (comparison.look and text_of(comparison.look)) == look


@pytest.mark.parametrize(
    ("results", "lost", "level", "look"),
    [
        pytest.param(5, 1, 0.95, None, id="one-lost"),
        pytest.param(3, 3, 0.95, None, id="half-lost"),
        pytest.param(
            5, 0, 0.9995, "amd-16 has 5 runs, and its one look was planned at 6", id="one-to-come"
        ),
        pytest.param(
            6,
            1,
            0.9995,
            "amd-16 has 6 runs and 1 without a result, and its one look was planned at 6",
            id="one-replaced",
        ),
    ],
)
def test_lost_tasks_of_a_plan(results: int, lost: int, level: float, look: str | None) -> None:
    """What ended without a result is no reason to look again; its replacement is."""
    found = [*workers({"amd-16": "6"}, results), *workers({"intel": "6"}, 6)]
    comparison = compared(found, lost=["amd-16"] * lost)
    assert comparison.interval.level_ratio == pytest.approx(level, abs=1e-6)
    assert (comparison.look and text_of(comparison.look)) == look


def test_a_declaration_is_believed() -> None:
    """--looks stands above the plan of the tasks."""
    found = workers({"amd-16": "4", "intel": "4"}, 6)
    comparison = compared(found, Schedule((3, 6), is_declared=True))
    assert comparison.look is not None
    assert text_of(comparison.look) == "second of at most 2 looks"
    comparison = compared(found, Schedule((3, 12), is_declared=True))
    assert comparison.look is not None
    assert text_of(comparison.look) == "6 workers per pool are not among the looks 3,12"


def test_one_worker_has_no_look() -> None:
    """It differs only by more than workers of one pool may, which spends nothing."""
    comparison = compared(workers({"amd-16": None, "intel": None}, 1))
    assert (comparison.look, comparison.interval.level_ratio) == (None, 0.95)


@pytest.mark.parametrize("schedule", [Schedule(), Schedule((6, 12), is_declared=True)])
def test_without_one_worker_it_is_the_same_look(schedule: Schedule) -> None:
    """What the verdict would be without a bad worker is as strict as with it."""
    found = workers({"amd-16": None, "intel": None}, 6)
    (entry,) = found[0].entries
    bad = replace(found[0], entries=(seed_workers.slowed(entry, 2),))
    plan = Plan.of_pools(("amd-16", "intel"), "intel")
    report = compare(plan, [bad, *found[1:]], Options(schedule=schedule))
    (comparison,) = report.subjects[0].comparisons
    (without,) = report.single_workers[0].without
    assert without.look == comparison.look
    assert without.interval.level_ratio == comparison.interval.level_ratio
