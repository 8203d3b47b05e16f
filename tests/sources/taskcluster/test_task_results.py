# SPDX-License-Identifier: MPL-2.0
"""Results at addresses in Taskcluster, from a deployment that answers as recorded."""

import json
import time

import pytest
from loopback import ME, Fault, Loopback, first
from loopback_auth import ANONYMOUS
from loopback_deployment import (
    AMD_16,
    AMD_30,
    ARTIFACT,
    FAILED,
    GROUP,
    INTEL,
    MALFORMED,
    NO_WORKER,
    RERUN,
    UNSCHEDULED,
    WITHOUT_ARTIFACT,
    Artifact,
    Deployment,
    add_group,
    result,
    run,
)
from recorded_pushes import ACTION_WITHOUT_CONTEXTS, PUSH, REPORT, recorded_pushes, written

from io_benchmark.errors import UsageError
from io_benchmark.sources.budget import SMALL_BYTES, Budget
from io_benchmark.sources.gather import gather
from io_benchmark.sources.run_results import TaskRecord
from io_benchmark.sources.taskcluster import addresses, deployment

NO_ARTIFACT = "left no io-benchmark.json"
NO_VERSION = (
    "is not a result of the benchmark: it has no `version`; give an io-benchmark.json that the "
    "benchmark wrote"
)
LOOK = "look at the task's log, or run it again"
LABEL = "io-benchmark-amd-16"
NEVER_STARTED = f"{NO_ARTIFACT}: it never started, so that there is no log; run the benchmark again"


def read(loopback, *addresses, progress=lambda *_: None, budget=None, **environment):
    here = {**loopback.environment, **environment}
    return gather(addresses, here, progress, lambda result: result, budget)


def problem(loopback, task_id, label, text, run=0):
    """Return a line about a run, or a task without one, with its address at the end."""
    shown, path = ("", "") if run is None else (f" run {run}", f"/runs/{run}")
    return f"task {task_id}{shown} ({label}): {text} ({loopback.url}/tasks/{task_id}{path})"


def runs(gathered):
    return [(run.pool, run.task.task_id, run.task.run_id) for run in gathered.results]


def remarks(*lines):
    """Return remarks about runs of a task, each by its number and with a place for the label."""
    return tuple(f"task {AMD_16} run {line.format(f'({LABEL})')}" for line in lines)


ALL_THREE = [("amd-16", AMD_16, 0), ("amd-30", AMD_30, 0), ("intel", INTEL, 0)]


def test_a_group(loopback):
    """The benchmark's results, and one line per task without one, for every reason.

    All pages are read.
    """
    loopback.deployment.page_limit = 4
    gathered = read(loopback, f"group:{GROUP}")
    tokens = [request.query.get("continuationToken") for request in loopback.asked("api", "/list")]
    assert tokens == [None, "odWmnO3Mq1", "1RV8Lg3xKv"]
    assert runs(gathered) == ALL_THREE
    assert gathered.results[0].task == TaskRecord(
        task_id=AMD_16,
        run_id=0,
        label=LABEL,
        pool="amd-16",
        task_queue="proj-misc/b-linux-docker-amd",
        worker_group="local",
        worker_id="vm-amd16-1",
        state="completed",
        image="localhost/io-bench-base:latest",
        started="2026-11-21T08:38:22.384Z",
        resolved="2026-11-21T08:38:24.725Z",
        reason_resolved="completed",
        task_group_id=GROUP,
        engine="docker",
    )
    assert gathered.results[0].source == f"{loopback.url}/tasks/{AMD_16}/runs/0"
    refused = "was refused by its worker (malformed-payload)"
    error = (
        'has an error artifact instead of a result (file-missing-on-worker, "Could not read file '
        "'/home/task_P146hPECSxWk-_0/artifact0.json'\"): the script wrote none; look at the "
        "task's log"
    )
    waits = "has no runs, it is unscheduled and waits for other tasks; look at its group"
    lines = (
        ("YJuAXNAfStGKzdYohtrb0A", "argument-too-long", f"failed and {NO_ARTIFACT}: {LOOK}"),
        (WITHOUT_ARTIFACT, "completed-without-artifact", error),
        (UNSCHEDULED, "depends-on-failed", waits, None),
        (FAILED, "failed-with-artifact", NO_VERSION),
        (MALFORMED, "malformed-payload", f"{refused} and {NO_ARTIFACT}: {LOOK}"),
        (NO_WORKER, "no-worker", "is still pending; read it again when it has ended", 0),
        (RERUN, "rerun-twice", NO_VERSION),
        (RERUN, "rerun-twice", NO_VERSION, 1),
    )
    expected = [problem(loopback, *line) for line in lines]
    expected[5] = expected[5].replace("/runs/0)", ")")
    assert gathered.unreadable == tuple(expected)
    assert (gathered.remarks, gathered.lost) == ((), ())


