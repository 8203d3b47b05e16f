# SPDX-License-Identifier: MPL-2.0
"""Results at addresses in Taskcluster, from a deployment that answers as recorded."""

import time

import loopback_runs
import pytest
from loopback import ME, Fault, Loopback, first, share_of
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
    recorded,
    result,
)
from recorded_pushes import (
    ACTION_WITHOUT_CONTEXTS,
    CLAIM_EXPIRED,
    PUSH,
    REPORT,
    SHUT_DOWN,
    recorded_pushes,
    written,
)

from io_benchmark.errors import UsageError
from io_benchmark.results.reader import MAXIMUM_BYTES
from io_benchmark.sources.budget import SMALL_BYTES, Budget
from io_benchmark.sources.gather import gather
from io_benchmark.sources.protocol import ReadProgress
from io_benchmark.sources.run_results import TaskRecord

CREDENTIALS = ME.environment
NO_ARTIFACT = "left no io-benchmark.json"
NO_VERSION = "Object missing required field `version`"
LOOK = "look at the task's log, or run it again"


@pytest.fixture
def loopback():
    with Loopback() as running:
        yield running


def read(loopback, policy, *addresses, progress=lambda _progress: None, **environment):
    here = {"TASKCLUSTER_ROOT_URL": loopback.url, **environment}
    return gather(addresses, here, progress, lambda result: result, policy)


def problem(loopback, task_id, label, text, run=0):
    """Return a line about a run, or a task without one, with its address at the end."""
    shown, path = ("", "") if run is None else (f" run {run}", f"/runs/{run}")
    return f"task {task_id}{shown} ({label}): {text} ({loopback.url}/tasks/{task_id}{path})"


def runs(gathered):
    return [(one.pool, one.task.task_id, one.task.run_id) for one in gathered.results]


ALL_THREE = [("amd-16", AMD_16, 0), ("amd-30", AMD_30, 0), ("intel", INTEL, 0)]


def test_a_group(loopback, policy):
    """The benchmark's results, and one line per task without one, for every reason."""
    gathered = read(loopback, policy, f"group:{GROUP}")
    assert runs(gathered) == ALL_THREE
    assert gathered.results[0].task == TaskRecord(
        task_id=AMD_16,
        run_id=0,
        label="io-benchmark-amd-16",
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
    )
    assert gathered.results[0].source == f"{loopback.url}/tasks/{AMD_16}/runs/0"
    assert gathered.unreadable == (
        problem(
            loopback,
            "YJuAXNAfStGKzdYohtrb0A",
            "argument-too-long",
            f"failed and {NO_ARTIFACT}: {LOOK}",
        ),
        problem(
            loopback,
            WITHOUT_ARTIFACT,
            "completed-without-artifact",
            'has an error artifact instead of a result (file-missing-on-worker, "Could not read file '
            "'/home/task_P146hPECSxWk-_0/artifact0.json'\"): the script wrote none; look at the task's "
            "log",
        ),
        problem(
            loopback,
            UNSCHEDULED,
            "depends-on-failed",
            "has no runs, it is unscheduled and waits for other tasks; look at its group",
            None,
        ),
        problem(loopback, FAILED, "failed-with-artifact", NO_VERSION),
        problem(
            loopback,
            MALFORMED,
            "malformed-payload",
            f"was refused by its worker (malformed-payload) and {NO_ARTIFACT}: {LOOK}",
        ),
        (
            f"task {NO_WORKER} run 0 (no-worker): is still pending; read it again when it has ended "
            f"({loopback.url}/tasks/{NO_WORKER})"
        ),
        problem(loopback, RERUN, "rerun-twice", NO_VERSION),
        problem(loopback, RERUN, "rerun-twice", NO_VERSION, 1),
    )
    assert gathered.remarks == ()
    assert gathered.lost == ()


def test_pages_are_followed(loopback, policy):
    """With the recorded tokens: three pages of four."""
    loopback.deployment.page_limit = 4
    assert runs(read(loopback, policy, f"group:{GROUP}")) == ALL_THREE
    tokens = [one.query.get("continuationToken") for one in loopback.asked("api", "/list")]
    assert tokens == [None, "odWmnO3Mq1", "1RV8Lg3xKv"]


