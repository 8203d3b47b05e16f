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
COMMANDS = ("scripts/rehearse", "scripts/test", ".tox/bootstrap/bin/tox")


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def put_python(path: Path, version: str) -> Path:
    """An interpreter that says it is this version; an empty one is not suitable."""
    return put(path, PYTHON.format(version=version))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose commands only note down that they ran, and the tools of a machine without apt-get."""
    path = tmp_path / "checkout"
    put(path / ".ci/run", (ROOT / ".ci/run").read_text())
    for name in COMMANDS:
        put(path / name, COMMAND)
    (tmp_path / "tools").mkdir()
    for tool in ("bash", "dirname", "id", "mktemp", "readlink", "rm", "sed", "sh", "sort"):
        (tmp_path / "tools" / tool).symlink_to(str(shutil.which(tool)))
    return path


def run(checkout: Path, path: list[Path], **variables: str) -> tuple[int, list[str], list[str]]:
    """Exit code, what ran with which Python, and what was printed."""
    done = subprocess.run(
        ["bash", str(checkout / ".ci/run")],
        env={
            "PATH": ":".join(map(str, [*path, checkout.parent / "tools"])),
            "HOME": str(checkout),
            **variables,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    ran = (checkout / "ran").read_text().splitlines()
    (checkout / "ran").unlink()
    return done.returncode, ran, done.stderr.splitlines()


def all_with(python: Path | str) -> list[str]:
    return [f"{Path(name).name} {python}" for name in COMMANDS]


def test_the_oldest_suitable_python(checkout: Path, tmp_path: Path) -> None:
    """It comes neither first on the PATH nor is it older than 3.11; all commands get it."""
    put_python(tmp_path / "first/python3", "003013000")
    oldest = put_python(tmp_path / "second/python3.11", "003011000")
    put_python(tmp_path / "second/python3.10", "")
    used = [f".ci/run: using {oldest}, Python 003011000"]
    path = [tmp_path / "first", tmp_path / "second"]
    assert run(checkout, path) == (0, all_with(oldest), used)
    failed = [f".ci/run: FAILED: {name}" for name in (*COMMANDS[:2], "tox -e oldest")]
    # All run although the first one failed.
    assert run(checkout, path, FAILS="1") == (1, all_with(oldest), [*used, *failed])


def test_where_it_looks(checkout: Path, tmp_path: Path) -> None:
    """A Python that pyenv holds is found as well; IO_BENCHMARK_PYTHON decides before any other."""
    put_python(tmp_path / "bin/python3", "003013000")
    python = put_python(checkout / ".pyenv/versions/3.11.0/bin/python3.11", "003011000")
    assert run(checkout, [tmp_path / "bin"])[1] == all_with(python)
    named = run(checkout, [tmp_path / "bin"], IO_BENCHMARK_PYTHON=sys.executable)
    assert named[1] == all_with(sys.executable)