NEW_PUSH = f"index:gecko.v2.new.revision.{'0' * 40}.taskgraph.decision"


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("task:AAAAAAAAQAGAAAAAAAAAAA", " has no such task; it may have expired, or belong to"),
        ("group:AAAAAAAAQAGAAAAAAAAAAA", ", or has expired"),
        ("index:dev.v2.none", " has no such route; it may have expired"),
        (
            NEW_PUSH,
            " has no such route; it is added when the decision task has completed (compare ",
        ),
    ],
)
def test_what_does_not_exist(loopback, address, reason):
    """One line has the address and the possible reasons; the others are read."""
    gathered = read(loopback, address, f"task:{INTEL}")
    (line,) = gathered.unreadable
    assert line.startswith(f"{address}: ")
    assert f"{loopback.url}{reason}" in line
    assert runs(gathered) == ALL_THREE[2:]


def test_tasks_that_stand_for_their_group():
    """Tasks about the push mean its benchmark tasks: here 11, with 12 runs."""
    deployment = recorded_pushes()
    for member in deployment.groups[PUSH]:
        for queue_run in deployment.statuses[member]["runs"]:
            body = result("amd-16", member, queue_run["runId"])
            deployment.set_result(member, queue_run["runId"], Artifact(body))
    with Loopback(deployment) as loopback:
        addresses = [f"task:{task_id}" for task_id in (PUSH, REPORT, ACTION_WITHOUT_CONTEXTS)]
        for address in (f"group:{PUSH}", *addresses):
            gathered = read(loopback, address)
            assert (len(gathered.results), gathered.unreadable, gathered.remarks) == (12, (), ())


def test_where_no_run_completed(loopback):
    """The newest run with a result is used; a failed request is an error."""
    state = loopback.deployment
    state.change_runs(AMD_16, "failed", "exception", "exception", "pending")
    for run_id in (0, 1):
        state.set_result(AMD_16, run_id, Artifact(result("amd-16", AMD_16, run_id)))
    gathered = read(loopback, f"task:{AMD_16}")
    assert runs(gathered) == [("amd-16", AMD_16, 1)]
    preempted = "was preempted (worker-shutdown) and is"
    assert gathered.remarks == remarks(
        "0 {} failed and is not counted",
        "3 {} is still pending and not counted; read it again later",
        f"1 {{}} {preempted} read, because no run completed",
        f"2 {{}} {preempted} not counted",
    )
    # The task adds nothing to its named run.
    assert "same run" not in str(read(loopback, f"task:{AMD_16}.1", f"task:{AMD_16}").remarks)
    loopback.faults = first(99, Fault(status=503), part=f"{AMD_16}/runs/1/")
    gathered = read(loopback, f"task:{AMD_16}")
    line = "127.0.0.1 answers 503, 10 times; try again later"
    assert gathered.results == ()
    assert gathered.unreadable == (problem(loopback, AMD_16, LABEL, line, 1),)


