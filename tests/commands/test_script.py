# SPDX-License-Identifier: MPL-2.0
"""The command script, run as a user runs it."""

import hashlib
import json
import os
import subprocess
import sys

import embedding
import program
import pytest
from checkout import ROOT

from io_benchmark.graph.generate import generate
from io_benchmark.graph.root import Root

OWN = Root(ROOT, "checkout")


def run(*arguments, expected=0):
    done = program.run("script", *arguments, folder=ROOT, expected=expected)
    assert done.stdout == ""
    return done.stderr


@pytest.mark.parametrize("label", ["io-benchmark-amd-16", "io-benchmark-all-intel"])
def test_same_program_as_in_a_task(tmp_path, label):
    """Its results name it as those of every task do, whichever workloads the task runs."""
    file = tmp_path / "x.pyz"
    *_, of_file, of_program = run("-o", file).splitlines()
    assert of_file == f"sha256 of the file: {hashlib.sha256(file.read_bytes()).hexdigest()}"
    [task] = generate(OWN, [label])
    command = task.definition["payload"]["command"]
    digest = of_program.removeprefix("sha256 in its results: ")
    assert embedding.modules(command)["program_sha256.py"].decode() == f'SHA256 = "{digest}"\n'
    data = embedding.application(command)
    assert f"sha256={hashlib.sha256(data).hexdigest()}\n" in embedding.shell_text(command)


def test_it_is_a_program(tmp_path):
    """A new file can be started by itself; its result names the program."""
    file = tmp_path / "x.pyz"
    output = run("--output", file)
    assert output.startswith(f"Wrote {file}: io-benchmark 1.")
    assert ", metadata, " in output.splitlines()[0]
    assert file.stat().st_size <= 320_000
    (tmp_path / "w").mkdir()
    options = ["--pool", "x", "--workload", "metadata", "--profile", "quick"]
    done = subprocess.run(
        [file, *options, "--place", f"w={tmp_path}/w", "--output", tmp_path / "a"],
        env={"PATH": f"{os.path.dirname(sys.executable)}:/usr/bin:/bin"},  # noqa: PTH120
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads((tmp_path / "a/io-benchmark/io-benchmark.json").read_text())
    assert output.endswith(f"sha256 in its results: {document['script']['sha256']}\n")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-o", "/none/x.pyz"], 1, "--output /none/x.pyz: No such file"),
        (["-o", "tests"], 1, "--output tests: Is a directory; name a file"),
        (["-o", "x.pyz", "--root", "/none"], 2, "--root /none: cannot read this path"),
    ],
)
def test_mistakes(arguments, code, message):
    """One line each; nothing is written."""
    assert message in run(*arguments, expected=code).splitlines()[-1]
    assert not (ROOT / "x.pyz").exists()
