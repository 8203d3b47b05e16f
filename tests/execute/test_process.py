# SPDX-License-Identifier: MPL-2.0
"""A command run as a process: what it is given, what is kept of it, how it is ended."""

import json
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from process_groups import assert_gone

from io_benchmark.errors import ExecutionError
from io_benchmark.execute import process

from .conftest import PERFHERDER

TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\+00:00"

DUMP_ENVIRONMENT = f"""
: "${{IO_BENCHMARK_PLACE_CONTAINER:-/builds/worker/io-benchmark}}"
mkdir "$IO_BENCHMARK_ARTIFACTS/io-benchmark"
{sys.executable} -c 'import json, os; print(json.dumps(dict(os.environ)))' \
  > "$IO_BENCHMARK_ARTIFACTS/io-benchmark/io-benchmark.json"
touch left-in-the-cwd
"""


def test_environment_is_the_tasks_and_no_more(make_run, monkeypatch, tmp_path):
    """The payload's variables, the worker's and the script's paths; nothing else of the user's.

    The artifacts and the log stay, and no folder that was made for the run.
    """
    monkeypatch.setenv("SECRET_TOKEN", "of the user")
    run = make_run(DUMP_ENVIRONMENT)
    outcome = process.run(run, os.environ)
    dumped = json.loads((run.output / "io-benchmark.json").read_text())
    # bash adds some.
    seen = {name: value for name, value in dumped.items() if name not in {"PWD", "SHLVL", "_"}}
    names = ("IO_BENCHMARK_ARTIFACTS", "TMPDIR", "IO_BENCHMARK_PLACE_CONTAINER", "TASK_WORKDIR")
    folders = {name: Path(seen.pop(name)) for name in names}
    assert seen == {
        "HOME": os.environ["HOME"],
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "MOZ_SCM_LEVEL": "1",
        "TASK_ID": "Prp_WpjGRx26VH-wA8fjTA",
        "RUN_ID": "0",
        "TASK_GROUP_ID": "BtHOXJfPTT6WmMQGAsQzUw",
        "TASKCLUSTER_ROOT_URL": "https://taskcluster.invalid",
        "IO_BENCHMARK_WORKSPACE": str(run.workspace),
        "IO_BENCHMARK_PROFILE": "quick",
    }
    assert folders["IO_BENCHMARK_PLACE_CONTAINER"].parent == run.workspace.parent
    assert folders["TASK_WORKDIR"] == Path(dumped["PWD"])
    assert len(set(folders.values())) == len(folders)
    output = {run.output, run.output / "io-benchmark.json", run.output / "live.log"}
    folders_given = {run.output.parent, run.workspace.parent, run.workspace}
    assert set(tmp_path.rglob("*")) == output | folders_given
    times = (outcome.started, outcome.resolved)
    assert all(re.fullmatch(r"[0-9-]{10}T[0-9:]{8}\.[0-9]{3}Z", time) for time in times)
    assert outcome.started <= outcome.resolved
    assert (outcome.state, outcome.missing_artifacts) == ("completed", (f"public/{PERFHERDER}",))


def log_of(run):
    return (run.output / "live.log").read_text(errors="replace").splitlines()


def test_as_run_task_does(make_run):
    """Both streams come merged and in order, each line with its time; a signal gives a code, too."""
    script = "echo one; echo two >&2; printf '\\xff\\nlast'; kill -TERM $$"
    run = make_run(script, artifacts={})
    outcome = process.run(run, os.environ)
    assert (outcome.exit_code, outcome.state) == (256 - signal.SIGTERM, "failed")
    lines = log_of(run)
    assert [re.sub(TIME, "TIME", line) for line in lines[1:]] == [
        "[task TIME] one",
        "[task TIME] two",
        "[task TIME] \ufffd",
        "[task TIME] last",
    ]
    assert re.fullmatch(rf"\[task {TIME}\] executing \['bash', '-c', .*\]", lines[0])


def test_nothing_of_the_process_group_stays(make_run):
    """What the command left in the background is killed as soon as its output ends."""
    run = make_run("sleep 1234.5 > /dev/null 2>&1 & echo $$", artifacts={})
    assert process.run(run, os.environ).state == "completed"
    assert_gone(int(log_of(run)[1].rpartition(" ")[2]), run.workspace)


def test_a_line_without_an_end_does_not_fill_the_memory(make_run, monkeypatch):
    """It is cut into lines of the longest length."""
    monkeypatch.setattr(process, "_LINE_LIMIT_BYTES", 100)
    run = make_run("head -c 250 /dev/zero", artifacts={})
    process.run(run, os.environ)
    assert [line.count("\0") for line in log_of(run)[1:]] == [100, 100, 50]


def interrupt(run, times, sessions):
    """Send this process Ctrl-C so often, as soon as the command is ready; note the command's session."""
    ready, log = None, run.output / "live.log"
    while ready is None:
        time.sleep(0.01)
        text = log.read_text(errors="replace") if log.exists() else ""
        ready = re.search(r"\] ready ([0-9]+)$", text, re.MULTILINE)
    sessions.append(int(ready[1]))
    for _ in range(times):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)


@pytest.mark.parametrize(
    ("script", "times"),
    [
        pytest.param(
            "trap 'head -c 1000000 /dev/zero; exit 6' INT; echo ready $$; while :; do sleep 0.1; done",
            1,
            id="obeys SIGINT, with more to say than a pipe holds",
        ),
        pytest.param(
            "trap '' INT TERM; (trap '' INT TERM; sleep 1234.5) & echo ready $$; sleep 1234.5",
            2,
            id="ignores signals, second Ctrl-C",
        ),
    ],
)
def test_ctrl_c_leaves_nothing_and_is_raised_again(make_run, tmp_path, script, times):
    """No process, no folder and no half of an output; a second Ctrl-C does not wait."""
    run = make_run(': "${IO_BENCHMARK_PLACE_CONTAINER:-/x}"; ' + script)
    before = time.monotonic()
    sessions: list[int] = []
    terminal = threading.Thread(target=interrupt, args=(run, times, sessions))
    terminal.start()
    with pytest.raises(KeyboardInterrupt):
        process.run(run, os.environ)
    # It ends by itself, and is not killed after 10 s.
    assert time.monotonic() - before < 9
    terminal.join()
    assert_gone(sessions[0], run.workspace)
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == [
        *("out", "places", "places/workspace"),
    ]


LABEL = "io-benchmark-amd-16:"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            ["/bin/make", "all"],
            f"{LABEL} its command is not `run-task … -- …`; select a task that uses run-task",
        ),
        (
            ["run-task", "--", "no-such-program"],
            f"{LABEL} cannot start no-such-program: No such file or directory; install it",
        ),
    ],
    ids=["no run-task", "no program"],
)
def test_mistakes_are_one_line(make_run, command, message):
    """What, where, and what to do; and nothing is left of the run."""
    run = make_run(command=command)
    with pytest.raises(ExecutionError) as raised:
        process.run(run, os.environ)
    assert str(raised.value) == message
    assert not run.output.exists()
