# SPDX-License-Identifier: MPL-2.0
"""Mistakes in a kind's files: one line each, with file, task and key, problem and remedy.

Here are also the checks that the stanzas of all kinds share, and one of the YAML itself: YAML
silently uses the last of two equal keys. With aliases, a small file can hold more values than fit
into memory, or a value that contains itself; so they are refused.
"""

from __future__ import annotations

import difflib
import logging
import re
import reprlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable

import voluptuous
from taskgraph.util.yaml import UnicodeLoader

from io_benchmark_taskgraph.versions import MISTAKES_NEED_LOGGING, UserMistake

logger = logging.getLogger(__name__)


class BadKeyError(Exception):
    """A mistake in the value of one key; `in_task` adds the file and the task."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")


class _ShortRepr(reprlib.Repr):
    """A short repr() in linear time: YAML's aliases may repeat a value endlessly."""

    def repr_int(self, value: int, level: int) -> str:
        # Python refuses to convert a very long number to text.
        if value.bit_length() > 1000:
            return "a number of more than 300 digits"
        return str(super().repr_int(value, level))


_SHORT = _ShortRepr()
_SHORT.maxlevel = 3
_SHORT.maxlist = _SHORT.maxdict = 8
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 150
_QUOTED_LENGTH = 300
_PLAIN_LENGTH = 100
_MISSING = "is missing; add it to the task or to task-defaults"


def quoted(value: object) -> str:
    """Return `repr()`, cut to the length that a message can hold."""
    quotation: str = _SHORT.repr(value)
    return quotation if len(quotation) <= _QUOTED_LENGTH else f"{quotation[:_QUOTED_LENGTH]}…"


def plain(value: object) -> str:
    """Return a name unquoted, unless it would break the line or is too long."""
    if isinstance(value, str) and value.isprintable() and len(value) <= _PLAIN_LENGTH:
        return value
    return quoted(value)


def task_name(task: dict[str, Any]) -> str:
    name = task.get("name") or task.get("label")
    return name if isinstance(name, str) else quoted(name)


@contextmanager
def in_task(config: Any, task: dict[str, Any]) -> Iterator[None]:
    """Add the file and the task to a BadKeyError of this block."""
    try:
        yield
    except BadKeyError as problem:
        file = _file_name(config, task.get("task-from", "kind.yml"))
        place = f"{file}: task {plain(task_name(task))}"
        raise UserMistake(f"{place}: {problem}") from None


@contextmanager
def in_kind(config: Any) -> Iterator[None]:
    """Add the kind's file to a BadKeyError of this block."""
    try:
        yield
    except BadKeyError as problem:
        raise UserMistake(f"{_file_name(config, 'kind.yml')}: {problem}") from None


def _file_name(config: Any, name: str) -> Path:
    """Return the path of a kind's file from the root of the tree."""
    path = Path(config.path, name).absolute()
    # Not taskgraph's `vcs_root`, the nearest checkout above, which may be a different one.
    root = Path(config.graph_config.root_dir).absolute().parent
    return path.relative_to(root) if root in path.parents else path


@contextmanager
def logged() -> Iterator[None]:
    """Log a UserMistake of this block, where taskgraph's command line expects it."""
    try:
        yield
    except UserMistake as error:
        if MISTAKES_NEED_LOGGING:
            logger.error("%s", error)  # noqa: TRY400 - no traceback
        raise


def check_tree(folder: Path) -> None:
    """Check the files of the benchmark's kinds in `taskcluster/`, which is `folder`."""
    for path in sorted(folder.glob("kinds/io-benchmark*/**/*.yml")):
        name = path.relative_to(folder.parent)
        if path.is_file():
            _check_yaml(path, name)
        elif path.exists() and not path.is_dir():
            # Reading a named pipe or a device may never end.
            raise UserMistake(f"{name}: is not a regular file; remove it")


