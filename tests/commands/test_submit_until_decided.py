# SPDX-License-Identifier: MPL-2.0
"""submit --until-decided: simulated workers that vary by 5 %, on a deployment on the loopback."""

import math
import random
import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import seed_case
import submitted_tasks
from loopback_deployment import Deployment
from submitted_tasks import labels

from io_benchmark.sources.run_results import queue_time
from io_benchmark.sources.taskcluster import task_watch

IMAGE = ("--image", "localhost/image:latest")
TWO = (*IMAGE, "-j", "amd-30,intel")
START = (*TWO, "--until-decided")
VARIATION = 0.05
RETRIEVES = 200  # enough for a mean


class Workers:
    """They take no time. Each pool's mean time is a multiple of the baseline's."""

    def __init__(self, seed: int, machines: int | None = None, **ratios: float) -> None:
        self._seed = seed
        self._machines = machines  # per pool; None: a new one for each task
        self._ratios = {pool.replace("_", "-"): ratio for pool, ratio in ratios.items()}

    def __call__(self, deployment: Deployment, task_id: str) -> None:
        definition = deployment.definitions[task_id]
        pool = submitted_tasks.pool_of(definition)
        dice = random.Random(f"{self._seed} {definition['metadata']['name']}")
        factor = self._ratios.get(pool, 1.0) * math.exp(dice.gauss(0, VARIATION))
        # intel's figures for all of them: nothing but the factor differs.
        (document,) = seed_case.documents(1, pools=["intel"])
        document["task"]["pool"] = pool
        document["config"]["environment"] = submitted_tasks.recorded_environment(definition)
        (entry,) = document["workloads"] = [
            seed_case.shortened(entry, RETRIEVES) for entry in document["workloads"]
        ]
        document["timeline"] = None
        for column in ("lookup_ns", "copy_ns", "start_ns"):
            values = entry["samples"][column]
            entry["samples"][column] = [round(factor * value) for value in values]
        entry["run_ns"] = round(factor * entry["run_ns"])
        number = len(deployment.definitions)
        worker = f"worker-{pool}-{number % (self._machines or number + 1)}"
        # They start in the order of their creation, and take ten minutes.
        start = datetime(2026, 11, 21, 8, tzinfo=UTC) + timedelta(minutes=number)
        started, resolved = map(queue_time, (start, start + timedelta(minutes=10)))
        run = {"workerId": worker, "started": started, "resolved": resolved}
        deployment.complete(task_id, document, **run)


@pytest.fixture
def deployment() -> Deployment:
    return Deployment()


def tasks_per_pool(deployment: Deployment) -> dict[str, int]:
    return dict(Counter(map(submitted_tasks.pool_of, deployment.definitions.values())))


def test_only_undecided_pools(call, deployment):
    """amd-30 at 1.1× and the baseline get more tasks, amd-16 at 1.92× none: 15 tasks, not 36."""
    deployment.on_create = Workers(2, amd_16=1.92, amd_30=1.1)
    code, stdout, stderr = call(*IMAGE, "--until-decided")
    assert (code, "as long as intel" in stdout) == (0, True), stderr
    assert tasks_per_pool(deployment) == {"amd-16": 3, "amd-30": 6, "intel": 6}
    assert labels(deployment)[9:] == [
        f"io-benchmark-{pool}-{number}" for number in (4, 5, 6) for pool in ("amd-30", "intel")
    ]
    (group,) = deployment.groups
    lines = stderr.splitlines()
    assert "all looks together: at most 66 worker hours, 24 tasks per pool" in stderr
    assert f"; to go on: io-benchmark submit --resume group:{group}\n" in stderr
    assert lines[-9].startswith(
        "Undecided: amd-30; 90 minutes of worker time spent; the next look has 6 tasks, about 60 "
    )
    assert lines[-8].startswith("  amd-30: about 30 minutes of worker time (3 tasks of 10 minutes")
    assert lines[-2:] == [
        "Decided; 2.5 worker hours spent",
        f"Compare again with: io-benchmark compare group:{group}",
    ]
    variables = [task["payload"]["env"] for task in deployment.definitions.values()]
    assert {each["IO_BENCHMARK_REPLICATES"] for each in variables} == {"3,6,12,24"}


def test_equal_pools_with_a_budget(call, deployment):
    """It stops before the budget is exceeded; --resume with a higher one goes on in the group."""
    deployment.on_create = Workers(4)
    code, stdout, stderr = call(*START, "--budget", "6")
    assert (code, "inconclusive" in stdout) == (0, True), stderr
    assert "; all looks together: at most 6 worker hours (--budget)\n" in stderr
    assert tasks_per_pool(deployment) == {"amd-30": 12, "intel": 12}
    (group,) = deployment.groups
    assert stderr.splitlines()[-2] == (
        "Stopped by --budget 6; to go on with a higher one: "
        f"io-benchmark submit --resume group:{group} --budget 8"
    )
    # 8 hours are spent then, and not more than that.
    code, stdout, stderr = call("--resume", group, "--budget", "8")
    assert (code, "equivalent" in stdout) == (0, True), stderr
    assert list(deployment.groups) == [group]
    assert tasks_per_pool(deployment) == {"amd-30": 24, "intel": 24}


