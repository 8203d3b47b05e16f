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
        "io-benchmark",
        "io-benchmark/io-benchmark.json",
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
        "ssd",
        "gitlab-ci",
        "12",
    )
    assert result.config.places[0].path == str(work)
    assert list(work.iterdir()) == []


def test_a_result_of_another_pool(file, tmp_path):
    """It is refused, and kept; the same pool replaces its result, and so does what is no result."""
    given = ("run", *SMALL, "--output", "out", "--pool")
    assert start(file, *given, "old", folder=tmp_path)[0] == 0
    path = tmp_path / "out" / "io-benchmark" / "io-benchmark.json"
    before = path.read_bytes()
    code, output = start(file, *given, "new", folder=tmp_path)
    refusal = "has a result of the pool old; use another --output for each pool, or remove it"
    assert (code, output) == (1, f"error: the result cannot be written: {path}: {refusal}\n")
    assert path.read_bytes() == before
    assert start(file, *given, "old", folder=tmp_path)[0] == 0
    for text in ('{"task": 1}', "{", "[" * 10_000):
        path.write_text(text)
        assert start(file, *given, "new", folder=tmp_path)[0] == 0
        assert result_of(tmp_path / "out").task.pool == "new"


def test_a_place_that_is_missing(file, tmp_path):
    """It is refused before anything is written: what would be made may be on another disk.

    A task's place in its container is made, and removed.
    """
    (tmp_path / "file").touch()
    for name in ("missing/disk", "file"):
        place = f"disk={tmp_path}/{name}"
        code, output = start(file, "run", "--pool", "p", "--place", place, folder=tmp_path)
        problem = f"error: argument --place: {place}: no such folder; make it on the disk to be "
        assert (code, output) == (2, problem + "measured; --help lists the arguments\n")
        assert [path.name for path in tmp_path.iterdir()] == ["file"]
    place, output = tmp_path / "in-container", ("--output", "out")
    given = ("run", "--pool", "p", *SMALL, *output, "--place", f"container={place}")
    code, log = start(file, *given, folder=tmp_path, TASK_ID="Prp_WjpGRx26VH-wA8fjTA")
    assert code == 0, log
    assert result_of(tmp_path / "out").config.places[0].path == str(place)
    assert not place.exists()


def test_bare(file, tmp_path):
    """On a machine without CI, sizes are quick, and one line says how to measure as tasks do."""
    code, output = start(file, "run", "--pool", "p", folder=tmp_path)
    assert code == 0, output
    assert result_of(tmp_path).config.profile == "quick"
    lines = output.splitlines()[1:6]
    assert "ends after 600 s at the latest" in lines[0]
    assert lines[2:4] == [
        "Writes 74.7 MB of files, 72.9 MB of copies there (profile quick); removes them at the end",
        "Quick sizes; as tasks measure: --profile full, 6 GB of files, 120 GB of copies",
    ]


@pytest.mark.parametrize("arguments", [[], ["run"], ["measure"], ["run", "--pool", "p"]])
def test_version(file, tmp_path, arguments):
    """Its name and its version, whatever else is given; what follows -- is the command's."""
    version = (0, f"io-benchmark {WorkerProgram.read().version}\n")
    assert start(file, *arguments, "--version", folder=tmp_path) == version
    command = ("measure", "--", "sh", "-c", "echo $0", "--version")
    assert start(file, *command, folder=tmp_path) == (0, "--version\n")


@pytest.mark.parametrize("task_id", [None, "Prp_WjpGRx26VH-wA8fjTA"])
@pytest.mark.parametrize(
    ("given", "code"),
    [(("--trials", "x"), 2), (("--place", "a=/proc"), 1)],
    ids=["usage", "failed"],
)
def test_the_line_for_treeherder(file, tmp_path, given, code, task_id):
    """It is a task's alone; elsewhere the error is in the log as well."""
    variables = {} if task_id is None else {"TASK_ID": task_id}
    arguments = ("run", "--pool", "p", *SMALL, *given)
    exit_code, output = start(file, *arguments, folder=tmp_path, **variables)
    assert exit_code == code
    assert ("\nTEST-UNEXPECTED-FAIL | p: " in output) == (task_id is not None)
    assert "error: " in output


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
    """Runners of macOS get one line."""
    version = "{}.{}".format(*sys.version_info)
    needs = "needs Python 3.8 or later on Linux or Windows"
    problem = f"error: {needs}; this is Python {version} on darwin\n"
    command = worker.command(prelude="sys.platform = 'darwin'")
    command.remove("-u")  # nobody gives it
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, problem, "")