def test_a_page_that_repeats_itself_ends(loopback, policy):
    """A token that leads to itself would be followed forever."""
    loopback.deployment.page_limit = 4
    loopback.deployment.tokens = {8: "x", 4: "x"}
    gathered = read(loopback, policy, f"group:{GROUP}")
    text = f"group:{GROUP}: {loopback.url} returns the same page again and again"
    assert gathered.unreadable == (text,)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        pytest.param(f"task:{AMD_16}", ALL_THREE[:1], id="task"),
        pytest.param(f"task:{AMD_16}.0", ALL_THREE[:1], id="run"),
        pytest.param("{url}/tasks/" + INTEL + "/runs/0", ALL_THREE[2:], id="browser"),
        pytest.param("{url}/tasks/groups/" + GROUP, ALL_THREE, id="browser-group"),
        pytest.param("index:dev.v2.io.latest.io-benchmark-amd-30", ALL_THREE[1:2], id="index"),
        pytest.param("index:dev.v2.io.latest", ALL_THREE, id="namespace"),
    ],
)
def test_other_addresses(loopback, policy, address, expected):
    """Each form leads to the same results."""
    gathered = read(loopback, policy, address.format(url=loopback.url))
    assert runs(gathered) == expected


def test_a_push_in_treeherder(loopback, policy):
    """repo and revision lead through the index to the decision task and so to its group."""
    revision = "0123456789abcdef0123456789abcdef01234567"
    definition = {
        "tags": {"kind": "decision-task"},
        "metadata": {"name": "Decision"},
        "payload": {},
    }
    status = {"taskId": GROUP, "taskGroupId": GROUP, "state": "completed", "runs": []}
    loopback.deployment.add(definition, status)
    loopback.deployment.index[f"gecko.v2.try.revision.{revision}.taskgraph.decision"] = GROUP
    address = f"https://treeherder.mozilla.org/jobs?repo=try&revision={revision}"
    assert runs(read(loopback, policy, address)) == ALL_THREE
    assert [one.path.partition("?")[0] for one in loopback.requests[:4]] == [
        f"/api/index/v1/task/gecko.v2.try.revision.{revision}.taskgraph.decision",
        f"/api/queue/v1/task/{GROUP}/status",
        f"/api/queue/v1/task/{GROUP}",
        f"/api/queue/v1/task-group/{GROUP}/list",
    ]


def test_a_run_that_is_named_twice_counts_once(loopback, policy):
    """Two requests per address, then two per result."""
    gathered = read(
        loopback, policy, f"task:{INTEL}", f"task:{AMD_16}", f"task:{AMD_30}.0", f"task:{INTEL}.0"
    )
    assert runs(gathered) == [ALL_THREE[2], ALL_THREE[0], ALL_THREE[1]]
    assert len(loopback.requests) == 2 * 4 + 2 * 3


def test_a_group_and_a_task_of_it(loopback, policy):
    """Nothing is read or reported twice."""
    once = read(loopback, policy, f"group:{GROUP}")
    before = len(loopback.requests)
    both = read(loopback, policy, f"group:{GROUP}", f"task:{NO_WORKER}", f"group:{GROUP}")
    assert (runs(both), both.unreadable) == (runs(once), once.unreadable)
    assert len(loopback.requests) - before == before + 2  # the task's status and definition


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        pytest.param(
            "task:AAAAAAAAQAGAAAAAAAAAAA",
            "task:AAAAAAAAQAGAAAAAAAAAAA: {url} has no such task; it may have expired, or belong to another deployment",
            id="task",
        ),
        pytest.param(
            "group:AAAAAAAAQAGAAAAAAAAAAA",
            "group:AAAAAAAAQAGAAAAAAAAAAA: does not exist at {url}, or has expired",
            id="group",
        ),
        pytest.param(
            f"task:{AMD_16}.7",
            f"task {AMD_16} (io-benchmark-amd-16): has no run 7; its runs are 0 "
            f"({{url}}/tasks/{AMD_16})",
            id="run",
        ),
        pytest.param(
            "index:dev.v2.none",
            "index:dev.v2.none: {url} has no such route; it may have expired",
            id="index",
        ),
        pytest.param(
            "https://treeherder.mozilla.org/jobs?repo=new&revision=" + "0" * 40,
            f"index:gecko.v2.new.revision.{'0' * 40}.taskgraph.decision: {{url}} has no such route; it "
            "is added when the decision task has completed (compare --wait MINUTES waits for it); "
            "or it has expired, or IO_BENCHMARK_TRUST_DOMAIN must name another trust domain",
            id="push",
        ),
    ],
)
def test_what_does_not_exist(loopback, policy, address, expected):
    """One line has the address and the possible reasons; the others are read."""
    gathered = read(loopback, policy, address, f"task:{INTEL}")
    assert gathered.unreadable == (expected.format(url=loopback.url),)
    assert runs(gathered) == ALL_THREE[2:]


