# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""README.md: every command in it works, and its new pool is one."""

import json
import os
import re
import shlex
import subprocess
import sys

import pytest
from checkout import ROOT, copy_checkout

from io_benchmark.commands.completion import whole_parser

BLOCK = re.compile(
    r"^```(?P<kind>\w+)(?P<skip> skip)?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


def blocks(kind: str, *, skipped: bool = False) -> list[str]:
    """The README's blocks of one kind, those marked `skip` apart."""
    found = BLOCK.finditer((ROOT / "README.md").read_text())
    return [m["text"] for m in found if m["kind"] == kind and bool(m["skip"]) is skipped]


@pytest.fixture
def clone(tmp_path):
    """A copy of the checkout that commands may write into."""
    return copy_checkout(tmp_path / "clone")


def in_clone(clone, command):
    """Run a command there with only PATH and HOME; what scripts/rehearse installs is there already."""
    return subprocess.run(
        command,
        cwd=clone,
        env={
            "PATH": f"{sys.prefix}/bin:{os.environ['PATH']}",
            "HOME": str(clone.parent),
            "IO_BENCHMARK_ENVIRONMENT": sys.prefix,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_blocks_are_found():
    """The two commands are there, the one that runs the tests skipped."""
    assert "scripts/rehearse\n" in blocks("sh")
    assert "scripts/test\n" in blocks("sh", skipped=True)


@pytest.mark.serial
@pytest.mark.parametrize("block", [pytest.param(text, id=text.strip()) for text in blocks("sh")])
def test_shell_block(clone, block):
    """Each shell block that is not marked `skip` runs to its end without an error."""
    result = in_clone(clone, ["sh", "-euc", block])
    assert result.returncode == 0, result.stdout + result.stderr


def test_skipped_programs_exist(clone):
    """The programs of the skipped blocks are there, too."""
    programs = {text.split()[0] for text in blocks("sh", skipped=True)} - {"io-benchmark"}
    assert [name for name in programs if not os.access(clone / name, os.X_OK)] == []


LINES = [
    line
    for text in blocks("sh", skipped=True)
    for line in text.splitlines()
    if line.startswith("io-benchmark ")
]


@pytest.mark.parametrize("line", LINES)
def test_skipped_commands_are_understood(line):
    """What needs a Taskcluster is not run, but its command line is one that the program takes."""
    parsed = whole_parser().parse_args(shlex.split(line)[1:])
    assert vars(parsed)


def test_new_pool(clone):
    """The README's new pool is four lines and generates one more task, named as it says."""
    (pool,) = blocks("yaml")
    name = pool.split(":")[0].strip()
    kind = clone / "taskcluster/kinds/io-benchmark/kind.yml"
    kind.write_text(kind.read_text().rstrip("\n") + "\n\n" + pool)
    parameters = clone / "taskcluster/test/params/push.yml"
    subprocess.run(["git", "init", "--quiet", clone], check=True)
    result = in_clone(clone, ["taskgraph", "full", "-J", "-p", str(parameters)])
    assert result.returncode == 0, result.stderr
    assert len(pool.splitlines()) == 4
    assert f"io-benchmark-{name}" in json.loads(result.stdout)
    assert f"io-benchmark-{name}" in (ROOT / "README.md").read_text()
