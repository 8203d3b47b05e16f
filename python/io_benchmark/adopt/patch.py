# SPDX-License-Identifier: MPL-2.0
"""The patch of a file, as `git apply` reads it.

A line ends with a line feed and with nothing else: other characters that Python takes for the end
of a line, such as U+2028, are part of it.
"""

import os
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

_NO_FILE = "/dev/null"
_NO_END = "\\ No newline at end of file\n"
_CONTEXT_LINES = 3
# Between the first and the last change; to compare more lines that are alike could take hours.
_MOST_LINES = 20_000
# Before and after, each from a line to before another
_Opcode: TypeAlias = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]
_ESCAPES = {
    "\a": r"\a",
    "\b": r"\b",
    "\t": r"\t",
    "\n": r"\n",
    "\v": r"\v",
    "\f": r"\f",
    "\r": r"\r",
    '"': r"\"",
    "\\": r"\\",
}


def patch_lines(path: str, before: bytes | None, after: bytes | None) -> list[str]:
    """Return the lines of a file's patch; one line where it is not text. None: there is no file."""
    old = _NO_FILE if before is None else _name(f"a/{path}")
    new = _NO_FILE if after is None else _name(f"b/{path}")
    try:
        lines_before, lines_after = _lines(before or b""), _lines(after or b"")
    except UnicodeDecodeError:
        return [f"Binary files {old.rstrip()} and {new.rstrip()} differ\n"]
    if lines_before == lines_after:
        return []
    return [f"--- {old}\n", f"+++ {new}\n", *_hunks(lines_before, lines_after)]


def _lines(content: bytes) -> Sequence[str]:
    *lines, last = content.decode("utf-8").split("\n")
    ended = [f"{line}\n" for line in lines]
    return [*ended, last] if last else ended


class _Changes(SequenceMatcher[str]):
    """The changes of a text; only what is between the first and the last one is compared."""

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        shortest = min(len(before), len(after))
        first = 0
        while first < shortest and before[first] == after[first]:
            first += 1
        last = 0
        while last < shortest - first and before[-1 - last] == after[-1 - last]:
            last += 1
        self._first, self._last = first, last
        old, new = before[first : len(before) - last], after[first : len(after) - last]
        self._old_end, self._new_end = len(old), len(new)
        super().__init__(None, old, new)

    def get_opcodes(self) -> list[_Opcode]:
        """Return the changes with the equal lines before and after them."""
        old_end, new_end = self._old_end, self._new_end
        if max(old_end, new_end) > _MOST_LINES:
            changes: list[_Opcode] = [("replace", 0, old_end, 0, new_end)]
        else:
            changes = super().get_opcodes()
        opcodes = [
            ("equal", -self._first, 0, -self._first, 0),
            *changes,
            ("equal", old_end, old_end + self._last, new_end, new_end + self._last),
        ]
        first = self._first
        return [
            (name, first + begin, first + end, first + new_begin, first + new_end)
            for name, begin, end, new_begin, new_end in opcodes
        ]


def _hunks(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    for group in _Changes(before, after).get_grouped_opcodes(_CONTEXT_LINES):
        _, begin, _, new_begin, _ = group[0]
        _, _, end, _, new_end = group[-1]
        yield f"@@ -{_range(begin, end - begin)} +{_range(new_begin, new_end - new_begin)} @@\n"
        for name, begin, end, new_begin, new_end in group:
            if name == "equal":
                yield from _marked(" ", before[begin:end])
            else:
                yield from _marked("-", before[begin:end])
                yield from _marked("+", after[new_begin:new_end])


def _range(begin: int, length: int) -> str:
    """Return the first line and the number of lines; of no lines, the line before them."""
    first_line = begin + 1 if length else begin
    return str(first_line) if length == 1 else f"{first_line},{length}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n{_NO_END}"


def _name(path: str) -> str:
    """Return a file's name as git writes it: quoted where it has characters that need it."""
    if path.isprintable() and not any(character in _ESCAPES for character in path):
        # The tab shows where a name with blanks ends.
        return f"{path}\t" if " " in path else path
    return f'"{"".join(map(_escaped, path))}"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(character))