@pytest.mark.parametrize(
    "address",
    [
        pytest.param(f"group:{PUSH}", id="group"),
        pytest.param(f"task:{PUSH}", id="decision task"),
        pytest.param(f"task:{REPORT}", id="report"),
        pytest.param(f"task:{REPORT}.0", id="run of the report"),
        pytest.param("{url}/tasks/" + REPORT, id="address of the report"),
        pytest.param(f"task:{ACTION_WITHOUT_CONTEXTS}", id="action"),
    ],
)
def test_tasks_that_stand_for_their_group(policy, address):
    """Tasks about the push mean its benchmark tasks: here 11, with 12 runs."""
    deployment = recorded_pushes()
    for member in deployment.groups[PUSH]:
        for run in deployment.statuses[member]["runs"]:
            body = result("amd-16", member, run["runId"])
            deployment.set_result(member, run["runId"], Artifact(body))
    with Loopback(deployment) as loopback:
        gathered = read(loopback, policy, address.format(url=loopback.url))
    assert (len(gathered.results), gathered.unreadable, gathered.remarks) == (12, (), ())


@pytest.mark.parametrize("kind", ["io-benchmark", "io-benchmark-all"])
def test_replicates_and_retriggers_count(policy, kind):
    """All tasks of the kind in the group count; the command names the pool."""
    deployment = Deployment()
    group = add_group(deployment, 6, kind=kind)
    with Loopback(deployment) as loopback:
        gathered = read(loopback, policy, f"group:{group}")
    assert [one.pool for one in gathered.results] == ["amd-16"] * 2 + ["amd-30"] * 2 + ["intel"] * 2
    assert len({one.task.task_id for one in gathered.results}) == 6


def test_every_completed_run_is_read(loopback, policy):
    """A rerun adds a worker; a failed run does not."""
    deployment = loopback.deployment
    deployment.change_runs(AMD_16, "completed", "failed", "completed")
    deployment.set_result(AMD_16, 2, Artifact(result("amd-16", AMD_16, 2)))
    gathered = read(loopback, policy, f"task:{AMD_16}")
    assert runs(gathered) == [("amd-16", AMD_16, 0), ("amd-16", AMD_16, 2)]
    assert gathered.remarks == (
        f"task {AMD_16} run 1 (io-benchmark-amd-16) failed and is not counted",
    )


def test_where_no_run_completed(loopback, policy):
    """The newest run with a result is used, marked by its state."""
    deployment = loopback.deployment
    deployment.change_runs(AMD_16, "failed", "exception", "exception", "pending")
    for run_id in (0, 1):
        deployment.set_result(AMD_16, run_id, Artifact(result("amd-16", AMD_16, run_id)))
    gathered = read(loopback, policy, f"task:{AMD_16}")
    assert runs(gathered) == [("amd-16", AMD_16, 1)]
    assert gathered.results[0].task.state == "exception"
    title = f"task {AMD_16} run"
    assert gathered.results[0].task.reason_resolved == "worker-shutdown"
    label = "(io-benchmark-amd-16)"
    assert gathered.remarks == (
        f"{title} 0 {label} failed and is not counted",
        f"{title} 3 {label} is still pending and not counted; read it again later",
        f"{title} 1 {label} was preempted (worker-shutdown) and is used, because no run completed",
        f"{title} 2 {label} was preempted (worker-shutdown) and is not counted",
    )


