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

from .conftest import REPOSITORY

FOLDER = "scripts/io-benchmark"
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
    assert "sync-write" in output(WorkerProgram.read(REPOSITORY, FOLDER), "--help")


def test_the_folder(script, datadir):
    """Each module is in the file with its own bytes, and nothing else of the folder."""
    main = 'SCRIPT_VERSION = "1.2"\n' + "x = '\\'$(reboot)`'\r\ny = 'ä'"
    files = {"__main__.py": main, "notes.txt": "x", "no-module/c.py": "x"}
    for path, text in files.items():
        (script / path).parent.mkdir(exist_ok=True)
        (script / path).write_bytes(text.encode())
    modules = {path.relative_to(script).as_posix(): path for path in script.rglob("*.py")}
    del modules["no-module/c.py"]
    with zipfile.ZipFile(io.BytesIO(WorkerProgram.read(datadir, FOLDER).data)) as archive:
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
def test_maximum_time(script, datadir, text, expected):
    """It is read from the workload's class, per place or per task, without running it."""
    (script / SYNC).write_text(text + "raise SystemExit\n")
    assert maximum_time_s(datadir, FOLDER, ["sync-write"], places=2) == expected
    # The helpers among the workloads have no name.
    assert workload_names(script) == ["cache-retrieve", "sync-write"]


def test_mistakes(script, datadir):
    """A script that cannot be sent or planned is one line that names the file."""

    def script_mistake(call, *arguments):
        return mistake(call, datadir, *arguments)

    key = "benchmark.script: "
    unknown = "benchmark.workloads: 'sync-writ' is unknown; there are: cache-retrieve, sync-write"
    assert script_mistake(maximum_time_s, FOLDER, ["sync-writ"], 1) == unknown
    assert script_mistake(maximum_time_s, FOLDER, ["cache-retrieve"], 1) == (
        f"{key}{FOLDER}/workloads/cache_retrieve.py has no maximum time; write one line "
        "maximum_s = 60 in its class"
    )
    version = "lines of the script's modules say its version; write one line SCRIPT_VERSION"
    (script / "shared.py").write_text('SCRIPT_VERSION = "2"\n')
    assert script_mistake(WorkerProgram.read, FOLDER) == f'{key}2 {version} = "1.0.0"'
    (script / "shared.py").write_bytes(b"x = '\xff'\n")
    text = f"{key}{FOLDER}/shared.py is not UTF-8 at byte 5; save it so"
    assert script_mistake(WorkerProgram.read, FOLDER) == text
    (script / "__main__.py").unlink()
    for folder, problem in (
        ("scripts/other", f"there is no folder scripts/other in {datadir}"),
        (FOLDER, f"the folder {FOLDER} has no __main__.py"),
    ):
        text = f"{key}{problem}; name the script's folder"
        assert script_mistake(WorkerProgram.read, folder) == text
        assert script_mistake(maximum_time_s, folder, ["sync-write"], 1) == text
