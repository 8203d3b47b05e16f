# SPDX-License-Identifier: MPL-2.0
"""The image that the benchmark's tasks run in: the one that the pools' other tasks run in."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from io_benchmark.adopt.changes import Tree
from io_benchmark.adopt.projects.draft import Draft
from io_benchmark.errors import IoBenchmarkError
from io_benchmark.number_text import number_of
from io_benchmark.yaml_reader import YamlError, parse_yaml, plain_or_quoted
from io_benchmark_taskgraph.names import SYMBOL_LENGTH

KINDS = "taskcluster/kinds"
IMAGES = f"{KINDS}/docker-image/kind.yml"
# Those of taskgraph, and of projects' own loaders.
_DEFAULTS = ("task-defaults", "task-template", "job-template")
_USUAL_IMAGE = "linux"


class Use(NamedTuple):
    """Where tasks of a kind run; None where the kind does not say it."""

    worker_type: str | None
    image: str | None


def choose_image(draft: Draft, aliases: Collection[str], named: str | None) -> str:
    """Return the named image, else the only one, else the one that most tasks of the pools use.

    Where no task names the pools, because a transform of the project's chooses them, all tasks
    count. Without any, the name `linux` decides.
    """
    names = list(_images(draft.tree.yaml(IMAGES)))
    if named is not None:
        return named
    if len(names) == 1:
        return names[0]
    uses = [use for use in _uses(draft.tree) if use.image in names]
    counts = Counter(str(use.image) for use in uses if use.worker_type in aliases)
    if not counts:
        counts = Counter(str(use.image) for use in uses)
        if len(counts) > 1:
            draft.notes.append(
                "no task names these pools in its kind, so the image is that of most of the "
                "project's tasks"
            )
    most = counts.most_common(2)
    if most and (len(most) == 1 or most[0][1] > most[1][1]):
        return most[0][0]
    if not most and _USUAL_IMAGE in names:
        return _USUAL_IMAGE
    listing = (
        f"{name} ({number_of(counts[name], 'task')})" if counts[name] else name for name in names
    )
    raise IoBenchmarkError(
        f"{draft.tree.path / IMAGES}: has the images {', '.join(listing) or 'none'}; name one with "
        "python3 and bash as --image NAME"
    )


def describe_image(draft: Draft, image: str, has_treeherder: bool) -> None:
    """Add a symbol where Treeherder wants one, and say if no file of the image names Python."""
    images = _images(draft.tree.yaml(IMAGES))
    chain = _with_parents(images, image)
    if has_treeherder:
        for name in chain:
            if "symbol" not in images[name]:
                _add_symbol(draft, name)
    folders = [f"taskcluster/docker/{images[name].get('definition', name)}" for name in chain]
    contents = [content for folder in folders for content in _contents(draft.tree, folder)]
    if contents and not any(b"python" in content for content in contents):
        draft.notes.append(
            f"no file in {' or '.join(folders)} names python; the image {image} needs "
            "Python >= 3.8, bash and GNU coreutils"
        )


def _images(kind: Any) -> dict[str, Mapping[str, Any]]:
    """Return the images by name, with the defaults of their kind."""
    tasks = kind.get("tasks") if isinstance(kind, dict) else None
    if not isinstance(tasks, dict):
        return {}
    defaults = _mapping(kind.get("task-defaults"))
    return {str(name): {**defaults, **_mapping(task)} for name, task in tasks.items()}


def _with_parents(images: Mapping[str, Mapping[str, Any]], name: Any) -> list[str]:
    chain: list[str] = []
    while isinstance(name, str) and name in images and name not in chain:
        chain.append(name)
        name = images[name].get("parent")
    return chain


def _uses(tree: Tree) -> Iterator[Use]:
    """Yield where tasks run, as far as kinds say it; a kind that cannot be read says nothing."""
    for path in sorted((tree.path / KINDS).glob("*/kind.yml")):
        with suppress(IoBenchmarkError):
            folder = path.parent.relative_to(tree.path).as_posix()
            yield from list(_uses_of_kind(tree, folder))


def _uses_of_kind(tree: Tree, folder: str) -> Iterator[Use]:
    kind = _mapping(tree.yaml(f"{folder}/kind.yml"))
    worker_type, image = None, None
    for key in _DEFAULTS:
        default = _use(kind.get(key))
        worker_type, image = default.worker_type or worker_type, default.image or image
    described = [kind.get("tasks")]
    files = kind.get("tasks-from")
    if isinstance(files, list):
        described.extend(tree.yaml(f"{folder}/{name}") for name in files)
    tasks = [task for part in described for task in _mapping(part).values()]
    # A loader of the project's own may make tasks of the defaults alone.
    for task in tasks or [{}]:
        use = _use(task)
        yield Use(use.worker_type or worker_type, _filled(use.image or image, task))


def _filled(image: str | None, task: Any) -> str | None:
    """Return an image's name with keys of the task in the place of `{key}`, as transforms do."""
    keys = {key: value for key, value in _mapping(task).items() if isinstance(value, str)}
    return image and re.sub(r"\{([\w-]+)\}", lambda match: keys.get(match[1], match[0]), image)


def _use(task: Any) -> Use:
    """Return what a task says; nothing where it depends on a key, such as the level."""
    worker_type = _mapping(task).get("worker-type")
    worker = _mapping(_mapping(task).get("worker"))
    image = _mapping(worker.get("docker-image")).get("in-tree")
    return Use(
        worker_type if isinstance(worker_type, str) else None,
        image if isinstance(image, str) else None,
    )


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _contents(tree: Tree, folder: str) -> Iterator[bytes]:
    """Yield what the Dockerfile of an image contains, and the scripts next to it."""
    for file in sorted((tree.path / folder).glob("*")):
        # It may be any file, also one that is too large to be a script.
        with suppress(IoBenchmarkError):
            yield tree.read(f"{folder}/{file.name}") or b""


def _add_symbol(draft: Draft, name: str) -> None:
    """Give an image a symbol in its kind's file: without, no task in Treeherder may use it."""
    before, symbol = draft.content(IMAGES), name[:SYMBOL_LENGTH]
    expected = parse_yaml(before)
    expected["tasks"][name] = {"symbol": symbol, **_mapping(expected["tasks"][name])}
    key, entry = rf"^ +{re.escape(plain_or_quoted(name))}:", f"symbol: {plain_or_quoted(symbol)}"
    for behind, added in (
        (rf"{key} *\{{(?=\}})", entry),
        (rf"{key} *\{{(?=[^}}])", f"{entry}, "),
        (rf"{key} *(\r?\n)( +)", rf"{entry}\1\2"),
    ):
        after = re.sub(behind, rf"\g<0>{added}", before, count=1, flags=re.MULTILINE)
        with suppress(YamlError):
            if parse_yaml(after) == expected:
                draft.texts[IMAGES] = after
                return
    draft.steps.append(f"give the image {name} a symbol in {IMAGES}: {entry}")
