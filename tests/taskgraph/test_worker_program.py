# SPDX-License-Identifier: MPL-2.0
"""The program as one file: the same bytes everywhere; script/test_run.py runs it."""

import ast
import hashlib
import io
import zipfile

from checkout import ROOT

from io_benchmark_taskgraph.worker_program import WorkerProgram

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


def test_what_a_task_carries():
    """What its command and workloads import, also within functions, and no other module."""
    modules = {
        "bench.py": "def f():\n    from d import e\n",
        **{f"workloads/{name}.py": f"import {name}{name}\n" for name in "ab"},
        **dict.fromkeys(("aa.py", "bb.py", "d/e.py", "d/h.py"), ""),
    }
    carried = WorkerProgram({**MAIN, **modules}).embedded("bench", ["a"])
    expected = {"__main__.py", "bench.py", "workloads/a.py", "aa.py", "d/e.py"}
    assert set(contents(carried.data)) == expected


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
    paths = (ROOT / "scripts/io-benchmark").rglob("*.py")
    files = {str(path).rpartition("io-benchmark/")[2]: path.read_bytes() for path in paths}
    assert contents(program.file()) == files
    carried = contents(program.embedded("bench", program.workload_names()).data)
    of_linux = {path for path in files if not path.startswith("system/windows/")}
    others = {
        "ci.py",
        "folder_sha256.py",
        "measure.py",
        "task_profile.py",
        "usage.py",
        "variables.py",
    }
    assert of_linux - set(carried) == {*others, "system/linux/commands.py"}
    assert set(carried) <= of_linux
    for path, text in carried.items():
        assert len(text.splitlines()) == len(files[path].splitlines())
        assert structure(text) == structure(files[path])
