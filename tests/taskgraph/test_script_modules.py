# SPDX-License-Identifier: MPL-2.0
"""Which modules of the script a task gets."""

import pytest
from user_mistakes import mistake

from io_benchmark_taskgraph.script_modules import maximum_time_s, needed_modules, workload_names

FOLDER = "scripts/io-benchmark"
SYNC = "workloads/sync_write.py"
OBSERVE = ["__main__.py", "observe/host.py", "observe/mounts.py", "shared.py"]


def paths(root, *workloads):
    return list(needed_modules(root, FOLDER, workloads))


@pytest.mark.usefixtures("script")
def test_only_what_is_imported(datadir, script):
    """The main module, the workload and what they import, however deep, and nothing else."""
    cache = [OBSERVE[0], "copying.py", *OBSERVE[1:], "workloads/cache_retrieve.py"]
    (script / "unused.py").write_bytes(b"\xff")  # what is not sent may hold anything
    assert paths(datadir, "cache-retrieve") == cache
    assert paths(datadir, "sync-write") == [*OBSERVE, SYNC]


@pytest.mark.parametrize(
    "statement",
    [
        *("import observe.unused", "import os, observe.unused as seen"),
        *("from observe import unused", "from observe.unused import x"),
        "def f():\n    from observe import unused",
        "class A:\n    async def f(self):\n        import observe.unused",
        "if 0:\n    pass\nelif 1:\n    import observe.unused",
        "try:\n    pass\nexcept A:\n    import observe.unused",
        "match 0:\n    case 0:\n        import observe.unused",
    ],
)
def test_forms_of_import(script, datadir, statement):
    """Every way to write an import is followed."""
    (script / "__main__.py").write_text(statement + "\n")
    assert paths(datadir, "sync-write") == ["__main__.py", "observe/unused.py", SYNC]


def test_relative_import_and_package(script, datadir):
    """A relative import is resolved, and a package's own file comes along."""
    (script / "__main__.py").write_text("import observe.host\n")
    (script / "observe" / "__init__.py").write_text("")
    (script / "observe" / "host.py").write_text("from . import mounts\nfrom .unused import x\n")
    assert paths(datadir, "sync-write") == [
        "__main__.py",
        *(f"observe/{name}.py" for name in ("__init__", "host", "mounts", "unused")),
        SYNC,
    ]


def test_text_is_kept(script, datadir):
    """A module's text is the file's, line ends and a missing one at the end included."""
    (script / "__main__.py").write_text("x = '\\'$(reboot)`'\r\ny = 'ä'")
    text = needed_modules(datadir, FOLDER, ["sync-write"])["__main__.py"]
    assert text == "x = '\\'$(reboot)`'\r\ny = 'ä'"


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


def test_workload_names(script):
    """The files of `workloads/`, hyphenated; not the helpers among them."""
    assert workload_names(script) == ["cache-retrieve", "sync-write"]


@pytest.mark.parametrize(
    ("path", "data", "text"),
    [
        ("shared.py", b"x = '\xff'\n", "shared.py is not UTF-8 at byte 5; save it so"),
        (
            *("observe/host.py", b"x = '\0'\n"),
            "observe/host.py holds a zero byte, which no module can; remove it",
        ),
        (
            *("observe/host.py", b"x =\n"),
            "observe/host.py line 1 is not Python: invalid syntax",
        ),
    ],
)
def test_modules_that_cannot_be_sent(script, datadir, path, data, text):
    """The file, and the line where there is one, are named."""
    (script / path).write_bytes(data)
    assert mistake(paths, datadir, "sync-write") == f"benchmark.script: {FOLDER}/{text}"


KNOWN = "there are: cache-retrieve, sync-write"


@pytest.mark.usefixtures("script")
def test_unknown_workloads(datadir):
    """The workloads that there are are listed; one without a maximum time cannot be planned."""
    text = f"benchmark.workloads: 'sync-writ' is unknown; {KNOWN}"
    assert mistake(needed_modules, datadir, FOLDER, ["sync-writ"]) == text
    assert mistake(maximum_time_s, datadir, FOLDER, ["sync-writ"], 1) == text
    assert mistake(maximum_time_s, datadir, FOLDER, ["cache-retrieve"], 1) == (
        f"benchmark.script: {FOLDER}/workloads/cache_retrieve.py has no maximum time; write one line "
        "maximum_s = 60 in its class"
    )


def test_no_script(script, datadir):
    """A folder that is not there, or without a main module, is not a script."""
    (script / "__main__.py").unlink()
    for folder, text in (
        ("scripts/other", f"there is no folder scripts/other in {datadir}"),
        (FOLDER, f"the folder {FOLDER} has no __main__.py"),
    ):
        message = mistake(needed_modules, datadir, folder, ["cache-retrieve"])
        assert message == f"benchmark.script: {text}; name the script's folder"
