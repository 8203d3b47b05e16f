# SPDX-License-Identifier: MPL-2.0
"""Places of a run that are hard to write, cannot be had, or go away meanwhile."""

import json
from contextlib import suppress

import pytest
import windows_python
import wine
from worker import SCRIPT, outcome_of, wait_for

from io_benchmark.sources.run_files import read_run

pytestmark = pytest.mark.windows

FEW = ("--workload", "cache-retrieve", "--profile", "full", "--sizes", "4x0.1", "--trials", "never")
SHORT, ENDLESS = (*FEW, "--retrieves", "10"), (*FEW, "--retrieves", "100000")
LONG = "\\".join(["long-" * 20] * 3)  # more than 260 characters


def program() -> tuple[str, ...]:
    return (*wine.python_command(), wine.path_of(SCRIPT))


@pytest.fixture
def disk(windows, tmp_path):
    """A folder that is drive D:."""
    folder = tmp_path / "disk"
    folder.mkdir()
    with windows.drive("d", folder):
        yield folder


@pytest.mark.parametrize(
    ("name", "version"),
    [
        pytest.param("a b & (c)", windows_python.USUAL, id="spaces"),
        pytest.param("Käse\\ü 中", "3.8", id="umlauts"),
        *(pytest.param(LONG, version, id=f"long-{version}") for version in windows_python.VERSIONS),
    ],
)
def test_names(run_worker, disk, name, version):
    """The run completes there, the result names the place, and nothing is left in it."""
    place = disk / name.replace("\\", "/")
    place.mkdir(parents=True)
    run = run_worker("x", f"D:\\{name}", *SHORT, version=version)
    assert run.exit_code == 0, run.log
    document = json.loads(run.result_path.read_text())
    assert document["storage"]["places"][0]["path"] == f"D:\\{name}"
    assert read_run(run.result_path).result.outcome.state == "completed"
    assert list(place.iterdir()) == []


def test_a_relative_place(run_worker, disk):
    """It is below the current folder."""
    (disk / "task" / "work").mkdir(parents=True)
    run = run_worker("x", "work", *SHORT, folder=disk / "task")
    assert run.exit_code == 0, run.log
    assert [path.name for path in (disk / "task").iterdir()] == ["work"]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        pytest.param("D:work", "D:work", id="drive-relative"),
        pytest.param("Q:\\work", "no such folder", id="no-drive"),
        pytest.param("\\\\no-server\\share\\x", "no such folder", id="no-share"),
        pytest.param("D:\\a?b", "a?b", id="not-a-name"),
    ],
)
def test_places_that_cannot_be_had(run_worker, disk, place, message):
    """One line says which place it is; no result is written."""
    (disk / "work").mkdir()
    run = run_worker("x", place, *SHORT)
    errors = [line for line in run.log.splitlines() if line.startswith("error")]
    assert run.exit_code == 2, run.log
    assert len(errors) == 1, run.log
    assert message in errors[0]
    assert not run.result_path.exists()


def test_a_drive_that_disappears(windows, disk, tmp_path):
    """The run fails in words, its result is valid, and no process goes on."""
    output = tmp_path / "out"
    arguments = ("run", "--pool", "x", "--output", wine.path_of(output), *ENDLESS)
    process = windows.start(*program(), *arguments, "--place", "workspace=D:\\")
    wait_for(process, "[1/1]")
    disk.rename(tmp_path / "gone")
    code, log = windows.finish(process, 120.0)
    result = read_run(output / "io-benchmark" / "io-benchmark.json").result
    assert (code, outcome_of(result)[0]) == (1, "failed"), log
    assert "Traceback" not in log
    assert windows.processes("be_member") == []


@pytest.mark.root
def test_a_drive_that_fills_up(windows, lab, tmp_path):
    """The run fails in words, and removes its files."""
    point = lab.mount("none", tmp_path / "small", "-t", "tmpfs", "-o", "size=100m")
    output = tmp_path / "out"
    arguments = ("run", "--pool", "x", "--output", wine.path_of(output), *ENDLESS)
    with windows.drive("d", point):
        process = windows.start(*program(), *arguments, "--place", "workspace=D:\\")
        wait_for(process, "[1/1]")
        fill(point / "filler", process)
        code, log = windows.finish(process, 120.0)
    result = read_run(output / "io-benchmark" / "io-benchmark.json").result
    assert (code, outcome_of(result)[0]) == (1, "failed"), log
    assert "Traceback" not in log
    assert [path.name for path in point.iterdir()] == ["filler"]


def fill(path, process):
    """Take each free byte until the process ends."""
    with path.open("ab", buffering=0) as filler:
        while process.poll() is None:
            with suppress(OSError):
                filler.write(bytes(4096))
