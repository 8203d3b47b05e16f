# SPDX-License-Identifier: MPL-2.0
"""investigate on a loopback deployment: the whole way, the journal, and what a person must do."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import investigated
import program
import pytest
import seed_case
import submitted_tasks
import tried_workers
import workload_entries
from checkout import ROOT
from investigated import LABEL, Task
from loopback import Fault, Loopback, Request
from loopback_deployment import PROFILE, Artifact, Deployment
from simulated_machine import Machine
from simulated_results import Pool
from situations import BASE, FAST, ONE_DISK, SLOW
from submitted_tasks import labels, submitter

from io_benchmark.sources.taskcluster import task_watch

POOLS = """\
meta:
  - &ssd {type: SCRATCH, initializeParams: {diskType: diskTypes/local-ssd}}
  - &c3d-standard-16-lssd {machine_type: c3d-standard-16-lssd, disks: [*ssd]}
  - &c3d-standard-30-lssd {machine_type: c3d-standard-30-lssd, disks: [*ssd, *ssd]}
pools:
  - pool_id: '{group}/b-linux-docker-amd'  # other pools stay
    variants:
      - {group: releng-1, instance_types: [*c3d-standard-16-lssd]}
      - {group: releng-3, instance_types: [*c3d-standard-16-lssd]}
"""
MISSING = "AAAAAAAAQACAAAAAAAAAAA"
QUEUES = {"amd-16": "b-linux-docker-amd", "intel": "b-linux"}


def measures_capacities(definition: dict[str, Any]) -> bool:
    return "--capacities" in json.dumps(definition["payload"])


def answer(deployment: Deployment, task_id: str) -> None:
    """A worker runs the task at once, with the seed's figures and trials."""
    definition = deployment.definitions[task_id]
    if not measures_capacities(definition):
        submitted_tasks.complete(deployment, task_id, with_trials=True)
        return
    pool = next(pool for pool in QUEUES if pool in definition["metadata"]["name"])
    (document,) = seed_case.documents(1, pools=[pool])
    document["workloads"] = workload_entries.entries(only=("random-io", "spawn", "sync-write"))
    deployment.complete(task_id, document)


@pytest.fixture
def deployment() -> Deployment:
    """A task that is slower on amd-16, and nothing measured; workers answer at once."""
    made = Deployment(on_create=answer)
    machines: dict[str, list[Machine]] = {SLOW: [ONE_DISK] * 6, FAST: [BASE] * 6}
    investigated.add_task(made, Task(writing=0.4), machines, BASE, queues=QUEUES)
    return made


Call = Callable[..., program.Finished]


@pytest.fixture
def call(loopback: Loopback, tmp_path: Path) -> Call:
    """Return what investigates the task as somebody with credentials, unless others are given."""
    task = next(iter(loopback.deployment.statuses))

    def investigate(
        *arguments: str, address: str = f"task:{task}", environment: dict[str, str] | None = None
    ) -> program.Finished:
        variables = submitter(loopback) if environment is None else environment
        return program.run(
            "investigate",
            address,
            "--journal",
            "journal",
            "--root",
            str(ROOT),
            *arguments,
            folder=tmp_path,
            expected=None,
            environment=loopback.environment | variables,
        )

    return investigate


