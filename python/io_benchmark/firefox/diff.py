# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Shows changes as a patch for `git apply` and `patch -p1`."""

import difflib
from collections.abc import Iterator, Sequence

from io_benchmark.firefox.text_lines import split
from io_benchmark.firefox.tree_changes import FileChange


def _lines(data: bytes | None) -> list[str]:
    return split((data or b"").decode("utf-8", errors="replace"))


def _file_diff(content: FileChange) -> Iterator[str]:
    old = "/dev/null" if content.before is None else f"a/{content.path}"
    new = "/dev/null" if content.after is None else f"b/{content.path}"
    for line in difflib.unified_diff(_lines(content.before), _lines(content.after), old, new):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def patch(contents: Sequence[FileChange]) -> str:
    """An empty file has no lines to show and so is not in it (`__init__.py` files have a header)."""
    return "".join(line for content in contents for line in _file_diff(content))


def stat(contents: Sequence[FileChange]) -> str:
    """Lines added and removed per file, and in all."""
    rows = []
    for content in contents:
        lines = [line[0] for line in _file_diff(content) if line[:3] not in ("+++", "---")]
        rows.append((content.path, lines.count("+"), lines.count("-")))
    text = "".join(f"{added:>6} + {removed:>4} -  {path}\n" for path, added, removed in rows)
    added, removed = sum(row[1] for row in rows), sum(row[2] for row in rows)
    return f"{text}{added:>6} + {removed:>4} -  {len(rows)} files\n"
