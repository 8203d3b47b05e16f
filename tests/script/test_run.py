# SPDX-License-Identifier: MPL-2.0
"""`run` with its defaults, from one file, as a person or a job of any CI system starts it."""

import os
import re
import shutil
import subprocess
import sys

import pytest
import usage
from profiled import Profiled
from pythons import every_python, oldest_python
from worker import WORKLOADS

from io_benchmark.sources.run_files import read_run
from io_benchmark_taskgraph.worker_program import WorkerProgram

SMALL = ("--sizes", "3x0.1", "--retrieves", "10")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The program as releases have it: a shebang before a zip, in folders without __init__.py."""
    path = tmp_path_factory.mktemp("made") / "io-benchmark.pyz"
    path.write_bytes(WorkerProgram.read().file())
    return path


def start(file, *arguments, folder, python=sys.executable, **environment):
    done = subprocess.run(
        [python, file, *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def result_of(folder):
    return read_run(folder / "io-benchmark" / "io-benchmark.json").result


@every_python
def test_defaults(file, tmp_path, python):
    """It measures the current folder, with the host's name, and leaves the result alone there.

    With few tools on the PATH, and Python finds nothing deprecated and nothing left open.
    """
    tools, work = tmp_path / "tools", tmp_path / "work"
    tools.mkdir()
    work.mkdir()
    (tools / "grep").symlink_to(str(shutil.which("grep")))
    measured = ("--workload", "cache-retrieve", "--workload", "metadata")
    given = ("run", "--pool", "p", *SMALL, *measured)
    strict = {"PATH": str(tools), "PYTHONDEVMODE": "1", "PYTHONWARNINGS": "error"}
    code, output = start(file, *given, "--profile", "quick", folder=work, python=python, **strict)
    assert code == 0, output
    assert not re.search("Traceback|Warning|Exception", output), output
    assert sorted(path.relative_to(work).as_posix() for path in work.rglob("*")) == [
        *("io-benchmark", "io-benchmark/io-benchmark.json")
    ]
    result = result_of(work)
    assert (result.task.pool, result.task.ci) == ("p", None)
    assert [(place.name, place.path) for place in result.config.places] == [
        ("workspace", str(work))
    ]
    assert (result.config.time_budget_s, result.config.trials) == (1200, "auto")


def test_the_oldest_python(tmp_path):
    """It profiles a command as well; test_workloads.py has it run all workloads."""
    profiled = Profiled(tmp_path / "task-profile.json", python=oldest_python())
    done = profiled.run("sh", "-c", "sleep 0.2; exit 3")
    assert (done.returncode, done.stderr) == (3, b"")
    assert profiled.profile().ending.code == 3


def test_in_a_job(file, tmp_path):
    """It works where the CI system lets the job work, though every user may write there.

    Before the first byte is written it says where, how much, and where the result is.
    """
    work = tmp_path / "work"
    work.mkdir()
    work.chmod(0o777)
    job = {"GITLAB_CI": "true", "CI_PROJECT_DIR": str(work), "CI_PIPELINE_ID": "12"}
    given = ("run", "--pool", "ssd", *SMALL, "--output", "../out")
    code, output = start(file, *given, folder=work, **job)
    assert code == 0, output
    head, planned, place, *rest = output.splitlines()[:5]
    assert head.endswith(": pool ssd ===")
    assert planned.endswith("1 measurements (cache-retrieve 1), ends after 600 s at the latest ===")
    assert re.fullmatch(f"Place workspace: {work}, .*B free", place)
    assert rest == [
        "Writes 0.315 MB of files, 1.05 MB of copies there (profile full); removes them at the end",
        f"Result: {tmp_path}/out/io-benchmark/io-benchmark.json",
    ]
    result = result_of(tmp_path / "out")
    assert (result.task.pool, result.task.ci.system, result.task.ci.run) == (
        *("ssd", "gitlab-ci", "12"),
    )
    assert result.config.places[0].path == str(work)
    assert list(work.iterdir()) == []


def test_two_runs_with_one_result(file, tmp_path):
    """The second ends at once, instead of writing over the result of the first."""
    arguments = ["run", "--pool", "a", *SMALL, "--output", "out"]
    first = subprocess.Popen(
        [sys.executable, file, *arguments[:5], "--retrieves", "90000", *arguments[5:]],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert first.stdout is not None
        # Printed when the result is there.
        assert "pool a" in first.stdout.readline()
        code, output = start(file, *arguments, folder=tmp_path)
        said = "another run writes its result there; wait for it, or use another --output"
        assert code == 1
        assert output.splitlines()[0].endswith(f"{tmp_path}/out/io-benchmark: {said}")
    finally:
        first.terminate()
        first.communicate()
    code, output = start(file, *arguments, folder=tmp_path)
    assert code == 0, output


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "error: no command; use run or measure"),
        (["rnu"], "error: 'rnu' is not a command; use run or measure"),
        (["run", "--tim", "3"], "unrecognized arguments: --tim 3"),
        (["run", "--output", ""], "'' is not a folder"),
        (["run", "here"], "unrecognized arguments: here"),
    ],
)
def test_mistakes(file, tmp_path, arguments, problem):
    """One line, and nothing is written."""
    code, output = start(file, *arguments, folder=tmp_path)
    assert (code, len(output.splitlines()), list(tmp_path.iterdir())) == (2, 1, [])
    assert problem in output


def test_a_removed_folder(file, tmp_path):
    """A shell may be in a folder that is gone."""
    gone = tmp_path / "gone"
    script = f"mkdir {gone} && cd {gone} && rmdir {gone} && {sys.executable} {file} run"
    done = subprocess.run(["sh", "-c", script], capture_output=True, check=False, text=True)
    assert done.returncode == 2
    assert "the current folder was removed" in done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["-h"]], ids=" ".join)
def test_help(file, tmp_path, arguments):
    """One screen for people: at most 40 lines of 80 columns."""
    code, output = start(file, *arguments, folder=tmp_path)
    head, tail = usage.HELP.split("%s")
    assert (code, output.startswith(head), output.endswith(tail)) == (0, True, True)
    names = " ".join(output.removeprefix(head).removesuffix(tail).split())
    assert names == ", ".join(WORKLOADS)
    assert len(output.splitlines()) <= 40
    assert max(map(len, output.splitlines())) <= 80


def test_another_system(worker):
    """Runners of macOS and Windows get one line."""
    version = "{}.{}".format(*sys.version_info)
    problem = f"error: needs Python 3.8 or later on Linux; this is Python {version} on darwin\n"
    assert worker.run(prelude="sys.platform = 'darwin'") == (2, problem)
