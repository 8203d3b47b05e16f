# SPDX-License-Identifier: MPL-2.0
"""Profiles that tasks published: which runs and files are read, and the line where none is."""

import json

import pytest
from loopback import Loopback
from loopback_deployment import Artifact, Deployment
from predicted_tasks import profile_document
from published_profiles import (
    BUILD_PROFILE,
    TEST_PROFILE,
    Sample,
    add_task,
    resource_profile,
    task_id_of,
)

from io_benchmark.results.format import TaskProfile
from io_benchmark.results.resource_profile import ResourceProfile
from io_benchmark.sources.gather import Gathered, gather_profiles
from io_benchmark.sources.protocol import Reading
from io_benchmark.sources.run_results import RunProfile
from io_benchmark.sources.taskcluster import task_results

MEASURED = "public/io-benchmark/task-profile.json"
SAMPLES = resource_profile([Sample(user=0.5)] * 4)


def read(deployment: Deployment, *addresses: str) -> Gathered[RunProfile]:
    with Loopback(deployment) as taskcluster:
        query = Reading(taskcluster.environment)
        return gather_profiles(addresses, query)


def test_a_task(deployment: Deployment) -> None:
    """Label, worker type and time come from the queue."""
    task_id = add_task(deployment, 1, {TEST_PROFILE: SAMPLES}, minutes=2.5)
    (run,) = read(deployment, f"task:{task_id}").results
    assert isinstance(run.profile, ResourceProfile)
    assert (run.label, run.pool) == ("test-linux/opt-mochitest-1", "type-intel")
    assert (run.task_ns, run.wall_ns) == (150 * 10**9, 150 * 10**9)
    assert run.source.endswith(f"/tasks/{task_id}/runs/0")


def test_the_best_profile(deployment: Deployment) -> None:
    """`measure`'s own, then that of a test or a build.

    Only files that the definition has room for.
    """
    measured = json.dumps(profile_document((0, 0), pool="amd-16")).encode()
    both = {MEASURED: measured, TEST_PROFILE: SAMPLES}
    folders = ("public/io-benchmark", "public/test_info")
    (first,) = read(deployment, f"task:{add_task(deployment, 1, both, folders=folders)}").results
    assert isinstance(first.profile, TaskProfile)
    assert (first.pool, first.wall_ns) == ("amd-16", 10**9)
    folders = ("public/io-benchmark", "public/build")
    without = add_task(deployment, 2, {BUILD_PROFILE: SAMPLES}, folders=folders)
    (second,) = read(deployment, f"task:{without}").results
    assert isinstance(second.profile, ResourceProfile)
    (third,) = read(deployment, f"task:{add_task(deployment, 3, both)}").results
    assert isinstance(third.profile, ResourceProfile)
    for number, names in enumerate(((), ("public/test",)), 4):
        task_id = add_task(deployment, number, both, folders=names)
        assert read(deployment, f"task:{task_id}").results == ()


def test_no_profile_of_several(deployment: Deployment) -> None:
    """The reason is that of the best one."""
    task_id = add_task(deployment, 1, {}, folders=("public/io-benchmark", "public/test_info"))
    deployment.artifacts[task_id, 0, MEASURED] = Artifact(storage_type="error")
    (line,) = read(deployment, f"task:{task_id}").unreadable
    assert "has an error artifact" in line


def test_runs(deployment: Deployment) -> None:
    """Every completed run is one; others are not of the whole task."""
    states = ("completed", "failed", "completed")
    task_id = add_task(deployment, 1, {TEST_PROFILE: SAMPLES}, states=states)
    gathered = read(deployment, f"task:{task_id}", f"task:{task_id}.2")
    assert [run.source[-1] for run in gathered.results] == ["0", "2", "2"]
    assert "run 1" in gathered.remarks[0]
    failed = add_task(deployment, 2, {TEST_PROFILE: SAMPLES}, states=("failed",))
    (line,) = read(deployment, f"task:{failed}").unreadable
    assert f"task {failed}" in line
    assert "failed; a prediction needs a completed run" in line


def test_a_group(deployment: Deployment) -> None:
    """Tasks without a profile are counted in one remark, and stop nothing."""
    for number in (0, 1):
        add_task(deployment, number, {TEST_PROFILE: SAMPLES})
    decision = add_task(deployment, 2, {}, label="lint", folders=())
    add_task(deployment, 3, {}, label="source-test")
    gathered = read(deployment, f"group:{task_id_of(0)}")
    assert [run.label for run in gathered.results] == ["test-linux/opt-mochitest-1"] * 2
    assert gathered.unreadable == ()
    assert gathered.remarks == ("of groups, 2 tasks published no profile and are left out",)
    assert "publishes no profile; run it with" in read(deployment, f"task:{decision}").unreadable[0]


def test_most_runs(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    """A push may have thousands."""
    monkeypatch.setattr(task_results, "_MOST_PROFILES", 2)
    for number in range(3):
        add_task(deployment, number, {TEST_PROFILE: SAMPLES})
    gathered = read(deployment, f"group:{task_id_of(0)}")
    assert len(gathered.results) == 2
    assert gathered.remarks == ("read the profiles of 2 of 3 runs; name fewer tasks",)


@pytest.mark.parametrize(
    ("artifact", "problem"),
    [
        (None, "left no profile_resource-usage.json: it expired on 2026-04-20; run the task again"),
        (Artifact(storage_type="error"), "has an error artifact instead of a result"),
        (Artifact(b"<html>"), "is a web page, such as a login page"),
        (Artifact(b'{"meta": {}, "threads": []}'), "): $.meta.version: is missing"),
        (Artifact(b"{" + b" " * (64 * 1024 * 1024) + b"}"), "bytes"),
    ],
)
def test_profiles_that_cannot_be_read(
    deployment: Deployment, artifact: Artifact | None, problem: str
) -> None:
    """A line has the task, the reason and its address."""
    task_id = add_task(deployment, 1, {})
    if artifact is not None:
        deployment.artifacts[task_id, 0, TEST_PROFILE] = artifact
    gathered = read(deployment, f"task:{task_id}")
    (line,) = gathered.unreadable
    assert line.startswith(f"task {task_id} run 0 (test-linux/opt-mochitest-1): ")
    assert problem in line
    assert line.endswith(f"/tasks/{task_id}/runs/0)")