def test_a_failing_host_is_no_reason_for_an_older_run(loopback, policy):
    """Only a run without a result is replaced; a failed request is an error."""
    deployment = loopback.deployment
    deployment.change_runs(AMD_16, "failed", "failed")
    for run_id in (0, 1):
        deployment.set_result(AMD_16, run_id, Artifact(result("amd-16", AMD_16, run_id)))
    loopback.faults = first(99, Fault(status=503), part=f"{AMD_16}/runs/1/")
    gathered = read(loopback, policy, f"task:{AMD_16}")
    assert gathered.results == ()
    assert gathered.unreadable == (
        problem(
            loopback,
            AMD_16,
            "io-benchmark-amd-16",
            "127.0.0.1 answers 503, 10 times; try again later",
            1,
        ),
    )


@pytest.mark.parametrize(
    ("artifact", "text"),
    [
        pytest.param(
            Artifact(storage_type="gone"),
            "lost its artifact's content: 127.0.0.1 does not have the object (404): " + LOOK,
            id="gone",
        ),
        pytest.param(
            Artifact(storage_type="reference", url="file:///etc/passwd"),
            "its artifact of type 'reference' has no http(s) address",
            id="reference-to-a-file",
        ),
        pytest.param(
            Artifact(bytes(MAXIMUM_BYTES + 1)),
            "it has more than 16,777,216 bytes, gzip decoded",
            id="gzip-bomb",
        ),
        pytest.param(
            Artifact(b"{"),
            "ends too early: its upload or download was cut; download it again or measure again",
            id="truncated-json",
        ),
        pytest.param(
            Artifact(b'{"version": 1, "x": ' + b"[" * 100_000), "is nested too deeply", id="deep"
        ),
        pytest.param(
            Artifact(b'{"version": 99}'),
            "$.version: 99 is newer than this program, which reads version 2: update io-benchmark",
            id="newer",
        ),
    ],
)
def test_a_result_that_cannot_be_read(loopback, policy, artifact, text):
    """One line names task and run; the others are read."""
    loopback.deployment.set_result(AMD_16, 0, artifact)
    gathered = read(loopback, policy, f"task:{AMD_16}", f"task:{INTEL}")
    assert runs(gathered) == ALL_THREE[2:]
    assert gathered.unreadable == (problem(loopback, AMD_16, "io-benchmark-amd-16", text),)


def test_what_has_expired_is_told_from_what_never_was(loopback, policy):
    """The artifact's date decides."""
    del loopback.deployment.artifacts[AMD_16, 0, ARTIFACT]
    loopback.deployment.definitions[AMD_16]["expires"] = "2026-11-20T08:38:21.000Z"
    gathered = read(loopback, policy, f"task:{AMD_16}")
    assert gathered.unreadable == (
        problem(
            loopback,
            AMD_16,
            "io-benchmark-amd-16",
            f"{NO_ARTIFACT}: it expired on 2026-11-20; run the benchmark again",
        ),
    )


def test_the_object_service(loopback, policy):
    """Content in the object service needs one more request."""
    loopback.deployment.set_result(
        AMD_16, 0, Artifact(result("amd-16", AMD_16, 0), storage_type="object")
    )
    assert runs(read(loopback, policy, f"task:{AMD_16}.0")) == ALL_THREE[:1]
    (asked,) = loopback.asked("api", "/object/")
    assert asked.method == "PUT"
    assert len(loopback.requests) == 5


@pytest.mark.parametrize(
    ("environment", "advice"),
    [
        pytest.param(
            {},
            "anonymously; set TASKCLUSTER_CLIENT_ID and TASKCLUSTER_ACCESS_TOKEN",
            id="anonymous",
        ),
    ],
)
def test_private_results(policy, environment, advice):
    """A 403 says which scope is missing and what to set."""
    with Loopback(private=True) as loopback:
        gathered = read(loopback, policy, f"task:{AMD_16}", **environment)
    assert gathered.unreadable == (
        problem(
            loopback,
            AMD_16,
            "io-benchmark-amd-16",
            f"{loopback.url} refuses the request, which needs the scope queue:get-artifact:{ARTIFACT} "
            f"and was made {advice}",
        ),
    )