def test_whole_way(call: Call, deployment: Deployment, tmp_path: Path) -> None:
    """One command measures both pools, confirms the cause, and makes a patch that git applies."""
    (tmp_path / "worker-pools.yml").write_text(POOLS)
    done = call("--yes", "--pools-file", "worker-pools.yml", "--format", "markdown")
    assert done.exit_code == 0, done.stderr + done.stdout
    assert "the cause device-count is confirmed by a trial".capitalize() in done.stdout
    assert "results from new tasks: " in done.stdout
    patch = re.search(r"```diff\n(.*)\n```", done.stdout, re.DOTALL)
    assert patch is not None
    assert [line for line in patch[1].splitlines() if re.match("[-+][^-+]", line)] == [
        "-      - {group: releng-1, instance_types: [*c3d-standard-16-lssd]}",
        "+      - {group: releng-1, instance_types: [*c3d-standard-30-lssd]}",
    ]
    git = ["git", "apply", "journal/pools.patch"]
    subprocess.run(git, cwd=tmp_path, check=True)
    patched = (tmp_path / "worker-pools.yml").read_text()
    assert "releng-1, instance_types: [*c3d-standard-30" in patched
    made = [label for label in labels(deployment) if label != LABEL]
    of_slow = [
        measures_capacities(definition)
        for definition in deployment.definitions.values()
        if definition["metadata"]["name"].startswith("io-benchmark-amd-16")
    ]
    assert (of_slow.count(False), of_slow.count(True)) == (3, 1)
    # All groups are named as addresses, and which of them are new.
    sources = [line for line in done.stdout.splitlines() if line.startswith("- **Source:**")]
    for group in deployment.groups:
        named = [line for line in sources if f"/tasks/groups/{group})" in line]
        assert ["created by" in line for line in named] == [group != investigated.GROUP], group
    assert any(
        re.search(r"a profile of the task: \[task:\S+\]\(http://\S+/tasks/\S+/runs/0\)", line)
        for line in sources
    )
    # What is known is not measured again.
    again = call("--yes", "--pools-file", "worker-pools.yml", "--format", "markdown")
    assert [label for label in labels(deployment) if label != LABEL] == made
    # The patch alone is made no more.
    first, second = (
        [line for line in run.stdout.splitlines() if re.match(r" *- \*\*(?!Try)", line)]
        for run in (done, again)
    )
    assert first == second


def test_trials_that_found_no_time(call: Call, deployment: Deployment) -> None:
    """Tasks whose `trials: auto` was skipped have no write ceilings: the capacities have them."""

    def answer_without_trials(deployment: Deployment, task_id: str) -> None:
        definition = deployment.definitions[task_id]
        if not measures_capacities(definition):
            submitted_tasks.complete(deployment, task_id)
            return
        pool = next(pool for pool in QUEUES if pool in definition["metadata"]["name"])
        (document,) = seed_case.documents(1, pools=[pool])
        tried_workers.add_trials(document, None)
        document["workloads"] += workload_entries.entries(only=("random-io", "spawn", "sync-write"))
        deployment.complete(task_id, document)

    deployment.on_create = answer_without_trials
    done = call("--yes", "--json")
    assert done.exit_code == 0, done.stdout
    report = json.loads(done.stdout)
    assert report["conclusion"]["outcome"] == "change"
    assert report["findings"]["forecast"]["ratio"] > 1.2
    new = [source["has"] for source in report["sources"] if source["is_new"]]
    assert new == [
        "the benchmark's results of both pools",
        "what the prediction uses of both pools",
    ]


def test_without_credentials(call: Call, deployment: Deployment) -> None:
    """The push that would measure is printed; its results resume the investigation."""
    done = call("--yes", environment={})
    assert done.exit_code == 3
    assert "try: -j amd-16,intel --rebuild 3" in " ".join(done.stdout.split())
    pools = (Pool(SLOW, ONE_DISK), Pool(FAST, BASE))
    results = investigated.add_results(deployment, pools, QUEUES)
    done = call("--on", results, environment={})
    assert done.exit_code == 0, done.stdout
    assert "c3d-standard-30-lssd" in done.stdout


def test_figures_that_are_missing(call: Call, deployment: Deployment) -> None:
    """Who may not create tasks gets the command that measures them, whatever was agreed to."""
    for pool in (Pool(SLOW, ONE_DISK), Pool(FAST, BASE)):
        for number in range(pool.workers):
            document = investigated.result(pool, number)
            for entry in document["workloads"]:
                entry.pop("trials", None)
            queue = QUEUES[pool.name]
            submitted_tasks.add_measured(
                deployment, document, investigated.RESULTS, investigated.BEGIN, worker_type=queue
            )
    done = call("--yes", "--on", f"group:{investigated.RESULTS}", environment={})
    assert done.exit_code == 3
    text = " ".join(done.stdout.split())
    assert "has no write ceiling" in text
    assert re.search("io-benchmark submit --capacities -j (amd-16,intel|intel,amd-16)", text)


def test_no_yes(call: Call, deployment: Deployment) -> None:
    """Where nobody can be asked, nothing is created without --yes.

    In a dry run and without scopes, nothing is created either.
    """
    before = labels(deployment)
    done = call()
    assert done.exit_code == 3
    assert "give it" in done.stdout
    done = call("--yes", "--dry-run")
    assert (done.exit_code, done.stderr.count("h of worker time")) == (0, 1)
    deployment.refuse = lambda _made: (403, "InsufficientScopes", "no")
    done = call("--yes")
    assert done.exit_code == 3
    assert "not created" in done.stdout
    assert labels(deployment) == before
    # The same group is used as soon as it may be.
    deployment.refuse = lambda _made: None
    assert call("--yes").exit_code == 0
    assert len(deployment.groups) == 3


