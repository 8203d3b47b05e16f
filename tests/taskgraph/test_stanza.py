# SPDX-License-Identifier: MPL-2.0
"""The stanza `benchmark`: what it may hold, and what its mistakes are called."""

from typing import Any

import pytest
from user_mistakes import WrongValues, mistake, wrong_values

from io_benchmark_taskgraph.stanza import SCHEMA, WORKSPACE, Benchmark, TaskPlace

SMALLEST = {"workloads": ["cache-retrieve"], "retrieves": 2000}
CONTAINER = {"name": "container", "path": "/builds/worker/io-benchmark"}
URL = "https://host.example/o?name={name}"
# Each key's value in the stanza, and in the benchmark.
WHOLE: dict[str, tuple[Any, Any]] = {
    "workloads": (["sync-write", "cache-retrieve"], ("sync-write", "cache-retrieve")),
    "retrieves": (1, 1),
    "seed": (0, 0),
    "destination": (["fresh", "unlink"], ("fresh", "unlink")),
    "upload-url": (URL, URL),
    "download-url": (URL, URL),
    "replicates": (100, 100),
    "places": ([CONTAINER, "workspace"], (TaskPlace(**CONTAINER), WORKSPACE)),
    "perfherder": ("neutral", "neutral"),
    "trials": ("always", "always"),
    "capacities": (True, True),
}
DEFAULTS: Any = (1, ("overwrite",), None, None, 1, (WORKSPACE,), "pool", "never", False)


def test_benchmark():
    """Every key reaches the benchmark; lists keep their order."""
    whole = {key: value for key, (value, _) in WHOLE.items()}
    expected: list[Any] = [value for _, value in WHOLE.values()]
    assert Benchmark.parse(whole) == Benchmark(*expected)
    smallest = Benchmark(("cache-retrieve",), 2000, *DEFAULTS)
    assert Benchmark.parse(SMALLEST) == smallest


def test_a_relative_place():
    """It is below the task's folder, which docker images have at /builds/worker."""
    places = ["workspace", {"name": "build", "path": "obj/dir-1"}]
    benchmark = Benchmark.parse({**SMALLEST, "places": places})
    assert benchmark.places == (WORKSPACE, ("build", "/builds/worker/obj/dir-1"))


TWICE = "is given twice; keep one (a task's list is added to task-defaults')"
COUNT = "is not a whole number from 1 to 100,000"
NO_URL = (
    "is not an address to upload to; write one such as https://host.example/path, without a user"
)
NO_DOWNLOAD = (
    "is not an address to download from; write one such as https://host.example/path, or "
    "/api/index/v1/task/NAME/artifacts/public/FILE, without a user or password"
)
LIST = "is not a list; write at least one, as [cache-retrieve]"
PLACE = "is not a place; write workspace, or {name: NAME, path: /absolute/path}"
NAME = "is not a place's name; write at most 40 lower-case letters"
PATH = "is not a place's path; write one of letters"
INSIDE = "contains /builds/worker/artifacts or is inside it, which the task itself needs"
WRONG_VALUES: WrongValues = {
    "retrieves": {COUNT: [0, 100_001, True, "2000"]},
    "seed": {"is not a whole number from 0 to 2,147,483,647": [-1, 2**31]},
    "replicates": {"is not a whole number from 1 to 100": [101]},
    "upload-url": {
        NO_URL: [
            7,
            "host.example/path",
            "ftp://host.example/",
            "https:///path",
            "https://user:password@host.example/",
            "https://host.example:port/",
            "https://host.example/a b",
            "https://host.example/\u00e4",
        ]
    },
    "download-url": {
        NO_DOWNLOAD: [
            7,
            "none",
            "path/below",
            "https://host.example",
            "file:///etc/passwd",
            "https://user:password@host.example/",
            "/a b",
        ]
    },
    "workloads": {LIST: [[], "a"]},
    "destination": {"is unknown; there are: overwrite, unlink, fresh": ["overwrit"]},
    "perfherder": {"is unknown; there are: pool, neutral": ["none"]},
    "trials": {"is unknown; there are: auto, always, never": [True]},
    "capacities": {"is neither true nor false": [1, "yes"]},
}
WRONG_PLACES = [
    (["workspace", "workspace"], f"the place workspace {TWICE}"),
    ([CONTAINER, {**CONTAINER, "name": "b"}], f"the path {CONTAINER['path']} {TWICE}"),
    (["container"], f"'container' {PLACE}"),
    *(
        ([{"name": name, "path": "/x"}], f"{name!r} {NAME}")
        for name in ("Container", "a=$(b)", "a" * 41)
    ),
    *(
        ([{"name": "a", "path": path}], f"{path!r} {PATH}")
        for path in ("../a", "a/", ".a", "/", "/a/../b", "/x}$(reboot)", "/x y", "/x/")
    ),
    *(
        ([{"name": "a", "path": path}], f"{path} {INSIDE}")
        for path in ("/builds/worker", "/builds/worker/artifacts/x")
    ),
    (
        [{"name": "a", "path": "artifacts"}],
        f"/builds/worker/artifacts {INSIDE}",
    ),
    (
        [{"name": "workspace", "path": "/x"}],
        f"the name workspace means {WORKSPACE.path}; give the place at /x another name",
    ),
]


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        *wrong_values(WRONG_VALUES),
        ("workloads", ["a", "b", "b"], f"workloads: the workload b {TWICE}"),
        ("workloads", [5], "workloads: 5 is not a text"),
        ("destination", ["fresh", "fresh"], f"destination: the destination fresh {TWICE}"),
        *(("places", value, f"places: {text}") for value, text in WRONG_PLACES),
    ],
)
def test_wrong_values(key, value, text):
    """Each mistake names its key, says what is wrong and what to write."""
    message = mistake(Benchmark.parse, {**SMALLEST, key: value})
    assert message.startswith(f"benchmark.{text}")


MISSING = "is missing; add it to the task or to task-defaults"
THERE_ARE = f"there are: {', '.join(map(str, SCHEMA.schema))}"


@pytest.mark.parametrize(
    ("stanza", "text"),
    [
        (None, f": {MISSING}"),
        (["a"], f": is not a mapping; {THERE_ARE}"),
        ({"workloads": ["a"]}, f".retrieves: {MISSING}"),
        # A misspelt key explains the one that is missing.
        (
            {"workloads": ["a"], "retrivals": 1},
            f".retrivals: unknown key; {THERE_ARE}",
        ),
    ],
)
def test_wrong_keys(stanza, text):
    """Each mistake is one line that names the key."""
    assert mistake(Benchmark.parse, stanza) == f"benchmark{text}"