def test_credentials_go_to_the_deployment_alone(policy):
    """Every call is signed; storage host and results never see the credentials."""
    with Loopback(private=True) as loopback:
        gathered = read(loopback, policy, f"group:{GROUP}", **CREDENTIALS)
        assert runs(gathered) == ALL_THREE
        for request in loopback.asked("api"):
            assert 'id="me"' in request.headers["Authorization"]
        for request in loopback.asked("storage"):
            assert "Authorization" not in request.headers
            assert "Cookie" not in request.headers
        for request in loopback.requests:
            assert ME.access_token not in str(request)


def test_another_deployment_gets_no_credentials(policy):
    """A pasted address may name any host."""
    with Loopback(private=True) as loopback:
        environment = {"TASKCLUSTER_ROOT_URL": "https://tc.example", **CREDENTIALS}
        address = f"{loopback.url}/tasks/{AMD_16}"
        gathered = gather(
            [address], environment, lambda _progress: None, lambda result: result, policy
        )
        assert "and was made anonymously; set" in gathered.unreadable[0]
        assert all("Authorization" not in one.headers for one in loopback.requests)


def test_through_the_task_s_proxy(loopback, policy):
    """Inside a task requests go to the proxy; shown addresses keep the deployment's name."""
    environment = {
        "TASKCLUSTER_ROOT_URL": "http://127.0.0.1:9",
        "TASKCLUSTER_PROXY_URL": loopback.url,
    }
    gathered = gather(
        [f"group:{GROUP}"], environment, lambda _progress: None, lambda result: result, policy
    )
    assert runs(gathered) == ALL_THREE
    assert gathered.results[0].source == f"http://127.0.0.1:9/tasks/{AMD_16}/runs/0"


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        pytest.param(
            "status of canceled before it started",
            "task {task} run 0 ({label}): was cancelled (canceled) and {absent}: it never started, so "
            "that there is no log; run the benchmark again ({url}/tasks/{task}/runs/0)",
            id="cancelled before it started",
        ),
        pytest.param(
            "status of deadline-exceeded, never claimed",
            "task {task} run 0 ({label}): was not done by its deadline (deadline-exceeded) and "
            "{absent}: it never started, so that there is no log; run the benchmark again "
            "({url}/tasks/{task}/runs/0)",
            id="no worker came",
        ),
        pytest.param(
            "status of deadline-exceeded before it was scheduled",
            "task {task} run 0 ({label}): was not done by its deadline (deadline-exceeded) and "
            "{absent}: it never started, so that there is no log; run the benchmark again "
            "({url}/tasks/{task}/runs/0)",
            id="it waited for others",
        ),
        pytest.param(
            "status of claim-expired, retry pending",
            "task {task} run 0 ({label}): was preempted, or its worker died (claim-expired) and "
            "{absent}: run 1 is pending; read it again when that has ended "
            "({url}/tasks/{task}/runs/0)",
            id="its retry is pending",
        ),
        pytest.param(
            "status of internal-error, worker gone at start",
            "task {task} run 0 ({label}): met an error of its worker (internal-error) and {absent}: "
            "look at the task's log, or run it again ({url}/tasks/{task}/runs/0)",
            id="its worker met an error",
        ),
    ],
)
def test_runs_that_ended_badly(policy, note, expected):
    """Each line says what to do; none names a log that does not exist."""
    deployment = recorded_pushes()
    task = written()[note]["response"]["body"]["status"]["taskId"]
    with Loopback(deployment) as loopback:
        gathered = read(loopback, policy, f"task:{task}")
        known = {"task": task, "url": loopback.url, "absent": NO_ARTIFACT}
        label = "io-benchmark-amd-16"
        assert gathered.unreadable == (expected.format(**known, label=label),)


def test_a_claim_that_expired_for_good(policy):
    """No retry was left: there is no log, and nothing to wait for."""
    deployment = recorded_pushes()
    status = deployment.statuses[CLAIM_EXPIRED]
    loopback_runs.claim(status)
    status["retriesLeft"] = 0
    loopback_runs.interrupt(status, "claim-expired")
    with Loopback(deployment) as loopback:
        gathered = read(loopback, policy, f"task:{CLAIM_EXPIRED}")
        text = (
            f"was preempted, or its worker died (claim-expired) and {NO_ARTIFACT}: its worker died "
            "and left no log; run the benchmark again"
        )
        label = "io-benchmark-amd-16"
        assert gathered.unreadable == (problem(loopback, CLAIM_EXPIRED, label, text, 1),)


