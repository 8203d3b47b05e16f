# SPDX-License-Identifier: MPL-2.0
"""Mistakes in a kind's files, as taskgraph prints them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import pytest

from io_benchmark_taskgraph.mistakes import BadKeyError
from io_benchmark_taskgraph.versions import UserMistake

# By key: what is said of which values.
WrongValues: TypeAlias = Mapping[str, Mapping[str, Sequence[Any]]]


def mistake(call: Callable[..., object], *arguments: Any, **keywords: Any) -> str:
    """Return the one line of the mistake that a call ends with."""
    with pytest.raises((BadKeyError, UserMistake)) as caught:
        call(*arguments, **keywords)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def wrong_values(texts: WrongValues) -> Iterator[tuple[str, Any, str]]:
    """Yield each key with each wrong value, and how the message about it begins."""
    for key, values_by_text in texts.items():
        for text, values in values_by_text.items():
            yield from ((key, value, f"{key}: {value!r} {text}") for value in values)
