# SPDX-License-Identifier: MPL-2.0
"""Which modules of the script a task gets."""

import pytest

from io_benchmark_taskgraph.mistakes import BadKeyError
from io_benchmark_taskgraph.script_modules import maximum_time_s, needed_modules, workload_names

FOLDER = "scripts/io-benchmark"


def paths(root, *workloads):
    return list(needed_modules(root, FOLDER, workloads))


@pytest.mark.usefixtures("script")
def test_only_what_is_imported(datadir):
    """The main module, the workload and what they import, however deep, and nothing else."""
    assert paths(datadir, "cache-retrieve") == [
        "__main__.py",
        "copying.py",
        "observe/host.py",
        "observe/mounts.py",
        "shared.py",
        "workloads/cache_retrieve.py",
    ]


@pytest.mark.usefixtures("script")
def test_each_workload_brings_its_own(datadir):
    """Another workload's modules come with it alone."""
    assert paths(datadir, "sync-write") == [
        "__main__.py",
        "observe/host.py",
        "observe/mounts.py",
        "shared.py",
        "workloads/sync_write.py",
    ]


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("import observe.unused", id="import"),
        pytest.param("import os, observe.unused as seen", id="import as"),
        pytest.param("from observe import unused", id="from folder"),
        pytest.param("from observe.unused import x", id="from module"),
        pytest.param("def f():\n    from observe import unused", id="in a function"),
        pytest.param(
            "class A:\n    async def f(self):\n        import observe.unused", id="in a method"
        ),
        pytest.param("if 0:\n    pass\nelif 1:\n    import observe.unused", id="in a condition"),
        pytest.param("for _ in ():\n    pass\nelse:\n    import observe.unused", id="after a loop"),
        pytest.param("try:\n    import observe.unused\nfinally:\n    pass", id="in a try"),
        pytest.param("try:\n    pass\nexcept A:\n    import observe.unused", id="in an except"),
        pytest.param("try:\n    pass\nfinally:\n    import observe.unused", id="in a finally"),
        pytest.param("with a as b:\n    import observe.unused", id="in a with"),
        pytest.param("match 0:\n    case 0:\n        import observe.unused", id="in a match"),
    ],
)
def test_forms_of_import(script, datadir, statement):
    """Every way to write an import is followed."""
    (script / "__main__.py").write_text(statement + "\n")
    assert paths(datadir, "sync-write") == [
        "__main__.py",
        "observe/unused.py",
        "workloads/sync_write.py",
    ]


def test_relative_import_and_package(script, datadir):
    """A relative import is resolved, and a package's own file comes along."""
    (script / "__main__.py").write_text("import observe.host\n")
    (script / "observe" / "__init__.py").write_text("")
    (script / "observe" / "host.py").write_text("from . import mounts\nfrom .unused import x\n")
    assert paths(datadir, "sync-write") == [
        "__main__.py",
        "observe/__init__.py",
        "observe/host.py",
        "observe/mounts.py",
        "observe/unused.py",
        "workloads/sync_write.py",
    ]


def test_text_is_kept(script, datadir):
    """A module's text is the file's, line ends and a missing one at the end included."""
    (script / "__main__.py").write_text("x = '\\'$(reboot)`'\r\ny = 'ä'")
    text = needed_modules(datadir, FOLDER, ["sync-write"])["__main__.py"]
    assert text == "x = '\\'$(reboot)`'\r\ny = 'ä'"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("class A:\n    maximum_s = 130\n", 260, id="per place"),
        pytest.param(
            "class A:\n    maximum_s = 1_000\n    per_place = False  # why\n",
            1000,
            id="per task",
        ),
    ],
)
def test_maximum_time(script, datadir, text, expected):
    """It is read from the workload's class, without running it."""
    (script / "workloads/sync_write.py").write_text(text + "raise SystemExit\n")
    assert maximum_time_s(datadir, FOLDER, ["sync-write"], places=2) == expected


@pytest.mark.usefixtures("script")
@pytest.mark.parametrize(
    ("workload", "key", "text"),
    [
        pytest.param(
            "cache-retrieve",
            "benchmark.script",
            "scripts/io-benchmark/workloads/cache_retrieve.py has no maximum time; write one line "
            "maximum_s = 60 in its class",
            id="without one",
        ),
        pytest.param(
            "sync-writ",
            "benchmark.workloads",
            "'sync-writ' is unknown; there are: cache-retrieve, sync-write",
            id="unknown",
        ),
    ],
)
def test_no_maximum_time(datadir, workload, key, text):
    """A workload without one cannot be planned; the message says which line to write."""
    with pytest.raises(BadKeyError) as caught:
        maximum_time_s(datadir, FOLDER, [workload], places=1)
    assert (caught.value.key, caught.value.text) == (key, text)


def test_workload_names(script):
    """The files of `workloads/`, hyphenated; not the helpers among them."""
    assert workload_names(script) == ["cache-retrieve", "sync-write"]


@pytest.mark.parametrize(
    ("path", "data", "text"),
    [
        pytest.param(
            "shared.py",
            b"x = '\xff'\n",
            "scripts/io-benchmark/shared.py is not UTF-8 at byte 5; save it so",
            id="not UTF-8",
        ),
        pytest.param(
            "observe/host.py",
            b"x = '\0'\n",
            "scripts/io-benchmark/observe/host.py holds a zero byte, which no module can; "
            "remove it",
            id="zero byte",
        ),
        pytest.param(
            "observe/host.py",
            b"x =\n",
            "scripts/io-benchmark/observe/host.py line 1 is not Python: invalid syntax",
            id="syntax",
        ),
    ],
)
def test_modules_that_cannot_be_sent(script, datadir, path, data, text):
    """The file, and the line where there is one, are named."""
    (script / path).write_bytes(data)
    with pytest.raises(BadKeyError) as caught:
        needed_modules(datadir, FOLDER, ["cache-retrieve"])
    assert (caught.value.key, caught.value.text) == ("benchmark.script", text)


def test_module_that_is_not_needed_is_not_looked_at(script, datadir):
    """What is not sent may hold anything."""
    (script / "unused.py").write_bytes(b"\xff")
    assert "unused.py" not in paths(datadir, "cache-retrieve")


@pytest.mark.usefixtures("script")
def test_unknown_workload(datadir):
    """The workloads that there are, and the nearest one, are listed."""
    with pytest.raises(BadKeyError) as caught:
        needed_modules(datadir, FOLDER, ["cache-retriev"])
    assert caught.value.key == "benchmark.workloads"
    assert caught.value.text == (
        "'cache-retriev' is unknown; there are: cache-retrieve, sync-write"
    )


def test_no_folder(tmp_path):
    """A folder that is not there is named, with where it was looked for."""
    with pytest.raises(BadKeyError) as caught:
        needed_modules(tmp_path, "scripts/other", ["cache-retrieve"])
    text = f"there is no folder scripts/other in {tmp_path}; name the script's folder"
    assert caught.value.text == text


def test_no_main_module(script, datadir):
    """A folder without a main module is no script."""
    (script / "__main__.py").unlink()
    with pytest.raises(BadKeyError) as caught:
        needed_modules(datadir, FOLDER, ["cache-retrieve"])
    text = "the folder scripts/io-benchmark has no __main__.py; name the script's folder"
    assert caught.value.text == text