def test_a_result_that_was_kept_at_the_end_of_its_worker(policy):
    """A worker-shutdown leaves a partial result, used until the retry completes."""
    deployment = recorded_pushes()
    status = deployment.statuses[SHUT_DOWN]
    status["state"], status["runs"] = "pending", [status["runs"][0], pending_run()]
    deployment.set_result(SHUT_DOWN, 0, Artifact(result("amd-16", SHUT_DOWN, 0)))
    with Loopback(deployment) as loopback:
        gathered = read(loopback, policy, f"task:{SHUT_DOWN}")
    assert runs(gathered) == [("amd-16", SHUT_DOWN, 0)]
    title = f"task {SHUT_DOWN} run"
    assert gathered.remarks == (
        (
            f"{title} 0 (io-benchmark-amd-16) was preempted (worker-shutdown) and is used, because no run "
            "completed"
        ),
        f"{title} 1 (io-benchmark-amd-16) is still pending and not counted; read it again later",
    )


def pending_run():
    return {**loopback_runs.run(1, "pending"), "reasonCreated": "retry"}


def test_why_a_signature_is_refused(loopback, policy):
    """Bad credentials are only one cause of 401; the request is not repeated."""
    loopback.turn_clock(1800)
    gathered = read(loopback, policy, f"group:{GROUP}", **ME.environment)
    text = (
        "refuses the request of me (Unauthorized: Stale timestamp): this machine's clock differs from "
        "its clock by more than 15 minutes; set the clock, the credentials are not the cause"
    )
    assert gathered.unreadable == (f"group:{GROUP}: {loopback.url} {text}",)
    assert len(loopback.requests) == 1


def test_a_host_that_is_no_taskcluster(loopback, policy):
    """The message names the host, not a parser's error."""
    address = f"{loopback.storage_url}/tasks/groups/{GROUP}"
    loopback.faults = first(9, Fault(status=200))
    gathered = read(loopback, policy, address)
    assert gathered.unreadable == (
        (
            f"group:{GROUP}: {loopback.storage_url} does not answer like a Taskcluster deployment (JSON is "
            "malformed: invalid character (byte 0)); check the address"
        ),
    )


def test_a_deployment_that_redirects(loopback, policy):
    """A redirect of the API is not followed: signatures are for one host."""
    loopback.faults = first(9, Fault(status=301, headers={"Location": "https://new.example/x"}))
    gathered = read(loopback, policy, f"group:{GROUP}")
    assert "redirects to https://new.example/x; use that host" in gathered.unreadable[0]


def test_the_default_deployment_is_told(loopback, policy, monkeypatch):
    """A user who wrote task:ID may not know its deployment."""
    monkeypatch.setattr("io_benchmark.sources.taskcluster.addresses.DEFAULT_ROOT_URL", loopback.url)
    gathered = gather([f"task:{AMD_16}"], {}, lambda _progress: None, lambda result: result, policy)
    assert gathered.remarks == (f"read {loopback.url}, because TASKCLUSTER_ROOT_URL is not set",)
    pasted = gather(
        [f"{loopback.url}/tasks/{AMD_16}"],
        {},
        lambda _progress: None,
        lambda result: result,
        policy,
    )
    assert pasted.remarks == ()


def test_half_of_the_credentials_is_a_mistake(loopback, policy):
    """It is reported before any request."""
    with pytest.raises(UsageError, match="set both or neither"):
        read(loopback, policy, f"task:{AMD_16}", TASKCLUSTER_CLIENT_ID="x")
    assert loopback.requests == []


def test_progress(loopback, policy):
    """Counts of tasks during the listing, then of results, to the end."""
    steps: list[ReadProgress] = []
    read(loopback, policy, f"group:{GROUP}", progress=steps.append)
    assert steps[:3] == [
        ReadProgress("listing tasks", 0, None),
        ReadProgress("listing tasks", 10, None),
        ReadProgress("reading results", 0, 9),
    ]
    assert steps[3:] == [ReadProgress("reading results", number, 9) for number in range(1, 10)]


SOME_FAULTS = [
    pytest.param(Fault(status=503), id="5xx"),
    pytest.param(Fault(status=429, headers={"Retry-After": "2"}), id="429"),
    pytest.param(Fault(truncated=True), id="truncated"),
    pytest.param(Fault(hang_up=True), id="hang-up"),
]


