# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Text that anyone's task can have written, made harmless before any medium escapes it.

What is left is one line without control characters, escape sequences, invisible characters or
those that turn the direction of writing, not longer than a limit. Markup is still in it: each
medium escapes that for itself.
"""

from unicodedata import category

NAME_LENGTH = 40
TEXT_LENGTH = 1000
REPLACEMENT = "\ufffd"
# More accents than any script puts on one letter: they would be drawn over the lines above.
ACCENTS = 3


def clean(text: str, length: int = TEXT_LENGTH) -> str:
    """One harmless line; what does not belong there is shown as U+FFFD, what is too long is cut."""
    line = " ".join(text.split())
    if not (line.isascii() and line.isprintable()):
        line = _replaced(line)
    return line if len(line) <= length else line[: length - 1] + "…"


def name(text: str, cells: int = NAME_LENGTH) -> str:
    """A name is cut in its middle: pools often differ at the end.

    By cells, of which wide characters take two: names are the heads of tables.
    """
    line = clean(text, 4 * TEXT_LENGTH)
    if line.isascii() and len(line) <= cells:
        return line or "(no name)"
    if len(line) <= cells and _cell_length(line) <= cells:
        return line
    head = cells // 2
    return _fitting(line, head) + "…" + _fitting(line[::-1], cells - head - 1)[::-1]


def _cell_length(line: str) -> int:
    # Imported late: it costs time, and the JSON report writes no cells.
    from rich.cells import cell_len  # noqa: PLC0415 - see above

    return cell_len(line)


def _fitting(line: str, cells: int) -> str:
    """As much of its start as has room; no more characters than cells, whatever takes none."""
    kept = line[:cells]
    while _cell_length(kept) > cells:
        kept = kept[:-1]
    return kept


def _replaced(line: str) -> str:
    characters = []
    accents = 0
    for character in line:
        kind = category(character)
        accents = accents + 1 if kind in ("Mn", "Me") else 0
        # C…: control, format (bidi, zero width), surrogate, private, unassigned. Zl, Zp: lines.
        harmful = kind[0] == "C" or kind in ("Zl", "Zp") or accents > ACCENTS
        characters.append(REPLACEMENT if harmful else character)
    return "".join(characters)
