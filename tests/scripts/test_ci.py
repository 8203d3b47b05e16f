# SPDX-License-Identifier: MPL-2.0
"""Which Python .ci/run gives to both commands of the README, and to the tests of the oldest taskgraph."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import ROOT

# Says that it has a version and can make environments, or that it is too old.
PYTHON = """#!/bin/sh
case "$*" in
*"import ensurepip"*) [ -z "{version}" ] && exit 1; echo "{version}" ;;
*) echo "Python {version}" ;;
esac
"""
COMMAND = """#!/bin/sh
echo "${0##*/} $IO_BENCHMARK_PYTHON" >>ran
exit "${FAILS:-0}"
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose commands only note down that they ran."""
    path = tmp_path / "checkout"
    (path / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci/run", path / ".ci/run")
    for name in ("scripts/rehearse", "scripts/test", ".tox/bootstrap/bin/tox"):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(COMMAND)
        (path / name).chmod(0o755)
    return path


def put(folder: Path, name: str, version: str) -> Path:
    """An interpreter that says it is this version; an empty one is not suitable."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(PYTHON.format(version=version))
    (folder / name).chmod(0o755)
    return folder / name


def run(checkout: Path, path: list[Path], **variables: str) -> tuple[int, list[str], str]:
    """Exit code, what ran with which Python, and what was printed."""
    tools = checkout.parent / "tools"
    tools.mkdir(exist_ok=True)
    # Without apt-get: nothing is installed.
    for tool in ("bash", "dirname", "id", "mktemp", "readlink", "rm", "sed", "sh", "sort"):
        if not (tools / tool).exists():
            (tools / tool).symlink_to(str(shutil.which(tool)))
    done = subprocess.run(
        ["bash", str(checkout / ".ci/run")],
        env={"PATH": ":".join(map(str, [*path, tools])), "HOME": str(checkout), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    ran = checkout / "ran"
    return done.returncode, ran.read_text().splitlines() if ran.exists() else [], done.stderr


def test_the_oldest_suitable_python(checkout: Path, tmp_path: Path) -> None:
    """It comes neither first on the PATH nor is it older than 3.11; both commands get it."""
    put(tmp_path / "first", "python3", "003013000")
    oldest = put(tmp_path / "second", "python3.11", "003011000")
    put(tmp_path / "second", "python3.10", "")
    path = [tmp_path / "first", tmp_path / "second"]
    assert run(checkout, path) == (
        0,
        [f"rehearse {oldest}", f"test {oldest}", f"tox {oldest}"],
        f".ci/run: using {oldest}, Python 003011000\n",
    )


def test_where_it_looks(checkout: Path, tmp_path: Path) -> None:
    """A Python that pyenv holds is found as well; IO_BENCHMARK_PYTHON decides before any other."""
    put(tmp_path / "bin", "python3", "003013000")
    python = put(checkout / ".pyenv/versions/3.11.0/bin", "python3.11", "003011000")
    both = run(checkout, [tmp_path / "bin"])[1]
    both += run(checkout, [tmp_path / "bin"], IO_BENCHMARK_PYTHON=sys.executable)[1][3:]
    assert both == [
        f"{name} {path}"
        for path in (python, sys.executable)
        for name in ("rehearse", "test", "tox")
    ]


def test_a_failure_of_either_command_fails(checkout: Path, tmp_path: Path) -> None:
    """The second command runs although the first one failed."""
    python = put(tmp_path / "bin", "python3.11", "003011000")
    code, ran, errors = run(checkout, [tmp_path / "bin"], FAILS="1")
    assert (code, ran) == (1, [f"rehearse {python}", f"test {python}", f"tox {python}"])
    assert errors.splitlines()[1:] == [
        ".ci/run: FAILED: scripts/rehearse",
        ".ci/run: FAILED: scripts/test",
        ".ci/run: FAILED: tox -e oldest",
    ]
