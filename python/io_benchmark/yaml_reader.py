# SPDX-License-Identifier: MPL-2.0
"""YAML that anybody may have written: bounded, and every mistake is one line with its place.

With aliases, a small file can hold more values than fit into memory, a value that contains itself,
or one that is nested deeper than Python can compare. So values are counted as if all aliases were
written out.
"""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, cast

import yaml
from yaml.constructor import ConstructorError

from io_benchmark.text import clean

# Chosen far above Firefox's worker-pools.yml, the largest known: it has 126 kB, 11,000 values in 14
# levels, and 222 aliases.
MOST_BYTES = 2 * 1024 * 1024
MOST_VALUES = 100_000
MOST_ALIASES = 10_000
MOST_LEVELS = 50
# Python takes the longer the more digits a number has, and refuses some thousand.
LONGEST_NUMBER = 100
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_MERGE = "tag:yaml.org,2002:merge"
# What is a number in any version of YAML: for PyYAML, 1e3 and 0o7 are texts.
_LIKE_NUMBER = re.compile(r"[-+.]*[0-9][-+.:0-9A-Fa-fOoXx_]*")
_QUOTED_LENGTH, _PROBLEM_LENGTH = 60, 200
# What PyYAML's conversions raise for a scalar of another form, such as the date 2026-99-99.
_CONVERSION_ERRORS = (ValueError, ArithmeticError, LookupError, AttributeError, TypeError)


class YamlError(Exception):
    """What is wrong in a text, with its line."""


class Alias(NamedTuple):
    begin: int  # in characters from the start of the text
    end: int
    node: yaml.Node
    parent: yaml.Node  # that it is in
    index: Any  # of an item; of a value, its key's node


class Document(yaml.SafeLoader):
    """A YAML document as nodes, with the place of each anchor's value and of each alias."""

    def __init__(self, content: str) -> None:
        """Read the nodes of a text; raise a YamlError."""
        self._content = content
        self.anchored: dict[str, yaml.Node] = {}
        self.aliases: list[Alias] = []
        self._values = 0
        self._level = 0
        self._lowest_level = 0
        # By anchor: how many values its value has, and in how many levels.
        self._sizes: dict[str, tuple[int, int]] = {}
        with _yaml_errors(content):
            super().__init__(content)
            self.root: Any = self.get_single_node()

    def values(self) -> Any:
        """Return what the nodes mean; raise a YamlError."""
        if self.root is None:
            return None
        with _yaml_errors(self._content):
            return self.construct_document(self.root)

    def compose_node(self, parent: Any, index: Any) -> yaml.Node:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            return self._compose_alias(event, parent, index)
        values_before, lowest_before = self._values, self._lowest_level
        self._level += 1
        self._lowest_level = self._level
        self._add(1, event)
        node = cast("yaml.Node", super().compose_node(parent, index))
        if isinstance(node, yaml.MappingNode):
            _check_keys(node)
        self._level -= 1
        if event.anchor:
            self.anchored[event.anchor] = node
            levels = self._lowest_level - self._level
            self._sizes[event.anchor] = (self._values - values_before, levels)
        self._lowest_level = max(self._lowest_level, lowest_before)
        return node

    def _compose_alias(self, event: Any, parent: Any, index: Any) -> yaml.Node:
        node = cast("yaml.Node", super().compose_node(parent, index))
        if event.anchor not in self._sizes:
            raise _mistake(f"*{event.anchor} contains itself", event)
        if len(self.aliases) == MOST_ALIASES:
            raise _mistake(f"has more than {MOST_ALIASES:,} aliases", event)
        begin, end = event.start_mark.index, event.end_mark.index
        self.aliases.append(Alias(begin, end, node, parent, index))
        values, levels = self._sizes[event.anchor]
        self._lowest_level = max(self._lowest_level, self._level + levels)
        self._add(values, event)
        return node

    def _add(self, values: int, event: Any) -> None:
        self._values += values
        if self._values > MOST_VALUES:
            raise _mistake(f"has more than {MOST_VALUES:,} values, counted with aliases", event)
        if self._lowest_level > MOST_LEVELS:
            raise _mistake(f"is nested more than {MOST_LEVELS} levels deep", event)

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            return super().construct_object(node, deep)
        if node.tag in _NUMBERS and len(node.value) > LONGEST_NUMBER:
            raise _mistake(f"a number has more than {LONGEST_NUMBER} characters", node)
        try:
            return super().construct_object(node, deep)
        except _CONVERSION_ERRORS:
            kind = node.tag.rpartition(":")[2]
            raise _mistake(f"{_quoted(node.value)} is not a {kind}", node) from None

    def construct_scalar(self, node: Any) -> Any:
        # PyYAML takes `{=: 1}` for a number.
        if not isinstance(node, yaml.ScalarNode):
            raise _mistake(f"expected a scalar node, but found {node.id}", node)
        return super().construct_scalar(node)


def _mistake(problem: str, place: Any) -> ConstructorError:
    return ConstructorError(None, None, problem, place.start_mark)


def _check_keys(node: yaml.MappingNode) -> None:
    """Refuse a key that is given twice, of which YAML would use the last; merges may be several."""
    names = set()
    for key, _value in node.value:
        if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE:
            if (key.tag, key.value) in names:
                raise _mistake(f"{_quoted(key.value)} is given twice", key)
            names.add((key.tag, key.value))


def _quoted(value: str) -> str:
    return clean(repr(value[:_QUOTED_LENGTH]), _QUOTED_LENGTH)


@contextmanager
def _yaml_errors(content: str) -> Iterator[None]:
    """Turn what PyYAML raises into a YamlError."""
    try:
        yield
    except yaml.reader.ReaderError as error:
        line = content.count("\n", 0, error.position) + 1
        problem = f"the character U+{error.character:04X} is not allowed"
        raise YamlError(f"line {line}: {problem}") from None
    except yaml.MarkedYAMLError as error:
        problem = clean(error.problem or error.context or "", _PROBLEM_LENGTH)
        mark = error.problem_mark or error.context_mark
        # PyYAML counts more characters as ends of lines than editors do.
        line = content.count("\n", 0, mark.index) + 1 if mark else 1
        raise YamlError(f"line {line}: {problem}") from None


def parse_yaml(content: str) -> Any:
    """Return what a text means; raise a YamlError for a mistake or where a limit is passed."""
    return Document(content).values()


def plain_or_quoted(word: str) -> str:
    """Return a text as YAML has it in any place: as it is where that is read as this text."""
    if word.isascii() and word.isprintable() and not _LIKE_NUMBER.fullmatch(word):
        with suppress(YamlError):
            # In a block and in a flow, different characters have a meaning.
            if parse_yaml(f"- {word}: {word}\n- {{{word}: {word}}}") == [{word: word}] * 2:
                return word
    return yaml.safe_dump(word, default_style='"', width=math.inf).rstrip("\n")
