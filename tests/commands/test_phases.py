# SPDX-License-Identifier: MPL-2.0
"""`io-benchmark phases`: logs in, phases out; from files, tasks and groups."""

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import program
import pytest
from checkout import ROOT
from loopback import Fault, Loopback, first
from loopback_deployment import Artifact, Deployment, run
from no_pauses import policy, waits
from simulated_logs import DOCKER_WORKER, FAKE_END, SimulatedRun

from io_benchmark import __version__
from io_benchmark.number_text import NOTHING

__all__ = ["policy", "waits"]  # fixtures
LOGS = ROOT / "tests/fixtures/logs"
BUILD = "ZRs_zVu8T1GsRTGMZCLaEw"
GROUP = "Y-fQPLZOR6-C3qSUTPDY0g"
NAME, LIVE = "public/logs/live_backing.log", "public/logs/live.log"
SHOWN = """\
Where the time of runs went
  1 run · on 1 pool · {file}.log · io-benchmark {version}

Answer
  - build-work on releng-3/b-linux took 11.4 s: own work 9.73 s (85 %),
    container start 0.656 s (5.8 %), artifacts 0.559 s (4.9 %).

Phases

  build-work:
  phase                 time  share          waits for
  ────────────────────────────────────────────────────
  pending             0.87 s      {nothing}
  mounts and caches   0.00 s    0 %              disks
  container start     0.66 s  5.8 %              disks
  own work            9.73 s   85 %
  artifacts           0.56 s  4.9 %  disks and network
  other               0.45 s  3.9 %
  run                11.40 s
"""


def task(number: int, simulated: SimulatedRun, **changes: Any) -> tuple[str, dict[str, Any]]:
    """Return the id and the run of a task that took as long as a simulated run."""
    facts = simulated.facts()
    assert facts.resolved_ns is not None
    times = {"scheduled": "2026-11-28T16:33:50.000Z", "started": facts.started}
    seconds = (facts.resolved_ns - (facts.started_ns or 0)) / 10**9
    minute, second = divmod(52 + seconds, 60)
    times["resolved"] = f"2026-11-28T16:{33 + int(minute)}:{second:06.3f}Z"
    return f"ZRs_zVu8T1GsRTGMZCL{'abcdefgh'[number]}Ew", run(**{**times, **changes})


def deployment(*entries: tuple[tuple[str, dict[str, Any]], dict[str, bytes]]) -> Deployment:
    """Return a group of tasks with these logs."""
    made = Deployment()
    for (task_id, task_run), logs in entries:
        label = f"build-{task_id[-3]}"
        made.add_task(task_id, GROUP, label, "build", "releng-3/b-linux", [task_run])
        for name, content in logs.items():
            made.artifacts[task_id, 0, name] = Artifact(content, content_type="text/plain")
    return made


def phases_s(entry: dict[str, Any]) -> dict[str, float]:
    return {total["phase"]: round(total["duration_ns"] / 10**9, 1) for total in entry["phases"]}


TRUTH = {
    "pending": 2.0,
    "mounts and caches": 0.2,
    "image download": 8.0,
    "image load": 12.0,
    "container start": 0.5,
    "checkout": 20.0,
    "download of fetches": 6.0,
    "unpacking of fetches": 3.0,
    "installing packages": 4.0,
    "own work": 60.0,
    "artifacts": 3.0,
    "caches kept": 1.0,
    "other": 0.5,
}


def test_a_file() -> None:
    """A log with its task and status beside it needs no deployment; 80 columns have all of it."""
    done = program.run("phases", f"{BUILD}.log", "--details", folder=LOGS)
    assert done.stdout.startswith(SHOWN.format(file=BUILD, version=__version__, nothing=NOTHING))


def test_a_log_alone(tmp_path: Path) -> None:
    """The log's own lines name the pool and the task; times are those of its stamps."""
    log = tmp_path / "live_backing.log"
    log.write_bytes((LOGS / f"{BUILD}.log").read_bytes())
    (entry,) = program.document("phases", log)["runs"]
    assert (entry["label"], entry["pool"], entry["task_id"]) == ("", "releng-3/b-linux", BUILD)
    assert sum(span["duration_ns"] for span in entry["spans"]) == entry["run_ns"] == 10_802 * 10**6
    # As a browser or curl may have stored it.
    log.write_bytes(gzip.compress(log.read_bytes()))
    assert program.document("phases", log)["runs"] == [entry]


