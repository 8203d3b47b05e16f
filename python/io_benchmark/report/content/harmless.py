# SPDX-License-Identifier: MPL-2.0
"""Records whose texts are harmless: every text is cleaned and cut here, before a sentence has it.

Anyone's task can have written the names and messages in a result file.
"""

from collections import Counter
from enum import Enum
from typing import Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import asdict, replace

from io_benchmark.text import LINE_LENGTH, NAME_CELLS, clean, clean_lines, name

Record = TypeVar("Record")

# Characters of a name before the one in which it differs from another.
_BEFORE = 8
# How long each field's text may be. A name is cut in its middle, because names of pools often
# differ at the end; any other text is cut at its end.
_NAME_CELLS = {
    **dict.fromkeys(("side", "sides", "baseline", "candidate", "pool", "name"), NAME_CELLS),
    **dict.fromkeys(("workload", "place", "fidelity", "rule", "cause"), NAME_CELLS),
    **dict.fromkeys(("task_id", "tasks", "instance_type", "zone"), NAME_CELLS),
    **dict.fromkeys(("destination", "variant"), 80),
    **dict.fromkeys(("worker_id", "machine"), 60),
}
_LENGTHS = {"state": 80, "reason": 80, "kind": 120, "incomplete_reason": 200, "source": 200}
# Templates are the analysis' own, and their values are cleaned where they become a sentence
# (`wording`), for JSON as well.
# Of several lines, which stay lines: code, which a reader may apply.
_CODE = ("patch", "fragment")
_SKIPPED = ("template", "values")


def make_harmless(record: Record) -> Record:
    """Return the record with every text in it cleaned; names that differ still differ."""
    return cast("Record", _Cleaner().clean(record, ""))


class _Cleaner:
    def __init__(self) -> None:
        self._names: dict[tuple[str, int], str] = {}
        self._uses: Counter[tuple[str, int]] = Counter()
        self._first: dict[str, str] = {}  # the whole name, by its cut form

    def clean(self, value: Any, field: str) -> Any:
        """Return a value of this field, and all that it holds, cleaned."""
        match value:
            case Enum():
                return value
            case str():
                return self._words(value, field)
            case tuple() if hasattr(value, "_fields"):
                return type(value)(*map(self.clean, value, value._fields))
            case tuple() | list():
                return type(value)(self.clean(part, field) for part in value)
            case dict():
                pairs = value.items()
                return {self.clean(key, "side"): self.clean(part, field) for key, part in pairs}
            case Struct():
                fields = {key: part for key, part in asdict(value).items() if key not in _SKIPPED}
                cleaned = {key: self.clean(part, key) for key, part in fields.items()}
                return replace(value, **cleaned)
        return value

    def _words(self, words: str, field: str) -> str:
        if not words:
            return words
        if field in _CODE:
            return clean_lines(words)
        if field not in _NAME_CELLS:
            return clean(words, _LENGTHS.get(field, LINE_LENGTH))
        key = (words, _NAME_CELLS[field])
        if key not in self._names:
            self._names[key] = self._new_name(*key)
        return self._names[key]

    def _new_name(self, words: str, cells: int) -> str:
        """Write a name; where it looks like an earlier one, show where it differs, or number it."""
        cut, whole = name(words, cells), clean(words, LINE_LENGTH)
        first = self._first.setdefault(cut, whole)
        if first != whole:
            pairs = enumerate(zip(first, whole, strict=False))
            start = next((number for number, pair in pairs if pair[0] != pair[1]), len(first))
            cut = name("…" + whole[max(start - _BEFORE, 0) :], cells)
        self._uses[cut, cells] += 1
        count = self._uses[cut, cells]
        return cut if count == 1 else f"{name(cut, cells - 8)} ({count})"
