# SPDX-License-Identifier: MPL-2.0
"""The stanza `benchmark`: what it may hold, and what its mistakes are called."""

import pytest

from io_benchmark_taskgraph.mistakes import BadKeyError
from io_benchmark_taskgraph.stanza import WORKSPACE, Benchmark, TaskPlace

SMALLEST = {"script": "scripts/io-benchmark", "workloads": ["cache-retrieve"], "retrieves": 2000}
CONTAINER = {"name": "container", "path": "/builds/worker/io-benchmark"}


def test_defaults():
    """What a stanza leaves out is the first investigation's way, in the workspace."""
    assert Benchmark.parse(SMALLEST) == Benchmark(
        script="scripts/io-benchmark",
        workloads=("cache-retrieve",),
        retrieves=2000,
        seed=1,
        destinations=("overwrite",),
        fidelity="seed",
        precision=None,
        upload_url=None,
        replicates=1,
        places=(WORKSPACE,),
        perfherder="pool",
        trials="never",
    )


def test_everything_given():
    """Every key reaches the benchmark; lists keep their order."""
    stanza = {
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
    assert Benchmark.parse(stanza) == Benchmark(
        script="tools/script",
        workloads=("sync-write", "cache-retrieve"),
        retrieves=1,
        seed=0,
        destinations=("fresh", "unlink"),
        fidelity="real",
        precision="0.5%",
        upload_url="https://host.example/o?name={name}",
        replicates=100,
        places=(TaskPlace("container", "/builds/worker/io-benchmark"), WORKSPACE),
        perfherder="neutral",
        trials="always",
    )


NO_NUMBER = "is not a whole number from"
NO_NAME = (
    "is not a place's name; write at most 40 lower-case letters, digits and hyphens, a letter first"
)
NO_PATH = (
    "is not a place's path; write an absolute one of letters, digits and ._+- without a slash at "
    "its end"
)


def place(name, path):
    return {"places": [{"name": name, "path": path}]}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        pytest.param(
            {"retrievs": 5},
            "unknown key; there are: script, workloads, retrieves, seed, "
            "destination, fidelity, precision, upload-url, replicates, places, perfherder, trials",
            id="unknown key",
        ),
        pytest.param({"retrieves": 0}, f"0 {NO_NUMBER} 1 to 100,000", id="zero retrieves"),
        pytest.param({"retrieves": -3}, f"-3 {NO_NUMBER} 1 to 100,000", id="negative retrieves"),
        pytest.param(
            {"retrieves": True}, f"True {NO_NUMBER} 1 to 100,000", id="a truth for a number"
        ),
        pytest.param(
            {"retrieves": "2000"}, f"'2000' {NO_NUMBER} 1 to 100,000", id="a text for a number"
        ),
        pytest.param({"seed": -1}, f"-1 {NO_NUMBER} 0 to 2,147,483,647", id="seed"),
        *(
            pytest.param(
                {"upload-url": url},
                f"{url!r} is not an address to upload to; write one such as "
                "https://host.example/path, without a user or password",
                id=f"upload to {url}",
            )
            for url in (
                7,
                "host.example/path",
                "ftp://host.example/",
                "https:///path",
                "https://user:password@host.example/",
                "https://host.example:port/",
                "https://host.example/a b",
                "https://host.example/\u00e4",
            )
        ),
        pytest.param({"replicates": 101}, f"101 {NO_NUMBER} 1 to 100", id="replicates"),
        pytest.param(
            {"workloads": []},
            "[] is not a list; write at least one, as [cache-retrieve]",
            id="no workload",
        ),
        pytest.param(
            {"workloads": "cache-retrieve"},
            "'cache-retrieve' is not a list; write at least one, as [cache-retrieve]",
            id="workload without a list",
        ),
        pytest.param(
            {"workloads": ["a", "a"]},
            "the workload a is given twice; keep one (a task's list is added to task-defaults')",
            id="workload twice",
        ),
        pytest.param({"workloads": [5]}, "5 is not a text", id="workload a number"),
        pytest.param(
            {"destination": "overwrit"},
            "'overwrit' is unknown; there are: overwrite, unlink, fresh",
            id="destination",
        ),
        pytest.param(
            {"destination": ["fresh", "fresh"]},
            "the destination fresh is given twice; keep one (a task's list is added to "
            "task-defaults')",
            id="destination twice",
        ),
        pytest.param(
            {"fidelity": "high"}, "'high' is unknown; there are: seed, real", id="fidelity"
        ),
        pytest.param(
            {"trials": True}, "True is unknown; there are: auto, always, never", id="trials"
        ),
        pytest.param(
            {"precision": 2},
            "2 is not a percentage; write one such as 2%",
            id="precision without percent",
        ),
        pytest.param(
            {"precision": "0%"},
            "'0%' is not a percentage; write one such as 2%",
            id="precision zero",
        ),
        pytest.param(
            {"precision": "2%; reboot"},
            "'2%; reboot' is not a percentage; write one such as 2%",
            id="precision with a command",
        ),
        pytest.param(
            {"script": "/scripts"},
            "'/scripts' is not a folder within the checkout; write its path from the checkout's "
            "root",
            id="script absolute",
        ),
        pytest.param(
            {"script": "scripts\nreboot"},
            r"'scripts\nreboot' is not a folder within the checkout; write its path from the "
            "checkout's root",
            id="script of two lines",
        ),
        pytest.param(
            {"script": "scripts/../.."},
            "'scripts/../..' is not a folder within the checkout; write its path from the "
            "checkout's root",
            id="script outside",
        ),
        pytest.param(
            {"places": ["workspace", "workspace"]},
            "the place workspace is given twice; keep one (a task's list is added to task-defaults')",
            id="place twice",
        ),
        pytest.param(
            {"places": [CONTAINER, {**CONTAINER, "path": "/elsewhere"}]},
            "the place container is given twice; keep one (a task's list is added to task-defaults')",
            id="place's name twice",
        ),
        pytest.param(
            {"places": ["workspace", {"name": "other", "path": WORKSPACE.path}]},
            "the path /builds/worker/workspace is given twice; keep one (a task's list is added to "
            "task-defaults')",
            id="place's path twice",
        ),
        pytest.param(
            {"places": ["container"]},
            "'container' is not a place; write workspace, or {name: NAME, path: /absolute/path}",
            id="place without path",
        ),
        pytest.param(place("Container", "/x"), f"'Container' {NO_NAME}", id="place's name"),
        pytest.param(place("a=$(b)", "/x"), f"'a=$(b)' {NO_NAME}", id="name with a command"),
        pytest.param(
            place("workspace", "/x"),
            "the name workspace means /builds/worker/workspace; give the place at /x another name",
            id="workspace elsewhere",
        ),
        pytest.param(place("a", "relative"), f"'relative' {NO_PATH}", id="relative path"),
        pytest.param(place("a", "/"), f"'/' {NO_PATH}", id="path of all"),
        pytest.param(place("a", "/a/../b"), f"'/a/../b' {NO_PATH}", id="path upward"),
        pytest.param(
            place("a", "/x}$(reboot)"), f"'/x}}$(reboot)' {NO_PATH}", id="path with a command"
        ),
        pytest.param(place("a", "/x y"), f"'/x y' {NO_PATH}", id="path with a space"),
        pytest.param(
            place("a", "/builds/worker"),
            "/builds/worker contains /builds/worker/artifacts or is inside it, which the task itself "
            "needs; use another path",
            id="path above the artifacts",
        ),
    ],
)
def test_mistakes(changes, text):
    """Each mistake names its key, says what is wrong and what to write."""
    (key,) = changes
    with pytest.raises(BadKeyError) as caught:
        Benchmark.parse({**SMALLEST, **changes})
    assert (caught.value.key, caught.value.text) == (f"benchmark.{key}", text)


@pytest.mark.parametrize(
    ("stanza", "key", "text"),
    [
        pytest.param(
            None, "benchmark", "is missing; add it to the task or to task-defaults", id="no stanza"
        ),
        pytest.param(
            ["cache-retrieve"],
            "benchmark",
            "is not a mapping; there are: script, workloads, retrieves, seed, destination, "
            "fidelity, precision, upload-url, replicates, places, perfherder, trials",
            id="a list",
        ),
        pytest.param(
            {"script": "s", "workloads": ["a"]},
            "benchmark.retrieves",
            "is missing; add it to the task or to task-defaults",
            id="key missing",
        ),
        pytest.param(
            {"script": "s", "workloads": ["a"], "retrieve": 1},
            "benchmark.retrieve",
            "unknown key; there are: script, workloads, retrieves, seed, "
            "destination, fidelity, precision, upload-url, replicates, places, perfherder, trials",
            id="key missing for being misspelt",
        ),
    ],
)
def test_stanza_as_a_whole(stanza, key, text):
    """What is missing is named, unless a misspelt key explains it."""
    with pytest.raises(BadKeyError) as caught:
        Benchmark.parse(stanza)
    assert (caught.value.key, caught.value.text) == (key, text)
