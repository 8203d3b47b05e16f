# SPDX-License-Identifier: MPL-2.0
"""Runs of real tasks from the queue: each address, runs that have not ended, wrong answers."""

from typing import Any

import pytest
import real_tasks
from loopback import Loopback
from loopback_deployment import PROFILE, Artifact, Deployment

from io_benchmark.sources.gather import Gathered, gather_task_runs
from io_benchmark.sources.protocol import RunQuery
from io_benchmark.sources.run_results import TaskRun
from io_benchmark.sources.taskcluster import queue_runs

TASK = "intelAAAQ0G1AAAAAAAAAA"
PREEMPTED = "amd16AAAQ2G1AAAAAAAAAA"


@pytest.fixture
def deployment() -> Deployment:
    made = Deployment()
    real_tasks.add(made)
    return made


def read(deployment: Deployment, *addresses: str, **wanted: Any) -> Gathered[TaskRun]:
    with Loopback(deployment) as taskcluster:
        query = RunQuery(taskcluster.environment, **wanted)
        return gather_task_runs(addresses, query)


def test_addresses(deployment):
    """A task, a run of it, an indexed task, a decision task for its group; each run once."""
    (run,) = read(deployment, f"task:{TASK}").results
    assert (run.task_id, run.pool, run.worker) == (TASK, "releng-1/intel", "us-central1-f/intel-0")
    assert (run.resolved_ms - run.started_ms) / 60_000 == 36.5
    states = [each.state for each in read(deployment, f"task:{PREEMPTED}").results]
    assert states == ["exception", "completed"]
    assert [each.run_id for each in read(deployment, f"task:{PREEMPTED}.1").results] == [1]
    everything = read(deployment, f"index:{real_tasks.PUSH}", f"group:{real_tasks.GROUP}")
    assert len(everything.results) == 27
    assert everything.unreadable == ()


@pytest.mark.parametrize(
    ("named", "system"),
    [("windows", "windows"), ("linux-bitbar", "linux"), ("a\nb", "a b"), (None, "")],
)
def test_the_system(deployment, named, system):
    """It is the one that taskgraph tags a task with."""
    deployment.definitions[TASK]["tags"]["os"] = named
    (run,) = read(deployment, f"task:{TASK}").results
    assert run.system == system


def test_runs_that_have_not_ended(deployment):
    """They are counted in a message, and are no runs."""
    run = deployment.statuses[TASK]["runs"][0]
    run["state"] = "running"
    del run["resolved"]
    gathered = read(deployment, f"group:{real_tasks.GROUP}")
    assert len(gathered.results) == 26
    remark = "runs that have not ended: 1; they are not counted, read them again later"
    assert gathered.remarks == (remark,)


@pytest.mark.parametrize(
    ("times", "taken_ms"),
    [
        # A result has its start and a duration, which another clock cannot change.
        (b'{"started": "2026-03-20T08:30:00Z", "ended": null, "duration_ns": 90000000000}', 90_000),
        (b"no json", None),
        (b'{"started": "yesterday", "ended": "2026-03-20T08:30:00Z"}', None),
        (b'{"started": "2026-03-20T08:30:00Z", "ended": "2026-03-20T08:00:00Z"}', None),
        (b'{"started": "9999-12-31T23:59:59Z", "duration_ns": 99999999999999999999999999}', None),
    ],
)
def test_own_times(deployment, times, taken_ms):
    """A run whose times cannot be used counts all the same."""
    deployment.artifacts[TASK, 0, PROFILE] = Artifact(times)
    (run,) = read(deployment, f"task:{TASK}").results
    if taken_ms is None:
        assert (run.own_started_ms, run.own_ended_ms) == (-1, -1)
    else:
        assert run.own_ended_ms - run.own_started_ms == taken_ms


def test_most_own_times(deployment, monkeypatch):
    """Reading a file per run has a limit, which is reported."""
    monkeypatch.setattr(queue_runs, "_MOST_OWN_TIMES", 1)
    assert read(deployment, f"task:{TASK}").remarks == ()
    monkeypatch.setattr(queue_runs, "_MOST_OWN_TIMES", 3)
    gathered = read(deployment, f"group:{real_tasks.GROUP}")
    # One may be the decision task's, which has none.
    assert sum(run.own_started_ms >= 0 for run in gathered.results) in (2, 3)
    assert "set-up and tear-down are known of 3 runs at most" in gathered.remarks[0]
