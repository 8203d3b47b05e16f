# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A mistake in kind.yml becomes one line: which file, task and key, what is wrong, what to do."""

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

try:
    # taskgraph prints these without a traceback.
    from taskgraph.util.schema import SchemaValidationError
except ImportError:  # older taskgraphs, and perhaps Firefox's copy
    SchemaValidationError = Exception

UserMistake = SchemaValidationError


class BadKeyError(Exception):
    """What is wrong with one key; a transform adds the file and the task to it."""

    def __init__(self, key: str, text: str) -> None:
        super().__init__(key, text)
        self.key = key
        self.text = text


def root_folder(config: Any) -> Path:
    """The folder that holds `taskcluster/`.

    Never taskgraph's `vcs_root`: that one is the nearest checkout above, whoever's it may be.
    """
    return Path(config.graph_config.root_dir).absolute().parent


def kind_file(config: Any, task: dict[str, Any]) -> str:
    """As people write it: from the root of the checkout."""
    return shown_path(config, Path(config.path) / task.get("task-from", "kind.yml"))


def shown_path(config: Any, path: Path) -> str:
    path, root = path.absolute(), root_folder(config)
    return str(path.relative_to(root) if root in path.parents else path)


def task_name(task: dict[str, Any]) -> str:
    return str(task.get("name") or task.get("label"))


def in_task(config: Any, task: dict[str, Any], problem: BadKeyError) -> Exception:
    place = f"{kind_file(config, task)}: task {task_name(task)}"
    mistake: Exception = UserMistake(f"{place}: {problem.key}: {problem.text}")
    return mistake


def suggestion(word: str, known: Iterable[str]) -> str:
    """What to write instead: the nearest known word, and all there are."""
    words = list(known)
    near = difflib.get_close_matches(word, words, n=1)
    there_are = ", ".join(words) or "none"
    return (
        f"did you mean {near[0]}? There are: {there_are}"
        if near
        else f"there are: {there_are}"
    )
