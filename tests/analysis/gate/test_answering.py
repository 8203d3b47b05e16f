# SPDX-License-Identifier: MPL-2.0
"""The answer of a gate by results: what passes, what fails, and what is never passed by absence."""

from collections.abc import Callable

import pytest
import sample_gates
from msgspec.structs import replace
from sample_gates import GATE, answer_of, changed, reasons, workers

from io_benchmark.analysis.comparing.pairs import Options
from io_benchmark.analysis.gate.answering import GateResults, answer
from io_benchmark.analysis.gate.gate_model import Answer, Gate, GateAnswer
from io_benchmark.analysis.gate.missing_results import Absent
from io_benchmark.analysis.model.cause import State
from io_benchmark.analysis.model.looks import Schedule
from io_benchmark.analysis.model.run import Worker
from io_benchmark.results.parts import OutcomeState, ResultOutcome


def found(name: str) -> GateAnswer:
    (gate,) = sample_gates.report(name).gates
    return gate


def test_an_equal_image() -> None:
    """An image that is equal passes, without a reason or a cause."""
    gate = found("equal")
    assert (gate.answer, gate.reasons, gate.workers) == (Answer.PASSED, (), (6, 6))
    assert (gate.cause, gate.workers_needed, gate.workers_for_equal) == (None, None, 5)


def test_a_slower_image() -> None:
    """It fails with the cause of the comparison."""
    gate = found("slower")
    assert (gate.answer, gate.cause, gate.cause_state) == (
        Answer.FAILED,
        "device-count",
        State.SUPPORTED,
    )


def test_a_mixed_image() -> None:
    """Its interval holds the limit; two workers fail it, and the answer names them and the fact."""
    gate = found("mixed")
    assert gate.tests[0].answer is Answer.NOT_DECIDED
    assert (gate.answer, gate.cause) == (Answer.FAILED, "mixed-pool")
    (reason,) = reasons(gate)
    assert reason.startswith("2 of 6 workers of amd-16 have no local SSD and take 6.")
    (slow,) = gate.slow_workers
    assert len(slow.machines) == 2


def test_a_mixed_baseline() -> None:
    """The candidate is as fast as the usual workers, and the note says which are not."""
    gate = found("baseline mixed")
    (note,) = reasons(gate)
    assert gate.answer is Answer.PASSED
    assert note.startswith("1 of 7 workers of intel has no local SSD")


def other_pools_workers(worker: Worker) -> Worker:
    return replace(worker, side="other", pool="other")


def test_other_pools() -> None:
    """A gate is about its two pools alone: ten slow workers of a third change nothing in it."""
    others = [*map(other_pools_workers, workers("slower"))]
    assert answer_of([*workers("equal"), *others]) == found("equal")


def without_samples(worker: Worker) -> Worker:
    """A run that was stopped before it measured enough."""
    (run,) = worker.runs
    outcome = ResultOutcome(OutcomeState.STOPPED, "the task was cancelled")
    assert run.facts is not None
    return replace(worker, runs=(replace(run.first(5), facts=replace(run.facts, outcome=outcome)),))


def with_more(worker: Worker) -> Worker:
    """A run with one more measurement."""
    (run,) = worker.runs
    more = replace(run, subject=replace(run.subject, destination="fresh"))
    return replace(worker, runs=(run, more))


def version(worker: Worker) -> Worker:
    script = replace(worker.result.script, version="0.0.1")
    return replace(worker, result=replace(worker.result, script=script))


def seeded(worker: Worker) -> Worker:
    config = replace(worker.result.config, seed="another")
    return replace(worker, result=replace(worker.result, config=config))


def on_one_queue(worker: Worker) -> Worker:
    return replace(worker, queue="gecko-t/t-linux")


def on_one_machine(worker: Worker) -> Worker:
    return replace(worker, worker_id="rehearsal/host", machine="rehearsal/host", queue="")


def on_boot_disk(worker: Worker) -> Worker:
    """A worker with the disks of one that works on its boot disk, and its own times."""
    storage = workers("mixed")[1].result.storage
    return replace(worker, result=replace(worker.result, storage=storage))