def test_every_completed_run_counts(loopback):
    """Others are named; a run that the address names is read whatever became of it."""
    state = loopback.deployment
    state.change_runs(AMD_16, "completed", "failed", "completed", "running")
    for run_id in range(3):
        state.set_result(AMD_16, run_id, Artifact(result("amd-16", AMD_16, run_id)))
    gathered = read(loopback, f"task:{AMD_16}")
    assert runs(gathered) == [("amd-16", AMD_16, run_id) for run_id in (0, 2)]
    assert gathered.remarks == remarks(
        "1 {} failed and is not counted",
        "3 {} is still running and not counted; read it again later",
    )
    gathered = read(loopback, f"task:{AMD_16}.1", f"task:{AMD_16}.7", f"task:{UNSCHEDULED}.0")
    assert (runs(gathered), gathered.remarks) == ([("amd-16", AMD_16, 1)], ())
    lines = (
        (AMD_16, LABEL, "has no run 7; its runs are 0, 1, 2, 3"),
        (UNSCHEDULED, "depends-on-failed", "has no run 0; its runs are none"),
    )
    assert gathered.unreadable == tuple(problem(loopback, *line, None) for line in lines)


def test_results_that_cannot_be_read(loopback):
    """One line names task and run.

    The others are read. The artifact's date says that it expired.
    """
    file = Artifact(storage_type="reference", url="file:///etc/passwd")
    loopback.deployment.set_result(AMD_16, 0, file)
    del loopback.deployment.artifacts[AMD_30, 0, ARTIFACT]
    loopback.deployment.definitions[AMD_30]["expires"] = "2026-11-20T08:38:21.000Z"
    gathered = read(loopback, *(f"task:{task_id}" for _, task_id, _ in ALL_THREE))
    assert runs(gathered) == ALL_THREE[2:]
    no_address = "its artifact of type 'reference' has no http(s) address"
    expired = f"{NO_ARTIFACT}: it expired on 2026-11-20; run the benchmark again"
    assert gathered.unreadable == (
        problem(loopback, AMD_16, LABEL, no_address),
        problem(loopback, AMD_30, "io-benchmark-amd-30", expired),
    )


def test_credentials_go_to_the_deployment_alone():
    """Every call is signed; a storage host and another deployment never see the credentials."""
    with Loopback(private=True) as loopback:
        assert runs(read(loopback, f"group:{GROUP}", **ME.environment)) == ALL_THREE
        for request in loopback.asked("api"):
            assert 'id="me"' in request.headers["Authorization"]
        for request in loopback.asked("storage"):
            assert not {"Authorization", "Cookie"} & set(request.headers)
        assert ME.access_token not in str(loopback.requests)
        loopback.requests.clear()
        environment = {**ME.environment, "TASKCLUSTER_ROOT_URL": "https://tc.example"}
        gathered = read(loopback, f"{loopback.url}/tasks/{AMD_16}", **environment)
        text = (
            f"{loopback.url} refuses the request, which needs the scope "
            f"queue:get-artifact:{ARTIFACT} and was made anonymously; set TASKCLUSTER_CLIENT_ID "
            "and TASKCLUSTER_ACCESS_TOKEN"
        )
        assert gathered.unreadable == (problem(loopback, AMD_16, LABEL, text),)
        assert all("Authorization" not in request.headers for request in loopback.requests)


READS = {
    f"group:{GROUP}": ("queue:list-task-group:", "queue:get-artifact:public/"),
    f"task:{AMD_16}": ("queue:status:", "queue:get-task:"),
    "index:dev.v2.io.latest.io-benchmark-amd-16": ("index:find-task:",),
    "index:dev.v2.io.latest": ("index:list-tasks:",),
}


@pytest.mark.parametrize(
    ("address", "scope"),
    [(address, scope) for address, scopes in READS.items() for scope in scopes],
)
def test_a_deployment_whose_anonymous_role_lacks_a_scope(address, scope):
    """As a fresh one does, it answers 403: the line names the scope, and what to do."""
    rest = [given for given in ANONYMOUS if not given.startswith(scope)]
    with Loopback(anonymous=rest, private=scope.endswith("public/")) as loopback:
        gathered = read(loopback, address)
    assert gathered.results == ()
    line = gathered.unreadable[0]
    assert f"refuses the request, which needs {scope}" in line.replace("the scope ", "")
    assert "was made anonymously; set TASKCLUSTER_CLIENT_ID and TASKCLUSTER_ACCESS_TOKEN" in line