def test_stopped_while_waiting(
    call: Call, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C keeps the journal: the same call goes on in the same group."""

    def stop(_seconds: float) -> None:
        raise KeyboardInterrupt

    deployment.on_create = lambda _deployment, _task_id: None
    with monkeypatch.context() as patched:
        patched.setattr(task_watch, "_sleep", stop)
        stopped = call("--yes")
        assert stopped.exit_code == 130
        assert "6 tasks created" in stopped.stderr
        assert "The investigation was stopped; the same command resumes" in stopped.stderr
    states = deployment.statuses.items()
    created = [task_id for task_id, status in states if status["state"] == "pending"]
    assert len(created) == 6
    deployment.on_create = answer
    for task_id in created:
        answer(deployment, task_id)
    resumed = call("--yes")
    assert resumed.exit_code == 0
    assert re.findall(
        r"[0-9a-z]+ tasks created|[0-9]+ tasks? of group:\S+ exist", resumed.stderr
    ) == [
        f"6 tasks of group:{group_of(deployment, created[0])} exist",
        "no tasks created",
        "2 tasks created",
    ]
    assert len(deployment.groups) == 3


def group_of(deployment: Deployment, task_id: str) -> str:
    return next(group for group, members in deployment.groups.items() if task_id in members)


def test_profiles_that_cannot_be_read(call: Call, loopback: Loopback) -> None:
    """The queue has the times all the same; the report says what it does not know."""
    loopback.faults = lambda request, _number: Fault(403) if "/artifact" in request.path else None
    done = call()
    text = " ".join(done.stdout.split())
    assert "6 workers each" in text
    assert "set-up and tear-down are not known of 12 of 12 runs" in text


@pytest.mark.parametrize("scheduler", ["gecko-level-1", "taskgraph-level-1"])
def test_advice_for_firefox(call: Call, deployment: Deployment, scheduler: str) -> None:
    """Only its projects have `mach try`."""
    for task_id, status in deployment.statuses.items():
        status["schedulerId"] = scheduler
        if task_id.startswith(FAST):
            deployment.change_runs(task_id)
    done = call()
    assert ("mach try" in done.stdout) is (scheduler == "gecko-level-1")
    assert "give its group, or a table of the runs, by --runs" in " ".join(done.stdout.split())


def test_no_profile(call: Call, deployment: Deployment) -> None:
    """Where no run has a profile, the lines are printed that record one; --profile gives it."""
    profile = next(content for key, content in deployment.artifacts.items() if FAST in key[0])
    for key in [key for key in deployment.artifacts if key[2] == PROFILE]:
        deployment.artifacts[key] = Artifact(b"{}")
    done = call("--yes")
    assert done.exit_code == 3
    assert "benchmark: {measure: /builds/worker/workspace}" in done.stdout
    task_id = next(task for task in deployment.statuses if task.startswith(FAST))
    deployment.artifacts[task_id, 0, PROFILE] = profile
    done = call("--yes", "--profile", f"task:{task_id}")
    assert done.exit_code == 0, done.stdout


def test_reference_of_a_table(call: Call, deployment: Deployment, tmp_path: Path) -> None:
    """A table that names the other pool without its provisioner is enough to measure it."""
    rows = []
    for task_id in [task for task in deployment.statuses if task.startswith(FAST)]:
        (run_of_task,) = deployment.statuses.pop(task_id)["runs"]
        del deployment.definitions[task_id]
        deployment.groups[investigated.GROUP].remove(task_id)
        times = {name: run_of_task[name] for name in ("scheduled", "started", "resolved")}
        row = {"label": LABEL, "pool": "b-linux", "worker": task_id, "state": "completed"}
        rows.append({**row, **times})
    (tmp_path / "runs.json").write_text(json.dumps(rows))
    profile = tmp_path / "profile.json"
    profile.write_text(json.dumps(Task(writing=0.4).profile(BASE, "b-linux")))
    done = call("--yes", "--runs", "runs.json", "--profile", str(profile), "--json")
    assert done.exit_code == 0, done.stderr + done.stdout
    report = json.loads(done.stdout)
    assert report["conclusion"]["fix"]["remedy"]["cause"] == "device-count"
    assert report["findings"]["slowness"]["reference_queue"] == "b-linux"


NEVER_RAN = "has no completed run on releng-1/b-linux-docker-amd; wait for one"


def test_runs_of_earlier_pushes(call: Call, deployment: Deployment) -> None:
    """They count where a push's decision task lists the label, and its task still exists."""
    *_, earlier = (task for task in deployment.statuses if task.startswith(SLOW))
    made = {1000: {}, 999: {LABEL: earlier}, 997: {LABEL: MISSING}, 995: {LABEL: "damaged"}}
    for number, labels_of_push in made.items():
        group = investigated.GROUP if number == 1000 else f"AAAAAAAAQACAAAAAAA{number}A"
        route = f"index.gecko.v2.autoland.pushlog-id.{number}.decision"
        names = ("Gecko Decision Task", "decision-task", "releng-1/decision")
        deployment.add_task(group, group, *names, routes=[route])
        deployment.leave(group, labels_of_push, "public/label-to-taskid.json")
    # It is of another push.
    deployment.groups[investigated.GROUP].remove(earlier)
    pools = (Pool(SLOW, ONE_DISK), Pool(FAST, BASE))
    results = investigated.add_results(deployment, pools, QUEUES)
    done = call("--on", results, environment={})
    assert "6 workers each" in done.stdout
    assert "earlier pushes whose runs count as well: 1" in done.stdout
    done = call("--on", results, "--runs", f"group:{investigated.GROUP}", environment={})
    assert "5 and 6 workers)" in done.stdout


@pytest.mark.parametrize(
    ("pool", "message"), [(FAST, "It ran on b-linux-docker-amd alone"), (SLOW, NEVER_RAN)]
)
def test_nothing_to_compare(call: Call, deployment: Deployment, pool: str, message: str) -> None:
    """Without completed runs on one of the pools, the report says what is missing."""
    for task_id in deployment.statuses:
        if task_id.startswith(pool):
            deployment.change_runs(task_id)
    done = call()
    assert done.exit_code == 3
    assert message in " ".join(done.stdout.split())


def test_task_that_does_not_exist(call: Call) -> None:
    """One line with the possible reasons."""
    done = call(address="task:AAAAAAAAQACAAAAAAAAAAA")
    assert done.exit_code == 1
    assert "has no such task; it may have expired" in done.stderr
    assert done.stderr.count("\n") == 1


def test_deployment_that_refuses(call: Call, loopback: Loopback) -> None:
    """The group cannot be listed and artifacts are private: a table of runs will do for a start."""

    def refuse(request: Request, _number: int) -> Fault | None:
        is_refused = "/list" in request.path or "/artifact" in request.path
        return Fault(403) if is_refused else None

    loopback.faults = refuse
    done = call()
    assert done.exit_code == 3, done.stderr
    assert "refuses" in done.stdout


def test_journal_of_something_else(call: Call, tmp_path: Path) -> None:
    """A journal that does not belong to this task is refused in one line, and stays."""
    call("--dry-run")
    path = tmp_path / "journal/investigation.json"
    journal = json.loads(path.read_text())
    for key, value, message in (
        ("version", 2, "cannot be read"),
        ("task", "https://x/tasks/y", "is of another task, https://x/tasks/y"),
        ("groups", {"": "../../etc"}, "cannot be read"),
        ("unknown", 1, "cannot be read"),
    ):
        written = json.dumps({**journal, key: value})
        path.write_text(written)
        done = call("--dry-run")
        assert (done.exit_code, done.stdout) == (2, ""), key
        assert message in done.stderr
        assert path.read_text() == written


def test_journal_that_cannot_be_written(call: Call, tmp_path: Path) -> None:
    """It is refused before anything is done."""
    (tmp_path / "journal").write_text("a file")
    done = call("--yes")
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr


@pytest.mark.parametrize("name", ["investigation.json", "comparison.html", "pools.patch"])
@pytest.mark.parametrize("target", ["outside", "missing"])
def test_links_in_the_journal(
    call: Call, deployment: Deployment, tmp_path: Path, name: str, target: str
) -> None:
    """No link is followed: a file outside of the journal stays as it is."""
    (tmp_path / "worker-pools.yml").write_text(POOLS)
    call("--dry-run")
    journal = tmp_path / "journal"
    (tmp_path / "outside").write_bytes((journal / "investigation.json").read_bytes())
    before = (tmp_path / "outside").read_bytes()
    (journal / name).unlink(missing_ok=True)
    (journal / name).symlink_to(f"../{target}")
    results = investigated.add_results(deployment, (Pool(SLOW, ONE_DISK), Pool(FAST, BASE)), QUEUES)
    done = call("--on", results, "--pools-file", "worker-pools.yml", environment={})
    assert done.exit_code == 2
    assert f"/journal: cannot be written ({name} is a link); name another folder" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: --journal ")
    assert (tmp_path / "outside").read_bytes() == before
    assert not (tmp_path / "missing").exists()


def test_journals_that_never_end(call: Call, tmp_path: Path) -> None:
    """A pipe, a device and a file that is too large are refused in one line."""
    call("--dry-run")
    path = tmp_path / "journal/investigation.json"
    path.unlink()
    os.mkfifo(path)
    assert "is not a regular file; name another folder" in call("--dry-run").stderr
    path.unlink()
    path.symlink_to("/dev/zero")
    assert "is not a regular file; name another folder" in call("--dry-run").stderr
    path.unlink()
    path.write_bytes(b" " * (256 * 1024 + 1))
    done = call("--dry-run")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "is larger than 256 KiB; name another folder" in done.stderr


def test_pools_files_that_cannot_be_changed(
    call: Call, deployment: Deployment, tmp_path: Path
) -> None:
    """They are refused in one line before any step, not after hours of measuring."""
    before = labels(deployment)
    file = tmp_path / "worker-pools.yml"
    os.mkfifo(file)
    anchors = "".join(f"- &a{level} [*a{level - 1}, *a{level - 1}]\n" for level in range(1, 45))
    contents = {
        "is not a regular file; name a file of pools": None,
        "is larger than 2 MiB; name a file of pools": POOLS.encode() + b"#" * 2 * 1024**2,
        "is not YAML (line 1: the character U+0000 is not allowed); correct it": b"\0",
        "has more than 100,000 values, counted with aliases); correct it": (
            f"- &a0 [x, x]\n{anchors}".encode()
        ),
        "No such file or directory; name a file of pools": None,
    }
    for reason, content in contents.items():
        if content is not None:
            file.unlink(missing_ok=True)
            file.write_bytes(content)
        done = call("--yes", "--pools-file", "worker-pools.yml")
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1), reason
        assert done.stderr.startswith("error: --pools-file worker-pools.yml: ")
        assert reason in done.stderr
        file.unlink(missing_ok=True)
    assert labels(deployment) == before


