# SPDX-License-Identifier: MPL-2.0
"""The program as one file: the same bytes everywhere, and it runs."""

import ast
import base64
import bz2
import hashlib
import io
import subprocess
import zipfile

import pytest
from pythons import every_python
from user_mistakes import mistake

from io_benchmark_taskgraph.worker_program import WorkerProgram, maximum_time_s, workload_names

from .conftest import REPOSITORY

MAIN = {"__main__.py": 'SCRIPT_VERSION = "1.2"\nimport a.b\nprint(a.b.x)\n'}
OTHER = {"a/b.py": "x = 'ä'\n"}


def contents(data):
    """The modules of a file by path, without the one that names the program."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        files = {name: archive.read(name) for name in names}
    assert files.pop("program_sha256.py").startswith(b'SHA256 = "')
    return files


def test_known_bytes():
    """The sha256 follows from paths and contents; the file is the same with every Python."""
    for modules in ({**MAIN, **OTHER}, {**OTHER, **MAIN}):
        program = WorkerProgram(modules)
        assert (program.version, program.sha256, hashlib.sha256(program.file()).hexdigest()) == (
            "1.2",
            "752de5591184314058495799ca18f85188a7211d9505f4c327634183af76f9fa",
            "7ed48d0dc82ea15d04faf025b6bf75f8a40749174604a134f0d975fb7a203e15",
        )


COMMENTED = """\
#!/usr/bin/env python3
# A comment.
'''A docstring
in two lines.'''
import workloads.c
class A:
    '''Another.'''
    b = "# not one"  # but this, ä
    def f(self):
        '''The only statement stays.'''
    def g(self):
        '''Gone.'''
        from d import e
        return '''# text
# text'''
"""


def test_what_a_task_carries():
    """What its command and workloads import, wherever they do; no comments, in lines of the same numbers."""
    modules = {
        "bench.py": COMMENTED,
        "measure.py": "import f.g\n",
        **{f"workloads/{name}.py": f"import {name}{name}\n" for name in "abc"},
        **dict.fromkeys(("aa.py", "bb.py", "cc.py", "d/e.py", "f/g.py", "d/h.py"), ""),
    }
    program = WorkerProgram({**MAIN, **modules})
    carried = program.embedded("bench", ["a"])
    assert bz2.decompress(base64.b85decode(carried.argument)) == carried.data
    files = contents(carried.data)
    expected = "bench workloads/a workloads/c aa cc d/e __main__"
    assert set(files) == {f"{path}.py" for path in expected.split()}
    lines = files["bench.py"].decode().split("\n")
    gone = {0: "", 1: "", 2: "", 3: "", 6: "", 7: '    b = "# not one"', 11: ""}
    assert lines == [gone.get(row, line) for row, line in enumerate(COMMENTED.split("\n"))]
    measure = contents(program.embedded("measure").data)
    assert set(measure) == {"__main__.py", "measure.py", "f/g.py"}


def structure(text):
    """A module's syntax without docstrings; a body of one alone keeps it."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and len(body) > 1 and ast.unparse(body[0])[:1] in "\"'":
            del body[0]
    return ast.dump(tree)


def test_the_real_program():
    """The file has each module of the folder; a task has those that run, whose code is the same."""
    program = WorkerProgram.read()
    paths = (REPOSITORY / "scripts/io-benchmark").rglob("*.py")
    files = {str(path).rpartition("io-benchmark/")[2]: path.read_bytes() for path in paths}
    assert contents(program.file()) == files
    carried = contents(program.embedded("bench", workload_names()).data)
    assert set(files) - set(carried) == {"ci.py", "measure.py", "task_profile.py", "usage.py"}
    for path, text in carried.items():
        assert len(text.splitlines()) == len(files[path].splitlines())
        assert structure(text) == structure(files[path])


@every_python
def test_runs_with_every_python(python, tmp_path):
    """Neither the shebang before the zip nor a folder without __init__.py keeps Python from reading it."""
    file = tmp_path / "io-benchmark.pyz"

    def output(program, *arguments):
        file.write_bytes(program.file())
        command = [python, "-X", "utf8", "-B", str(file), *arguments]
        return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()

    assert output(WorkerProgram({**MAIN, **OTHER})) == "ä\n"
    assert "sync-write" in output(WorkerProgram.read(), "--help")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class A:\n    maximum_s = 130\n", 260),
        ("class A:\n    maximum_s = 1_000\n    per_place = False  # why\n", 1000),
    ],
)
def test_maximum_time(tmp_path, text, expected):
    """It is read from the workload's class, per place or per task, without running it."""
    (tmp_path / "workloads").mkdir()
    for name in ("sync_write", "spawn", "_common"):
        (tmp_path / f"workloads/{name}.py").write_text(text + "raise SystemExit\n")
    assert maximum_time_s(["sync-write"], 2, tmp_path) == expected
    # The helpers among the workloads have no name.
    unknown = "benchmark.workloads: 'sync-writ' is unknown; there are: spawn, sync-write"
    assert mistake(maximum_time_s, ["sync-writ"], 1, tmp_path) == unknown
