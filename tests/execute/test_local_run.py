# SPDX-License-Identifier: MPL-2.0
"""A task's command run as a process: what it is given, what is kept of it, how it is ended."""

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

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.execute import local_run

LABEL = "io-benchmark-amd-16:"
TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\+00:00"

DUMP_ENVIRONMENT = f"""
: "${{IO_BENCHMARK_PLACE_CONTAINER:-/builds/worker/io-benchmark}}"
mkdir "$IO_BENCHMARK_ARTIFACTS/io-benchmark"
{sys.executable} -c 'import json, os; print(json.dumps(dict(os.environ)))' \
  > "$IO_BENCHMARK_ARTIFACTS/io-benchmark/io-benchmark.json"
touch left-in-the-cwd
"""


def test_a_rehearsal_downloads_from_this_machine(make_run):
    """No deployment has the image that a task's command would download."""
    run = make_run('--download-url "${IO_BENCHMARK_DOWNLOAD_URL:-none}"')
    assert run.environment()["IO_BENCHMARK_DOWNLOAD_URL"] == "loopback"


def test_environment_is_the_tasks_and_no_more(make_run, monkeypatch, tmp_path):
    """The payload's variables, the worker's and the script's paths; nothing else of the user's.

    The artifacts and the log stay, and no folder that was made for the run.
    """
    monkeypatch.setenv("SECRET_TOKEN", "of the user")
    run = make_run(DUMP_ENVIRONMENT)
    record, failures = run.run(os.environ)
    dumped = json.loads((run.output / "io-benchmark.json").read_text())
    # bash adds some.
    seen = {name: value for name, value in dumped.items() if name not in {"PWD", "SHLVL", "_"}}
    places = ("IO_BENCHMARK_WORKSPACE", "IO_BENCHMARK_PLACE_CONTAINER")
    names = (*places, "IO_BENCHMARK_ARTIFACTS", "TMPDIR", "TASK_WORKDIR")
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
        "IO_BENCHMARK_PROFILE": "quick",
    }
    assert [folders[name].parent for name in places] == [run.parent] * 2
    assert folders["TASK_WORKDIR"] == Path(dumped["PWD"])
    assert len(set(folders.values())) == len(folders)
    files = {run.output / name for name in ("io-benchmark.json", "live.log", "task.json")}
    assert set(tmp_path.rglob("*")) == {run.output.parent, run.output, run.parent} | files
    times = (record.started, record.resolved)
    assert all(re.fullmatch(r"[0-9-]{10}T[0-9:]{8}\.[0-9]{3}Z", time) for time in times)
    assert record.started <= record.resolved
    assert (record.state, record.task_queue) == ("completed", "a/b")
    log = f"its log is {run.output}/live.log"
    assert failures == [
        f"{LABEL} missing artifacts: public/perfherder-data-io-benchmark.json; {log}"
    ]


def log_of(run):
    return (run.output / "live.log").read_text(errors="replace").splitlines()


def test_as_run_task_does(make_run):
    """Both streams come merged and in order, each line with its time.

    A signal gives a code, too.
    """
    script = "echo one; echo two >&2; printf '\\xff\\nlast'; kill -TERM $$"
    run = make_run(script, artifacts={})
    record, failures = run.run(os.environ)
    failure = f"failed, exit code {256 - signal.SIGTERM}; its log is {run.output}/live.log"
    assert (record.state, failures) == ("failed", [f"{LABEL} {failure}"])
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
    assert run.run(os.environ)[0].state == "completed"
    assert_gone(int(log_of(run)[1].rpartition(" ")[2]), run.parent)


def test_a_line_without_an_end_does_not_fill_the_memory(make_run, monkeypatch):
    """It is cut into lines of the longest length."""
    monkeypatch.setattr(local_run, "_LINE_LIMIT_BYTES", 100)
    run = make_run("head -c 250 /dev/zero", artifacts={})
    run.run(os.environ)
    assert [line.count("\0") for line in log_of(run)[1:]] == [100, 100, 50]


