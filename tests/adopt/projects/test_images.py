# SPDX-License-Identifier: MPL-2.0
"""Which of a project's images the benchmark's tasks run in, and what the image needs."""

import pytest

from io_benchmark.adopt.projects.images import IMAGES, choose_image, describe_image
from io_benchmark.errors import IoBenchmarkError

from .builders import draft_of

KINDS = "taskcluster/kinds"
THREE = {IMAGES: "tasks:\n  base: {}\n  build:\n    parent: base\n  test: {parent: base}\n"}
POOLS = ("b-linux", "b-large")


def task(worker_type, image):
    return f"{{worker-type: {worker_type}, worker: {{docker-image: {image}}}}}"


def kind(*tasks, **keys):
    lines = [f"{key.replace('_', '-')}: {value}\n" for key, value in keys.items()]
    lines += ["tasks:\n", *(f"  t{number}: {task}\n" for number, task in enumerate(tasks))]
    return "".join(lines)


def chosen(folder, kinds, images=THREE, named=None):
    """Return the image that is chosen, and what is said of it."""
    files = {f"{KINDS}/{name}.yml": text for name, text in kinds.items()}
    draft = draft_of(folder, {**images, **files})
    return choose_image(draft, POOLS, named), draft.notes


@pytest.mark.parametrize(
    "kinds",
    [
        pytest.param(
            {
                "a/kind": kind(
                    task("b-linux", "{in-tree: test}"),
                    "{worker: {docker-image: {in-tree: base}}}",
                    "{}",
                    "{worker-type: b-win}",
                    "{worker-type: {by-level: {default: b-win}}}",
                    task_defaults=task("b-large", "{in-tree: test}"),
                ),
                "b/kind": kind(task("b-win", "{in-tree: base}"), task("images", "{in-tree: base}")),
                "c/kind": "- in a form of its own\n",
                "d/kind": "tasks: [not YAML\n",
                "docker-image/other": "tasks: {}\n",
            },
            id="most of the pools' tasks, by defaults",
        ),
        pytest.param(
            {
                "a/kind": "tasks-from: [more.yml]\ntask-defaults: {worker-type: b-large}\n",
                "a/more": "t: {worker: {docker-image: {in-tree: test}}}\n",
                "b/kind": kind(
                    task("b-large", "'python{matrix[python]}'"),
                    task("b-large", "{in-tree: 'build{matrix[python]}'}"),
                    task("b-large", "{in-tree: [base]}"),
                ),
            },
            id="a file of tasks, and names that are made later",
        ),
        pytest.param(
            {
                "a/kind": kind(
                    "{with-image: test}",
                    "{with-image: other}",
                    "{with-image: [base]}",
                    task_defaults=task("b-large", "{in-tree: '{with-image}'}"),
                )
            },
            id="a key of the task in the name",
        ),
        pytest.param(
            {"a/kind": f"loader: own\njob-template: {task('b-large', '{in-tree: test}')}\n"},
            id="a template of a loader",
        ),
    ],
)
def test_the_image_of_the_pools(tmp_path, kinds):
    """The image is the one that most tasks of the pools run in."""
    assert chosen(tmp_path, kinds) == ("test", [])


def test_pools_that_no_task_names(tmp_path):
    """A transform of the project may choose them, so all tasks count, and that is said."""
    tasks = [task(name, "{in-tree: build}") for name in ("b-cpu", "b-gpu")]
    tasks.append(task("b-cpu", "{in-tree: base}"))
    image, (note,) = chosen(tmp_path, {"a/kind": kind(*tasks)})
    assert image == "build"
    assert note.startswith("no task names these pools in its kind, so the image is that of most")


def test_no_tasks(tmp_path):
    """The only image is taken, the named one, and else the one that is called linux."""
    assert chosen(tmp_path, {}, {IMAGES: "tasks: {fetch: {}}\n"}) == ("fetch", [])
    assert chosen(tmp_path, {}, {IMAGES: "tasks: {a: {}, linux: {}}\n"}) == ("linux", [])
    assert chosen(tmp_path, {}, named="other") == ("other", [])