def test_too_few_machines(call, deployment):
    """Pools of two machines: repeating does not help, and it stops."""
    deployment.on_create = Workers(2, machines=2)
    code, _, stderr = call(*START)
    assert (code, "brought no further worker of amd-30, intel; look at the tasks\n" in stderr) == (
        0,
        True,
    )


def failing(workers: Workers, *failed: str) -> Callable[[Deployment, str], None]:
    """Return workers on which the tasks with these labels fail."""

    def work(deployment: Deployment, task_id: str) -> None:
        if deployment.definitions[task_id]["metadata"]["name"] in failed:
            deployment.change_runs(task_id, "failed")
        else:
            workers(deployment, task_id)

    return work


INTEL = tuple(f"io-benchmark-intel-{number}" for number in (1, 2, 3))


def test_a_rerun_of_failed_tasks(call, deployment):
    """Where it stops because tasks failed, --resume goes on after a rerun, as it says."""
    workers = Workers(1, amd_30=1.92)
    deployment.on_create = failing(workers, *INTEL)
    code, _, stderr = call(*START)
    (group,) = deployment.groups
    assert code == 1
    assert (
        "Nothing can be compared yet; 3 tasks did not complete: after a rerun of them, go on with: "
        f"io-benchmark submit --resume group:{group}\n"
    ) in stderr
    for task_id, definition in deployment.definitions.items():
        if submitted_tasks.pool_of(definition) == "intel":
            workers(deployment, task_id)
    code, stdout, stderr = call("--resume", group)
    assert (code, "as long as intel" in stdout) == (0, True), stderr
    assert "did not complete" not in stderr
    assert tasks_per_pool(deployment) == {"amd-30": 3, "intel": 3}


def test_pools_whose_tasks_fail(call, deployment):
    """Where half of the tasks bring no worker because they failed, that is what is named."""
    names = [f"io-benchmark-intel-{number}" for number in range(2, 9)]
    deployment.on_create = failing(Workers(2, amd_30=1.1), *names)
    code, _, stderr = call(*START)
    (group,) = deployment.groups
    (line,) = (line for line in stderr.splitlines() if "brought no further worker" in line)
    assert code == 1
    assert re.search(
        "of intel; look at the tasks; [0-9]+ tasks did not complete: after a rerun of them, go on "
        f"with: io-benchmark submit --resume group:{group}$",
        line,
    )


def test_a_stopped_group(call, deployment):
    """A task was refused in the first look: --resume brings its pool to the others' workers.

    What the first look needs is shown as for any new tasks; who agrees to it agrees to the others.
    """
    deployment.on_create = Workers(2, amd_30=1.1)
    deployment.refuse = lambda made: (
        (403, "InsufficientScopes", "no") if made["metadata"]["name"].endswith("intel-3") else None
    )
    code, _, stderr = call(*START)
    (group,) = deployment.groups
    assert (code, f"to go on: io-benchmark submit --resume group:{group}" in stderr) == (1, True), (
        stderr
    )
    assert tasks_per_pool(deployment) == {"amd-30": 3, "intel": 2}
    deployment.refuse = lambda _made: None
    code, _, stderr = call("--resume", group)
    assert (code, stderr.count("the next look has")) == (0, 2), stderr
    assert stderr.count("Scopes needed: ") == 1
    assert tasks_per_pool(deployment) == {"amd-30": 6, "intel": 6}


def test_resuming_while_tasks_run(call, deployment, monkeypatch):
    """The tasks of the command that was stopped are waited for, and none is added before."""
    deployment.on_create = lambda _deployment, _task_id: None
    workers = Workers(1, amd_30=1.92)

    async def stop(_pause_s: float) -> None:
        raise KeyboardInterrupt

    async def finish(_pause_s: float) -> None:
        for task_id in deployment.definitions:
            workers(deployment, task_id)

    monkeypatch.setattr(task_watch, "_sleep", stop)
    assert call(*START)[0] == 130
    (group,) = deployment.groups
    monkeypatch.setattr(task_watch, "_sleep", finish)
    code, stdout, stderr = call("--resume", group)
    assert (code, "as long as intel" in stdout) == (0, True), stderr
    assert tasks_per_pool(deployment) == {"amd-30": 3, "intel": 3}


def test_resuming_another_group(call, deployment):
    """Its tasks did not declare the looks, so adding tasks would make its verdicts wrong."""
    deployment.on_create = Workers(1, amd_30=1.92)
    call(*TWO)
    (group,) = deployment.groups
    assert call("--resume", group)[2] == (
        f"error: --resume {group}: was submitted without --until-decided; wait for its tasks and "
        f"compare them with: io-benchmark compare group:{group} --wait 60\n"
    )
    for definition in deployment.definitions.values():
        definition["tags"]["kind"] = "build"
    assert call("--resume", group)[2] == (
        f"error: group:{group}: has no tasks of the benchmark; submit new ones\n"
    )
