# SPDX-License-Identifier: MPL-2.0
"""The worker's script under attack: killed at any moment, nowhere to log to, hostile environments.

Whatever comes, it ends in time with a code of its own, its result is read, and neither files nor
processes are left.
"""

import fcntl
import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from process_groups import processes_of_group
from worker import Worker

CODES = {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGHUP: 129}
WORKLOADS = ("cache-retrieve", "upload", "metadata", "random-io", "sync-write", "exec", "spawn")
F_SETPIPE_SZ = 1031


@pytest.fixture
def long(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--long"))


@pytest.fixture
def worker(tmp_path: Path) -> Worker:
    (tmp_path / "workspace").mkdir()
    return Worker(tmp_path / "workspace", tmp_path / "artifacts")


def catches(pid: int, number: int) -> bool:
    """Has the process a handler for the signal?"""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = re.search("^SigCgt:\t([0-9a-f]+)", status, re.MULTILINE)
    return caught is not None and bool(int(caught.group(1), 16) >> (number - 1) & 1)


def wait_until_gone(group: int) -> None:
    deadline_s = time.monotonic() + 60
    while processes_of_group(group) and time.monotonic() < deadline_s:
        time.sleep(0.02)
    assert processes_of_group(group) == []


def test_signals_at_random_moments(worker: Worker, long: bool) -> None:
    """From the moment the handlers are there to the very end: the code is the run's, never -N."""
    chooser = random.Random(5)
    for number_of_run in range(300 if long else 6):
        worker.workloads = (chooser.choice(WORKLOADS),)
        number = chooser.choice(list(CODES))
        extra = chooser.choice([(), ("--fidelity", "real"), ("--destination", "fresh")])
        process = worker.start("--profile", "quick", *extra)
        while not catches(process.pid, signal.SIGTERM):
            assert process.poll() is None
        time.sleep(0 if number_of_run % 3 == 0 else chooser.uniform(0, 2))
        for _ in range(chooser.choice([1, 3])):
            os.kill(process.pid, number)
        output, _ = process.communicate(timeout=120)
        assert process.returncode in (0, CODES[number]), (process.args, output)
        assert "Traceback" not in output
        result = worker.result()
        assert (result.outcome.state == "completed") == (process.returncode == 0)
        stopped = f"TEST-UNEXPECTED-FAIL | amd-16: stopped by {number.name}\n"
        assert (stopped in output) == (process.returncode != 0)
        assert list(worker.workspace.iterdir()) == []
        wait_until_gone(process.pid)


def test_sigkill_at_random_moments(worker: Worker, long: bool) -> None:
    """The result is whole or absent, and no child outlives the run."""
    chooser = random.Random(6)
    for _ in range(200 if long else 4):
        worker.workloads = (chooser.choice(WORKLOADS),)
        process = worker.start("--profile", "quick")
        time.sleep(chooser.uniform(0, 3))
        process.kill()
        process.communicate(timeout=120)
        if worker.result_path.exists():
            worker.result()
        wait_until_gone(process.pid)


BROKEN = {
    "full": 'exec "$@" > /dev/full 2>&1',
    "closed": 'exec "$@" >&- 2>&-',
    "all-closed": 'exec "$@" <&- >&- 2>&-',
    "nobody": '("$@"; echo $? > "$CODE") | true; exit "$(cat "$CODE")"',
    "unread": '("$@"; echo $? > "$CODE") | sleep 8; exit "$(cat "$CODE")"',
    "small-file": 'ulimit -f 2; exec "$@" > "$CODE.log" 2>&1',
}


@pytest.mark.parametrize("way", BROKEN)
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "utf-16", "cp437:strict"])
def test_broken_logs(worker: Worker, tmp_path: Path, way: str, encoding: str, long: bool) -> None:
    """Each way to lose the log, with each encoding: the samples and the exit code stay."""
    # Each way with one encoding, and a second encoding in one way.
    if not long and (
        way == "unread" or (encoding != "ascii" and (way, encoding) != ("full", "utf-16"))
    ):
        pytest.skip("long form: pytest --long")
    # A result that does not fit either is a failure; one line says so.
    expected = 1 if way == "small-file" else 0
    worker.workloads = ("spawn",)
    done = subprocess.run(
        ["bash", "-c", BROKEN[way], "bash", *worker.command("--profile", "quick")],
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONIOENCODING": encoding, "CODE": str(tmp_path / "code")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert done.returncode == expected
    assert (worker.result().outcome.state == "completed") == (expected == 0)
    if expected == 0:
        assert worker.document()["workloads"][0]["samples"]["duration_ns"]


def test_a_terminal_that_nobody_reads(worker: Worker) -> None:
    """A terminal takes part of a line and then waits: the run ends in time all the same."""
    front, back = os.openpty()
    filler = os.open(os.ttyname(back), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    room = random.Random(7).randrange(2000)
    try:
        while True:
            os.write(filler, b"x" * 100)
    except BlockingIOError:
        os.read(front, room + 1)
    process = subprocess.Popen(
        worker.command("--retrieves", "50"), stdin=back, stdout=back, stderr=back
    )
    assert process.wait(timeout=100) == 0
    assert worker.result().outcome.state == "completed"
    for descriptor in (filler, back, front):
        os.close(descriptor)


def test_a_log_read_too_late(worker: Worker) -> None:
    """A reader that comes back finds whole lines, and the result is whole."""
    read_end, write_end = os.pipe()
    fcntl.fcntl(write_end, F_SETPIPE_SZ, 4096)
    prelude = "import log\nlog.LOG._patience_s = 0.1\n"
    process = subprocess.Popen(
        worker.command("--retrieves", "50", "--destination", "unlink", prelude=prelude),
        stdin=subprocess.DEVNULL,
        stdout=write_end,
        stderr=write_end,
        env={**os.environ, "IO_BENCHMARK_X": "x" * 5000},
    )
    os.close(write_end)
    assert process.wait(timeout=60) == 0
    with os.fdopen(read_end, "rb") as log:
        lines = log.read().split(b"\n")
    assert lines[0] == b"=== io-benchmark 1.0.0: pool amd-16 ==="
    assert (worker.result().outcome.state, worker.result().warnings) == ("completed", [])


HOSTILE = ("", "\x01", "\u202e", "x" * 50_000, os.fsdecode(b"\xff\xfe"), "[" * 50_000, "{}", "%s")
VARIABLES = (
    *("IO_BENCHMARK_X", "TASK_ID", "RUN_ID", "TASK_GROUP_ID", "TASKCLUSTER_ROOT_URL"),
    *("TASKCLUSTER_INSTANCE_TYPE", "TASKCLUSTER_WORKER_LOCATION", "LANG", "LC_ALL", "TZ"),
    *("PYTHONHASHSEED", "COLUMNS", "HOME", "TMPDIR", "GREP_OPTIONS", "GREP_COLORS", "CURL_HOME"),
)


def test_hostile_environments(worker: Worker, long: bool) -> None:
    """The result reads; where Python itself refuses to start, nothing else can be expected."""
    chooser = random.Random(8)
    for _ in range(150 if long else 3):
        names = chooser.sample(VARIABLES, 4)
        worker.environment = {name: chooser.choice(HOSTILE) for name in names}
        worker.environment.pop("PYTHONHASHSEED", None)
        code, output = worker.run("--retrieves", "5")
        assert code == 0, (worker.environment, output)
        assert worker.result().outcome.state == "completed"


def test_hostile_arguments(worker: Worker, long: bool) -> None:
    """A readable result, or one line that names the argument."""
    options = ("--pool", "--place", "--retrieves", "--sizes", "--seed", "--precision")
    numbers, places = ("0", "-1", "1e400", "9" * 5000), ("p=/", "p=/dev/null", "p=/proc")
    values = (*HOSTILE, *numbers, *places, "\u0663x\u0663")
    pairs = [(option, value) for option in options for value in values]
    for option, value in pairs if long else random.Random(9).sample(pairs, 8):
        code, output = worker.run("--retrieves", "5", f"{option}={value}")
        assert "Traceback" not in output, (option, value)
        assert code in (0, 1, 2), output
        if code == 2:
            errors = [line for line in output.splitlines() if line.startswith("error: ")]
            assert len(errors) == 1
            assert option in errors[0]
        else:
            worker.result()


@pytest.mark.parametrize("workload", WORKLOADS)
def test_little_memory(worker: Worker, workload: str, long: bool) -> None:
    """Down to what Python itself needs: a result, or one line that says what failed."""
    sizes = range(30, 120, 5) if long else (60,)
    worker.workloads = (workload,)
    for mebibytes in sizes:
        limit = f'ulimit -v {mebibytes * 1024}; exec "$@"'
        done = subprocess.run(
            ["bash", "-c", limit, "bash", *worker.command("--profile", "quick")],
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
        )
        failures = [line for line in done.stdout.splitlines() if line.startswith("TEST-UNEXP")]
        assert done.returncode in (0, 1), done.stdout
        assert len(failures) == done.returncode, done.stdout
        assert "Traceback" not in done.stdout, done.stdout
        assert "Traceback" not in done.stderr, done.stderr
        worker.result()
        assert list(worker.workspace.iterdir()) == []


def test_runs_that_share_a_missing_place(tmp_path: Path, long: bool) -> None:
    """Started together or one after the other: all succeed, and the last one removes the place."""
    chooser = random.Random(10)
    place = tmp_path / "missing"
    for _ in range(20 if long else 1):
        runs = []
        for number in range(4):
            worker = Worker(tmp_path, tmp_path / f"artifacts-{number}", workloads=("spawn",))
            runs.append(worker.start("--profile", "quick", "--place", f"p={place}"))
            time.sleep(chooser.choice([0, 0.05, 0.5]))
        for run in runs:
            output, _ = run.communicate(timeout=120)
            assert run.returncode == 0, output
            assert "not-cleaned" not in output
        assert not place.exists()