def interrupt(run, times, sessions):
    """Send this process Ctrl-C so often, as soon as the command is ready.

    Note the command's session.
    """
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
            "trap 'head -c 1000000 /dev/zero; exit 6' INT; echo ready $$; "
            "while :; do sleep 0.1; done",
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
        run.run(os.environ)
    # It ends by itself, and is not killed after 10 s.
    assert time.monotonic() - before < 9
    terminal.join()
    assert_gone(sessions[0], run.parent)
    assert {path.name for path in tmp_path.rglob("*")} == {"out", "places"}


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
    with pytest.raises(IoBenchmarkError) as raised:
        run.run(os.environ)
    assert str(raised.value) == message
    assert not run.output.exists()


FOLDER, FILE = "public/io-benchmark", "public/x.json"


@pytest.fixture
def source(tmp_path):
    (tmp_path / "source").mkdir()
    return tmp_path / "source"


@pytest.fixture
def take(make_run, source, tmp_path):
    """Take a folder and a file from `source`; return what is missing, the log, and the files."""

    def taken(file=FILE):
        artifacts = {
            FOLDER: {"type": "directory", "path": "/builds/worker/artifacts/io-benchmark"},
            file: {"type": "file", "path": "/builds/worker/artifacts/x.json"},
        }
        there = tmp_path / "out/Prp_WpjGRx26VH-wA8fjTA.0/there.json"
        script = f'echo first > {there}; cp -a {source}/. "$IO_BENCHMARK_ARTIFACTS"'
        run = make_run(script, artifacts=artifacts)
        _, failures = run.run(os.environ)
        files = [path for path in run.output.rglob("*") if not path.is_dir()]
        names = {path.relative_to(run.output).as_posix(): path.read_text() for path in files}
        lines = names["live.log"].splitlines()[1:]
        missing = re.findall("missing artifacts: (.*); its log is", "".join(failures))
        return missing, lines, {name: names[name] for name in names if name in FILES}

    return taken


def fill(source):
    (source / "io-benchmark/more").mkdir(parents=True)
    (source / "io-benchmark/io-benchmark.json").write_text("{}")
    (source / "io-benchmark/more/y.json").write_text("[]")
    (source / "x.json").write_text("1")


FILES = {"io-benchmark.json": "{}", "more/y.json": "[]", "x.json": "1"}


@pytest.mark.parametrize(
    "plant",
    [
        pytest.param(lambda path: path.symlink_to("/etc/passwd"), id="symlink to a file"),
        pytest.param(lambda path: path.symlink_to("/etc"), id="symlink to a folder"),
        # Opening it the plain way would wait for ever.
        pytest.param(os.mkfifo, id="pipe"),
    ],
)
def test_only_regular_files_are_taken(take, source, plant):
    """Anything else in a folder is an error artifact under its own name and is never followed."""
    fill(source)
    plant(source / "io-benchmark/link")
    name = f"{FOLDER}/link"
    problem = "it does not exist or is not a regular file"
    line = f"[taskcluster:error] Could not upload artifact {name}: {problem}"
    assert take() == ([name], [line], FILES)


def make_links(source):
    (source / "elsewhere").mkdir()
    (source / "elsewhere/y.json").write_text("{}")
    (source / "io-benchmark").symlink_to("elsewhere")
    (source / "x.json").symlink_to("elsewhere/y.json")


@pytest.mark.parametrize("make", [lambda _source: None, make_links])
def test_what_is_not_there_is_named(take, source, make):
    """An artifact that is absent, of the other type or a symlink is missing; nothing is copied."""
    make(source)
    missing, lines, names = take()
    assert (missing, len(lines), names) == ([f"{FOLDER}, {FILE}"], 2, {})


@pytest.mark.parametrize("name", ["live.log", "task.json", "..", "there.json", "io-benchmark.json"])
def test_a_name_that_is_taken_is_an_error(take, source, name):
    """Two artifacts must not become one file silently."""
    fill(source)
    message = f"artifact public/{name}: a file .* already exists; give the artifact another name"
    with pytest.raises(IoBenchmarkError, match=message):
        take(f"public/{name}")


def test_an_artifact_of_another_folder_is_missing(make_run):
    """Only the worker's folder of artifacts is looked into, and no file there stands for it."""
    run = make_run(
        "touch $IO_BENCHMARK_ARTIFACTS/nothing",
        artifacts={FILE: {"type": "file", "path": __file__}},
    )
    (line,) = run.run(os.environ)[1]
    assert f"missing artifacts: {FILE};" in line
