# SPDX-License-Identifier: MPL-2.0
"""The program as one file: the same bytes everywhere, and it runs."""

import base64
import io
import subprocess
import zipfile
import zlib

import pytest
from pythons import every_python
from user_mistakes import mistake

from io_benchmark_taskgraph.worker_program import WorkerProgram, maximum_time_s, workload_names

SYNC = "workloads/sync_write.py"
MAIN = {"__main__.py": 'SCRIPT_VERSION = "1.2"\nimport a.b\nprint(a.b.x)\n'}
OTHER = {"a/b.py": "x = 'ä'\n"}


def test_known_bytes():
    """The sha256 follows from paths and contents; it is the same with every Python and zlib."""
    for modules in ({**MAIN, **OTHER}, {**OTHER, **MAIN}):
        program = WorkerProgram(modules)
        assert (program.version, program.sha256) == (
            "1.2",
            "1c19a2324205ed825651f3f52d962638ca41942e9a3ace0a4412a49f76b1d06d",
        )
    (argument,) = program.arguments()
    assert zlib.decompress(base64.b64decode(argument)) == program.data


@every_python
def test_runs_with_every_python(python, tmp_path):
    """Neither the shebang before the zip nor a folder without __init__.py keeps Python from reading it."""
    file = tmp_path / "io-benchmark.pyz"

    def output(program, *arguments):
        file.write_bytes(program.data)
        command = [python, "-X", "utf8", "-B", str(file), *arguments]
        return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()

    assert output(WorkerProgram({**MAIN, **OTHER})) == "ä\n"
    assert "sync-write" in output(WorkerProgram.read(), "--help")


def test_the_folder(script):
    """Each module is in the file with its own bytes, and nothing else of the folder."""
    main = 'SCRIPT_VERSION = "1.2"\n' + "x = '\\'$(reboot)`'\r\ny = 'ä'"
    files = {"__main__.py": main, "notes.txt": "x", "no-module/c.py": "x"}
    for path, text in files.items():
        (script / path).parent.mkdir(exist_ok=True)
        (script / path).write_bytes(text.encode())
    modules = {path.relative_to(script).as_posix(): path for path in script.rglob("*.py")}
    del modules["no-module/c.py"]
    with zipfile.ZipFile(io.BytesIO(WorkerProgram.read(script).data)) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        contents = {name: archive.read(name) for name in names}
    assert contents == {name: path.read_bytes() for name, path in modules.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class A:\n    maximum_s = 130\n", 260),
        ("class A:\n    maximum_s = 1_000\n    per_place = False  # why\n", 1000),
    ],
)
def test_maximum_time(script, text, expected):
    """It is read from the workload's class, per place or per task, without running it."""
    (script / SYNC).write_text(text + "raise SystemExit\n")
    assert maximum_time_s(["sync-write"], 2, script) == expected
    # The helpers among the workloads have no name.
    assert workload_names(script) == ["cache-retrieve", "sync-write"]
    unknown = "benchmark.workloads: 'sync-writ' is unknown; there are: cache-retrieve, sync-write"
    assert mistake(maximum_time_s, ["sync-writ"], 1, script) == unknown
