# SPDX-License-Identifier: MPL-2.0
"""What is attached to a release: the workflow's own commands, run here."""

import hashlib
import os
import subprocess
import sys

import pytest
import yaml
from checkout import ROOT, copy_checkout

from io_benchmark.graph.root import Root
from io_benchmark.graph.worker_script import build_worker_script

WORKFLOW = ".github/workflows/release.yml"
# GitHub starts the lines of a step so.
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")


@pytest.fixture
def steps():
    """The commands of each step by its name; without those that install, which need a network."""
    [job] = yaml.safe_load((ROOT / WORKFLOW).read_text())["jobs"].values()
    lines = {step["name"]: step["run"].splitlines() for step in job["steps"] if "run" in step}
    *_, program, digest = lines["Make it"]
    return {**lines, "Make it": [program, digest]}


def test_the_attached_files(tmp_path, steps):
    """They are the program that tasks carry, tried, and its sha256 as sha256sum checks it."""
    clone = copy_checkout(tmp_path / "clone")
    tools = {
        clone / ".venv/bin/python": f'exec {sys.executable} "$@"',
        tmp_path / "bin/gh": f'printf "%s\\n" "$@" > {tmp_path}/given',
    }
    for path, text in tools.items():
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
        "TAG": "v1.0 $(x)",
        "GITHUB_REPOSITORY": "a/b",
    }
    for lines in steps.values():
        command = "\n".join(lines)
        subprocess.run([*SHELL, command], cwd=clone, env=environment, check=True)
    assert (tmp_path / "given").read_text().splitlines() == [
        *("release", "upload", "v1.0 $(x)", "io-benchmark.pyz", "io-benchmark.pyz.sha256"),
        *("--repo", "a/b", "--clobber"),
    ]
    data = (clone / "io-benchmark.pyz").read_bytes()
    assert data == build_worker_script(Root(clone, "clone")).data
    assert len(data) <= 320_000
    digest = hashlib.sha256(data).hexdigest()
    written = (clone / "io-benchmark.pyz.sha256").read_text()
    assert written == f"{digest}  io-benchmark.pyz\n"
