# SPDX-License-Identifier: MPL-2.0
"""A verdict that a look has reached stands, whatever workers come later."""

from collections.abc import Sequence

import pytest
import seed_workers
from msgspec.structs import replace
from written import lines, screen, section

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.analysis.model import Comparison, Verdict, Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report
from io_benchmark.results.format import PLAN_VARIABLE

DECIDED = (1.15, 1.16, 1.14)
BASELINE = (0.99, 1.0, 1.01)
LATER = (1.3, 1.31, 1.29)  # workers of the baseline that were added for another pool
DECLARED = Schedule((3, 6), is_declared=True)


def side(pool: str, factors: Sequence[float], plan: str | None = None) -> list[Worker]:
    """One worker per factor, each on its own machine, which started one after another."""
    environment = {} if plan is None else {PLAN_VARIABLE: plan}
    change = {"intel": {"config.environment": environment}}
    made = seed_workers.workers(len(factors), pools=("intel",), change=change, side=pool)
    return [
        replace(
            worker,
            pool=pool,
            task_id=f"{pool}-{hour}",
            worker_id=f"{pool}-{hour}",
            started=f"2026-11-22T{hour:02}:00:00Z",
            entries=(seed_workers.slowed(worker.entries[0], factor),),
        )
        for hour, (worker, factor) in enumerate(zip(made, factors, strict=True))
    ]


def report(workers: Sequence[Worker], schedule: Schedule, lost: Sequence[str] = ()) -> Report:
    plan = Plan.of_pools({worker.side for worker in workers}, "intel")
    return compare(plan, workers, Options(schedule=schedule), lost=lost)


def compared(
    workers: Sequence[Worker], schedule: Schedule = DECLARED, lost: Sequence[str] = ()
) -> Comparison:
    (comparison,) = report(workers, schedule, lost).subjects[0].comparisons
    return comparison


def test_a_declared_look_stands() -> None:
    """Its figures and verdict are those of that look; those of all workers are beside it."""
    workers = [*side("amd-16", DECIDED), *side("intel", (*BASELINE, *LATER))]
    first, comparison = compared(workers[:6]), compared(workers)
    assert (first.verdict, first.of_all) == (Verdict.SLOWER, None)
    assert comparison.of_all is not None
    assert comparison.workers == (3, 3)
    assert replace(comparison, of_all=None, workers=None) == first
    assert comparison.of_all.ratio == pytest.approx(1.01, abs=0.01)
    assert comparison.of_all.verdict is Verdict.INCONCLUSIVE
    assert compared(workers[::-1]) == comparison  # the order of the results does not matter
    made = report(workers, DECLARED)
    answer = screen(made)[0]
    assert answer.startswith("- amd-16 is 1.15× slower than intel (")
    assert ", decided at an earlier look, which stands; all workers: 1.01× (" in answer
    (assumptions,) = [line for line in lines(section(made, "cache")) if "Welch's test" in line]
    assert assumptions.startswith("- amd-16: 3 and 3 workers, compared by Welch's test")
    assert "; first of at most 2 looks, which decided: later workers are not part" in assumptions
    assert not any("To settle" in line for line in screen(made))


def test_the_same_verdict_later() -> None:
    """At a look the figures are those of all workers; between looks those of the earlier look."""
    again = compared([*side("amd-16", 2 * DECIDED), *side("intel", 2 * BASELINE)])
    assert (again.verdict, again.of_all) == (Verdict.SLOWER, None)
    assert again.look is not None
    assert dict(again.look.values)["ordinal"] == "second"
    workers = [*side("amd-16", DECIDED), *side("intel", 2 * BASELINE)]
    between = compared(workers)
    assert between.of_all is not None
    assert between.of_all.verdict is between.verdict is Verdict.SLOWER
    assert between.interval.level_ratio < between.of_all.interval.level_ratio
    answer = screen(report(workers, DECLARED))[0]
    assert "), decided at an earlier look" in answer
    assert "all workers" not in answer


@pytest.mark.parametrize(
    ("amd_16", "intel", "plan", "lost", "verdict", "workers"),
    [
        pytest.param(
            (0.9, 1.15, 1.3, *DECIDED), 2 * BASELINE, "3,6", 0, None, None, id="a-later-look"
        ),
        pytest.param(DECIDED, (*BASELINE, *LATER), None, 0, "inconclusive", None, id="nothing"),
        pytest.param(DECIDED, (*BASELINE, *LATER), "3", 0, "slower", (3, 3), id="a-plan"),
        pytest.param(DECIDED, (*BASELINE, *LATER), "4", 0, "inconclusive", None, id="to-come"),
        pytest.param(DECIDED, (*BASELINE, 1.0, *LATER), "4", 1, "slower", (3, 4), id="lost"),
    ],
)
def test_what_the_tasks_declare(
    amd_16: tuple[float, ...],
    intel: tuple[float, ...],
    plan: str | None,
    lost: int,
    verdict: str | None,
    workers: tuple[int, int] | None,
) -> None:
    """A plan's look stands as well, without runs that it lost; without one nobody looked."""
    made = [*side("amd-16", amd_16, plan), *side("intel", intel, plan)]
    comparison = compared(made, Schedule(), ["amd-16"] * lost)
    assert comparison.workers == workers
    assert (comparison.of_all is None) == (workers is None)
    if verdict is not None:
        assert comparison.verdict == verdict
    if workers is not None:
        assert (comparison.look, comparison.interval.level_ratio) == (None, 0.95)


def test_a_machine_that_runs_twice() -> None:
    """It is one worker: the look at three workers has both of its runs."""
    baseline = side("intel", (0.99, *BASELINE, *LATER))
    baseline[1] = replace(baseline[1], worker_id=baseline[0].worker_id)
    assert compared([*side("amd-16", DECIDED), *baseline]).workers == (3, 3)


def test_several_candidates() -> None:
    """One that an earlier look decided leaves its part of the error to the others."""
    workers = [
        *side("amd-16", DECIDED),
        *side("amd-30", (1.1, 1.9, 1.7, 1.3, 1.8, 2.4)),
        *side("intel", (*BASELINE, *LATER)),
    ]
    decided, second = report(workers, DECLARED).subjects[0].comparisons
    assert decided.of_all is not None
    assert second.verdict is Verdict.SLOWER
    alone = compared(workers[3:])
    assert second.interval.level_ratio == pytest.approx(alone.interval.level_ratio, abs=0.002)