def recorded() -> Deployment:
    """Return the deployment that the recorded logs are of: a decision task, and its task."""
    made = Deployment()
    for task_id in (GROUP, BUILD):
        status = json.loads((LOGS / f"{task_id}.status.json").read_text())["status"]
        made.add(json.loads((LOGS / f"{task_id}.task.json").read_text()), status)
        log = Artifact((LOGS / f"{task_id}.log").read_bytes(), content_type="text/plain")
        made.artifacts[task_id, 0, NAME] = log
    return made


@pytest.mark.parametrize("task_id", [GROUP, BUILD], ids=["decision", "build"])
def test_recorded_tasks(task_id: str) -> None:
    """A task has the phases that its files have; a decision task's address is not its group's."""
    with Loopback(recorded()) as loopback:
        address = f"task:{task_id}"
        document = program.document("phases", address, environment=loopback.environment)
    assert document["runs"] == program.document("phases", LOGS / f"{task_id}.log")["runs"]


def test_credentials() -> None:
    """Who has the scope reads a private log, whose name is in the task's payload."""
    simulated = SimulatedRun()
    task_id, task_run = task(1, simulated)
    made = Deployment()
    payload = {"log": "private/logs/live.log"}
    made.add_task(task_id, GROUP, "build", "build", "p/w", [task_run], payload=payload)
    log = Artifact(simulated.log(), content_type="text/plain")
    made.artifacts[task_id, 0, "private/logs/live_backing.log"] = log
    credentials = {"TASKCLUSTER_CLIENT_ID": "me", "TASKCLUSTER_ACCESS_TOKEN": "secret-token"}
    with Loopback(made, private=True) as loopback:
        environment = {**loopback.environment, **credentials}
        document = program.document("phases", f"task:{task_id}", environment=environment)
    assert [phases_s(entry) for entry in document["runs"]] == [TRUTH]


def test_a_task(tmp_path: Path) -> None:
    """Of a task the queue has the times, and the log the phases; the page has a bar."""
    simulated = SimulatedRun()
    page = tmp_path / "phases.html"
    (task_id, task_run) = task(1, simulated)
    with Loopback(deployment(((task_id, task_run), {NAME: simulated.log()}))) as loopback:
        document = program.document(
            "phases", f"task:{task_id}", "--write", f"html={page}", environment=loopback.environment
        )
    (entry,) = document["runs"]
    assert document["version"] == 1
    assert phases_s(entry) == TRUTH
    rates = {total["phase"]: total["bytes_per_s"] for total in entry["phases"]}
    assert rates["image download"] == pytest.approx(400 * 1024**2 / 8, rel=0.001)
    parts = [(part["name"], part["duration_ns"] / 10**9) for part in entry["parts"]]
    assert parts == [("pull", 12.0), ("update", 8.0)]
    assert page.read_text().count('class="part ') == 12


@pytest.mark.parametrize(
    ("tasks_before", "expected"),
    [
        (0, {"pending": 0.5, "worker start": 1.5}),
        (1, {"pending": 2.0}),
        (19, {"pending": 2.0}),
    ],
    ids=["first task", "second task", "perhaps not the first"],
)
def test_the_start_of_a_worker(tasks_before: int, expected: dict[str, float]) -> None:
    """Of the first task of a worker, worker-manager knows when that was made, and when ready."""
    simulated = SimulatedRun()
    task_id, task_run = task(1, simulated)
    made = deployment(((task_id, task_run), {NAME: simulated.log()}))
    # Of more than 20 tasks the first ones are forgotten.
    others = ["A" * 22] * tasks_before
    recent = [*others, task_id] if tasks_before < 19 else [task_id, *others]
    made.workers[task_run["workerGroup"], task_run["workerId"]] = {
        "created": "2026-11-28T16:33:50.100Z",
        "claims": {
            "firstClaim": "2026-11-28T16:33:51.600Z",
            "recentTasks": [{"taskId": entry} for entry in recent],
        },
    }
    with Loopback(made) as loopback:
        address = f"task:{task_id}"
        (entry,) = program.document("phases", address, environment=loopback.environment)["runs"]
    assert {name: value for name, value in phases_s(entry).items() if name in expected} == expected
    assert ("worker start" in phases_s(entry)) == ("worker start" in expected)


