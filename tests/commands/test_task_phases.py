# SPDX-License-Identifier: MPL-2.0
"""`io-benchmark tasks --phases`: which phase differs between pools, by logs of a deployment."""

import random
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import program
import pytest
import real_tasks
from loopback import Loopback
from loopback_deployment import Artifact, Deployment, run, slug
from simulated_logs import STARTED, Fetch, SimulatedRun

from io_benchmark.analysis.investigation.investigation_model import Reason
from io_benchmark.analysis.model.cause import Cause, Evidence, State
from io_benchmark.operations import tasks

GROUP = "Y-fQPLZOR6-C3qSUTPDY0g"
NAME = "public/logs/live_backing.log"
SLOW, FAST = "releng-3/b-linux-amd", "releng-3/b-linux"
WORKERS = 6


def moment(seconds: float) -> str:
    time = STARTED + timedelta(seconds=seconds)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def deployment(factors: Mapping[str, float], runs: int = 2) -> Deployment:
    """Return a group whose images take so many times as long to load, by pool."""
    made, dice = Deployment(), random.Random(1)
    for queue, factor in factors.items():
        for worker in range(WORKERS):
            for _ in range(runs):
                vary = dice.uniform(0.95, 1.05)
                simulated = SimulatedRun(
                    image_load_s=12.0 * factor * vary,
                    image_download_s=8.0 * vary,
                    fetches=(Fetch(6.0 * vary, 3.0 * vary),),
                    worker=f"g/{worker}",
                    pool=queue,
                    task_id=slug(dice),
                )
                seconds = sum(simulated.truth().values()) - simulated.pending_s
                shape = run(
                    scheduled=moment(-2),
                    started=moment(0),
                    resolved=moment(seconds),
                    workerId=str(worker),
                )
                task_id = simulated.task_id
                made.add_task(task_id, GROUP, "build-linux", "build", queue, [shape])
                content = Artifact(simulated.log(), content_type="text/plain")
                made.artifacts[task_id, 0, NAME] = content
    return made


def phases_of(document):
    (pair,) = document["phases"]["pairs"]
    return [
        (row["phase"], row["reason"], row["waits"])
        for row in pair["differences"]
        if row["is_decided"]
    ]


def test_which_phase_differs() -> None:
    """The first screen names it, with its interval and what it waits for; JSON has all phases."""
    command = ("tasks", f"group:{GROUP}", "--baseline", "b-linux", "--phases")
    with Loopback(deployment({SLOW: 1.6, FAST: 1.0})) as loopback:
        done = program.run(*command, environment=loopback.environment)
        document = program.document(*command, environment=loopback.environment)
    shown = " ".join(done.stdout.split())
    assert "Set-up by logs: it takes 6.58 s longer than on b-linux: image load +6.9 s" in shown
    assert "(+6.3 to +7.5), which usually waits for disks; nothing else differs" in shown
    assert "by more than chance, by 24 logs of 6 workers each." in shown
    assert "reading the logs of 24 runs: at most 768 MiB, 10 min" in done.stderr
    assert phases_of(document) == [("image load", "time of the same work", "disks")]


def test_a_sample_that_resumes(tmp_path: Path) -> None:
    """At most so many logs are read, the same ones each time, and none that was kept."""
    kept = str(tmp_path / "kept.json")
    command = ("tasks", f"group:{GROUP}", "--phases", "--most-logs", "12", "--readings", kept)
    with Loopback(deployment({SLOW: 1.6, FAST: 1.0})) as loopback:
        documents = [program.document(*command, environment=loopback.environment) for _ in range(2)]
        assert len(loopback.asked("storage")) == 12
    first, second = documents
    assert first == second
    assert first["phases"]["logs"] == 12
    (pair,) = first["phases"]["pairs"]
    assert (pair["runs"], pair["workers"]) == ([6, 6], [6, 6])
    note = first["phases"]["notes"][0]["text"]
    assert note == "logs were chosen, balanced by pool, label and worker: 12 of 24"


