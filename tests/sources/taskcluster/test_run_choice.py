# SPDX-License-Identifier: MPL-2.0
"""The runs of a task that count, and messages about the others."""

import pytest

from io_benchmark.errors import NoArtifactError
from io_benchmark.sources.taskcluster.api_answers import QueueRun, TaskStatus
from io_benchmark.sources.taskcluster.task_results import _choose_runs
from io_benchmark.sources.taskcluster.tasks import QueueTask

TASK = "Prp_WjpGRx26VH-wA8fjTA"
LATER = "read it again later"
ENDED = "read it again when it has ended"


def chosen(*states, run_id=None, state="completed"):
    """Return the numbers of the runs to try, in order, per result; and the remarks.

    Each run is given by its state, or by `exception reason`.
    """
    runs = [
        QueueRun(run_id=number, state=text.split()[0], reason_resolved=text.split()[-1])
        for number, text in enumerate(states)
    ]
    status = TaskStatus(task_id=TASK, task_group_id=TASK, state=state, runs=runs)
    task = QueueTask(status=status, label="x", kind="io-benchmark", pool="p", image=None)
    remarks: list[str] = []
    choice = _choose_runs(task, run_id, remarks.append)
    return [[run.run_id for run in runs] for runs in choice], remarks


@pytest.mark.parametrize(
    ("states", "run_id", "runs", "remarks"),
    [
        (
            ("completed", "failed", "completed"),
            None,
            [[0], [2]],
            ["1 (x) failed and is not counted"],
        ),
        (("failed", "exception"), None, [[1, 0]], []),
        (("failed", "pending"), None, [[0]], [f"1 (x) is still pending and not counted; {LATER}"]),
        (
            ("exception worker-shutdown", "completed", "exception canceled", "running"),
            None,
            [[1]],
            [
                "0 (x) was preempted (worker-shutdown) and is not counted",
                "2 (x) was cancelled (canceled) and is not counted",
                f"3 (x) is still running and not counted; {LATER}",
            ],
        ),
        (("failed", "completed"), 0, [[0]], []),
    ],
    ids=["replicates", "newest-resolved-first", "in-progress", "how-others-ended", "named"],
)
def test_which_runs_are_read(states, run_id, runs, remarks):
    """Completed runs, else the newest that has a result; a named run whatever became of it."""
    expected = [f"task {TASK} run {remark}" for remark in remarks]
    assert chosen(*states, run_id=run_id) == (runs, expected)


@pytest.mark.parametrize(
    ("states", "run_id", "state", "problem"),
    [
        (("pending",), None, "pending", f"run 0 (x): is still pending; {ENDED}"),
        (("failed", "running"), 1, "running", f"run 1 (x): is still running; {ENDED}"),
        (("failed",), 7, "failed", "(x): has no run 7; its runs are 0"),
        ((), 0, "unscheduled", "(x): has no run 0; its runs are none"),
        ((), None, "unscheduled", "(x): has no runs, it is unscheduled and waits for other tasks"),
        ((), None, "exception", "(x): has no runs, it is exception and was never started"),
    ],
)
def test_nothing_to_read(states, run_id, state, problem):
    """The line names task and run, and says what to do."""
    with pytest.raises(NoArtifactError) as caught:
        chosen(*states, run_id=run_id, state=state)
    end = "; look at its group" if "has no runs" in problem else ""
    assert str(caught.value) == f"task {TASK} {problem}{end}"
