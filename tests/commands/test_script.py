# SPDX-License-Identifier: MPL-2.0
"""The command script, run as a user runs it."""

import hashlib
import subprocess
import tarfile

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


def test_to_stdout(tmp_path):
    """A dash is stdout: the same bytes, nothing else there, and no file of that name."""
    run("-o", tmp_path / "x.pyz")
    command = [*program.PROGRAM, "script", "--root", str(ROOT), "-o", "-"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout == (tmp_path / "x.pyz").read_bytes()
    assert done.stderr.startswith(b"Wrote the file to stdout: io-benchmark ")
    assert [path.name for path in tmp_path.iterdir()] == ["x.pyz"]


def test_archive(tmp_path):
    """It has the same file, and no other."""
    run("-o", tmp_path / "x.pyz")
    run("-o", tmp_path / "x.tar.bz2", "--archive")
    with tarfile.open(tmp_path / "x.tar.bz2") as archive:
        assert archive.getnames() == ["io-benchmark.pyz"]
        file = archive.extractfile("io-benchmark.pyz")
        assert file is not None
        assert file.read() == (tmp_path / "x.pyz").read_bytes()
    refused = run("-o", tmp_path / "y", "--archive", "--report", expected=2)
    expected = "error: --archive cannot be combined with --report, which is an archive\n"
    assert refused == expected


def test_not_to_a_terminal():
    """Bytes would change how it shows text."""
    done = program.run("script", "-o", "-", folder=ROOT, expected=2, on_terminal=True)
    assert done.stderr == "error: --output -: stdout is a terminal; redirect it into a file\n"
    assert done.stdout == ""
