# SPDX-License-Identifier: MPL-2.0
"""The program as one file: the same bytes everywhere, and it runs."""

import base64
import io
import subprocess
import sys
import zipfile
import zlib

import pytest
from pythons import every_python
from user_mistakes import mistake

from io_benchmark_taskgraph.script_modules import needed_modules
from io_benchmark_taskgraph.worker_program import MAX_ARGUMENT_BYTES, WorkerProgram, _packed

from .conftest import REPOSITORY

FOLDER = "scripts/io-benchmark"
MAIN = {"__main__.py": 'SCRIPT_VERSION = "1.2"\nimport a.b\nprint(a.b.x)\n'}
OTHER = {"a/b.py": "x = 'ä'\n"}


def test_entries():
    """Each module and each folder once, sorted, of one date and mode, with nothing more."""
    with zipfile.ZipFile(io.BytesIO(_packed({**OTHER, **MAIN}))) as archive:
        entries = archive.infolist()
        assert archive.testzip() is None
        assert archive.read("a/b.py").decode() == OTHER["a/b.py"]
    rest = ((1980, 1, 1, 0, 0, 0), zipfile.ZIP_STORED, b"", b"")
    assert [
        (
            (entry.filename, entry.external_attr >> 16),
            (entry.date_time, entry.compress_type, entry.extra, entry.comment),
        )
        for entry in entries
    ] == [
        (named, rest)
        for named in (("__main__.py", 0o100644), ("a/", 0o40755), ("a/b.py", 0o100644))
    ]


def test_known_bytes():
    """The sha256 follows from paths and contents; it is the same with every Python and zlib."""
    for modules in ({**MAIN, **OTHER}, {**OTHER, **MAIN}):
        program = WorkerProgram(modules)
        assert (program.version, program.sha256) == (
            "1.2",
            "1c19a2324205ed825651f3f52d962638ca41942e9a3ace0a4412a49f76b1d06d",
        )


def test_arguments():
    """They are the file, compressed, in as many parts as one argument needs."""
    program = WorkerProgram.whole(REPOSITORY, FOLDER)
    (argument,) = program.arguments()
    assert len(argument) <= MAX_ARGUMENT_BYTES
    assert zlib.decompress(base64.b64decode(argument)) == program.data


@every_python
def test_runs_with_every_python(python, tmp_path):
    """Folders without __init__.py are found in it, and the workloads are those that came along."""
    file = tmp_path / "io-benchmark.pyz"
    file.write_bytes(_packed(needed_modules(REPOSITORY, FOLDER, ["spawn", "upload"])))
    command = [python, "-u", "-B", str(file), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "one of\n" + " " * 24 + "spawn, upload\n" in done.stdout


def test_output_of_a_small_one(tmp_path):
    """The shebang before the zip does not keep Python from reading it."""
    file = tmp_path / "x.pyz"
    file.write_bytes(_packed({**MAIN, **OTHER}))
    assert file.read_bytes().startswith(b"#!/usr/bin/env python3\nPK")
    done = subprocess.run([sys.executable, str(file)], stdout=subprocess.PIPE, check=True)
    assert done.stdout.decode() == "ä\n"


@pytest.mark.parametrize(
    ("modules", "count"), [(OTHER, 0), ({**MAIN, "c.py": 'SCRIPT_VERSION = "2"\n'}, 2)]
)
def test_one_version(modules, count):
    """What the task's page calls the version is said in one place."""
    text = f"{count} lines of the script's modules say its version; write one line SCRIPT_VERSION"
    assert mistake(WorkerProgram, modules) == f'benchmark.script: {text} = "1.0.0"'