def test_logs_that_are_gone() -> None:
    """The tasks are compared as without logs, and a note says why there are none."""
    made = deployment({SLOW: 1.6, FAST: 1.0}, runs=1)
    made.artifacts.clear()
    command = ("tasks", f"group:{GROUP}", "--phases")
    with Loopback(made) as loopback:
        document = program.document(*command, environment=loopback.environment)
    assert (document["phases"]["pairs"], len(document["comparisons"])) == ([], 1)
    (note,) = document["phases"]["notes"]
    assert note["text"].startswith("logs of 12 runs cannot be read: it has no log: it has expired")


def test_without_the_option_nothing_is_read() -> None:
    """No log is asked for, and the report has no key of it."""
    with Loopback(deployment({SLOW: 1.6, FAST: 1.0}, runs=1)) as loopback:
        document = program.document("tasks", f"group:{GROUP}", environment=loopback.environment)
        assert not loopback.asked("storage")
    assert (document["version"], "phases" in document) == (4, False)


def test_a_table_whose_tasks_are_not_known(tmp_path: Path) -> None:
    """Its runs have no log, which is said; nothing is requested."""
    rows = [row | {"task_id": ""} for row in real_tasks.rows()]
    (tmp_path / "runs.csv").write_text(real_tasks.table(rows))
    document = program.document("tasks", "runs.csv", "--phases", folder=tmp_path)
    (note,) = document["phases"]["notes"]
    assert note["text"] == (
        "no log was read: no completed run of a label on two sides has a task id"
    )


def test_a_ranking() -> None:
    """The labels that cost most have the phase that differs; all else is as before."""
    command = ("tasks", f"group:{GROUP}", "--rank")
    with Loopback(deployment({SLOW: 3.0, FAST: 1.0})) as loopback:
        without = program.document(*command, environment=loopback.environment)
        assert not loopback.asked("storage")
        document = program.document(*command, "--phases", environment=loopback.environment)
        done = program.run(*command, "--phases", environment=loopback.environment)
    (row,) = document["labels"]
    phases = row.pop("phases")
    assert document == without
    assert (phases["candidate"], phases["baseline"]) == (SLOW, FAST)
    assert (phases["runs"], phases["workers"]) == ([6, 6], [6, 6])
    assert [row["phase"] for row in phases["differences"] if row["is_decided"]] == ["image load"]
    shown = " ".join(done.stdout.split())
    assert "Set-up by logs: it takes 24.7 s longer than on releng-3/b-linux: image" in shown
    assert "by 12 logs of 6 workers each. That is 2.45 worker hours per month." in shown


def reason(name: str) -> Reason:
    """Return that a cause holds."""
    evidence = Evidence()
    return Reason(Cause(name, "", State.SUPPORTED, evidence, evidence, ()), None)


@pytest.mark.parametrize(
    ("causes", "waits"),
    [
        ((), "disks"),
        (("cpu",), "CPUs"),
        (("cpu", "device-count"), "disks"),
        (("device-count",), "disks"),
    ],
)
def test_what_the_benchmark_says_of_cpus(monkeypatch, causes, waits) -> None:
    """Loading an image waits for CPUs where the benchmark finds these slower, and not the disks."""
    monkeypatch.setattr(tasks, "_reasons", lambda *_arguments: [*map(reason, causes)])
    with Loopback(deployment({SLOW: 1.6, FAST: 1.0})) as loopback:
        document = program.document(
            "tasks", f"group:{GROUP}", "--phases", environment=loopback.environment
        )
    assert [row_waits for *_, row_waits in phases_of(document)] == [waits]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--most-logs", "5"), "--most-logs needs --phases"),
        (("--phases", "--most-logs", "1001"), "'1001' is not a number from 1 to 1,000"),
        (("--phases", "--machines"), "--phases cannot be combined with --machines"),
    ],
)
def test_mistakes(options: tuple[str, ...], message: str) -> None:
    """Wrong usage is one line."""
    done = program.run("tasks", "runs.csv", *options, expected=2)
    assert message in " ".join(done.stderr.split())
