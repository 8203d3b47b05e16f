# SPDX-License-Identifier: MPL-2.0
"""A native worker's task: in a folder of its own, with its files there, and as another user."""

import json
import os
import tempfile
from pathlib import Path

import pytest
from msgspec.structs import replace
from native_project import project

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.execute import native_worker
from io_benchmark.graph.generate import generate
from io_benchmark.sources.run_files import read_run

RUN_TASK = {"file": "./run-task", "content": {"url": "https://tc.invalid/run-task"}}
TEXT = "print('\u00e4')\n"
PROGRAM = {"file": "program.py", "content": {"raw": TEXT}}
FOLDER = {"name": "public/out", "path": "artifacts/out", "type": "directory"}
FILE = {"name": "public/x.json", "path": "artifacts/x.json", "type": "file"}


@pytest.fixture
def run_natively(make_run):
    """Run a bash script as a native worker does; return its run, and the record and failures."""

    def run(script, artifacts=(), mounts=(RUN_TASK, PROGRAM)):
        command = [["chmod", "+x", "run-task"], ["./run-task", "--", "bash", "-c", script]]
        payload = {"command": command, "mounts": [*mounts], "artifacts": [*artifacts]}
        made = make_run(**payload)
        return made, *made.run(os.environ)

    return run


def log_of(run):
    return (run.output / "live.log").read_text().splitlines()


def test_the_folder(run_natively):
    """The command starts in an empty folder but for the mounts; its artifacts are below it."""
    script = """
    mkdir -p artifacts/out; ls > artifacts/out/ls; cat program.py > artifacts/x.json
    [ "$PWD" = "$TASK_WORKDIR" ] && [ "$PWD" = "$HOME" ] && [ -w "$IO_BENCHMARK_WORKSPACE" ]
    [ -z "$IO_BENCHMARK_ARTIFACTS" ]
    """
    run, record, failures = run_natively(f"set -e; {script}", [FOLDER, FILE])
    assert (record.state, record.engine, failures) == ("completed", "native", [])
    assert (run.output / "ls").read_text().split() == ["artifacts", "program.py"]
    assert (run.output / "x.json").read_text() == TEXT
    assert list(run.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("script", "path"),
    [
        pytest.param("true", "artifacts/x.json", id="missing"),
        pytest.param("mkdir -p artifacts/x.json", "artifacts/x.json", id="a folder"),
        pytest.param("mkdir artifacts; ln -s /etc/passwd artifacts/x.json", ..., id="a link"),
        pytest.param("ln -s /etc artifacts", "artifacts/passwd", id="a link above it"),
        pytest.param("ln -s artifacts artifacts", "artifacts/x.json", id="a link to itself"),
        pytest.param("touch ../x.json", "../x.json", id="above the folder"),
        pytest.param("true", "/etc/passwd", id="an absolute path"),
    ],
)
def test_what_is_not_taken(run_natively, script, path):
    """A worker fails the task that lacks an artifact; nothing outside of its folder is read."""
    artifact = FILE if path is ... else {**FILE, "path": path}
    run, record, failures = run_natively(script, [artifact])
    assert record.state == "failed"
    assert failures == [
        f"io-benchmark-amd-16: missing artifacts: public/x.json; its log is {run.output}/live.log"
    ]
    assert sorted(file.name for file in run.output.iterdir()) == ["live.log", "task.json"]


@pytest.mark.parametrize(
    "mount",
    [
        {"file": "a.py", "content": {"url": "https://tc.invalid/a.py", "sha256": "0" * 64}},
        {"file": "/etc/a.py", "content": {"raw": ""}},
        {"file": "../a.py", "content": {"raw": ""}},
        {"file": "a.py", "content": {"raw": 5}},
        {"file": "a.py", "content": None},
        {"directory": "cache", "cacheName": "x"},
    ],
)
def test_other_mounts(run_natively, mount):
    """What a rehearsal cannot have, or would write elsewhere, ends it with one line."""
    with pytest.raises(IoBenchmarkError) as caught:
        run_natively("true", mounts=[mount])
    name = mount.get("file", "cache")
    assert str(caught.value) == (
        f"io-benchmark-amd-16: the mount {name} is not a file of the task's folder whose text is "
        "in the definition; only such a mount can be rehearsed"
    )


def test_without_root(run_natively, monkeypatch):
    """Another user than root runs the task itself."""
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    run, *_ = run_natively("true")
    assert log_of(run)[0] == (
        "[taskcluster] io-benchmark-amd-16 runs as the user 1234, who is not root"
    )


@pytest.mark.root
@pytest.mark.parametrize("can_reach", [True, False])
def test_as_root(make_run, can_reach):
    """The task is the user nobody, where that can work there; otherwise the log says why not."""
    # Another user cannot put anything in the place of the folder that root then reads.
    script = (
        "set -e; id -un > artifact; touch $IO_BENCHMARK_WORKSPACE/x $TMPDIR/x; "
        "[ ! -w .. ] || [ $UID = 0 ]"
    )
    payload = {
        "command": [["./run-task", "--", "bash", "-c", script]],
        "artifacts": [{"name": "public/artifact", "path": "artifact", "type": "file"}],
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755 if can_reach else 0o700)
        run = replace(make_run(**payload), parent=folder, output=folder / "out")
        environment = {**os.environ, "PATH": "/usr/bin:/bin"}
        _, failures = run.run(environment)
        (line, *_) = log_of(run)
        assert failures == []
        assert (run.output / "artifact").read_text() == ("nobody\n" if can_reach else "root\n")
    expected = "user nobody" if can_reach else "root, because nobody cannot start python3 or work"
    assert expected in line


@pytest.mark.root
def test_no_such_user(run_natively, monkeypatch):
    """A machine need not have the user."""
    monkeypatch.setattr(native_worker, "_USER", "no-such-user")
    run, *_ = run_natively("true")
    assert log_of(run)[0].endswith("runs as root, because there is no user no-such-user")


def test_a_real_task(tmp_path, make_run):
    """The generated task of a native pool runs as it is, and leaves a result."""
    benchmark = {"retrieves": 20, "places": [{"name": "build", "path": "build"}]}
    worker = {"docker-image": "debian:12"}
    defaults = {"task-defaults": {"benchmark": benchmark, "worker": worker}}
    (task,) = generate(project(tmp_path / "project", changes=defaults), ["wayland"])
    run = replace(make_run(), task=task)
    record, failures = run.run(os.environ)
    assert (record.state, failures) == ("completed", [])
    result = read_run(run.output).result
    assert result.task.pool == "wayland"
    measured = [(entry.place, len(entry.samples.start_ns)) for entry in result.workloads]
    assert measured == [("workspace", 20), ("build", 20)]
    perfherder = json.loads((run.output / "perfherder-data-io-benchmark.json").read_text())
    assert perfherder["framework"]["name"] == "build_metrics"
