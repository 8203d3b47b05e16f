# SPDX-License-Identifier: MPL-2.0
"""submit --gate: pools that no kind names, on a deployment on the loopback."""

import json
import re

import pytest
from loopback_deployment import Deployment
from submitted_tasks import labels

from .test_submit_until_decided import IMAGE, Workers, tasks_per_pool

POOLS = "alpha=gecko-t/linux-alpha,production=gecko-t/linux"
GATE = (*IMAGE, "--pool", POOLS, "--gate", "alpha/production")


@pytest.fixture
def deployment() -> Deployment:
    return Deployment()


@pytest.mark.parametrize(
    ("ratio", "code", "answer"), [(1.0, 0, "Gate passed"), (1.3, 3, "Gate failed")]
)
def test_answers(call, deployment, ratio, code, answer):
    """As many workers as decide the margin; the exit code is the answer, and how to ask again."""
    deployment.on_create = Workers(1, alpha=ratio)
    exit_code, stdout, stderr = call(*GATE)
    assert (exit_code, stdout.splitlines()[0]) == (code, f"{answer}: alpha against production")
    assert tasks_per_pool(deployment) == {"alpha": 5, "production": 5}
    queues = {
        (definition["provisionerId"], definition["workerType"])
        for definition in deployment.definitions.values()
    }
    assert queues == {("gecko-t", "linux-alpha"), ("gecko-t", "linux")}
    (group,) = deployment.groups
    again = f"io-benchmark compare group:{group} --gate 'alpha/production<1.1'"
    assert f"Compare again with: {again}\n" in stderr
    assert "No kind has these pools: alpha, production; they run the task io-benchmark-" in stderr


def test_pools_that_no_gate_names(call):
    """They are not measured; those of a kind can be asked for without a queue."""
    code, stdout, stderr = call(*IMAGE, "--gate", "amd-16/intel<1.05", "--dry-run")
    assert code == 0
    pools = [re.sub("-[0-9]+$", "", label) for label in json.loads(stdout)]
    assert {pool: pools.count(pool) for pool in pools} == {
        "io-benchmark-amd-16": 15,
        "io-benchmark-intel": 15,
    }
    assert "Left out, because no gate names it: amd-30\n" in stderr


def test_until_decided(call, deployment):
    """The looks go on until the gate is decided; --resume with the gate goes on in the group."""
    deployment.on_create = Workers(5, alpha=1.04)
    code, stdout, stderr = call(*GATE, "--until-decided", "--budget", "5.5")
    (group,) = deployment.groups
    assert (code, "Gate not decided" in stdout) == (3, True)
    go_on = f"io-benchmark submit --gate 'alpha/production<1.1' --resume group:{group}"
    assert f"go on with a higher one: {go_on} --budget " in stderr
    code, stdout, stderr = call("--gate", "alpha/production", "--resume", group)
    assert (code, "Gate passed" in stdout, "Decided; " in stderr) == (0, True, True)
    assert list(deployment.groups) == [group]
    counts = tasks_per_pool(deployment)
    assert counts["alpha"] == counts["production"] in (6, 12, 24)


def test_a_lost_baseline(call, deployment):
    """It is not decided, and more workers would not decide it."""

    def run(deployment, task_id):
        if "production" in labels(deployment)[-1]:
            deployment.change_runs(task_id, "failed")
        else:
            Workers(1)(deployment, task_id)

    deployment.on_create = run
    code, stdout, stderr = call(*GATE, "--until-decided")
    assert (code, stdout.splitlines()[0]) == (3, "Gate not decided: alpha against production")
    assert "Undecided: alpha/production; " in stderr
    assert "more workers do not decide it; see the report for the reason" in stderr
    assert tasks_per_pool(deployment) == {"alpha": 3, "production": 3}


@pytest.mark.parametrize(
    ("gate", "problem"),
    [
        ("alpha/producton", "producton is not a pool here; there are: alpha, production; did you"),
        ("alpha/production<1.001", "takes more than 100 tasks per pool to decide; raise its limit"),
    ],
)
def test_refused(call, gate, problem):
    """Before a machine runs."""
    code, _, stderr = call(*GATE[:-1], gate)
    assert code == 2
    assert problem in stderr
