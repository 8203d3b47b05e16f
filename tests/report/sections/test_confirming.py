# SPDX-License-Identifier: MPL-2.0
"""The answer offers the run that would confirm a cause, where one is missing."""

from functools import cache
from typing import Any

import divided_reports
import pytest
from msgspec.structs import replace
from simulated_results import Pool, measure
from situations import BASE, FAST, ONE_DISK, SLOW
from written import screen

from io_benchmark.analysis.diagnosis_model import State
from io_benchmark.analysis.report_model import Report

TASK = "fN1SgBXkQqWw0mF5yzYYTA"
RUN = "run intel once more with copies at 371 MiB/s"


POOLS = (Pool(SLOW, ONE_DISK), Pool(FAST, BASE))


@cache
def tried() -> Report:
    """Two pools with trials, of which none was held to the other's pace."""
    return divided_reports.of_pools(*POOLS, trials=True)


def offer(made: Report, **changes: Any) -> str:
    """Return what follows "To confirm:" on the first screen, of workers with these changes."""
    workers = tuple(replace(run, **{"task_id": TASK, **changes}) for run in made.workers)
    found = screen(replace(made, workers=workers))
    return next((line.removeprefix("To confirm: ") for line in found if line[:2] == "To"), "")


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
    assert offer(tried(), **changes) == expected


def test_trials_that_were_left_out() -> None:
    """The answer says what was not tried and why, and offers the run that tries it."""
    measured = measure(POOLS, 1, retrieves=divided_reports.TRIED_RETRIEVES, trials=True)
    for run in (run for runs in measured.values() for run in runs):
        run.document["workloads"][0]["trials"] |= {
            "ceilings": [],
            "blocks": [],
            "state": "not-run",
            "reason": "they need 9 s",
        }
    assert offer(divided_reports.of_measured(measured, FAST)) == (
        "measure again with `trials: always` in the kind; not tried: lookup, unlink, memory (they need "
        "9 s)."
    )


@pytest.mark.parametrize("state", State)
def test_by_the_state_of_the_cause(state: State) -> None:
    """Only what a trial could still change is offered one."""
    (diagnosis,) = tried().diagnoses
    causes = tuple(
        replace(each, state=state) for each in diagnosis.causes if each.name == "device-count"
    )
    made = replace(tried(), diagnoses=(replace(diagnosis, causes=causes),))
    assert bool(offer(made)) is (state in (State.SUPPORTED, State.NOT_SEPARABLE))
