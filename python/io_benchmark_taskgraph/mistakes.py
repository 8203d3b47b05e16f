# SPDX-License-Identifier: MPL-2.0
"""Messages about mistakes in kind.yml, one line each: file, task and key, problem, remedy."""

import reprlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

try:
    # taskgraph prints these without a traceback.
    from taskgraph.util.schema import SchemaValidationError
except ImportError:  # older taskgraphs, and perhaps Firefox's copy
    SchemaValidationError = Exception

UserMistake = SchemaValidationError


class BadKeyError(Exception):
    """A mistake in the value of one key; `in_task` adds the file and the task."""

    def __init__(self, key: str, text: str) -> None:
        super().__init__(f"{key}: {text}")
        self.key, self.text = key, text


class _Shown(reprlib.Repr):
    """A short repr() in linear time: YAML's aliases may repeat a value endlessly."""

    def repr_int(self, value: int, level: int) -> str:
        # Python refuses to convert a very long number to text.
        if value.bit_length() > 1000:
            return "a number of more than 300 digits"
        text: str = super().repr_int(value, level)
        return text


_SHOWN = _Shown()
_SHOWN.maxlevel = 3
_SHOWN.maxlist = _SHOWN.maxdict = 8
_SHOWN.maxstring = _SHOWN.maxlong = _SHOWN.maxother = 150
_SHOWN_LENGTH = 300
_PLAIN_LENGTH = 100


def shown(value: object) -> str:
    """Return `repr()`, cut to the length that a message can hold."""
    text: str = _SHOWN.repr(value)
    return text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}…"


def plain(value: object) -> str:
    """Return a name unquoted, unless it would break the line or is too long."""
    if isinstance(value, str) and value.isprintable() and len(value) <= _PLAIN_LENGTH:
        return value
    return shown(value)


def root_folder(config: Any) -> Path:
    """Return the folder that holds `taskcluster/`.

    Not taskgraph's `vcs_root`: that is the nearest checkout above, which may be a different one.
    """
    return Path(config.graph_config.root_dir).absolute().parent


def kind_file(config: Any, name: str) -> str:
    """Return the path of one of the kind's files from the root of the checkout."""
    path, root = Path(config.path, name).absolute(), root_folder(config)
    return str(path.relative_to(root) if root in path.parents else path)


def task_name(task: dict[str, Any]) -> str:
    name = task.get("name") or task.get("label")
    return name if isinstance(name, str) else shown(name)


@contextmanager
def in_task(config: Any, task: dict[str, Any]) -> Iterator[None]:
    """Add the file and the task to a BadKeyError of this block."""
    try:
        yield
    except BadKeyError as problem:
        file = kind_file(config, task.get("task-from", "kind.yml"))
        place = f"{file}: task {plain(task_name(task))}"
        raise UserMistake(f"{place}: {problem}") from None


def there_are(names: Iterable[str]) -> str:
    return f"there are: {', '.join(names) or 'none'}"