def with_a_skipped_one(worker: Worker) -> Worker:
    """A run that could not measure something, and gave the reason."""
    (run,) = worker.runs
    outcome = ResultOutcome(OutcomeState.SKIPPED, "no network")
    assert run.facts is not None
    subject = replace(run.subject, destination="fresh")
    skipped = replace(run.first(0), subject=subject, facts=replace(run.facts, outcome=outcome))
    return replace(worker, runs=(run, skipped))


EQUAL = workers("equal")
CLOSE = Gate("amd-16", "intel", 0.005)
# What was measured, and how the reason begins
NOT_DECIDED: dict[str, tuple[Callable[[], GateAnswer], str]] = {
    "no baseline": (
        lambda: answer_of([worker for worker in EQUAL if worker.side == "amd-16"]),
        "there are no results of intel; there are: amd-16",
    ),
    "a baseline that lost all workers": (
        lambda: answer_of(
            [worker for worker in EQUAL if worker.side == "amd-16"],
            absent=Absent(lost=("intel",) * 6, sides=frozenset({"intel"})),
        ),
        "6 tasks of intel ended, and none left a result",
    ),
    "a misspelt pool": (
        lambda: answer_of(EQUAL, Gate("amd-61", "intel", 0.1)),
        "there are no results of amd-61; there are: amd-16, intel; perhaps amd-16 is meant",
    ),
    "nothing": (lambda: answer_of([]), "there are no results of amd-16; there are: none"),
    "one candidate": (
        lambda: answer_of([worker for worker in EQUAL if worker.side == "intel"] + [EQUAL[0]]),
        "amd-16 has 1 worker, and 3 or more show",
    ),
    "a lost task": (
        lambda: answer_of(EQUAL, absent=Absent(lost=("amd-16",))),
        "1 task of amd-16 ended without a result",
    ),
    "a task that is still running": (
        lambda: answer_of(EQUAL, absent=Absent(sides=frozenset({"intel"}))),
        "not all results of intel are there: tasks are still running",
    ),
    "an unreadable file": (
        lambda: answer_of(EQUAL, absent=Absent(is_side_unknown=True)),
        "a result could not be read, and its pool is not known",
    ),
    "a run that was cut off": (
        lambda: answer_of(changed("equal", "amd-16", without_samples, 1)),
        "1 of 6 runs of amd-16 has no usable measurement of cache-retrieve, place",
    ),
    "a measurement that the candidate lacks": (
        lambda: answer_of(changed("equal", "intel", with_more)),
        "6 of 6 runs of amd-16 have no usable measurement of cache-retrieve, place",
    ),
    "another version": (
        lambda: answer_of(changed("equal", "amd-16", version)),
        "the results are of different versions of the benchmark",
    ),
    "another seed": (
        lambda: answer_of(changed("equal", "amd-16", seeded)),
        "the rule sequence refuses to compare cache-retrieve",
    ),
    "one worker pool": (
        lambda: answer_of([*map(on_one_queue, EQUAL)]),
        "amd-16 and intel ran on the same worker pool, gecko-t/t-linux",
    ),
    "a rehearsal": (
        lambda: answer_of([*map(on_one_machine, EQUAL)]),
        "amd-16 and intel ran on the same machine, rehearsal/host",
    ),
    "a look that was not declared": (
        lambda: answer_of(EQUAL, CLOSE, looks=Schedule((5, 10), is_declared=True)),
        "the ratio may be above the limit or below it (6 workers per pool are not among the looks",
    ),
    "a worker without a local SSD that is not slower": (
        lambda: answer_of(changed("equal", "amd-16", on_boot_disk, 1)),
        "1 of 6 workers of amd-16 has no local SSD, the others a local SSD; that it is slower than",
    ),
    "a measurement that one pool skipped": (
        lambda: answer_of(changed("equal", "amd-16", with_a_skipped_one)),
        "6 of 6 runs of amd-16 have no usable measurement of cache-retrieve, place",
    ),
    "a margin that is too small": (
        lambda: answer_of(EQUAL, Gate("intel", "amd-16", 0.0135)),
        "the ratio may be above the limit or below it; a new gate takes more than 100",
    ),
}


