# SPDX-License-Identifier: MPL-2.0
"""The stanza `benchmark`: what it may hold, and what its mistakes are called."""

from typing import Any

import pytest
from user_mistakes import mistake

from io_benchmark_taskgraph.stanza import KEYS, WORKSPACE, Benchmark, TaskPlace

SMALLEST = {"script": "scripts/io-benchmark", "workloads": ["cache-retrieve"], "retrieves": 2000}
CONTAINER = {"name": "container", "path": "/builds/worker/io-benchmark"}
WHOLE = {
    "script": "tools/script/",
    "workloads": ["sync-write", "cache-retrieve"],
    "retrieves": 1,
    "seed": 0,
    "destination": ["fresh", "unlink"],
    "fidelity": "real",
    "precision": "0.5%",
    "upload-url": "https://host.example/o?name={name}",
    "replicates": 100,
    "places": [CONTAINER, "workspace"],
    "perfherder": "neutral",
    "trials": "always",
}
WHOLE_PLACES = (TaskPlace("container", "/builds/worker/io-benchmark"), WORKSPACE)


@pytest.mark.parametrize(
    ("stanza", "values"),
    [
        (
            SMALLEST,
            (
                "scripts/io-benchmark",
                ("cache-retrieve",),
                2000,
                1,
                ("overwrite",),
                "seed",
                None,
                None,
                1,
                (WORKSPACE,),
                "pool",
                "never",
            ),
        ),
        (
            WHOLE,
            (
                "tools/script",
                ("sync-write", "cache-retrieve"),
                1,
                0,
                ("fresh", "unlink"),
                "real",
                "0.5%",
                WHOLE["upload-url"],
                100,
                WHOLE_PLACES,
                "neutral",
                "always",
            ),
        ),
    ],
    ids=["defaults", "everything"],
)
def test_benchmark(stanza, values):
    """Every key reaches the benchmark; lists keep their order."""
    assert Benchmark.parse(stanza) == Benchmark(*values)


COUNTS = "is not a whole number from 1 to 100,000"
ADDRESS = (
    "is not an address to upload to; write one such as https://host.example/path, without a user "
    "or password"
)
TWICE = "is given twice; keep one (a task's list is added to task-defaults')"
PERCENT = "is not a percentage; write one such as 2%"
FOLDER = "is not a folder within the checkout; write its path from the checkout's root"
NAME = (
    "is not a place's name; write at most 40 lower-case letters, digits and hyphens, a letter first"
)
PATH = (
    "is not a place's path; write an absolute one of letters, digits and ._+- without a slash at "
    "its end"
)
PLACE = "is not a place; write workspace, or {name: NAME, path: /absolute/path}"
INSIDE = (
    "contains /builds/worker/artifacts or is inside it, which the task itself needs; use another "
    "path"
)
WRONG_VALUES: dict[str, list[tuple[Any, str]]] = {
    "retrieves": [(value, f"{value!r} {COUNTS}") for value in (0, -3, 100_001, True, "2000")],
    "seed": [
        (value, f"{value} is not a whole number from 0 to 2,147,483,647") for value in (-1, 2**31)
    ],
    "replicates": [(101, "101 is not a whole number from 1 to 100")],
    "upload-url": [
        (url, f"{url!r} {ADDRESS}")
        for url in (
            *(7, "host.example/path", "ftp://host.example/", "https:///path"),
            *("https://user:password@host.example/", "https://host.example:port/"),
            *("https://host.example/a b", "https://host.example/\u00e4"),
        )
    ],
    "workloads": [
        ([], "[] is not a list; write at least one, as [cache-retrieve]"),
        ("a", "'a' is not a list; write at least one, as [cache-retrieve]"),
        (["a", "a"], f"the workload a {TWICE}"),
        ([5], "5 is not a text"),
    ],
    "destination": [
        ("overwrit", "'overwrit' is unknown; there are: overwrite, unlink, fresh"),
        (["fresh", "fresh"], f"the destination fresh {TWICE}"),
    ],
    "fidelity": [("high", "'high' is unknown; there are: seed, real")],
    "perfherder": [("none", "'none' is unknown; there are: pool, neutral")],
    "trials": [(True, "True is unknown; there are: auto, always, never")],
    "precision": [(value, f"{value!r} {PERCENT}") for value in (2, "0%", "100%", "2%; reboot")],
    "script": [
        (value, f"{value!r} {FOLDER}") for value in ("/scripts", "a\nreboot", "scripts/../..")
    ],
    "places": [
        (["workspace", "workspace"], f"the place workspace {TWICE}"),
        ([CONTAINER, {**CONTAINER, "path": "/x"}], f"the place container {TWICE}"),
        (
            ["workspace", {"name": "x", "path": WORKSPACE.path}],
            f"the path {WORKSPACE.path} {TWICE}",
        ),
        (["container"], f"'container' {PLACE}"),
        *(
            ([{"name": name, "path": path}], text)
            for name, path, text in (
                ("Container", "/x", f"'Container' {NAME}"),
                ("a=$(b)", "/x", f"'a=$(b)' {NAME}"),
                ("a" * 41, "/x", f"'{'a' * 41}' {NAME}"),
                *(
                    ("a", path, f"{path!r} {PATH}")
                    for path in ("relative", "/", "/a/../b", "/x}$(reboot)", "/x y", "/x/")
                ),
                ("a", "/builds/worker", f"/builds/worker {INSIDE}"),
                ("a", "/builds/worker/artifacts/x", f"/builds/worker/artifacts/x {INSIDE}"),
                (
                    *("workspace", "/x"),
                    f"the name workspace means {WORKSPACE.path}; give the place at /x another name",
                ),
            )
        ),
    ],
}


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [(key, *wrong) for key, values in WRONG_VALUES.items() for wrong in values],
)
def test_wrong_values(key, value, text):
    """Each mistake names its key, says what is wrong and what to write."""
    assert mistake(Benchmark.parse, {**SMALLEST, key: value}) == f"benchmark.{key}: {text}"


MISSING = "is missing; add it to the task or to task-defaults"
THERE_ARE = f"there are: {', '.join(KEYS)}"


@pytest.mark.parametrize(
    ("stanza", "text"),
    [
        (None, f"benchmark: {MISSING}"),
        (["a"], f"benchmark: is not a mapping; {THERE_ARE}"),
        ({"script": "s", "workloads": ["a"]}, f"benchmark.retrieves: {MISSING}"),
        ({**SMALLEST, "retrievs": 5}, f"benchmark.retrievs: unknown key; {THERE_ARE}"),
        # A misspelt key explains the one that is missing.
        (
            {"script": "s", "workloads": ["a"], "retrieve": 1},
            f"benchmark.retrieve: unknown key; {THERE_ARE}",
        ),
    ],
)
def test_wrong_keys(stanza, text):
    """Each mistake is one line that names the key."""
    assert mistake(Benchmark.parse, stanza) == text
