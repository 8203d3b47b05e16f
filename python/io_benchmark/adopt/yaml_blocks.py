# SPDX-License-Identifier: MPL-2.0
"""Data as YAML for people: four columns per level, also for lists; what is short on one line."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from io_benchmark.yaml_reader import plain_or_quoted

_LEVEL = "    "
_WIDTH = 99


def yaml_blocks(data: Mapping[str, Any]) -> str:
    return "".join(f"{line}\n" for line in _mapping_lines(data))


def _mapping_lines(data: Mapping[str, Any]) -> Iterator[str]:
    for name, value in data.items():
        key = plain_or_quoted(name)
        if not isinstance(value, (dict, list)):
            yield from _text(value, f"{key}: ")
            continue
        line = f"{key}: {_flow(value)}"
        if not value or (_is_flat(value) and len(line) <= _WIDTH):
            yield line
            continue
        yield f"{key}:"
        for below in _mapping_lines(value) if isinstance(value, dict) else _list_lines(value):
            yield f"{_LEVEL}{below}" if below else ""


def _list_lines(items: list[Any]) -> Iterator[str]:
    for item in items:
        if not isinstance(item, dict) or (_is_flat(item) and len(_flow(item)) <= _WIDTH):
            yield f"- {_flow(item)}"
            continue
        first, *more = _mapping_lines(item)
        yield f"- {first}"
        for line in more:
            yield f"  {line}" if line else ""


def _is_flat(value: Any) -> bool:
    """Return whether no mapping and no text of several lines is in a mapping or a list."""
    parts = value.values() if isinstance(value, dict) else value
    return not any(
        isinstance(part, dict) or _is_block(part) or (isinstance(part, list) and not _is_flat(part))
        for part in parts
    )


def _is_block(value: Any) -> bool:
    return isinstance(value, str) and "\n" in value


def _flow(value: Any) -> str:
    text = yaml.safe_dump([value], default_flow_style=True, sort_keys=False, width=math.inf)
    return text.rstrip("\n").removeprefix("[").removesuffix("]")


def _text(value: Any, key: str) -> Iterator[str]:
    """Yield a value behind its key; a text of several lines is a block."""
    style = "|" if _is_block(value) else None
    text = yaml.safe_dump(value, default_style=style, indent=len(_LEVEL), width=math.inf)
    first, *more = text.removesuffix("...\n").removesuffix("\n").split("\n")
    yield f"{key}{first}"
    yield from more
