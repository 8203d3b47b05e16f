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

from io_benchmark_taskgraph.mistakes import BadKeyError
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
    assert [
        (e.filename, e.date_time, e.external_attr >> 16, e.compress_type, e.extra, e.comment)
        for e in entries
    ] == [
        ("__main__.py", (1980, 1, 1, 0, 0, 0), 0o100644, zipfile.ZIP_STORED, b"", b""),
        ("a/", (1980, 1, 1, 0, 0, 0), 0o40755, zipfile.ZIP_STORED, b"", b""),
        ("a/b.py", (1980, 1, 1, 0, 0, 0), 0o100644, zipfile.ZIP_STORED, b"", b""),
    ]


def test_order_makes_no_difference():
    """The same modules are the same file."""
    program = WorkerProgram({**MAIN, **OTHER})
    assert program.sha256 == WorkerProgram({**OTHER, **MAIN}).sha256
    assert program.version == "1.2"


def test_known_bytes():
    """The sha256 follows from paths and contents; it is the same with every Python and zlib."""
    assert WorkerProgram({**MAIN, **OTHER}).sha256 == (
        "1c19a2324205ed825651f3f52d962638ca41942e9a3ace0a4412a49f76b1d06d"
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
    modules = needed_modules(REPOSITORY, FOLDER, ["spawn", "upload"])
    file.write_bytes(_packed(modules))
    done = subprocess.run(
        [python, "-u", "-B", str(file), "--help"], capture_output=True, text=True, check=False
    )
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
    ("modules", "count"),
    [
        pytest.param(OTHER, 0, id="none"),
        pytest.param({**MAIN, "c.py": 'SCRIPT_VERSION = "2"\n'}, 2, id="two"),
    ],
)
def test_one_version(modules, count):
    """What the task's page calls the version is said in one place."""
    with pytest.raises(BadKeyError) as caught:
        WorkerProgram(modules)
    assert caught.value.text == (
        f"{count} lines of the script's modules say its version; write one line "
        'SCRIPT_VERSION = "1.0.0"'
    )