@pytest.mark.parametrize(
    ("tasks", "images", "listing"),
    [
        ([], THREE, "base, build, test"),
        (
            ["base", "build", "test", "build", "test"],
            THREE,
            "base (1 task), build (2 tasks), test",
        ),
        ([], {IMAGES: "tasks: []\n"}, "none"),
        ([], {}, "none"),
    ],
)
def test_not_decided(tmp_path, tasks, images, listing):
    """Where no image is used most, the error lists them with their tasks."""
    kinds = {"a/kind": kind(*(task("b-linux", f"{{in-tree: {name}}}") for name in tasks))}
    with pytest.raises(IoBenchmarkError) as caught:
        chosen(tmp_path, kinds, images)
    assert f"{IMAGES}: has the images {listing}" in str(caught.value)
    assert str(caught.value).endswith("; name one with python3 and bash as --image NAME")


@pytest.mark.parametrize(
    ("images", "after"),
    [
        ("tasks:\n    a: {}\n    b: {}\n", "tasks:\n    a: {symbol: a}\n    b: {}\n"),
        (
            "tasks:\r\n  a:\r\n    args: {}\r\n  b:\r\n    x: 1\r\n",
            "tasks:\r\n  a:\r\n    symbol: a\r\n    args: {}\r\n  b:\r\n    x: 1\r\n",
        ),
        (
            "tasks:\n  a:\n    parent: b\n  c: {}\n  b: {}\n",
            "tasks:\n  a:\n    symbol: a\n    parent: b\n  c: {}\n  b: {symbol: b}\n",
        ),
        ("tasks:\n  a: {args: {}}\n", "tasks:\n  a: {symbol: a, args: {}}\n"),
        ("tasks:\n  a: {symbol: I(a), parent: a}\n", None),
        ("task-defaults: {symbol: x}\ntasks:\n  a: {}\n", None),
        ("tasks:\n  b: {}\n", None),
    ],
)
def test_symbols(tmp_path, images, after):
    """With Treeherder, no task may use an image without a symbol, nor an image such a parent."""
    draft = draft_of(tmp_path, {IMAGES: images})
    describe_image(draft, "a", has_treeherder=True)
    assert (draft.texts, draft.steps) == ({IMAGES: after} if after else {}, [])
    without = draft_of(tmp_path, {})
    describe_image(without, "a", has_treeherder=False)
    assert without.texts == {}


@pytest.mark.parametrize("images", ["tasks: {a: {}, b: {}}\n", "tasks:\n  a:\n  b: {}\n"])
def test_symbols_that_a_person_adds(tmp_path, images):
    """Where a symbol cannot be written into the file, a step asks for it."""
    draft = draft_of(tmp_path, {IMAGES: images})
    describe_image(draft, "a", has_treeherder=True)
    assert (draft.texts, draft.steps) == ({}, [f"give the image a a symbol in {IMAGES}: symbol: a"])


@pytest.mark.parametrize(
    ("files", "is_noted"),
    [
        ({}, False),
        ({"test/Dockerfile": "FROM node:20\n"}, True),
        ({"test/Dockerfile": "FROM node:20\n", "test/data": "a" * 3 * 1024 * 1024}, True),
        ({"test/Dockerfile": "FROM python:3.13\n"}, False),
        ({"test/Dockerfile": "FROM x\n", "base/setup.sh": "apt-get install python3\n"}, False),
        ({"test/Dockerfile": "FROM x\n", "other/setup.sh": "apt-get install python3\n"}, True),
    ],
)
def test_python(tmp_path, files, is_noted):
    """Nobody can see into an image, but its files may name Python, or those of its parents."""
    images = {IMAGES: "tasks: {test: {parent: it}, it: {definition: base, parent: test}}\n"}
    folder = "taskcluster/docker"
    draft = draft_of(tmp_path, images | {f"{folder}/{name}": text for name, text in files.items()})
    describe_image(draft, "test", has_treeherder=False)
    note = (
        f"no file in {folder}/test or {folder}/base names python; the image test needs Python >= "
        "3.8, bash and GNU coreutils"
    )
    assert draft.notes == ([note] if is_noted else [])
