# SPDX-License-Identifier: MPL-2.0
"""`run` with its defaults, from one file, as a person or a job of any CI system starts it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import zipapp
from collections.abc import Iterator
from typing import Any

import pytest
import settings
from checkout import ROOT
from pythons import every_python
from result import plan

from io_benchmark.sources.folder.run_files import read_run

SCRIPT = ROOT / "scripts" / "io-benchmark"
SMALL = ("--sizes", "3x0.1", "--retrieves", "10")
GB = plan.GB


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The program, made a zip application by the standard library's own tool."""
    path = tmp_path_factory.mktemp("made") / "io-benchmark.pyz"
    zipapp.create_archive(SCRIPT, path, filter=lambda part: "__pycache__" not in part.parts)
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
    """It measures the current folder, with the host's name, and leaves the result alone there."""
    code, output = start(file, "run", *SMALL, folder=tmp_path, python=python)
    assert code == 0, output
    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*"))] == [
        "io-benchmark",
        "io-benchmark/io-benchmark.json",
    ]
    result = result_of(tmp_path)
    assert result.task.pool == os.uname().nodename
    assert result.task.ci is None
    assert [(place.name, place.path) for place in result.config.places] == [
        ("workspace", str(tmp_path))
    ]
    assert (result.config.time_budget_s, result.config.trials) == (600, "auto")
    assert result.warnings[0].name == "pool-guessed"


@every_python
def test_no_warnings(file, tmp_path, python):
    """Python finds nothing deprecated and nothing left open, with few tools on the PATH."""
    tools, work = tmp_path / "tools", tmp_path / "work"
    tools.mkdir()
    work.mkdir()
    (tools / "grep").symlink_to(str(shutil.which("grep")))
    code, output = start(
        file,
        *("run", "--profile", "quick", *SMALL),
        *("--workload", "cache-retrieve", "--workload", "random-io"),
        folder=work,
        python=python,
        PATH=str(tools),
        PYTHONDEVMODE="1",
        PYTHONWARNINGS="error",
    )
    assert code == 0, output
    assert not re.search("Traceback|Warning|Exception", output), output


def test_what_it_says_first(file, tmp_path):
    """Before the first byte is written: where, how much, about how long, and where the result is."""
    code, output = start(
        file, "run", "--pool", "a", "--sizes", "4x1", "--retrieves", "100", folder=tmp_path
    )
    assert code == 0, output
    head, plan, place, *rest = output.splitlines()[:6]
    assert head.endswith(": pool a ===")
    assert plan.endswith("1 measurements (cache-retrieve 1), ends after 600 s at the latest ===")
    assert place.startswith(f"Place workspace: {tmp_path}, ")
    assert place.endswith("B free")
    assert rest == [
        "Writes 4.19 MB of files, 105 MB of copies there (profile full); removes them at the end",
        "Takes about 1 s, by the speed of the disks",
        f"Result: {tmp_path}/io-benchmark/io-benchmark.json",
    ]


def test_in_a_job(file, tmp_path):
    """It works where the CI system lets the job work, though every user may write there."""
    work, output_folder = tmp_path / "work", tmp_path / "out"
    work.mkdir()
    work.chmod(0o777)
    code, output = start(
        file,
        *("run", *SMALL, "--output", "../out"),
        folder=work,
        GITLAB_CI="true",
        CI_PROJECT_DIR=str(work),
        CI_RUNNER_TAGS='["ssd"]',
        CI_PIPELINE_ID="12",
    )
    assert code == 0, output
    assert "pool ssd (CI_RUNNER_TAGS; --pool gives another name)" in output.splitlines()[0]
    result = result_of(output_folder)
    assert result.task.pool == "ssd"
    assert result.task.ci is not None
    assert (result.task.ci.system, result.task.ci.run) == ("gitlab-ci", "12")
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
    ("arguments", "said"),
    [
        pytest.param([], "error: no command; use run or measure", id="none"),
        pytest.param(["rnu"], "error: 'rnu' is not a command; use run or measure", id="unknown"),
        pytest.param(["run", "--tim", "3"], "unrecognized arguments: --tim 3", id="abbreviated"),
        pytest.param(["run", "--output", ""], "'' is not a folder", id="no folder"),
        pytest.param(["run", "here"], "unrecognized arguments: here", id="a word"),
    ],
)
def test_mistakes(file, tmp_path, arguments, said):
    """One line, and nothing is written."""
    code, output = start(file, *arguments, folder=tmp_path)
    assert code == 2
    assert said in output
    assert len(output.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_removed_folder(file, tmp_path):
    """A shell may be in a folder that is gone."""
    gone = tmp_path / "gone"
    done = subprocess.run(
        ["sh", "-c", f"mkdir {gone} && cd {gone} && rmdir {gone} && {sys.executable} {file} run"],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 2
    assert "the current folder was removed" in done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["-h"]], ids=" ".join)