@pytest.mark.parametrize("fault", SOME_FAULTS)
def test_with_faults_in_30_percent_of_all_answers(policy, waits, fault):
    """All results arrive unchanged, after the pauses that Retry-After demands."""
    deployment = recorded()
    group = add_group(deployment, 60)
    with Loopback(deployment) as loopback:
        whole = read(loopback, policy, f"group:{group}")
        loopback.faults = share_of(0.3, fault)
        gathered = read(loopback, policy, f"group:{group}")
    assert gathered == whole
    assert len(gathered.results) == 60
    if fault.headers:
        assert min(waits) == 2.0
    if not fault.hang_up:  # which aiohttp tries once more by itself
        assert len(waits) > 20


def test_many_tasks(policy):
    """Three pages and two requests per result, at most 64 at once; none is lost, none twice."""
    deployment = Deployment(page_limit=100)
    group = add_group(deployment, 300, pools=("a",), retrieves=1)
    with Loopback(deployment) as loopback:
        gathered = read(loopback, policy, f"group:{group}")
        assert gathered.unreadable == ()
        assert {one.task.task_id for one in gathered.results} == set(deployment.definitions)
        assert len(gathered.results) == 300
        assert len(loopback.requests) == 3 + 2 * 300
        assert loopback.most_at_once <= policy.connections


def test_the_order_is_that_of_the_addresses(policy):
    """The order of arrival does not matter: the same input gives the same output."""
    deployment = recorded()
    group = add_group(deployment, 30)
    orders = []
    for seed in (1, 2):
        with Loopback(deployment, faults=share_of(0.3, Fault(delay_s=0.03), seed)) as loopback:
            gathered = read(loopback, policy, f"group:{group}", f"group:{GROUP}")
        orders.append(runs(gathered))
    assert orders[0] == orders[1]
    assert orders[0][30:] == ALL_THREE


def test_what_is_not_read_in_time_is_named(loopback, policy):
    """A report is written with the results that came in time."""
    loopback.faults = first(99, Fault(delay_s=60), "storage", INTEL)
    budget = Budget(ends_s=time.monotonic() + 1.5)
    addresses = [f"task:{AMD_16}", f"task:{INTEL}"]
    environment = {"TASKCLUSTER_ROOT_URL": loopback.url}
    gathered = gather(
        addresses, environment, lambda _progress: None, lambda one: one.pool, policy, budget
    )
    assert gathered.results == ("amd-16",)
    assert gathered.unreadable == (
        f"task {INTEL} run 0 (io-benchmark-intel): was not read in time; read it again",
    )


def test_a_listing_that_does_not_end_in_time(loopback, policy):
    """The message names the address."""
    loopback.faults = first(99, Fault(delay_s=60), "api", "/list")
    environment = {"TASKCLUSTER_ROOT_URL": loopback.url}
    budget = Budget(ends_s=time.monotonic() + 0.5)
    gathered = gather(
        [f"group:{GROUP}"], environment, lambda _progress: None, lambda one: one, policy, budget
    )
    assert gathered.unreadable == (f"group:{GROUP}: was not read in time; read it again",)


def test_large_results_are_read_last_and_over_the_budget_left_out(loopback, policy):
    """They displace no small results, and one line names them."""
    body = result("amd-16", AMD_16, 0)
    large = body + b" " * SMALL_BYTES
    loopback.deployment.set_result(AMD_16, 0, Artifact(large))
    budget = Budget(read_bytes=len(body) + 1)
    environment = {"TASKCLUSTER_ROOT_URL": loopback.url}
    addresses = [f"task:{AMD_16}", f"task:{INTEL}"]
    gathered = gather(
        addresses, environment, lambda _progress: None, lambda one: one.pool, policy, budget
    )
    assert gathered.results == ("intel",)
    (line,) = gathered.unreadable
    assert line == (
        "left out 1 result: one command reads at most 384 MB of files; give fewer tasks or "
        f"folders at once. Left out: task {AMD_16} run 0 (io-benchmark-amd-16)"
    )
    assert read(loopback, policy, *addresses).unreadable == ()
