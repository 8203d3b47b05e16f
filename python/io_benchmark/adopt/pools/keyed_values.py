# SPDX-License-Identifier: MPL-2.0
"""Values of pools' definitions that depend on words of the pool: `by-pool-group: {gecko-.*: 1}`.

They are chosen as fxci-config's evaluate_keyed_by does: an exact name, else a pattern, else
`default`.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

Path = tuple[str | int, ...]
Words = Mapping[Any, Any]  # what the variants of an entry differ in

_BY = "by-"
_DEFAULT = "default"
_PLACE = re.compile(r"\{([\w-]+)\}")
# Anybody may have written a pattern, and the time of Python's grows with a power of its choices.
# fxci-config's have at most 75 characters and 2 choices, and there are at most 10 alternatives.
_LONGEST_PATTERN, _LONGEST_WORD = 200, 64
_MOST_CHOICES = 3
_MOST_ALTERNATIVES = 100
_CHOICE = re.compile(r"[(*+?{]")
_REPEATED_GROUP = re.compile(r"\)[*+?{]")


class UnknownFormError(Exception):
    """A definition is written in a form that is not known."""


def resolve(value: Any, words: Words) -> tuple[Any, Path]:
    """Return the value for a pool with these words, and the steps that lead to it."""
    steps: Path = ()
    while isinstance(value, dict) and len(value) == 1:
        (key,) = value
        alternatives = value[key]
        if not isinstance(key, str) or not key.startswith(_BY):
            break
        if not isinstance(alternatives, dict) or len(alternatives) > _MOST_ALTERNATIVES:
            raise UnknownFormError
        name = _chosen(alternatives, words.get(key.removeprefix(_BY)))
        steps += (key, name)
        value = alternatives[name]
    return value, steps


def _chosen(alternatives: Mapping[Any, Any], word: Any) -> Any:
    """Return the name of the one alternative for a word."""
    if isinstance(word, str | int) and word in alternatives:
        return word
    if isinstance(word, str):
        names = [name for name in alternatives if _matches(name, word)]
        if len(names) > 1:
            raise UnknownFormError
        if names:
            return names[0]
    if _DEFAULT not in alternatives:
        raise UnknownFormError
    return _DEFAULT


def _matches(pattern: Any, word: str) -> bool:
    if not isinstance(pattern, str) or pattern == _DEFAULT:
        return False
    if len(pattern) > _LONGEST_PATTERN or len(word) > _LONGEST_WORD:
        raise UnknownFormError
    if len(_CHOICE.findall(pattern)) > _MOST_CHOICES or _REPEATED_GROUP.search(pattern):
        raise UnknownFormError
    try:
        return re.match(pattern + "$", word) is not None
    except re.error:
        raise UnknownFormError from None


def find(value: Any, steps: Sequence[str | int], words: Words) -> tuple[Any, Path]:
    """Return a part of a value, and the path to it, with the steps of keyed values on its way."""
    value, path = resolve(value, words)
    for step in steps:
        value, keyed = resolve(part_of(value, step), words)
        path += (step, *keyed)
    return value, path


def resolved(value: Any, words: Words) -> Any:
    """Return a value with the alternatives for these words, as far as they are known."""
    with suppress(UnknownFormError):
        value, _ = resolve(value, words)
    if isinstance(value, dict):
        return {key: resolved(part, words) for key, part in value.items()}
    return [resolved(item, words) for item in value] if isinstance(value, list) else value


def part_of(value: Any, step: Any) -> Any:
    """Return the value of a key, or the item of this number; None without it."""
    if isinstance(value, dict):
        return value.get(step)
    is_item = isinstance(value, list) and isinstance(step, int) and step < len(value)
    return value[step] if is_item else None


def filled(template: str, words: Words) -> str:
    """Return a name with its words; as its generator does it, a suffix may be empty."""

    def word_of(match: re.Match[str]) -> str:
        word = words.get(match[1], match[0])
        return str(word)[:_LONGEST_WORD] if isinstance(word, str | int) else match[0]

    return _PLACE.sub(word_of, template).rstrip("-")
