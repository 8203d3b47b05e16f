# SPDX-License-Identifier: MPL-2.0
"""tests/run.py: some runs of pytest with one exit code."""

import importlib.util
import os
import subprocess
import sys

import pytest
from checkout import ROOT


@pytest.fixture(scope="module")
def run():
    """The module, which no package holds."""
    spec = importlib.util.spec_from_file_location("tests_run", ROOT / "tests/run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ([0, 0], 0),
        ([0, 5], 0),  # no test was chosen in one of them
        ([5, 0], 0),
        ([5, 5], 5),
        ([1, 0], 1),
        ([0, 1], 1),
        ([5, 1], 1),
        ([2], 2),
        ([4, 1], 4),  # the first failure counts
    ],
)
def test_merged(run, codes, expected):
    """A failure in any run fails; finding no test fails only when all found none."""
    assert run.merged(codes) == expected


PART = """\
import os, signal, sys, time
from pathlib import Path
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
options, log = sys.argv[3:], Path(os.environ["LOG"])
chosen = options[options.index("-m") + 1] if "-m" in options else "plain"
part = {"not serial and not container": "parallel"}.get(chosen, chosen)
if sys.argv[1].endswith("lint.py"):
    part = "linters"
def note(what):
    with log.open("a") as file:
        file.write(f"{part} {what}\\n")
note("begins")
print("said by", part, flush=True)
code = os.environ.get(part, "0")
beside = os.environ["BESIDE"].split()
while part == "parallel" and not all(f"{name} begins" in log.read_text() for name in beside):
    time.sleep(0.01)
if code == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if code == "waits":
    signal.sigwait([signal.SIGINT])
    code = "2"
note("ends")
sys.exit(int(code))
"""


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """What runs in pytest's place, and notes down when it does."""
    (tmp_path / "part.py").write_text(PART)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} {tmp_path / "part.py"} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    (tmp_path / "log").touch()
    groups = tmp_path / "groups"

    def run(*arguments, with_groups=False, **codes):
        if with_groups:
            groups.mkdir()
        beside = ["container", *["serial"] * with_groups, *["linters"] * (not arguments)]
        monkeypatch.setenv("BESIDE", " ".join(beside))
        names = {name: str(code) for name, code in codes.items()}
        done = subprocess.run(
            [sys.executable, "-c", RUN, ROOT / "tests/run.py", groups, python, *arguments],
            env=os.environ | names,
            capture_output=True,
            text=True,
            check=False,
        )
        log = (tmp_path / "log").read_text().splitlines()
        return done.returncode, log, done.stdout

    return run


# The script with another interpreter for its parts, and another folder of cgroups.
RUN = """\
import pathlib, runpy, sys
path, groups, python, *arguments = sys.argv[1:]
main = runpy.run_path(path)["main"]
main.__globals__["CPU_GROUPS"] = pathlib.Path(groups)
sys.executable = python
sys.exit(main(arguments))
"""


def test_without_a_cgroup(parts):
    """What needs the CPUs for itself begins when all others have ended."""
    code, log, output = parts("-q")
    assert code == 0
    assert sorted(log[:4]) == [
        f"{part} {what}" for part in ("container", "parallel") for what in ("begins", "ends")
    ]
    assert log[4:] == ["serial begins", "serial ends"]
    assert output == "said by parallel\nsaid by container\nsaid by serial\n"


def test_linters_run_beside_all_tests(parts):
    """Their output comes after that of the tests, and what they find fails the run."""
    code, log, output = parts(with_groups=True, linters=1)
    assert code == 1
    assert log.index("linters begins") < log.index("parallel ends")
    assert "said by linters" in output
    assert output.startswith("said by parallel\n")


@pytest.mark.parametrize("arguments", [["-m", "root"], ["-mroot"]], ids=["apart", "in one"])
def test_a_choice_by_mark(parts, arguments):
    """A caller's own `-m` would be overruled by the parts' ones, so there are none then, nor linters."""
    _, log, output = parts(*arguments)
    assert len(log) == 2
    assert "parallel begins" not in log
    assert "linters" not in output


def test_files_with_a_mark(run):
    """Files whose tests have the mark are among them, but none that is run by hand alone."""
    assert str(ROOT / "tests/lab/test_alike.py") in run.files_with("serial")
    assert str(ROOT / "tests/script/test_real_storage.py") in run.files_with("serial")
    folders = {path.rpartition("/")[0] for path in run.files_with("container")}
    assert folders == {str(ROOT / "tests/container")}


@pytest.mark.parametrize("part", ["parallel", "container", "serial"])
def test_a_failure_fails(parts, part):
    """The others still run."""
    code, log, _ = parts(with_groups=part == "serial", **{part: 1})
    assert code == 1
    assert "serial ends" in log


@pytest.mark.parametrize("parallel", [2, "killed"])
def test_interrupted(parts, parallel):
    """After Ctrl-C the containers are told and waited for, and nothing else begins."""
    code, log, output = parts(parallel=parallel, container="waits")
    assert code == 2
    assert log[-1] == "container ends"
    assert "serial begins" not in log
    assert "said by container" in output
