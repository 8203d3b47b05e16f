# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The runs of a task that count, and messages about the others."""

import pytest

from io_benchmark.sources.taskcluster.api_answers import QueueRun, TaskStatus
from io_benchmark.sources.taskcluster.task_results import _choose_runs, _RunChoice
from io_benchmark.sources.taskcluster.tasks import QueueTask

TASK = "Prp_WjpGRx26VH-wA8fjTA"
TITLE = f"task {TASK}"


def task(*states, state="completed"):
    """Each run is given by its state, or by `exception reason`."""
    runs = [
        QueueRun(run_id=number, state=one.split()[0], reason_resolved=one.split()[-1])
        for number, one in enumerate(states)
    ]
    status = TaskStatus(task_id=TASK, task_group_id=TASK, state=state, runs=runs)
    return QueueTask(status=status, label="x", kind="io-benchmark", pool="p", image=None)


def wanted(*states, stands_in=False, run_id=None):
    """Return the numbers of the runs to try, in order, per result."""
    choice = _choose_runs(task(*states), run_id)
    assert choice.are_substitutes == stands_in
    return [[run.run_id for run in runs] for runs in choice.wanted]


def test_every_completed_run_is_a_replicate():
    """Failed runs next to them are not."""
    assert wanted("completed", "failed", "completed") == [[0], [2]]


def test_where_none_completed_the_newest_resolved_stands_in():
    """The newest run that has a result is used."""
    assert wanted("failed", "exception", stands_in=True) == [[1, 0]]
    assert wanted("failed", "pending", stands_in=True) == [[0]]


def test_a_named_run_is_read_whatever_became_of_it():
    """No other run is read."""
    assert wanted("failed", "completed", run_id=0) == [[0]]


@pytest.mark.parametrize(
    ("states", "run_id", "problem"),
    [
        pytest.param(
            ("pending",),
            None,
            " run 0 (x): is still pending; read it again when it has ended",
            id="pending",
        ),
        pytest.param(
            ("running",),
            0,
            " run 0 (x): is still running; read it again when it has ended",
            id="running",
        ),
        pytest.param(("failed",), 7, " (x): has no run 7; its runs are 0", id="no-such-run"),
        pytest.param((), 0, " (x): has no run 0; its runs are none", id="no-runs-at-all"),
    ],
)
def test_nothing_to_read(states, run_id, problem):
    """The line names task and run, and says what to do."""
    assert _choose_runs(task(*states), run_id) == _RunChoice((), (TITLE + problem,))


@pytest.mark.parametrize(
    ("state", "why"),
    [
        pytest.param("unscheduled", "waits for other tasks", id="unscheduled"),
        pytest.param("exception", "was never started", id="canceled"),
    ],
)
def test_without_runs(state, why):
    """A waiting task differs from one that was stopped before it began."""
    problem = f"{TITLE} (x): has no runs, it is {state} and {why}; look at its group"
    assert _choose_runs(task(state=state), None) == _RunChoice((), (problem,))


def test_a_rerun_in_progress_is_remarked():
    """The completed run counts already; the other will change the result."""
    given = task("completed", "running")
    remark = f"{TITLE} run 1 (x) is still running and not counted; read it again later"
    assert _choose_runs(given, None) == _RunChoice(((given.status.runs[0],),), (), (remark,))


def test_runs_beside_completed_ones_are_remarked():
    """A user who counts workers learns how the others ended."""
    given = task("exception worker-shutdown", "failed", "completed", "exception canceled")
    choice = _choose_runs(given, None)
    assert choice.wanted == ((given.status.runs[2],),)
    assert choice.remarks == (
        f"{TITLE} run 0 (x) was preempted (worker-shutdown) and is not counted",
        f"{TITLE} run 1 (x) failed and is not counted",
        f"{TITLE} run 3 (x) was cancelled (canceled) and is not counted",
    )


def test_the_reason_stands_with_the_state():
    """Except where both are the same."""
    run = QueueRun(run_id=0, state="exception", reason_resolved="deadline-exceeded")
    assert run.shown_state == "exception (deadline-exceeded)"
    assert QueueRun(run_id=0, state="failed", reason_resolved="failed").shown_state == "failed"
