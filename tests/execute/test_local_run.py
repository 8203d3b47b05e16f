# SPDX-License-Identifier: MPL-2.0
"""Artifacts: what a worker would upload, and what it would not. Signals that wait."""

import os
import signal

import pytest

from io_benchmark.errors import ExecutionError
from io_benchmark.execute.local_run import RunOutput
from io_benchmark.process import hold_interrupts, interruptions

FOLDER, FILE = "public/io-benchmark", "public/x.json"


@pytest.fixture
def source(tmp_path):
    (tmp_path / "source").mkdir()
    return tmp_path / "source"


@pytest.fixture
def take(make_run, source):
    """Take a folder and a file from `source`: what is missing, what the log says, and what there is."""

    def taken(file=FILE):
        artifacts = {
            FOLDER: {"type": "directory", "path": "/builds/worker/artifacts/io-benchmark"},
            file: {"type": "file", "path": "/builds/worker/artifacts/x.json"},
        }
        run = make_run(artifacts=artifacts)
        with RunOutput.new(run) as output:
            (run.output / "there.json").write_text("first")
            outcome = output.finish(0, source)
        files = [path for path in run.output.rglob("*") if not path.is_dir()]
        names = {path.relative_to(run.output).as_posix(): path.read_text() for path in files}
        del names["there.json"]
        return outcome.missing_artifacts, names.pop("live.log").splitlines(), names

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
    assert take() == ((name,), [line], FILES)


def make_links(source):
    (source / "elsewhere").mkdir()
    (source / "elsewhere/y.json").write_text("{}")
    (source / "io-benchmark").symlink_to("elsewhere")
    (source / "x.json").symlink_to("elsewhere/y.json")


@pytest.mark.parametrize("make", [lambda _source: None, make_links])
def test_what_is_not_there_is_named(take, source, make):
    """An artifact that is absent, of the other type or a symlink is missing, and nothing is copied."""
    make(source)
    missing, lines, names = take()
    assert (missing, len(lines), names) == ((FOLDER, FILE), 2, {})


@pytest.mark.parametrize("name", ["live.log", "task.json", "..", "there.json", "io-benchmark.json"])
def test_a_name_that_is_taken_is_an_error(take, source, name):
    """Two artifacts must not become one file silently."""
    fill(source)
    message = f"artifact public/{name}: a file .* already exists; give the artifact another name"
    with pytest.raises(ExecutionError, match=message):
        take(f"public/{name}")


def test_an_artifact_of_another_folder_is_missing(make_run, source):
    """Only the worker's folder of artifacts is looked into."""
    run = make_run(artifacts={FILE: {"type": "file", "path": str(source / "x.json")}})
    fill(source)
    with RunOutput.new(run) as output:
        assert output.finish(0, source).missing_artifacts == (FILE,)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_waits_for_the_end_of_the_block(number):
    """The block is done to its end, then the interruption comes, and the old handler is back."""
    done = []

    def work():
        with hold_interrupts():
            signal.raise_signal(number)
            signal.raise_signal(number)
            done.append("done")

    with interruptions():
        handler = signal.getsignal(number)
        with pytest.raises(KeyboardInterrupt):
            work()
        assert done == ["done"]
        assert signal.getsignal(number) is handler