def test_a_store_that_fails(loopback):
    """The line says that it is the store, because the queue still answers."""
    loopback.faults = first(99, Fault(status=503), host="storage")
    gathered = read(loopback, f"task:{AMD_16}")
    why = (
        "the store that holds its artifact fails: 127.0.0.1 answers 503, 10 times; try again later"
    )
    assert gathered.unreadable == (problem(loopback, AMD_16, LABEL, why),)


NOT_DONE = f"was not done by its deadline (deadline-exceeded) and {NEVER_STARTED}"
DIED = f"was preempted, or its worker died (claim-expired) and {NO_ARTIFACT}"
EXPIRED = "claim-expired, retry pending"


@pytest.mark.parametrize(
    ("note", "retry", "line"),
    [
        ("deadline-exceeded, never claimed", None, NOT_DONE),
        (EXPIRED, "pending", f"{DIED}: run 1 is pending; read it again when that has ended"),
        (EXPIRED, "exception", f"{DIED}: its worker died and left no log; run the benchmark again"),
    ],
)
def test_runs_that_ended_badly(note, retry, line):
    """Each line says what to do; none names a log that does not exist."""
    task = written()[f"status of {note}"]["response"]["body"]["status"]["taskId"]
    deployment = recorded_pushes()
    status = deployment.statuses[task]
    if retry == "exception":
        status |= {"state": retry, "runs": [status["runs"][0], run(1, retry, "claim-expired")]}
    with Loopback(deployment) as loopback:
        gathered = read(loopback, f"task:{task}")
        expected = problem(loopback, task, LABEL, line, int(retry == "exception"))
    assert gathered.unreadable == (expected,)
    assert gathered.lost == (() if retry == "pending" else ("amd-16",))


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (Fault(status=301, headers={"Location": "https://h/x"}), "redirects to https://h/x; use"),
        (Fault(status=200), "does not answer like a Taskcluster deployment (JSON is malformed: i"),
        (None, "gives more than 3 pages"),
    ],
    ids=["redirect", "no-deployment", "endless-pages"],
)
def test_a_deployment_that_misbehaves(loopback, monkeypatch, fault, text):
    """One line; signatures are for one host, and pages have an end."""
    monkeypatch.setattr(deployment, "_MAXIMUM_PAGES", 3)
    loopback.deployment.page_limit = 4
    loopback.deployment.tokens = {8: "x", 4: "x"}
    if fault:
        loopback.faults = first(9, fault)
    (line,) = read(loopback, f"group:{GROUP}").unreadable
    assert line.startswith(f"group:{GROUP}: {loopback.url}")
    assert text in line
    assert len(loopback.requests) <= 3


def test_the_default_deployment_is_told(loopback, monkeypatch):
    """A user who wrote task:ID may not know its deployment."""
    monkeypatch.setattr("io_benchmark.sources.taskcluster.addresses.DEFAULT_ROOT_URL", loopback.url)
    gathered = read(loopback, f"task:{AMD_16}", TASKCLUSTER_ROOT_URL="")
    assert gathered.remarks == (f"read {loopback.url}, because TASKCLUSTER_ROOT_URL is not set",)
    address = f"{loopback.url}/tasks/{AMD_16}"
    assert read(loopback, address, TASKCLUSTER_ROOT_URL="").remarks == ()