def _check_yaml(path: Path, name: Path) -> None:
    """Refuse a key that is given twice in one mapping, and a value that an alias repeats."""
    with path.open("rb") as file:
        root = UnicodeLoader(file).get_single_node()
    nodes, seen = [root] if root else [], set()
    while nodes:
        node = nodes.pop()
        if id(node) in seen:
            problem = "a value that an alias repeats is not supported; write it out"
            raise UserMistake(f"{name} line {node.start_mark.line + 1}: {problem}")
        seen.add(id(node))
        if node.id == "sequence":
            nodes += node.value
        elif node.id == "mapping":
            keys: set[str] = set()
            for key in (key for key, _ in node.value if key.id == "scalar"):
                if key.value in keys:
                    problem = (
                        f"the key {plain(key.value)} is given twice in one mapping and only the "
                        "last would count; rename or remove one"
                    )
                    raise UserMistake(f"{name} line {key.start_mark.line + 1}: {problem}")
                keys.add(key.value)
            nodes += (part for pair in node.value for part in pair)


def there_are(names: Iterable[str], instead_of: str = "") -> str:
    """Return the names in words; with the one that was probably meant instead of this one."""
    known = list(names)
    # Where there is one name, nobody has to choose.
    close = difflib.get_close_matches(instead_of, known, n=1) if len(known) > 1 else []
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"there are: {', '.join(known) or 'none'}{hint}"


def accept(is_right: Callable[[Any], object], problem: str) -> Callable[[Any], Any]:
    """Return a check of a value; `problem` says what a wrong one is not, and what to write."""

    def check(value: Any) -> Any:
        if is_right(value):
            return value
        raise voluptuous.Invalid(f"{quoted(value)} {problem}")

    return check


def form(pattern: str, problem: str) -> Callable[[Any], Any]:
    return accept(lambda value: isinstance(value, str) and re.fullmatch(pattern, value), problem)


def whole_number(minimum: int, maximum: int) -> Callable[[Any], Any]:
    problem = f"is not a whole number from {minimum:,} to {maximum:,}"
    return accept(lambda value: type(value) is int and minimum <= value <= maximum, problem)


def yes_or_no() -> Callable[[Any], Any]:
    return accept(lambda value: isinstance(value, bool), "is neither true nor false")


def choice(names: Sequence[str]) -> Callable[[Any], Any]:
    problem = f"is unknown; {there_are(names)}"
    return accept(lambda value: isinstance(value, str) and value in names, problem)


def checked(schema: voluptuous.Schema, stanza: object, name: str) -> dict[str, Any]:
    """Return the stanza with defaults; a BadKeyError names the first key that is wrong."""
    if stanza is None:
        raise BadKeyError(name, _MISSING)
    try:
        return dict(schema(stanza))
    except voluptuous.MultipleInvalid as error:
        # Unknown keys first: a missing key may only be misspelt.
        def order(mistake: voluptuous.Invalid) -> tuple[bool, str]:
            return isinstance(mistake, voluptuous.RequiredFieldInvalid), _dotted(mistake.path)

        first = min(error.errors, key=order)
        raise BadKeyError(name + _dotted(first.path), _problem(first, schema)) from None


def _dotted(path: Sequence[object]) -> str:
    keys = (str(key) if isinstance(key, voluptuous.Marker) else key for key in path)
    return "".join(f".{plain(key)}" for key in keys)


def _problem(error: voluptuous.Invalid, schema: voluptuous.Schema) -> str:
    """Return what to write instead; voluptuous only says what its schema expected."""
    keys = "" if error.path[1:] else f"; {there_are(map(str, schema.schema))}"
    if isinstance(error, voluptuous.RequiredFieldInvalid):
        return _MISSING
    if error.msg == "extra keys not allowed":
        return f"unknown key{keys}"
    if error.msg == "expected a dictionary":
        return "is not a mapping" + ("" if error.path else keys)
    return str(error.msg)