def test_pools_file_of_another_name(call: Call, deployment: Deployment, tmp_path: Path) -> None:
    """git applies the patch of a file with quotes in its name and with carriage returns."""
    name = 'my "pools" ä.yml'
    (tmp_path / name).write_bytes(POOLS.replace("\n", "\r\n").encode() + b"# \xc2\x85\r\n")
    results = investigated.add_results(deployment, (Pool(SLOW, ONE_DISK), Pool(FAST, BASE)), QUEUES)
    done = call("--on", results, "--pools-file", name, environment={})
    assert done.exit_code == 0, done.stderr + done.stdout
    git = ["git", "apply", "--whitespace=nowarn", "journal/pools.patch"]
    subprocess.run(git, cwd=tmp_path, check=True)
    patched = (tmp_path / name).read_bytes().decode()
    assert "releng-1, instance_types: [*c3d-standard-30-lssd]}\r\n" in patched


def test_pools_that_share_the_definition(
    call: Call, deployment: Deployment, tmp_path: Path
) -> None:
    """The report names each pool that the patch changes."""
    shared = POOLS.replace("releng-1, instance_types: [", "releng-1, instance_types: &types [")
    shared = shared.replace(
        "releng-3, instance_types: [*c3d-standard-16-lssd]", "releng-3, instance_types: *types"
    )
    assert shared.count("types") == POOLS.count("types") + 2
    (tmp_path / "worker-pools.yml").write_text(shared)
    results = investigated.add_results(deployment, (Pool(SLOW, ONE_DISK), Pool(FAST, BASE)), QUEUES)
    done = call("--on", results, "--pools-file", "worker-pools.yml", environment={})
    pools = "releng-1/b-linux-docker-amd, releng-3/b-linux-docker-amd"
    assert f"All of these pools get it: {pools}" in " ".join(done.stdout.split())
