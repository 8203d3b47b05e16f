# SPDX-License-Identifier: MPL-2.0
"""A verdict that a look has reached stands, whatever workers come later."""

from collections.abc import Sequence

import msgspec
import pytest
import seed_case
import seed_workers
from msgspec.structs import replace
from written import lines, screen, section

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.analysis.model import Comparison, Verdict, Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report
from io_benchmark.results import Result
from io_benchmark.results.format import PLAN_VARIABLE

DECIDED = (1.15, 1.16, 1.14)
BASELINE = (0.99, 1.0, 1.01)
LATER = (1.3, 1.31, 1.29)  # workers of the baseline that were added for another pool
DECLARED = Schedule((3, 6), is_declared=True)


def side(pool: str, factors: Sequence[float], plan: str | None = None) -> list[Worker]:
    """One worker per factor, which started one after another."""
    environment = {} if plan is None else {PLAN_VARIABLE: plan}
    documents = seed_case.documents(
        len(factors), pools=("intel",), change={"intel": {"config.environment": environment}}
    )
    made = []
    for hour, (each, factor) in enumerate(zip(documents, factors, strict=True)):
        worker = seed_workers.worker(each, pool)
        (entry,) = worker.entries
        entry = seed_workers.slowed(entry, factor)
        name = f"{pool}-{hour}"
        made.append(
            replace(
                worker,
                pool=pool,
                task_id=name,
                worker_id=name,
                result=on_machine(worker.result, name),
                started=f"2026-11-22T{hour:02}:00:00Z",
                entries=(entry,),
            )
        )
    return made


def on_machine(result: Result, name: str) -> Result:
    """Return it as the result of a machine that no other result is of."""
    assert result.host is not None
    host = msgspec.structs.replace(result.host, boot_id=name)
    return msgspec.structs.replace(result, host=host)


def report(workers: Sequence[Worker], schedule: Schedule, lost: Sequence[str] = ()) -> Report:
    plan = Plan.of_pools({each.side for each in workers}, "intel")
    return compare(plan, workers, Options(schedule=schedule), lost=lost)


def compared(
    workers: Sequence[Worker], schedule: Schedule = DECLARED, lost: Sequence[str] = ()
) -> Comparison:
    return report(workers, schedule, lost).subjects[0].comparisons[0]


def test_a_verdict_stands():
    """Later workers of the baseline do not withdraw it; the report says what all workers give."""
    workers = [*side("amd-16", DECIDED), *side("intel", (*BASELINE, *LATER))]
    found = compared(workers)
    first = compared([*workers[:6]])
    assert first.verdict is Verdict.SLOWER
    assert first.of_all is None
    assert found.of_all is not None
    assert found.workers == (3, 3)
    assert replace(found, of_all=None, workers=None) == first
    assert found.of_all.ratio == pytest.approx(1.01, abs=0.01)
    assert found.of_all.verdict is Verdict.INCONCLUSIVE
    assert compared(workers[::-1]) == found  # the order of the results does not matter


def test_what_the_report_says():
    """Both, in the answer; the assumptions are those of the look that decided."""
    workers = [*side("amd-16", DECIDED), *side("intel", (*BASELINE, *LATER))]
    made = report(workers, DECLARED)
    answer = screen(made)[0]
    assert answer.startswith("- amd-16 is 1.15× slower than intel (")
    assert ", decided at an earlier look, which stands; all workers: 1.01× (" in answer
    (assumptions,) = [each for each in lines(section(made, "cache")) if "Welch's test" in each]
    assert assumptions.startswith("- amd-16: 3 and 3 workers, compared by Welch's test")
    assert "; first of at most 2 looks, which decided: later workers are not part" in assumptions
    assert not any("To settle" in line for line in screen(made))


def test_the_same_verdict_by_all_workers():
    """The figures are those of all workers, as of any look."""
    again = [*side("amd-16", 2 * DECIDED), *side("intel", 2 * BASELINE)]
    found = compared(again)
    assert (found.verdict, found.of_all) == (Verdict.SLOWER, None)
    assert found.look is not None
    assert dict(found.look.values)["ordinal"] == "second"


def test_the_same_verdict_between_looks():
    """The figures are those of the look that decided, whose interval is the narrower one."""
    found = compared([*side("amd-16", DECIDED), *side("intel", 2 * BASELINE)])
    assert found.of_all is not None
    assert found.of_all.verdict is found.verdict is Verdict.SLOWER
    assert found.interval.level_ratio < found.of_all.interval.level_ratio
    made = report([*side("amd-16", DECIDED), *side("intel", 2 * BASELINE)], DECLARED)
    answer = screen(made)[0]
    assert "), decided at an earlier look" in answer
    assert "all workers" not in answer


def test_a_later_look_decides():
    """What was not decided before is judged by all workers."""
    unclear = (0.9, 1.15, 1.3)
    found = compared([*side("amd-16", (*unclear, *DECIDED)), *side("intel", 2 * BASELINE)])
    assert found.of_all is None


def test_a_plan():
    """Its one look stands: workers that an action adds afterwards are not part of it."""
    planned = [*side("amd-16", DECIDED, "3"), *side("intel", BASELINE, "3")]
    found = compared([*planned[:3], *side("intel", (*BASELINE, *LATER), "3")], Schedule())
    assert found.verdict is compared(planned, Schedule()).verdict is Verdict.SLOWER
    assert found.workers == (3, 3)
    assert found.look is None
    assert found.interval.level_ratio == 0.95


def test_a_plan_that_lacks_a_run():
    """Its look has not been yet."""
    found = compared(
        [*side("amd-16", DECIDED, "4"), *side("intel", (*BASELINE, *LATER), "4")], Schedule()
    )
    assert (found.verdict, found.of_all) == (Verdict.INCONCLUSIVE, None)


def test_a_plan_that_lost_a_run():
    """What is left of it is its one look; a run in place of the lost one is not part of it."""
    planned = [*side("amd-16", DECIDED, "4"), *side("intel", (*BASELINE, 1.0), "4")]
    later = [*planned[:3], *side("intel", (*BASELINE, 1.0, *LATER), "4")]
    found = compared(later, Schedule(), ["amd-16"])
    assert found.workers == (3, 4)
    assert found.verdict is compared(planned, Schedule(), ["amd-16"]).verdict is Verdict.SLOWER


def test_nothing_is_declared():
    """The report does not know when somebody looked."""
    found = compared([*side("amd-16", DECIDED), *side("intel", (*BASELINE, *LATER))], Schedule())
    assert (found.verdict, found.of_all) == (Verdict.INCONCLUSIVE, None)


def test_a_machine_that_runs_twice():
    """It is one worker: the look at three workers has both of its runs."""
    baseline = side("intel", (0.99, *BASELINE, *LATER))
    baseline[1] = replace(baseline[1], worker_id=baseline[0].worker_id, result=baseline[0].result)
    found = compared([*side("amd-16", DECIDED), *baseline])
    assert found.workers == (3, 3)


def test_several_candidates():
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
