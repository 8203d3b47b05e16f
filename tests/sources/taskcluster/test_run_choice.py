# SPDX-License-Identifier: MPL-2.0
"""The runs of a task that count, and messages about the others."""

import pytest

from io_benchmark.errors import NoArtifactError
from io_benchmark.sources.taskcluster.api_answers import QueueRun, TaskStatus
from io_benchmark.sources.taskcluster.task_results import choose_runs
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


def chosen(*states, run_id=None):
    """Return the numbers of the runs to try, in order, per result; and the remarks."""
    remarks: list[str] = []
    choice = choose_runs(task(*states), run_id, remarks.append)
    return [[run.run_id for run in runs] for runs in choice], remarks


@pytest.mark.parametrize(
    ("states", "run_id", "runs", "remarks"),
    [
        pytest.param(
            ("completed", "failed", "completed"),
            None,
            [[0], [2]],
            [" run 1 (x) failed and is not counted"],
            id="every completed run is a replicate",
        ),
        pytest.param(("failed", "exception"), None, [[1, 0]], [], id="newest resolved first"),
        pytest.param(
            ("failed", "pending"),
            None,
            [[0]],
            [" run 1 (x) is still pending and not counted; read it again later"],
            id="a run in progress",
        ),
        pytest.param(
            ("exception worker-shutdown", "completed", "exception canceled", "running"),
            None,
            [[1]],
            [
                " run 0 (x) was preempted (worker-shutdown) and is not counted",
                " run 2 (x) was cancelled (canceled) and is not counted",
                " run 3 (x) is still running and not counted; read it again later",
            ],
            id="how the others ended",
        ),
        pytest.param(("failed", "completed"), 0, [[0]], [], id="a named run"),
    ],
)
def test_which_runs_are_read(states, run_id, runs, remarks):
    """Completed runs, else the newest that has a result; a named run whatever became of it."""
    assert chosen(*states, run_id=run_id) == (runs, [TITLE + remark for remark in remarks])


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
    with pytest.raises(NoArtifactError) as caught:
        chosen(*states, run_id=run_id)
    assert str(caught.value) == TITLE + problem


@pytest.mark.parametrize(
    ("state", "why"),
    [
        pytest.param("unscheduled", "waits for other tasks", id="unscheduled"),
        pytest.param("exception", "was never started", id="canceled"),
    ],
)
def test_without_runs(state, why):
    """A waiting task differs from one that was stopped before it began."""
    with pytest.raises(NoArtifactError) as caught:
        choose_runs(task(state=state), None, print)
    assert (
        str(caught.value) == f"{TITLE} (x): has no runs, it is {state} and {why}; look at its group"
    )


def test_the_reason_stands_with_the_state():
    """Except where both are the same."""
    run = QueueRun(run_id=0, state="exception", reason_resolved="deadline-exceeded")
    assert run.shown_state == "exception (deadline-exceeded)"
    assert QueueRun(run_id=0, state="failed", reason_resolved="failed").shown_state == "failed"