def test_help(file, tmp_path, arguments):
    """One screen for people: at most 40 lines of 80 columns."""
    code, output = start(file, *arguments, folder=tmp_path)
    head, tail = settings.HELP.replace("%%", "%").split("%s")
    assert (code, output.startswith(head), output.endswith(tail)) == (0, True, True)
    listed = " ".join(output.removeprefix(head).removesuffix(tail).split())
    modules = sorted((SCRIPT / "workloads").glob("[!_]*.py"))
    assert listed == ", ".join(path.stem.replace("_", "-") for path in modules)
    assert len(output.splitlines()) <= 40
    assert max(map(len, output.splitlines())) <= 80


def test_help_names_every_option():
    """An option that is added is explained."""
    source = (SCRIPT / "settings.py").read_text().partition("def parse(")[2]
    source = source.partition("\ndef ")[0]
    options = {word for word in source.split('"') if word.startswith("--")}
    assert {option for option in options if f"  {option} " not in settings.HELP} == set()


@pytest.mark.parametrize(
    ("free_bytes", "profile"),
    [(13 * GB, "full"), (12.8 * GB, "quarter"), (3 * GB, "twentieth"), (0, "quick")],
)
def test_profile_by_free_space(monkeypatch, free_bytes, profile):
    """The files take at most half of what is free in the smallest place."""
    free = {"/a": 10**15, "/b": free_bytes}
    monkeypatch.setattr(settings, "free_space_bytes", free.get)
    places = ["--place", "a=/a", "--place", "b=/b"]
    assert settings.parse(["run", *places], ["cache-retrieve"]).profile == profile
    with_sizes = settings.parse(["run", *places, "--sizes", "1x1"], ["cache-retrieve"])
    assert with_sizes.profile == "full"


def test_free_space(tmp_path):
    """Of a folder that will be made, it is the space where it will be; what is no folder has none."""
    space = os.statvfs(tmp_path)
    there = settings.free_space_bytes(str(tmp_path / "not/yet"))
    assert there == pytest.approx(space.f_bavail * space.f_frsize, rel=0.1)
    assert settings.free_space_bytes("/proc/1/fd/999999999") == 0


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(0, "0 MB"), (4_200_000, "4.2 MB"), (5_976_883_200, "5.98 GB"), (119_537_664_000, "120 GB")],
)
def test_sizes(size_bytes, text):
    """Three digits, as people write them; durations are in seconds or minutes."""
    assert plan.size_label(size_bytes) == text
    assert [plan.duration_label(seconds) for seconds in (0.2, 99, 100)] == ["1 s", "99 s", "2 min"]


@pytest.fixture
def _interrupt_handler() -> Iterator[None]:
    """Give SIGINT its handler back: the program ends by it without a traceback, as tests must not."""
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.mark.usefixtures("_interrupt_handler")
def test_another_system(monkeypatch, capsys):
    """Runners of macOS and Windows get one line; the module's own imports run there."""
    sys.path.insert(0, str(SCRIPT))
    namespace: dict[str, Any] = {"__name__": "main", "__file__": str(SCRIPT / "__main__.py")}
    exec(compile((SCRIPT / "__main__.py").read_text(), "main", "exec"), namespace)  # noqa: S102
    monkeypatch.setattr(sys, "platform", "darwin")
    assert namespace["main"](["run"]) == 2
    version = "{}.{}".format(*sys.version_info)
    said = f"error: needs Python 3.8 or later on Linux; this is Python {version} on darwin\n"
    assert capsys.readouterr().out == said