def test_a_group() -> None:
    """Each task's log is read; a task that never started is only counted."""
    simulated = SimulatedRun()
    tasks = [(task(number, simulated), {NAME: simulated.log()}) for number in range(6)]
    waiting = ((task(7, simulated)[0], run(state="pending")), dict[str, bytes]())
    with Loopback(deployment(*tasks, waiting)) as loopback:
        done = program.run(
            "phases", f"group:{GROUP}", "--details", environment=loopback.environment
        )
    shown = " ".join(done.stdout.split())
    assert "releng-3/b-linux took on average 118 s: own work 60 s (51 %), checkout 20 s" in shown
    assert "without a log, because they never started: 1 task" in shown
    assert done.stdout.count("  build-") == 6


def test_what_was_kept_is_not_read_again(tmp_path: Path) -> None:
    """A reading resumes: only logs that the file does not have are asked for."""
    simulated = SimulatedRun()
    tasks = [(task(number, simulated), {NAME: simulated.log()}) for number in range(3)]
    command = ("phases", f"group:{GROUP}", "--readings", tmp_path / "kept.json")
    with Loopback(deployment(*tasks[:2])) as loopback:
        program.document(*command, environment=loopback.environment)
    with Loopback(deployment(*tasks)) as loopback:
        document = program.document(*command, environment=loopback.environment)
        assert len(loopback.asked("storage")) == 1
    assert [phases_s(entry) for entry in document["runs"]] == [TRUTH] * 3


def test_a_file_that_is_not_of_kept_phases(tmp_path: Path) -> None:
    """It is named, and nothing is read or written over."""
    kept = tmp_path / "kept.json"
    kept.write_text("[1]")
    done = program.run("phases", LOGS, "--readings", kept, expected=1)
    assert done.stderr.startswith(f"error: {kept}: is not a file of kept phases (")
    assert kept.read_text() == "[1]"


def test_a_growing_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """What there is so far is shown, as not complete, also where the task prints its end."""
    monkeypatch.setattr("io_benchmark.sources.taskcluster.task_logs._GROWING_S", 2.0)
    simulated = SimulatedRun()
    log = simulated.log(traps=(FAKE_END,))
    end = log.index(b"Task Duration: 10m2.5s\n") + 23
    task_id, _ = task(1, simulated)
    running = run(state="running", started=simulated.facts().started)
    logs = {LIVE: log[:end]}
    with Loopback(deployment(((task_id, running), logs))) as loopback:
        done = program.run("phases", f"task:{task_id}", "--json", environment=loopback.environment)
    (entry,) = json.loads(done.stdout)["runs"]
    assert not entry["is_complete"]
    assert entry["messages"][0].startswith("it has not ended, and its log is still growing")
    assert phases_s(entry)["own work"] == 30.0
    assert "artifacts" not in phases_s(entry)


