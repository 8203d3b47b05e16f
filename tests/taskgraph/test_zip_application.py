# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The zip application: the same bytes everywhere, and a program that runs from it."""

import io
import subprocess
import sys
import zipfile

import pytest
from pythons import every_python

from io_benchmark_taskgraph.mistakes import BadKeyError
from io_benchmark_taskgraph.script_modules import needed_modules, workload_names
from io_benchmark_taskgraph.zip_application import ZipApplication, _zipped

from .conftest import REPOSITORY

FOLDER = "scripts/io-benchmark"
MAIN = {"__main__.py": 'SCRIPT_VERSION = "1.2"\nimport a.b\nprint(a.b.x)\n'}
OTHER = {"a/b.py": "x = 'ä'\n"}

# What a decision task does with the folder, by the modules themselves and nothing else.
PROGRAM = """
import importlib.util, pathlib, sys, types
folder, package = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
stub = types.ModuleType("io_benchmark_taskgraph.mistakes")
stub.BadKeyError = Exception
sys.modules["io_benchmark_taskgraph"] = types.ModuleType("io_benchmark_taskgraph")
sys.modules["io_benchmark_taskgraph.mistakes"] = stub
for name in ("deflate", "zip_application"):
    spec = importlib.util.spec_from_file_location(name, str(package / (name + ".py")))
    application = importlib.util.module_from_spec(spec)
    sys.modules["io_benchmark_taskgraph." + name] = application
    spec.loader.exec_module(application)
modules = {
    path.relative_to(folder).as_posix(): path.read_bytes().decode()
    for path in folder.rglob("*.py")
}
sys.stdout.buffer.write(application._zipped(modules))
"""


def all_modules():
    return needed_modules(REPOSITORY, FOLDER, workload_names(REPOSITORY / FOLDER))


def test_entries():
    """Each module and each folder once, sorted, of one date and mode, with nothing more."""
    with zipfile.ZipFile(io.BytesIO(_zipped({**OTHER, **MAIN}))) as archive:
        entries = archive.infolist()
        assert archive.testzip() is None
        assert archive.read("a/b.py").decode() == OTHER["a/b.py"]
    assert [
        (e.filename, e.date_time, e.external_attr >> 16, e.compress_type, e.extra, e.comment)
        for e in entries
    ] == [
        ("__main__.py", (1980, 1, 1, 0, 0, 0), 0o100644, zipfile.ZIP_DEFLATED, b"", b""),
        ("a/", (1980, 1, 1, 0, 0, 0), 0o40755, zipfile.ZIP_DEFLATED, b"", b""),
        ("a/b.py", (1980, 1, 1, 0, 0, 0), 0o100644, zipfile.ZIP_DEFLATED, b"", b""),
    ]


def test_order_makes_no_difference():
    """The same modules are the same file."""
    application = ZipApplication({**MAIN, **OTHER})
    assert application.sha256 == ZipApplication({**OTHER, **MAIN}).sha256
    assert application.version == "1.2"


@every_python
def test_same_bytes_from_every_python(python):
    """The bytes depend on the modules alone, whichever Python and zlib make the file."""
    arguments = [REPOSITORY / FOLDER, REPOSITORY / "python/io_benchmark_taskgraph"]
    done = subprocess.run(
        [python, "-c", PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, check=True
    )
    assert done.stdout == _zipped(all_modules())


@every_python
def test_runs_with_every_python(python, tmp_path):
    """Folders without __init__.py are found in it, and the workloads are those that came along."""
    file = tmp_path / "io-benchmark.pyz"
    modules = needed_modules(REPOSITORY, FOLDER, ["spawn", "upload"])
    file.write_bytes(_zipped(modules))
    done = subprocess.run(
        [python, "-u", "-B", str(file), "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "one of\n" + " " * 24 + "spawn, upload\n" in done.stdout


def test_output_of_a_small_one(tmp_path):
    """The shebang before the zip does not keep Python from reading it."""
    file = tmp_path / "x.pyz"
    file.write_bytes(_zipped({**MAIN, **OTHER}))
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
        ZipApplication(modules)
    assert caught.value.text == (
        f"{count} lines of the script's modules say its version; write one line "
        'SCRIPT_VERSION = "1.0.0"'
    )