@pytest.mark.parametrize("named", [False, True])
def test_a_forgotten_variable(loopback, monkeypatch, named):
    """A failure at the default deployment names the variable, if nothing named the deployment."""
    monkeypatch.setattr("io_benchmark.sources.taskcluster.addresses.DEFAULT_ROOT_URL", loopback.url)
    missing = "AAAAAAAAQAGAAAAAAAAAAA"
    address = f"{loopback.url}/tasks/{missing}" if named else f"task:{missing}"
    (line,) = read(loopback, address, TASKCLUSTER_ROOT_URL="").unreadable
    assert ("it may have expired" in line, line.endswith(addresses.DEFAULT_HINT)) == (
        True,
        not named,
    )
    assert "TASKCLUSTER_ROOT_URL" not in read(loopback, address).unreadable[0]


def test_a_job_of_a_push(loopback):
    """An address that selects a job of a push reads that job alone, and says so."""
    push = f"https://treeherder.example/jobs?repo=try&revision={'0' * 40}"
    gathered = read(loopback, f"{push}&selectedTaskRun={AMD_16}.0")
    assert runs(gathered) == ALL_THREE[:1]
    assert "remove selectedTaskRun from it to read the whole push" in gathered.remarks[0]


def test_progress(loopback):
    """Counts of tasks during the listing, then of results, to the end."""
    steps = []
    read(loopback, f"group:{GROUP}", progress=lambda *step: steps.append(step))
    assert steps == [
        *(("listing tasks", number, None) for number in (0, 10)),
        *(("reading results", number, 9) for number in range(10)),
    ]


def test_what_is_not_read_in_time_is_named(loopback):
    """A report is written with the results that came in time."""
    loopback.faults = first(99, Fault(delay_s=60), "storage", INTEL)
    budget = Budget(ends_s=time.monotonic() + 1.5)
    gathered = read(loopback, f"task:{AMD_16}", f"task:{INTEL}", budget=budget)
    assert runs(gathered) == ALL_THREE[:1]
    line = f"task {INTEL} run 0 (io-benchmark-intel): was not read in time; read it again"
    assert line in gathered.unreadable


def test_large_results_are_not_read_after_a_small_one_was_refused(loopback):
    """There is no room for them; one request each shows that they are large."""
    body = result("amd-16", AMD_16, 0)
    loopback.deployment.set_result(AMD_16, 0, Artifact(body + b" " * SMALL_BYTES))
    gathered = read(loopback, f"task:{AMD_16}", f"task:{INTEL}", budget=Budget(kept_bytes=1))
    assert gathered.results == ()
    assert len(loopback.asked("storage")) == 2


def test_mistakes_in_paths_come_first(loopback, tmp_path):
    """Nothing is requested before the mistake shows."""
    with pytest.raises(UsageError, match="no such file or folder"):
        read(loopback, f"task:{AMD_16}", str(tmp_path / "none"))
    assert loopback.requests == []


@pytest.mark.parametrize(
    ("created", "pace", "lost"),
    [("09:30", None, ("amd-16",)), ("10:30", None, ()), ("09:30", 10**6, ())],
    ids=["planned", "added-later", "added-before-a-confirming-run"],
)
def test_only_planned_tasks_are_lost(created, pace, lost):
    """A task that was created after the pool's others had started adds a worker."""
    deployment = Deployment()
    group = add_group(deployment, 3, pools=("amd-16",))
    *there, lacking = deployment.groups[group]
    deployment.statuses[there[1]]["runs"][0]["started"] = "2026-11-21T10:00:00.000Z"
    body = json.loads(result("amd-16", there[1], 0))
    body["config"]["pace_bytes_per_s"] = pace
    deployment.leave(there[1], body)
    deployment.definitions[lacking]["created"] = f"2026-11-21T{created}:00.000Z"
    del deployment.artifacts[lacking, 0, ARTIFACT]
    with Loopback(deployment) as loopback:
        gathered = read(loopback, f"group:{group}")
    assert runs(gathered) == [("amd-16", task_id, 0) for task_id in there]
    assert (gathered.lost, gathered.missing) == (lost, ("amd-16",))
    assert [line.partition(": ")[0] for line in gathered.unreadable] == [
        f"task {lacking} run 0 ({LABEL}-3)"
    ]