@contextmanager
def live_log(content: bytes) -> Iterator[str]:
    """Serve a log that does not end: a worker sends each line when it is written."""
    is_over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content)
            self.wfile.flush()
            is_over.wait(20)

        def log_message(self, *_words: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/log"
        finally:
            is_over.set()
            server.shutdown()
            thread.join()


def test_a_log_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What arrives within some seconds is read, without waiting for the task."""
    monkeypatch.setattr("io_benchmark.sources.taskcluster.task_logs._GROWING_S", 1.0)
    simulated = SimulatedRun()
    task_id, _ = task(1, simulated)
    running = run(state="running", started=simulated.facts().started)
    made = deployment(((task_id, running), {}))
    begin, make, _ = simulated.log().partition(b"+ make\n")
    with live_log(begin + make) as url:
        made.artifacts[task_id, 0, LIVE] = Artifact(storage_type="reference", url=url)
        with Loopback(made) as loopback:
            address = f"task:{task_id}"
            (entry,) = program.document("phases", address, environment=loopback.environment)["runs"]
    assert not entry["is_complete"]
    assert phases_s(entry)["checkout"] == TRUTH["checkout"]
    assert phases_s(entry)["own work"] == TRUTH["own work"] / 2


def test_a_private_log() -> None:
    """Without the scope one line says which it is, and what to do."""
    simulated = SimulatedRun()
    entry = (task(1, simulated), {NAME: simulated.log()})
    with Loopback(deployment(entry), private=True) as loopback:
        address = f"task:{entry[0][0]}"
        done = program.run("phases", address, environment=loopback.environment, expected=1)
    scope = f"the scope queue:get-artifact:{NAME} and was made anonymously"
    line, nothing = done.stderr.splitlines()[-2:]
    assert scope in line
    assert nothing == "error: no log could be read"


@pytest.mark.parametrize(
    ("logs", "message"),
    [
        ({}, "it has no log: it has expired, or the worker died before it wrote one"),
        ({NAME: b"nothing of a worker\n" * 9}, "its log has no line with the time of a worker"),
    ],
    ids=["missing", "not a log"],
)
def test_logs_that_cannot_be_read(logs: dict[str, bytes], message: str) -> None:
    """The line names the task, its run and the reason."""
    entry = (task(1, SimulatedRun()), logs)
    with Loopback(deployment(entry)) as loopback:
        address = f"task:{entry[0][0]}"
        done = program.run("phases", address, environment=loopback.environment, expected=1)
    assert f"error: task {entry[0][0]} run 0 (build-b): {message}" in done.stderr


def test_a_transfer_that_breaks() -> None:
    """It is repeated from its begin, and nothing counts twice."""
    simulated = SimulatedRun()
    entry = (task(1, simulated), {NAME: simulated.log()})
    with Loopback(deployment(entry), faults=first(2, Fault(truncated=True), "storage")) as loopback:
        address = f"task:{entry[0][0]}"
        document = program.document("phases", address, environment=loopback.environment)
    assert phases_s(document["runs"][0]) == TRUTH


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "its log is empty"),
        (bytes(range(256)) * 4000, "its log has no line with the time of a worker"),
        (gzip.compress(b"\0" * 10**7), "its log has no line with the time of a worker"),
        (b"\x1f\x8b" + b"broken" * 100, "its log has no line with the time of a worker"),
    ],
    ids=["empty", "binary", "gzip", "damaged gzip"],
)
def test_files_that_are_not_logs(content: bytes, message: str, tmp_path: Path) -> None:
    """The line names the file and the problem."""
    log = tmp_path / "task.log"
    log.write_bytes(content)
    done = program.run("phases", log, expected=1)
    assert done.stderr.startswith(f"error: {log}: {message}")


def test_a_log_that_is_larger_than_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what gzip makes of a file, as much is read as there is time for; the end is not known."""
    monkeypatch.setattr("io_benchmark.sources.run_logs._DECODED_BYTES", 10**6)
    log = tmp_path / "task.log"
    begin, make, end = SimulatedRun().log().partition(b"+ make\n")
    log.write_bytes(gzip.compress(begin + make + b"x\n" * 10**6 + end))
    (entry,) = program.document("phases", log)["runs"]
    assert not entry["is_complete"]
    assert entry["messages"] == [
        "its log has more than 977 KiB, gzip decoded; what is behind that is not known"
    ]


def test_a_task_that_ran_again(tmp_path: Path) -> None:
    """A file's log is of the run that started next to its first line."""
    answer = json.loads((LOGS / f"{BUILD}.status.json").read_text())
    (only,) = answer["status"]["runs"]
    earlier, later = only | {"runId": 0}, only | {"runId": 2}
    earlier["started"], later["started"] = "2026-11-28T16:20:00.000Z", "2026-11-28T16:50:00.000Z"
    answer["status"]["runs"] = [earlier, only | {"runId": 1}, later]
    (tmp_path / "x.status.json").write_text(json.dumps(answer))
    (tmp_path / "x.log").write_bytes((LOGS / f"{BUILD}.log").read_bytes())
    (entry,) = program.document("phases", tmp_path / "x.log")["runs"]
    assert (entry["run_id"], entry["run_ns"]) == (1, 11_396 * 10**6)


def test_what_is_beside_a_log_and_cannot_be_used(tmp_path: Path) -> None:
    """A status that is not one is named, and no phases are guessed without it."""
    log = tmp_path / "task.log"
    log.write_bytes(SimulatedRun().log(DOCKER_WORKER))
    (tmp_path / "task.status.json").write_text("{}")
    done = program.run("phases", log, expected=1)
    assert f"error: {log}: task.status.json beside it cannot be used (" in done.stderr


def test_addresses_that_are_not_there() -> None:
    """A missing file is a mistake of the command line."""
    done = program.run("phases", "nowhere.log", expected=1)
    assert done.stderr == (
        "error: nowhere.log: No such file or directory; name a task's log\n"
        "error: no log could be read\n"
    )