@pytest.mark.parametrize("name", NOT_DECIDED)
def test_what_is_not_decided(name: str) -> None:
    """The first reason says what is missing, and nothing passes."""
    measure, reason = NOT_DECIDED[name]
    gate = measure()
    assert gate.answer is Answer.NOT_DECIDED
    assert reasons(gate)[0].startswith(reason)


def test_workers_that_decide() -> None:
    """Where only workers are missing, their number is in the answer and in its reason."""
    gate = answer_of(EQUAL, CLOSE)
    assert gate.answer is Answer.NOT_DECIDED
    assert gate.workers_needed is not None
    number = f"a new gate with {gate.workers_needed} workers per pool decides 0.5 %"
    assert f"{number} with a chance of 80 %, if workers vary" in reasons(gate)[0]


def test_workers_that_decide_a_slower_image() -> None:
    """Where the ratio is probably above the limit, as many as fail it."""
    gate = answer_of(workers("slower"), Gate("amd-16", "intel", 0.88))
    assert gate.answer is Answer.NOT_DECIDED
    assert gate.workers_needed is not None


def test_more_workers_do_not_replace_a_result() -> None:
    """What is missing comes first, and no number of workers decides it."""
    gate = answer_of(EQUAL, CLOSE, absent=Absent(lost=("amd-16",)))
    assert (len(gate.reasons), gate.workers_needed) == (2, None)


def test_what_neither_pool_could_measure() -> None:
    """Without a network no worker measures it: the pools do not differ in that."""
    measured = [*map(with_a_skipped_one, EQUAL)]
    assert answer_of(measured).answer is Answer.PASSED


def test_a_rule_that_is_allowed() -> None:
    """Who allows different versions has looked at what differs."""
    measured = changed("equal", "amd-16", version)
    assert answer_of(measured, allow=frozenset({"script-version"})).answer is Answer.PASSED


def test_two_containers_on_one_worker_pool() -> None:
    """The image of a task's container may be the new one."""
    measured = [replace(on_one_queue(worker), image=worker.side) for worker in EQUAL]
    assert answer_of(measured).answer is Answer.PASSED


def test_a_slow_worker_that_was_cut_off() -> None:
    """Its samples until then show that it is slow, and which disk it has."""

    def cut(worker: Worker) -> Worker:
        (run,) = worker.runs
        outcome = ResultOutcome(OutcomeState.STOPPED, "the task was cancelled")
        assert run.facts is not None
        cut_run = replace(run.first(60), facts=replace(run.facts, outcome=outcome))
        return replace(worker, runs=(cut_run,), completed=False)

    slow = [worker for worker in workers("mixed") if worker.side == "amd-16"][1]
    measured = [cut(worker) if worker is slow else worker for worker in workers("mixed")]
    gate = answer_of(measured)
    assert gate.answer is Answer.FAILED
    assert reasons(gate)[0].startswith("2 of 6 workers of amd-16 have no local SSD")


def test_before_and_after() -> None:
    """`after/before` is a gate for each pool, also for one of which a side is lost."""
    sides = [replace(worker, side=f"{worker.side} after") for worker in EQUAL]
    results = GateResults(sides, Absent(lost=("other before",)), is_change=True)
    gates = results.gates_of(Gate("after", "before", 0.2))
    assert gates == [
        Gate(f"{pool} after", f"{pool} before", 0.2) for pool in ("amd-16", "intel", "other")
    ]
    assert results.gates_of(GATE) == [GATE]
    assert GateResults([], is_change=True).gates_of(GATE) == [GATE]


def test_the_same_machines_after_a_change() -> None:
    """Before and after a change of an image, the pool is the same one."""
    sides = [
        replace(worker, side="intel after" if worker.side == "amd-16" else "intel before")
        for worker in map(on_one_queue, EQUAL)
    ]
    results = GateResults(sides, is_change=True)
    (gate,) = results.gates_of(Gate("after", "before", 0.3))
    assert answer(gate, results, Options()).answer is Answer.PASSED
