# SPDX-License-Identifier: MPL-2.0
"""The answer offers the run that would confirm a cause, where one is missing."""

from functools import cache

import divided_reports
import pytest
import simulated_cases
from msgspec.structs import replace
from seed_workers import worker
from simulated_push import Pool, measure
from written import screen

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.diagnosis_model import State
from io_benchmark.analysis.model import Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report

TASK = "fN1SgBXkQqWw0mF5yzYYTA"
RUN = "run intel once more with copies at 384 MiB/s"


@cache
def tried_workers() -> tuple[Worker, ...]:
    """Return two pools with trials, of which none was held to the other's pace."""
    case = simulated_cases.make(("one disk",))
    pools = (Pool("amd-16", case.slow), Pool("intel", case.fast))
    measured = measure(pools, 1, retrieves=divided_reports.TRIED_RETRIEVES, trials=True)
    return tuple(worker(each.document) for runs in measured.values() for each in runs)


def report(**changes: str) -> Report:
    workers = [replace(each, **{"task_id": TASK, **changes}) for each in tried_workers()]
    return compare(Plan("", "intel", "", (("amd-16", "intel"),)), workers, Options())


def offer(made: Report) -> str:
    """Return what follows "To confirm:" on the first screen."""
    steps = (line.removeprefix("To confirm: ") for line in screen(made) if line[:2] == "To")
    return next(steps, "")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, f'{RUN} (submit --confirm task:{TASK}, or the action "Confirm the cause").'),
        ({"worker_id": "rehearsal/host"}, f"{RUN} (add --confirm to this rehearse)."),
        # Only what is an id becomes a part of a command to paste.
        *(({"task_id": text}, "") for text in ("unknown", "$(reboot)", "; rm -rf / #xxxxxxxxxxx")),
    ],
)
def test_the_missing_run(changes: dict[str, str], expected: str) -> None:
    """A supported cause is offered the run with its pace, and what creates it."""
    assert offer(report(**changes)) == expected


def test_trials_that_were_left_out() -> None:
    """The answer says what was not tried and why, and offers the run that tries it."""
    workers = []
    for each in tried_workers():
        (entry,) = each.entries
        assert entry.retrieves is not None
        assert entry.trials is not None
        left_out = replace(entry.trials, ceilings=[], blocks=[], reason="they need 9 s")
        facts = replace(entry.retrieves, trials=left_out)
        workers.append(replace(each, entries=(replace(entry, facts=facts),)))
    made = compare(Plan("", "intel", "", (("amd-16", "intel"),)), workers, Options())
    assert offer(made) == (
        "measure again with `trials: always` in the kind; not tried: lookup, unlink, memory (they need "
        "9 s)."
    )


@pytest.mark.parametrize("state", State)
def test_by_the_state_of_the_cause(state: State) -> None:
    """Only what a trial could still change is offered one."""
    made = report()
    (diagnosis,) = made.diagnoses
    causes = tuple(
        replace(each, state=state) for each in diagnosis.causes if each.name == "device-count"
    )
    made = replace(made, diagnoses=(replace(diagnosis, causes=causes),))
    assert bool(offer(made)) is (state in (State.SUPPORTED, State.NOT_SEPARABLE))
